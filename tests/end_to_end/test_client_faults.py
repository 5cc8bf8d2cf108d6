"""The client, the real service, and a faulty connection between them: effects, attempts, waits.

Each test ends with the same proof: sent again with its key and its bytes, the submit is still one run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from runwatch.api import client as client_module
from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, NoResponseError, RateLimitedError, UnusableResponseError
from runwatch.api.http.transport import Timeouts, Transport
from runwatch.base.clock import SystemClock
from runwatch.base.json import encode_body
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.service.conftest import serve_in_process
from tests.support.builders import request_body
from tests.support.client_calls import follow, submit_run
from tests.support.clock import FakeClock
from tests.support.fault_steps import (
    Answer,
    Bandwidth,
    Cut,
    Doubled,
    Endless,
    Huge,
    Latency,
    Reset,
    Retyped,
    Skewed,
    SlowClose,
    Stall,
    Step,
    deep_json,
    failing,
    html_502,
    times,
    too_many,
)
from tests.support.faults import FaultPeer, match

BODY = encode_body(request_body())
KEY = "the one key"
SUBMIT = match("POST", "/v1/executions")


@dataclass
class Faulty:
    """A client that calls the service through the peer."""

    peer: FaultPeer
    client: Client
    clock: FakeClock
    target: Target

    async def submit_again(self) -> str:
        """Send it again without faults and without a gate, and prove that the key has one run."""
        async with Client(self.target, clock=self.clock) as client:
            run_id = (await submit_run(client, BODY, key=KEY)).id
            listed = [run.id async for page in client.pages("getExecutions") for run in page.records]
        assert listed == [run_id]
        return run_id

    def assert_identical(self) -> None:
        """Prove that every submit that passed the peer whole was the same, byte for byte, with the same key."""
        seen = self.peer.seen("POST")
        assert {request.key for request in seen} == {KEY}
        assert {request.body for request in seen if request.step not in {"Reset", "Stall"}} <= {BODY}
        assert {request.head.header("authorization") for request in seen} == {f"Bearer {self._key}"}

    @property
    def _key(self) -> str:
        assert self.target.key is not None
        return self.target.key.reveal()


@pytest.fixture
async def faulty(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Faulty]:
    async with serve_in_process(tmp_path / "service", SystemClock()) as service:
        origin, key = service.running.file.base_url, Secret(service.key)
        async with (
            FaultPeer(origin, clock=FakeClock()) as peer,
            Client(Target("faulty", peer.base_url, key), clock=clock) as client,
        ):
            yield Faulty(peer, client, clock, Target("direct", origin, key))


PASSING = {
    "503 twice": (times(2, failing()), [0.5, 1.0]),
    "503 twice after the service had committed": (times(2, failing(commits=True)), [0.5, 1.0]),
    "a proxy's HTML": ([html_502()], [0.5]),
    "a proxy's HTML after the service had committed": ([html_502(commits=True)], [0.5]),
    "a reset before the request": ([Reset()], [0.5]),
    "a reset in the middle of the request": ([Reset(after="request", size=20)], [0.5]),
    "a reset after the service had committed": ([Reset(after="answer")], [0.5]),
    "a reset in the middle of the answer's head": ([Reset(after="answer", size=40)], [0.5]),
    "two different resets": ([Reset(), Reset(after="answer")], [0.5, 1.0]),
    "a cut answer": ([Cut(25)], [0.5]),
    "an empty answer": ([Cut(0)], [0.5]),
    "a success under a wrong content type": ([Retyped("text/html")], []),
    "a success under no content type": ([Retyped(None)], []),
    "an answer that ends with its connection": ([SlowClose(1)], []),
    "a late answer, later by chance": ([Latency(2, jitter=3)], []),
    "an answer through a narrow band": ([Bandwidth(bytes_per_s=500)], []),
    "a service whose clock is a day ahead": ([Skewed(86_400)], []),
    "a service whose clock is a day behind": ([Skewed(-86_400)], []),
}


@pytest.mark.parametrize(("steps", "waits"), PASSING.values(), ids=PASSING)
async def test_a_submit_survives(faulty: Faulty, steps: Sequence[Step], waits: list[float]) -> None:
    faulty.peer.plan(SUBMIT, *steps)
    run = await submit_run(faulty.client, BODY, key=KEY)
    assert faulty.clock.sleeps == waits
    assert len(faulty.peer.seen("POST")) == len(waits) + 1
    assert faulty.peer.unspent == 0
    faulty.assert_identical()
    assert await faulty.submit_again() == run.id


LASTING: dict[str, tuple[Sequence[Step], type[ApiError], int, bool]] = {
    "503 three times": (times(3, failing()), ApiProblem, 3, False),
    "503 three times after the service had committed": (times(3, failing(commits=True)), ApiProblem, 3, False),
    "500 three times": (times(3, failing("internal", 500)), ApiProblem, 3, False),
    "a proxy's HTML three times": (times(3, html_502()), ApiProblem, 3, False),
    "three resets before the request": (times(3, Reset()), NoResponseError, 3, False),
    "three resets after the service had committed": (times(3, Reset(after="answer")), NoResponseError, 3, False),
    "three cut answers": (times(3, Cut(25)), NoResponseError, 3, False),
    "a doubled answer": ([Doubled()], UnusableResponseError, 1, False),
    "a doubled beginning": ([Doubled(5)], UnusableResponseError, 1, False),
    "an answer too deep": ([deep_json()], UnusableResponseError, 1, False),
    "an empty success": ([Answer(200, b"")], UnusableResponseError, 1, False),
    "a success that is HTML": ([Answer(200, b"<html>", content_type="text/html")], UnusableResponseError, 1, False),
    "a redirect": ([Answer(302, headers=(("Location", "http://127.0.0.1:9/"),))], ApiProblem, 1, False),
    "a request timeout": ([failing("request_timeout", 408)], ApiProblem, 1, False),
    "an endless answer": ([Endless()], NoResponseError, 1, False),
    "an answer of 70 MB": ([Huge(70_000_000)], NoResponseError, 1, False),
    "a 429": ([too_many()], ApiProblem, 1, True),
    "a refusal": ([failing("insufficient_credit", 402)], ApiProblem, 1, True),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "error", "attempts", "known"), LASTING.values(), ids=LASTING)
async def test_a_submit_fails_and_says_what_is_known(
    faulty: Faulty, steps: Sequence[Step], error: type[ApiError], attempts: int, known: bool
) -> None:
    faulty.peer.plan(SUBMIT, *steps)
    with pytest.raises(error) as caught:
        await submit_run(faulty.client, BODY, key=KEY)
    assert (caught.value.attempts, caught.value.outcome_known, caught.value.key) == (attempts, known, KEY)
    assert faulty.target.key is not None
    assert faulty.target.key.reveal() not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert faulty.peer.unspent == 0
    faulty.assert_identical()
    await faulty.submit_again()


async def test_nobody_listening_proves_that_nothing_happened(faulty: Faulty) -> None:
    async with faulty.peer.refusing():
        with pytest.raises(NoResponseError) as caught:
            await submit_run(faulty.client, BODY, key=KEY)
    assert (caught.value.kind, caught.value.was_sent, caught.value.outcome_known) == ("refused", False, True)
    assert caught.value.attempts == 3
    await faulty.submit_again()


@pytest.mark.parametrize("at", ["request", "answer"])
async def test_a_submit_that_meets_silence_fails_in_time_and_is_one_run_when_the_silence_ends(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch, at: Literal["request", "answer"]
) -> None:
    faulty.peer.plan(SUBMIT, *times(3, Stall(at=at)))
    target = Target("faulty", faulty.peer.base_url, faulty.target.key)
    with monkeypatch.context() as patch:
        patch.setattr(client_module, "Transport", partial(Transport, timeouts=Timeouts(read_s=0.3)))
        hasty = Client(target, clock=faulty.clock)
    async with hasty:
        with pytest.raises(NoResponseError) as caught:
            await submit_run(hasty, BODY, key=KEY)
    assert (caught.value.kind, caught.value.was_sent, caught.value.outcome_known) == ("timeout", True, False)
    assert caught.value.attempts == 3
    faulty.peer.release()
    await faulty.submit_again()


async def test_a_service_that_comes_back_between_two_attempts_is_met(faulty: Faulty) -> None:
    faulty.peer.plan(SUBMIT, Reset(after="answer"), failing())
    run = await submit_run(faulty.client, BODY, key=KEY)
    assert len(faulty.peer.seen("POST")) == 3
    assert await faulty.submit_again() == run.id


async def test_a_429_holds_everything_back_for_its_time_and_no_longer(faulty: Faulty) -> None:
    faulty.peer.plan(SUBMIT, too_many(20))
    with pytest.raises(ApiProblem) as refused:
        await submit_run(faulty.client, BODY, key=KEY)
    assert (refused.value.status, refused.value.wait_s) == (429, 20)
    faulty.clock.advance(19)
    with pytest.raises(RateLimitedError) as held:
        await faulty.client.get_account()
    assert held.value.seconds == pytest.approx(1, abs=0.5)
    assert len(faulty.peer.requests) == 1
    faulty.clock.advance(2)
    run = await submit_run(faulty.client, BODY, key=KEY)
    assert await faulty.submit_again() == run.id


async def test_a_spent_quota_holds_back_only_the_operation_that_met_it(faulty: Faulty) -> None:
    faulty.peer.plan(SUBMIT, too_many(3600, "quota_exceeded"))
    with pytest.raises(ApiProblem):
        await submit_run(faulty.client, BODY, key=KEY)
    assert (await faulty.client.get_account()).tenant_id
    with pytest.raises(RateLimitedError):
        await submit_run(faulty.client, BODY, key=KEY)
    assert len(faulty.peer.seen("POST")) == 1


async def test_a_submit_whose_caller_gives_up_while_the_answer_stalls_is_still_one_run(faulty: Faulty) -> None:

    faulty.peer.plan(SUBMIT, Stall(at="answer", size=10))
    submit = asyncio.create_task(submit_run(faulty.client, BODY, key=KEY))
    await faulty.peer.until_stalled()
    submit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await submit
    await faulty.submit_again()


async def test_a_write_without_a_key_is_sent_once_whatever_happens(faulty: Faulty) -> None:
    faulty.peer.plan(SUBMIT, failing(), failing())
    with pytest.raises(ApiProblem) as caught:
        await faulty.client.request("postExecutions", body=BODY)
    assert caught.value.attempts == 1
    assert len(faulty.peer.seen("POST")) == 1


async def test_a_tail_through_every_fault_gives_each_event_once(faulty: Faulty) -> None:
    run = await submit_run(faulty.client, BODY, key=KEY)
    # Two in a row at the most: the third failure of one read would end this tail.
    pairs: list[tuple[Step, Step]] = [
        (failing(), Reset()),
        (Cut(30), html_502()),
        (Reset(after="answer", size=300), failing()),
    ]
    for pair in pairs:
        faulty.peer.plan(match("GET", ".*/events"), *pair)
        events = [event.id async for event in follow(faulty.client, run.id)]
        assert faulty.peer.unspent == 0
        recorded = [event.id for event in (await faulty.client.list_events(run.id)).records]
        assert events == recorded
        assert len(set(events)) == len(events) == 7
