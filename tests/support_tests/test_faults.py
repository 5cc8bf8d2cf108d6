"""Each fault of the fault peer really happens, as a client on a real socket sees it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import pytest

from runwatch.base.clock import Clock
from tests.support.builders import request_body, run
from tests.support.clock import FakeClock
from tests.support.fault_steps import (
    Answer,
    Bandwidth,
    Cut,
    Doubled,
    Endless,
    Huge,
    Latency,
    Note,
    Pass,
    Reset,
    Retyped,
    Skewed,
    SlowClose,
    Stall,
    Step,
    Storm,
    deep_json,
    failing,
    html_502,
    times,
    too_many,
)
from tests.support.faults import FaultPeer, match, running_peer
from tests.support.http1 import Head, read_head, unchunked
from tests.support.scripted import Said, ScriptedService, running_service

BODY = json.dumps(request_body()).encode()


@dataclass
class Got:
    """What a client got until the connection was still or over."""

    status: int
    head: Head
    body: bytes


class Caller:
    """One client connection, without any cleverness."""

    def __init__(self, base_url: str) -> None:
        self._port = int(base_url.rpartition(":")[2])

    async def __aenter__(self) -> Caller:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def ask(self, method: str, path: str, body: bytes = b"", key: str = "k1") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: peer", f"Content-Length: {len(body)}", f"Idempotency-Key: {key}"]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def answer(self) -> Got:
        head = await read_head(self.reader)
        assert head is not None
        length = head.header("content-length")
        if head.header("transfer-encoding") == "chunked":
            wire = await self.reader.readuntil(b"\r\n0\r\n\r\n")
            return Got(head.status, head, unchunked(wire))
        return Got(head.status, head, await self.reader.readexactly(int(length or 0)))


@dataclass
class Pair:
    """A peer in front of a service."""

    peer: FaultPeer
    service: ScriptedService
    clock: FakeClock

    async def call(self, method: str = "GET", path: str = "/v1/executions/ex_1", body: bytes = b"") -> Got:
        async with Caller(self.peer.base_url) as caller:
            caller.ask(method, path, body)
            return await caller.answer()

    def next(self, *steps: Step) -> None:
        self.peer.plan(match(), *steps)


@pytest.fixture
async def pair(clock: FakeClock) -> AsyncIterator[Pair]:
    async with (
        ScriptedService(runs=[run("ex_1", "completed")]) as service,
        FaultPeer(service.base_url, clock=clock) as peer,
    ):
        yield Pair(peer, service, clock)


async def test_without_a_plan_everything_passes_and_is_recorded(pair: Pair) -> None:
    got = await pair.call("POST", "/v1/executions", BODY)
    assert got.status == 200
    assert json.loads(got.body)["status"] == "accepted"
    (seen,) = pair.peer.seen("POST", "/v1/executions")
    assert (seen.key, seen.body, seen.status, seen.step) == ("k1", BODY, 200, "Pass")
    assert pair.service.heard[0].body == BODY


async def test_one_connection_carries_many_requests_through_faults_that_leave_it_open(pair: Pair) -> None:
    pair.next(failing(), Pass(), failing())
    async with Caller(pair.peer.base_url) as caller:
        statuses = []
        for _ in range(3):
            caller.ask("GET", "/v1/executions/ex_1")
            statuses.append((await caller.answer()).status)
    assert statuses == [503, 200, 503]
    assert {seen.connection for seen in pair.peer.requests} == {1}


async def test_a_plan_meets_only_matching_requests_one_step_each(pair: Pair) -> None:
    pair.peer.plan(match("GET", "/v1/executions/.*"), *times(2, failing()))
    assert (await pair.call("GET", "/v1/account")).status == 404
    assert [(await pair.call()).status for _ in range(3)] == [503, 503, 200]
    assert pair.peer.unspent == 0


async def test_an_endless_plan_meets_all_later_requests(pair: Pair) -> None:
    pair.peer.plan(match("GET"), Pass(), always=failing())
    assert [(await pair.call()).status for _ in range(4)] == [200, 503, 503, 503]


async def test_unspent_counts_the_steps_that_nothing_met(pair: Pair) -> None:
    pair.peer.plan(match("DELETE"), failing(), failing())
    await pair.call()
    assert pair.peer.unspent == 2


async def test_latency_lets_the_clocks_time_go_by_before_the_service_is_asked(pair: Pair) -> None:
    pair.next(Latency(2.5))
    assert (await pair.call()).status == 200
    assert pair.clock.sleeps == [2.5]


async def test_jitter_is_the_same_for_the_same_seed_and_within_its_bound(pair: Pair) -> None:
    pair.next(Latency(1, jitter=0.5, seed=7), Latency(1, jitter=0.5, seed=7), Latency(1, jitter=0.5, seed=8))
    for _ in range(3):
        await pair.call()
    first, again, other = pair.clock.sleeps
    assert first == again != other
    assert all(1 <= seconds <= 1.5 for seconds in pair.clock.sleeps)


async def test_bandwidth_spreads_the_answer_over_its_time(pair: Pair) -> None:
    pair.next(Bandwidth(bytes_per_s=100, piece=50))
    got = await pair.call()
    wire = len(got.head.raw) + len(got.body)
    assert sum(pair.clock.sleeps) == pytest.approx(wire / 100)
    assert len(pair.clock.sleeps) == -(-wire // 50)


async def test_a_reset_after_nothing_leaves_the_service_without_the_request(pair: Pair) -> None:
    pair.next(Reset())
    with pytest.raises(ConnectionResetError):
        await pair.call("POST", "/v1/executions", BODY)
    assert pair.service.heard == []


async def test_a_reset_after_a_part_of_the_request_leaves_the_service_without_a_whole_one(pair: Pair) -> None:
    pair.next(Reset(after="request", size=10))
    with pytest.raises(ConnectionResetError):
        await pair.call("POST", "/v1/executions", BODY)
    assert pair.service.heard == []
    assert pair.peer.requests[0].body == BODY[:10]


async def test_a_reset_after_the_answer_swallows_it_when_the_service_has_acted(pair: Pair) -> None:
    pair.next(Reset(after="answer"))
    with pytest.raises(ConnectionResetError):
        await pair.call("POST", "/v1/executions", BODY)
    assert len(pair.service.heard) == 1
    assert len(pair.service.runs) == 2
    assert pair.peer.requests[0].status == 200


async def test_a_reset_in_the_middle_of_the_answer_lets_its_first_bytes_through(pair: Pair) -> None:
    pair.next(Reset(after="answer", size=30))
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        assert len(await caller.reader.readexactly(30)) == 30
        with pytest.raises(ConnectionResetError):
            await caller.reader.read(-1)


async def test_a_cut_answer_promises_more_than_it_gives_and_closes_in_order(pair: Pair) -> None:
    pair.next(Cut(12))
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        head = await read_head(caller.reader)
        assert head is not None
        assert int(head.header("content-length") or 0) > 12
        assert len(await caller.reader.read(-1)) == 12


async def test_a_stalled_request_reaches_the_service_only_when_it_is_released(pair: Pair) -> None:
    pair.next(Stall())
    call = asyncio.create_task(pair.call())
    await pair.peer.until_stalled()
    assert pair.service.heard == []
    assert not call.done()
    pair.peer.release()
    assert (await call).status == 200


async def test_a_stalled_answer_gives_its_first_bytes_and_the_rest_when_it_is_released(pair: Pair) -> None:
    pair.next(Stall(at="answer", size=20))
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        await pair.peer.until_stalled()
        assert len(pair.service.heard) == 1
        first = await caller.reader.readexactly(20)
        assert first.startswith(b"HTTP/1.1 200")
        pair.peer.release()
        assert b'"ex_1"' in await caller.reader.readuntil(b'"created_at"')


async def test_a_peer_that_closes_ends_what_is_stalled(pair: Pair) -> None:
    pair.next(Stall())
    call = asyncio.create_task(pair.call())
    await pair.peer.until_stalled()
    await pair.peer.refuse()
    with pytest.raises(ConnectionResetError):
        await call


async def test_a_slow_close_has_no_length_and_lets_time_go_by_before_the_end(pair: Pair) -> None:
    pair.next(SlowClose(4))
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        head = await read_head(caller.reader)
        assert head is not None
        assert head.header("content-length") is None
        assert json.loads(await caller.reader.read(-1))["execution_id"] == "ex_1"
    assert pair.clock.sleeps == [4]


async def test_a_refusing_peer_resets_whom_it_has_and_refuses_whom_it_has_not_until_it_listens_again(
    pair: Pair,
) -> None:
    before = pair.peer.base_url
    async with Caller(before) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        await caller.answer()
        async with pair.peer.refusing():
            with pytest.raises(ConnectionResetError):
                await caller.reader.readexactly(1)
            with pytest.raises(ConnectionRefusedError):
                await pair.call()
    assert pair.peer.base_url == before
    assert (await pair.call()).status == 200


@pytest.mark.parametrize("size", [None, 9])
async def test_a_doubled_part_arrives_twice_in_perfect_framing(pair: Pair, size: int | None) -> None:
    plain = (await pair.call()).body
    pair.next(Doubled(size))
    assert (await pair.call()).body == plain[:size] + plain


async def test_a_retyped_answer_keeps_its_body(pair: Pair) -> None:
    pair.next(Retyped("text/html"), Retyped(None))
    html, none = await pair.call(), await pair.call()
    assert html.head.header("content-type") == "text/html"
    assert none.head.header("content-type") is None
    assert json.loads(html.body) == json.loads(none.body)


@pytest.mark.parametrize("seconds", [-86_400.0, 90.0])
async def test_a_skewed_clock_moves_every_moment_of_the_answer_and_nothing_else(pair: Pair, seconds: float) -> None:
    plain = json.loads((await pair.call()).body)
    pair.next(Skewed(seconds))
    skewed = json.loads((await pair.call()).body)
    told, true = (datetime.fromisoformat(value.pop("created_at")) for value in (skewed, plain))
    assert (told - true).total_seconds() == seconds
    assert skewed == plain


async def test_a_storm_answers_429_for_its_time_and_counts_who_does_not_wait(pair: Pair) -> None:
    storm = Storm(20)
    pair.peer.plan(match(), always=storm)
    first = await pair.call()
    pair.clock.advance(15)
    early = await pair.call()
    assert [json.loads(got.body)["retry_after_s"] for got in (first, early)] == [20, 5]
    assert storm.ignored == 1
    pair.clock.advance(5)
    assert (await pair.call()).status == 200
    assert storm.ignored == 1


@pytest.mark.parametrize(("commits", "heard"), [(False, 0), (True, 1)])
async def test_an_html_502_comes_with_or_without_the_service_having_acted(
    pair: Pair, commits: bool, heard: int
) -> None:
    pair.next(html_502(commits=commits))
    got = await pair.call("POST", "/v1/executions", BODY)
    assert (got.status, got.head.header("content-type")) == (502, "text/html; charset=utf-8")
    assert got.body.startswith(b"<!doctype html>")
    assert len(pair.service.heard) == heard


async def test_a_429_carries_its_wait_in_member_and_header_as_told(pair: Pair) -> None:
    pair.next(too_many(), too_many(7, member=False), too_many(7, header=None), too_many(None), too_many(header="soon"))
    answers = [await pair.call() for _ in range(5)]
    assert [got.status for got in answers] == [429] * 5
    assert [json.loads(got.body).get("retry_after_s") for got in answers] == [20, None, 7, None, 20]
    assert [got.head.header("retry-after") for got in answers] == ["20", "7", None, None, "soon"]


async def test_a_failing_service_answers_closed_problems_of_their_own(pair: Pair) -> None:
    pair.next(*times(1, failing()), failing("internal", 500))
    first, second = await pair.call(), await pair.call()
    assert first.head.header("content-type") == "application/problem+json"
    problem, other = json.loads(first.body), json.loads(second.body)
    assert problem["type"].endswith("/upstream_unavailable")
    assert (problem["status"], other["status"]) == (503, 500)
    assert problem["instance"] != other["instance"]


@pytest.mark.parametrize("declared", [True, False])
async def test_a_huge_answer_is_valid_json_of_its_size(pair: Pair, declared: bool) -> None:
    pair.next(Huge(3_000_000, declared=declared))
    body = bytearray()
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        head = await read_head(caller.reader)
        assert head is not None
        assert (head.header("content-length") == "3000000") is declared
        while not declared and (size := int((await caller.reader.readline()), 16)):
            body += await caller.reader.readexactly(size)
            await caller.reader.readexactly(2)
        if declared:
            body += await caller.reader.readexactly(3_000_000)
    assert len(body) == 3_000_000
    assert len(json.loads(body)["padding"]) == 3_000_000 - len('{"padding":""}')


async def test_an_endless_answer_goes_on_until_the_client_leaves(pair: Pair) -> None:
    pair.next(Endless())
    async with Caller(pair.peer.base_url) as caller:
        caller.ask("GET", "/v1/executions/ex_1")
        assert len(await caller.reader.readexactly(5_000_000)) == 5_000_000
    assert (await pair.call()).status == 200


async def test_deep_json_is_deeper_than_a_reader_follows(pair: Pair) -> None:
    pair.next(deep_json())
    body = (await pair.call()).body
    assert body.count(b"[") == body.count(b"]") == 100_000
    with pytest.raises(RecursionError):
        json.loads(body)


async def test_any_other_answer_can_be_given(pair: Pair) -> None:
    pair.next(Answer(302, headers=(("Location", "https://elsewhere.example/"),), content_type=None))
    got = await pair.call()
    assert (got.status, got.head.header("location")) == (302, "https://elsewhere.example/")


async def test_a_note_tells_the_test_when_the_request_comes(pair: Pair) -> None:
    paths: list[str] = []
    pair.next(Note(lambda head: paths.append(head.path), then=failing()))
    assert (await pair.call()).status == 503
    assert paths == ["/v1/executions/ex_1"]


async def test_requests_carry_the_time_of_the_injected_clock(pair: Pair) -> None:
    await pair.call()
    pair.clock.advance(20)
    await pair.call()
    first, second = pair.peer.requests
    assert second.at - first.at == 20


async def test_a_mistake_of_the_peer_itself_is_raised_at_its_end(clock: Clock) -> None:
    def wrong(_: Head) -> None:
        raise AssertionError("never called like this")

    async with ScriptedService() as service:
        peer = FaultPeer(service.base_url, clock=clock)
        await peer.listen()
        peer.plan(match(), Note(wrong))
        async with Caller(peer.base_url) as caller:
            caller.ask("GET", "/")
            with pytest.raises(ConnectionResetError):
                await caller.answer()
        with pytest.raises(ExceptionGroup, match="the fault peer went wrong"):
            await peer.__aexit__()


async def test_a_service_that_is_gone_looks_like_a_reset(clock: Clock) -> None:
    async with ScriptedService() as service:
        gone = service.base_url
    async with FaultPeer(gone, clock=clock) as peer, Caller(peer.base_url) as caller:
        caller.ask("GET", "/")
        with pytest.raises(ConnectionResetError):
            await caller.answer()


def test_a_test_without_a_loop_uses_a_peer_in_a_thread() -> None:
    import urllib.error
    import urllib.request

    def status(base_url: str) -> int:
        try:
            with urllib.request.urlopen(f"{base_url}/v1/executions/ex_1", timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    service = ScriptedService(runs=[run("ex_1")])
    service.say("GET", "/v1/nothing", Said(200, {}))
    with running_service(service), running_peer(service.base_url) as peer:
        peer.plan(match("GET"), failing())
        assert [status(peer.base_url) for _ in range(2)] == [503, 200]
        peer.refuse()
        with pytest.raises(urllib.error.URLError):
            status(peer.base_url)
        peer.listen()
        assert status(peer.base_url) == 200
        peer.until_seen(3, "GET")
        assert peer.unspent == 0
