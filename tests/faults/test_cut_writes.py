"""Writes whose connection is cut at any place before or after the service has acted: each takes effect exactly once.

The service is the real one. Each write is asked again with its key and its bytes until its outcome is known. With
``RUNWATCH_LONG=1`` it is 10,000 writes, else 200.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.json import encode_body
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.store.db.database import Database
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.scope import Scope, read_scope
from tests.support.builders import request_body
from tests.support.clock import FakeClock
from tests.support.fault_mix import BAD_ANSWERS, LONG, LOST_ANSWERS, draw
from tests.support.fault_steps import Reset, Step
from tests.support.faults import FaultPeer, match
from tests.support.service import ServiceProcess

AT_ONCE: Final = 8
SEED: Final = 3
SUBMIT, NAME = "postExecutions", "postCredentials"
SHORTEST: Final = 20
"""Every body is longer, so that a request can be cut at each of its first bytes."""

WRITE: Final = match("POST")


@dataclass
class Effects:
    """What the writes were told.

    Attributes:
        runs: The id of the run that each submit was told, by key.
        credentials: The id of the credential reference that each naming was told, by key.
        faults: How often each kind of fault was met.
        asked_again: How many times a write of unknown outcome was asked again by hand.
    """

    runs: dict[str, str] = field(default_factory=dict)
    credentials: dict[str, str] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    asked_again: int = 0


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[tuple[FaultPeer, ServiceProcess]]:
    with ServiceProcess(tmp_path / "service") as service:
        async with FaultPeer(service.base_url, clock=FakeClock()) as peer:
            yield peer, service


def cut(chance: random.Random) -> Step:
    """A cut at any place of the request or of the answer, or another loss of the answer."""
    match chance.randrange(4):
        case 0:
            return Reset(after="request", size=chance.randrange(SHORTEST))
        case 1:
            return Reset(after="answer", size=chance.randint(0, 300))
        case 2:
            return draw(chance, BAD_ANSWERS)
    return draw(chance, LOST_ANSWERS)


@pytest.mark.parametrize("writes", [40, pytest.param(10_000 if LONG else 200, marks=pytest.mark.exhaustive)])
async def test_writes_cut_before_and_after_the_service_has_acted_have_no_double_effect(
    tmp_path: Path, faulty: tuple[FaultPeer, ServiceProcess], writes: int
) -> None:
    peer, service = faulty
    print(f"seed {SEED}")
    target = Target("faulty", peer.base_url, Secret(service.api_key))
    database, made, clock = Database.open(tmp_path / "console.db"), Effects(), FakeClock()
    async with Client(service.target) as direct, Client(target, clock=clock) as client:
        scope = await read_scope(direct, database)
        numbers = iter(range(writes))
        async with asyncio.TaskGroup() as writing:
            for crew in range(AT_ONCE):
                chance = random.Random(f"{SEED} {crew}")
                writing.create_task(_write(numbers, peer, client, scope, Outbox(database), chance, made))
        assert await Outbox(database).unconfirmed(scope) == []
        assert len(made.runs) + len(made.credentials) == writes
        listed = [run.id async for page in direct.pages("getExecutions") for run in page.records]
        assert Counter(listed) == Counter(made.runs.values())
        named = (await direct.request("getCredentials")).value
        assert isinstance(named, dict)
        held = Counter(each["credential_ref"] for each in named["credentials"])
        assert held == Counter(made.credentials.values())
    database.close()
    assert made.faults["Reset"] > writes / 4
    assert made.asked_again > 0
    print(
        f"{writes} writes, {made.faults.total()} faults {dict(made.faults)}, retry {made.asked_again} times:"
        " 0 lost, 0 double effects"
    )


async def _write(
    numbers: Iterator[int],
    peer: FaultPeer,
    client: Client,
    scope: Scope,
    outbox: Outbox,
    chance: random.Random,
    made: Effects,
) -> None:
    for number in numbers:
        request = _order(number)
        assert request.body is not None
        assert len(request.body) > SHORTEST
        steps = [cut(chance) for _ in range(chance.choice((1, 1, 2, 3, 4)))]
        made.faults.update(type(step).__name__ for step in steps)
        # Writes of other crews may meet them too: each only has to be met once.
        peer.plan(WRITE, *steps)
        value = await _until_known(outbox, client, scope, request, made)
        told = made.runs if request.operation == SUBMIT else made.credentials
        told[request.key] = value["execution_id" if request.operation == SUBMIT else "credential_ref"]


def _order(number: int) -> WriteRequest:
    key = f"write-{number}"
    if number % 2:
        return WriteRequest(SUBMIT, {}, encode_body(request_body()), key)
    return WriteRequest(NAME, {}, encode_body({"display_name": key}), key)


async def _until_known(
    outbox: Outbox, client: Client, scope: Scope, request: WriteRequest, made: Effects
) -> dict[str, Any]:
    while True:
        try:
            answer = await outbox.deliver(client, scope, request)
        except ApiError as error:
            if error.outcome_known:
                raise
            made.asked_again += 1
        else:
            assert isinstance(answer.value, dict)
            return answer.value
