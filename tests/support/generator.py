"""Runs that produce events at a named rate: the same ones for the same seed, ids unique, every run with its end.

As data: ``for produced in RunGenerator(runs=50, rate=1000, seconds=10): ...``. As a service whose events appear as time
goes by: :class:`GeneratedService`. In a separate process, so that the generator takes no time from what is measured:
``python -m tests.support.generator --runs 50 --rate 1000 --seconds 60`` prints ``{"base_url": ...}`` and serves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import Clock, SystemClock, format_iso
from tests.support import builders
from tests.support.clock import START
from tests.support.scripted import ScriptedService

LEAST_EVENTS: Final = 6
"""The least number of events that a run has: accepted, queued, running, a slice's two, completed."""


@dataclass(frozen=True, slots=True)
class Produced:
    """One event with its moment.

    Attributes:
        at_s: Seconds from the start at which it happens.
        run_id: Whose event it is.
        event: The event as on the wire.
    """

    at_s: float
    run_id: str
    event: dict[str, Any]


class RunGenerator:
    """The events of some runs, in the order of their time, evenly spread.

    In each round every run has one event, in an order drawn by the seed; the last event of each run ends it.

    Args:
        runs: How many runs.
        rate: Events a second, of all runs together.
        seconds: For how long; longer if the runs could not come to their end otherwise.
        seed: Draws the order and the contents.

    Attributes:
        run_ids: The ids of the runs.
        total: How many events there are.
    """

    def __init__(self, *, runs: int = 50, rate: float = 1000.0, seconds: float = 10.0, seed: int = 1) -> None:
        self.rate: Final = rate
        self.run_ids: Final = tuple(f"ex_g{seed}_{number:05}" for number in range(runs))
        rounds = max(LEAST_EVENTS, round(rate * seconds / runs))
        self.total: Final = rounds * runs
        self._rounds = rounds
        self._seed = seed
        self._known = frozenset(self.run_ids)

    def __iter__(self) -> Iterator[Produced]:
        """All events, from the beginning; each call gives the same."""
        for round_ in range(self._rounds):
            for place, run in enumerate(self._order(round_)):
                at_s = (round_ * len(self.run_ids) + place) / self.rate
                yield Produced(at_s, self.run_ids[run], self.event(run, round_, at_s))

    def times(self) -> list[list[float]]:
        """The moments of each run's events, in seconds from the start."""
        times: list[list[float]] = [[] for _ in self.run_ids]
        for round_ in range(self._rounds):
            for place, run in enumerate(self._order(round_)):
                times[run].append((round_ * len(self.run_ids) + place) / self.rate)
        return times

    def _order(self, round_: int) -> list[int]:
        order = list(range(len(self.run_ids)))
        random.Random(f"{self._seed} {round_}").shuffle(order)
        return order

    def event(self, run: int, number: int, at_s: float) -> dict[str, Any]:
        return self._with_state(number) | {
            "event_id": f"{self.run_ids[run]}_{number:07}",
            "execution_id": self.run_ids[run],
            "at": format_iso(START + timedelta(seconds=at_s)),
        }

    def _with_state(self, number: int) -> dict[str, Any]:
        left = self._rounds - 1 - number
        if number < 3:
            return {"type": "lifecycle", "state": ("accepted", "queued", "running")[number]}
        if left < 2:
            one = {"type": "lifecycle", "state": "completed"}
            return one | {"slice_id": "sl_1"} if left else one
        if number == 3:
            return {"type": "lifecycle", "state": "running", "slice_id": "sl_1"}
        match number % 4:
            case 0:
                check = builders.verification_check(check_id=f"chk_{number}", attempt=number)
                return {"type": "verification_check", "slice_id": "sl_1", "verification_check": check}
            case 1:
                check = builders.recorded_check("pending_evaluation")
                return {"type": "recorded_check", "slice_id": "sl_1", "recorded_check": check}
            case 2:
                return {"type": "lifecycle", "state": "progress", "slice_id": "sl_1"}
        return {"type": "tool_call", "slice_id": "sl_1", "tool": {"name": "search", "calls": number}}

    def number_of(self, event_id: str) -> int | None:
        """The number of an event in its run, by its id; ``None`` for an id of another generator."""
        run_id, _, number = event_id.rpartition("_")
        return int(number) if run_id in self._known and number.isdigit() else None


class _Feed:
    """The events of a generator that have happened by now."""

    def __init__(self, generator: RunGenerator, clock: Clock, most: int | None) -> None:
        self.generator = generator
        self._clock = clock
        self._most = most
        self._times = dict(zip(generator.run_ids, generator.times(), strict=True))
        self._numbers = {run_id: number for number, run_id in enumerate(generator.run_ids)}
        self._started = clock.monotonic()

    def start(self) -> None:
        self._started = self._clock.monotonic()

    def happened(self, run_id: str) -> int:
        return bisect_right(self._times[run_id], self._clock.monotonic() - self._started)

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        if run_id not in self._times:
            return None
        known = self.generator.number_of(after) if after is not None else None
        first = 0 if known is None else known + 1
        end = self.happened(run_id)
        if self._most is not None:
            end = min(end, first + self._most)
        times, run = self._times[run_id], self._numbers[run_id]
        return [self.generator.event(run, number, times[number]) for number in range(first, end)]

    def runs(self) -> Iterator[dict[str, Any]]:
        for run_id, times in self._times.items():
            happened = self.happened(run_id)
            if happened:
                status = (
                    "completed" if happened == len(times) else ("accepted", "queued", "running")[min(happened, 3) - 1]
                )
                yield dict(builders.run(run_id, status, created_at=format_iso(START + timedelta(seconds=times[0]))).raw)


class GeneratedService(ScriptedService):
    """A service whose runs move by themselves, from the moment it listens.

    Args:
        generator: What happens, and when.
        clock: The time that goes by.
        most: The most events that one answer holds; ``None`` for all there are.
        key: The key that requests must carry; ``None`` when anybody may ask.
        rpm: How many requests a minute the account is said to be granted; ``None`` for what samples have.
    """

    def __init__(
        self,
        generator: RunGenerator,
        *,
        clock: Clock | None = None,
        most: int | None = None,
        key: str | None = None,
        rpm: int | None = None,
    ) -> None:
        self.feed: Final = _Feed(generator, clock or SystemClock(), most)
        account = builders.account()
        if rpm is not None:
            account = builders.account(quota=account.raw["quota"] | {"rate_limit_rpm": rpm})
        super().__init__(events=self.feed, account=account, key=key)

    async def __aenter__(self) -> GeneratedService:
        """Listen, and let the time begin."""
        await super().__aenter__()
        self.feed.start()
        return self

    def current_runs(self) -> list[dict[str, Any]]:
        """The runs that have begun, newest first."""
        return list(self.feed.runs())[::-1]


async def _serve(arguments: argparse.Namespace) -> None:
    generator = RunGenerator(runs=arguments.runs, rate=arguments.rate, seconds=arguments.seconds, seed=arguments.seed)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with GeneratedService(generator, most=arguments.most, rpm=arguments.rpm) as service:
        print(json.dumps({"base_url": service.base_url, "events": generator.total}), flush=True)
        await ended.wait()


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(description="A service whose runs produce events at a named rate.")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rate", type=float, default=1000.0, help="events a second, of all runs together")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=None, help="the most events in one answer")
    parser.add_argument("--rpm", type=int, default=None, help="the requests a minute that the account is granted")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
