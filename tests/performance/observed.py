"""The console with its event loop timed: ``python -m tests.performance.observed REPORT [ARGUMENT ...]``.

It is the whole console, with its own command line. From the first SIGUSR1 on it times every callback of its event loop
and the loop's lag; at the second one it writes the report, a JSON file.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

from tests.performance.measure import LoopTimes, longest_callback
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

LOOK_EVERY_S: Final = 0.02
"""Seconds between two looks at the loop's lag: seldom enough to cost next to nothing."""

_SIGN: Final = signal.SIGUSR1


@dataclass(frozen=True, slots=True)
class Observed:
    """The times of the console's event loop, in seconds.

    Attributes:
        longest: The longest callback.
        what: The name of that callback.
        lag_p50: The median of how late each look at the loop was.
        lag_p99: The 99th percentile of that.
        looks: How many looks there were.
    """

    longest: float
    what: str
    lag_p50: float
    lag_p99: float
    looks: int

    @classmethod
    def of(cls, times: LoopTimes) -> Self:
        """Return the times as a report."""
        return cls(times.longest, times.what, times.lag(50), times.lag(99), len(times.lags))


class ObservedConsole:
    """The console on its own terminal, whose event loop can be timed.

    Args:
        terminal: The console's terminal.
        report: The file that it writes its report to.
    """

    def __init__(self, terminal: Terminal, report: Path) -> None:
        self.terminal: Final = terminal
        self._report = report

    def begin(self) -> None:
        """Start timing."""
        self.terminal.signal(_SIGN)

    def end(self) -> Observed:
        """Stop timing, and return the times.

        Raises:
            TimeoutError: the console wrote no report.
        """
        self.terminal.signal(_SIGN)
        self.terminal.wait_until(self._report.exists, "the report", poll=True)
        return Observed(**json.loads(self._report.read_text("utf-8")))


@contextmanager
def observed_console(home: Path, base_url: str, *words: str) -> Iterator[ObservedConsole]:
    """Run the console on a service, with its event loop timed."""
    home.mkdir()
    report = home / "report.json"
    more = {"RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": "k"}
    command = [sys.executable, "-m", "tests.performance.observed", str(report), *words]
    with Terminal(command, env=clean_environment(home, more), columns=120, rows=36) as terminal:
        yield ObservedConsole(terminal, report)


def main() -> None:
    """Run the console."""
    report = Path(sys.argv.pop(1))
    with longest_callback() as times:
        looking: list[asyncio.Task[None]] = []

        def turn(*_: object) -> None:
            # The signal arrives while the loop runs, at any place in it.
            asyncio.get_running_loop().call_soon_threadsafe(end if looking else begin)

        def begin() -> None:
            times.longest, times.what = 0.0, ""
            looking.append(asyncio.ensure_future(_look(times)))

        def end() -> None:
            looking.pop().cancel()
            written = report.with_suffix(".new")
            written.write_text(json.dumps(asdict(Observed.of(times))), "utf-8")
            os.replace(written, report)  # noqa: PTH105

        signal.signal(_SIGN, turn)
        from runwatch.cli import main as console

        console()


async def _look(times: LoopTimes) -> None:
    while True:
        due = time.perf_counter() + LOOK_EVERY_S
        await asyncio.sleep(LOOK_EVERY_S)
        times.lags.append(max(0.0, time.perf_counter() - due))


if __name__ == "__main__":
    main()
