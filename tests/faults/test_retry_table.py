"""Every operation × with and without a key × every outcome × every attempt, sent by the real client over real sockets.

The rules are repeated here, as plainly as the specification has them (Errors: retry rules): reads, and writes with
a key, are sent again after a network failure or a 5XX, at most twice more; everything else is sent once. Without
``RUNWATCH_LONG=1`` one operation stands for all that have its method and its kind of answer.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.support.clock import FakeClock
from tests.support.fault_mix import LONG
from tests.support.fault_steps import Answer, Cut, Doubled, Reset, Step, failing, html_502, too_many
from tests.support.faults import FaultPeer, match
from tests.support.scripted import Said, ScriptedService

ATTEMPTS: Final = 3
WAITS: Final = [0.5, 1.0]
KEY: Final = "the one key"
BODY: Final = b'{"a":1}'


@dataclass(frozen=True)
class Outcome:
    """What one attempt ends in.

    Attributes:
        step: What happens to it.
        is_passing: Whether the rules say that another attempt may go better.
        succeeds: Whether the call has its answer then.
    """

    step: Step
    is_passing: bool = False
    succeeds: bool = False


OUTCOMES: Final[Mapping[str, Outcome]] = {
    "200": Outcome(Answer(200, b'{"execution_id":"ex_1"}'), succeeds=True),
    "204": Outcome(Answer(204), succeeds=True),
    "200 that is no JSON": Outcome(Answer(200, b"<html>", content_type="text/html")),
    "doubled": Outcome(Doubled()),
    "302": Outcome(Answer(302, headers=(("Location", "http://127.0.0.1:9/"),))),
    "400": Outcome(failing("validation_failed", 400)),
    "401": Outcome(failing("unauthenticated", 401)),
    "403": Outcome(failing("permission_denied", 403)),
    "404": Outcome(failing("not_found", 404)),
    "408": Outcome(failing("request_timeout", 408)),
    "409": Outcome(failing("invalid_state", 409)),
    "429": Outcome(too_many()),
    "429 of a quota": Outcome(too_many(code="quota_exceeded")),
    "500": Outcome(failing("internal", 500), is_passing=True),
    "502 of a proxy": Outcome(html_502(), is_passing=True),
    "503": Outcome(failing(), is_passing=True),
    "a reset before": Outcome(Reset(), is_passing=True),
    "a reset in the request": Outcome(Reset(after="request", size=0), is_passing=True),
    "a reset after": Outcome(Reset(after="answer"), is_passing=True),
    "cut": Outcome(Cut(1), is_passing=True),
}
LONGEST_WAIT_S: Final = 61.0
BEFORE: Final = failing()
"""What the attempts before the one in question end in."""


@dataclass(frozen=True)
class Table:
    """A client that calls through the peer, on a clock that never waits."""

    peer: FaultPeer
    client: Client
    clock: FakeClock

    async def call(self, operation: Operation, step: Step, *, key: str | None, before: int) -> Told:
        """One call: this many attempts fail before one ends in this step."""
        # The waits of earlier calls are over.
        self.clock.advance(LONGEST_WAIT_S)
        self.clock.sleeps.clear()
        self.peer.requests.clear()
        self.peer.plan(match(), *([BEFORE] * before), step)
        path = dict.fromkeys(re.findall(r"\{([a-z_]+)\}", operation.path), "x_1")
        body = BODY if operation.method in {"POST", "PATCH"} else None
        is_answered = True
        try:
            await self.client.request(operation, path=path, body=body, key=key)
        except ApiError:
            is_answered = False
        assert {(seen.head.method, seen.key) for seen in self.peer.requests} == {(operation.method, key)}
        assert self.peer.unspent == 0
        return Told(len(self.peer.requests), list(self.clock.sleeps), is_answered)


@dataclass(frozen=True)
class Told:
    """What came of a call: how often it was sent, after which waits, and whether it was answered."""

    sent: int
    waits: list[float]
    is_answered: bool


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    service, clock = ScriptedService(), FakeClock()
    service.say("*", ".*", Said(200, {"execution_id": "ex_1"}))
    async with service, FaultPeer(service.base_url, clock=FakeClock()) as peer:
        target = Target("table", peer.base_url, Secret("rk_test"))
        async with Client(target, clock=clock) as client:
            yield Table(peer, client, clock)


def operations() -> list[Operation]:
    """All operations, or the first of each shape."""
    shapes: dict[tuple[object, ...], Operation] = {}
    for operation in OPERATIONS.values():
        shape = (operation.method, operation.mutates, operation.record is None, operation.refusals)
        shapes.setdefault(shape, operation)
    return list(OPERATIONS.values() if LONG else shapes.values())


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.id)
async def test_every_outcome_of_every_attempt_is_followed_by_exactly_what_the_rules_say(
    operation: Operation, table: Table
) -> None:
    for key, (name, outcome) in product((None, KEY), OUTCOMES.items()):
        may_repeat = key is not None or operation.method in {"GET", "HEAD"}
        for attempt in range(1, ATTEMPTS + 1 if may_repeat else 2):
            goes_on = may_repeat and outcome.is_passing and attempt < ATTEMPTS
            sent = attempt + 1 if goes_on else attempt
            told = await table.call(operation, outcome.step, key=key, before=attempt - 1)
            assert told == Told(sent, WAITS[: sent - 1], goes_on or outcome.succeeds), (key, name, attempt)
