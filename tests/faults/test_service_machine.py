"""The real service as a state machine, killed at any moment: what it has said once stays so for ever.

A key is one run with one body; a run's events only grow, in one order, each once; a final state never changes and has
its receipt; the list has every run once, newest first.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem
from runwatch.base.json import encode_body
from runwatch.records.states import is_final
from tests.support.builders import request_body
from tests.support.client_calls import cancel_run, follow, submit_run
from tests.support.clock import FakeClock
from tests.support.fault_mix import LONG
from tests.support.sampling import examples
from tests.support.warm_service import WarmService

BODIES: Final = [encode_body(request_body(task={"objective": f"Say {word}."})) for word in ("one", "two")]
KEYS: Final = st.integers(0, 7)
RUNS: Final = st.integers(min_value=0)
"""Which of the runs made so far, of any number."""

BETWEEN_DEATHS: Final = 3
"""The fewest rules between two deaths."""

CALM_S: Final = 60.0
"""How long all runs of one machine may take to their ends."""


class ServiceMachine(RuleBasedStateMachine):
    """Callers of one service; ``service`` is set before it runs.

    Attributes:
        runs: The ids of the runs made here, in their order.
        kept: What each key is known to have done: the body and the run.
        events: The events that each run was seen with, by id.
        ended: The final state that each run was seen in.
        calm: How many rules there were since the last death.
    """

    service: WarmService
    met: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.name = uuid.uuid4().hex
        self.runs: list[str] = []
        self.kept: dict[str, tuple[bytes, str]] = {}
        self.events: dict[str, list[str]] = {}
        self.ended: dict[str, str] = {}
        self.calm = 0
        self.client = Client(self.service.target, clock=FakeClock())

    def _count(self, what: str) -> None:
        self.met[what] += 1
        self.calm += 1

    @rule(key=KEYS, body=st.sampled_from(BODIES))
    def submit(self, key: int, body: bytes) -> None:
        self._count("submit")
        self.runner.run(self._submit(f"{self.name} {key}", body))

    async def _submit(self, key: str, body: bytes) -> None:
        before = self.kept.get(key)
        if before is not None and before[0] != body:
            with pytest.raises(ApiProblem) as refused:
                await submit_run(self.client, body, key=key)
            assert refused.value.code == "idempotency_conflict"
            return
        self._note(key, body, (await submit_run(self.client, body, key=key)).id)

    def _note(self, key: str, body: bytes, run_id: str) -> None:
        if key in self.kept:
            assert self.kept[key] == (body, run_id)
        else:
            assert run_id not in self.runs
            self.kept[key] = (body, run_id)
            self.runs.append(run_id)

    @precondition(lambda self: self.calm >= BETWEEN_DEATHS)
    @rule(key=KEYS, body=st.sampled_from(BODIES), turns=st.integers(0, 40))
    def die_while_submitting(self, key: int, body: bytes, turns: int) -> None:
        """Whether it took effect is not known; asked again with the same bytes, it is one run."""
        self.met["death in a submit"] += 1
        self.runner.run(self._die_while_submitting(f"{self.name} {key}", body, turns))

    async def _die_while_submitting(self, key: str, body: bytes, turns: int) -> None:
        body = self.kept.get(key, (body, ""))[0]
        async with Client(self.service.target, clock=FakeClock(), retries=0) as hasty:
            sending = asyncio.create_task(submit_run(hasty, body, key=key))
            for _ in range(turns):
                await asyncio.sleep(0)
            self.service.kill()
            with contextlib.suppress(ApiError):
                self._note(key, body, (await sending).id)
        await self._start_again()
        self._note(key, body, (await submit_run(self.client, body, key=key)).id)

    @precondition(lambda self: self.calm >= BETWEEN_DEATHS)
    @rule()
    def die(self) -> None:
        self.met["death"] += 1
        self.service.kill()
        self.runner.run(self._start_again())

    async def _start_again(self) -> None:
        self.calm = 0
        self.service.start()
        await self.client.close()
        self.client = Client(self.service.target, clock=FakeClock())

    @precondition(lambda self: self.runs)
    @rule(number=RUNS)
    def read_a_run(self, number: int) -> None:
        self._count("read")
        self.runner.run(self._read(self._run(number)))

    async def _read(self, run_id: str) -> str | None:
        status = (await self.client.get_run(run_id)).status
        if run_id in self.ended:
            assert status == self.ended[run_id]
        elif is_final(status):
            assert status is not None
            self.ended[run_id] = status
        if is_final(status):
            assert (await self.client.get_receipt(run_id)).status == status
        return status

    @precondition(lambda self: self.runs)
    @rule(number=RUNS)
    def cancel(self, number: int) -> None:
        self._count("cancel")
        self.runner.run(self._cancel(self._run(number)))

    async def _cancel(self, run_id: str) -> None:
        try:
            cancelled = await cancel_run(self.client, run_id, key=uuid.uuid4().hex)
        except ApiProblem as error:
            if error.code != "invalid_state":
                raise
            assert is_final(await self._read(run_id))
        else:
            assert run_id not in self.ended
            assert cancelled.id == run_id

    @precondition(lambda self: self.runs)
    @rule(number=RUNS, after=st.integers(-1, 8))
    def read_events(self, number: int, after: int) -> None:
        self._count("read events")
        self.runner.run(self._read_events(self._run(number), after))

    async def _read_events(self, run_id: str, after: int) -> None:
        seen = self.events.get(run_id, [])
        position = seen[after] if 0 <= after < len(seen) else None
        page = [event.id for event in (await self.client.list_events(run_id, after=position)).records]
        whole = [*seen[: after + 1], *page] if position is not None else page
        assert whole[: len(seen)] == seen
        assert len(set(whole)) == len(whole)
        self.events[run_id] = whole

    @rule()
    def every_run_is_listed_once_newest_first(self) -> None:
        self._count("list")
        listed = self.runner.run(self._listed())
        assert listed == [*reversed(self.runs)]

    async def _listed(self) -> list[str]:
        known = set(self.runs)
        return [run.id async for page in self.client.pages("getExecutions") for run in page.records if run.id in known]

    def _run(self, number: int) -> str:
        return self.runs[number % len(self.runs)]

    def teardown(self) -> None:
        with contextlib.closing(self.runner):
            self.runner.run(self._end())

    async def _end(self) -> None:
        """Every run comes to its end, with a receipt; each key still answers with its run."""
        async with asyncio.timeout(CALM_S):
            for run_id in self.runs:
                events = [event async for event in follow(self.client, run_id)]
                assert [event.ends_run for event in events].count(True) == 1
                assert [event.id for event in events][: len(self.events.get(run_id, []))] == self.events.get(run_id, [])
                assert is_final(await self._read(run_id))
            for key, (body, run_id) in self.kept.items():
                assert (await submit_run(self.client, body, key=key)).id == run_id
        assert await self._listed() == [*reversed(self.runs)]
        await self.client.close()


@pytest.mark.exhaustive
def test_what_the_service_has_said_stays_so_whenever_it_is_killed(tmp_path: Path) -> None:
    met = Counter[str]()
    with WarmService(tmp_path / "service") as service:
        machine = type("Machine", (ServiceMachine,), {"service": service, "met": met})
        run_state_machine_as_test(
            machine, settings=settings(max_examples=60 if LONG else examples(8), stateful_step_count=30, deadline=None)
        )
    assert met["death"] + met["death in a submit"] >= 5
    print(f"{dict(met)}: nothing said was taken back")
