"""The outbox and the real service, with everything going wrong in any order: one key is one run, and none is forgotten.

Answers are lost before and after the service has acted, the console dies in the middle of a write and begins again from
its disk, writes are asked again in any order and grow too old to be asked again.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import SUBMIT
from runwatch.base.errors import UsageError
from runwatch.base.json import encode_body
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.store.db.database import Database
from runwatch.store.repositories.outbox import RETRY_WINDOW, Outbox, WriteRequest
from runwatch.store.repositories.scope import read_scope
from tests.support.builders import request_body
from tests.support.clock import FakeClock
from tests.support.fault_mix import LONG
from tests.support.fault_steps import Answer, Cut, Doubled, Reset, Stall, Step, failing, html_502, times
from tests.support.faults import FaultPeer, match
from tests.support.sampling import examples
from tests.support.service import ServiceProcess

BODY: Final = encode_body(request_body())
WRITE: Final = match("POST")

FATES: Final[dict[str, Sequence[Step]]] = {
    "goes well": (),
    "is asked again by itself": (Reset(after="answer"), failing()),
    "lost before": times(3, Reset()),
    "lost after": times(3, Reset(after="answer")),
    "a proxy's pages": times(3, html_502(commits=True)),
    "503": times(3, failing()),
    "cut": times(3, Cut(20)),
    "doubled": (Doubled(),),
    "a page": (Answer(200, b"<html>", content_type="text/html"),),
}
REFUSED: Final = "refused"
"""Only for a write that was never sent before: of one that took effect a service does not say this."""


class OutboxMachine(RuleBasedStateMachine):
    """A console that submits through the outbox; ``service`` is set before it runs."""

    service: ServiceProcess

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.told: dict[str, str] = {}
        self.unknown: set[str] = set()
        self.keys: list[str] = []
        self.runner.run(self._begin())

    async def _begin(self) -> None:
        self.direct = Client(self.service.target)
        self.before = await self._runs()
        self.peer = FaultPeer(self.service.base_url, clock=FakeClock())
        await self.peer.__aenter__()
        self.client = Client(Target("faulty", self.peer.base_url, Secret(self.service.api_key)), clock=self.clock)
        self._open()
        self.scope = await read_scope(self.direct, self.database)

    def _open(self) -> None:
        self.database = Database.open(self.directory / "console.db")
        self.outbox = Outbox(self.database, clock=self.clock)

    async def _runs(self) -> set[str]:
        return {run.id async for page in self.direct.pages("getExecutions") for run in page.records}

    @rule(fate=st.sampled_from([*FATES, REFUSED]))
    def submit(self, fate: str) -> None:
        self.keys.append(f"{self.directory.name}-{len(self.keys)}")
        self.runner.run(self._deliver(self.keys[-1], fate))

    @precondition(lambda self: self.unknown)
    @rule(data=st.data(), fate=st.sampled_from([*FATES]))
    def ask_again(self, data: st.DataObject, fate: str) -> None:
        self.runner.run(self._deliver(data.draw(st.sampled_from(sorted(self.unknown))), fate))

    async def _deliver(self, key: str, fate: str) -> None:
        steps = (failing("insufficient_credit", 402),) if fate == REFUSED else FATES[fate]
        self.peer.plan(WRITE, *steps)
        try:
            answer = await self.outbox.deliver(self.client, self.scope, WriteRequest(SUBMIT, {}, BODY, key))
        except ApiError as error:
            if error.outcome_known:
                self.unknown.discard(key)
            else:
                self.unknown.add(key)
        else:
            assert isinstance(answer.value, dict)
            assert self.told.setdefault(key, answer.value["execution_id"]) == answer.value["execution_id"]
            self.unknown.discard(key)
        assert self.peer.unspent == 0

    @rule(at=st.sampled_from(["request", "answer"]))
    def die_while_sending(self, at: str) -> None:
        """The console ends while the answer is on its way; the service may or may not have acted."""
        self.keys.append(f"{self.directory.name}-{len(self.keys)}")
        self.unknown.add(self.keys[-1])
        self.runner.run(self._die(self.keys[-1], Stall(at="request") if at == "request" else Stall(at="answer")))
        self.begin_again()

    async def _die(self, key: str, step: Step) -> None:
        self.peer.plan(WRITE, step)
        request = WriteRequest(SUBMIT, {}, BODY, key)
        sending = asyncio.create_task(self.outbox.deliver(self.client, self.scope, request))
        await self.peer.until_stalled()
        sending.cancel()
        await asyncio.wait([sending])
        self.peer.release()

    @rule()
    def begin_again(self) -> None:
        self.database.close()
        self._open()

    @precondition(lambda self: self.unknown)
    @rule(data=st.data())
    def another_body_under_a_kept_key_is_refused(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.unknown)))
        other = WriteRequest(SUBMIT, {}, BODY + b" ", key)
        with pytest.raises(UsageError, match="taken"):
            self.runner.run(self.outbox.deliver(self.client, self.scope, other))

    @rule()
    def what_is_too_old_is_not_sent_again(self) -> None:
        late = Outbox(self.database, clock=FakeClock(self.clock.now() + RETRY_WINDOW + timedelta(seconds=1)))
        sent = len(self.peer.requests)
        for kept in self.runner.run(late.unconfirmed(self.scope)):
            assert not kept.is_offered
            with pytest.raises(UsageError, match="too old"):
                self.runner.run(late.retry(self.client, self.scope, kept))
        assert len(self.peer.requests) == sent

    @rule()
    def exactly_the_unknown_is_kept(self) -> None:
        kept = self.runner.run(self.outbox.unconfirmed(self.scope))
        assert {item.request.key for item in kept} == self.unknown
        assert {item.request.body for item in kept} <= {BODY}

    def teardown(self) -> None:
        try:
            self.runner.run(self._end())
        finally:
            self.database.close()
            self.runner.close()
            shutil.rmtree(self.directory)

    async def _end(self) -> None:
        """Settle what is unknown; then there are exactly the runs that were told, one a key."""
        for kept in await self.outbox.unconfirmed(self.scope):
            answer = await self.outbox.retry(self.client, self.scope, kept)
            assert isinstance(answer.value, dict)
            self.told[kept.request.key] = answer.value["execution_id"]
        made = await self._runs() - self.before
        await self.client.close()
        await self.direct.close()
        await self.peer.__aexit__()
        assert len(set(self.told.values())) == len(self.told)
        assert made == set(self.told.values())


def test_one_key_is_one_run_and_no_write_is_forgotten_whatever_happens_in_any_order(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        machine = type("Machine", (OutboxMachine,), {"service": service})
        run_state_machine_as_test(
            machine,
            settings=settings(max_examples=200 if LONG else examples(10), stateful_step_count=20, deadline=None),
        )
