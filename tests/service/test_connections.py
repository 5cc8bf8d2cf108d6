"""Callers without a key get little: places, time, bytes and lines of the log have bounds, and keyed requests go on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.service.http import app, bodies, idempotency, problem_responder, protocol, rate_limits
from runwatch.service.http.connections import (
    RESERVED_DESCRIPTORS,
    TCP_CONNECTIONS,
    UNIX_CONNECTIONS,
    WAITING_CONNECTIONS,
    Bounds,
    Connections,
)
from runwatch.service.http.lobby import MAX_ACCEPTS_PER_TURN, REST_S
from runwatch.service.http.rate_limits import BytesInFlight
from tests.service.conftest import Local, echo_body, serve_in_process
from tests.service.test_protocol import Wire, head
from tests.support.clock import FakeClock
from tests.support.problems import check, check_body
from tests.support.timers import FakeTimers

PLACES = Bounds(tcp=8, unix=2, waiting=4)


class Peer:
    """A connection as the registry sees it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dropped = False

    def drop(self) -> None:
        self.is_dropped = True


def dropped(*peers: Peer) -> list[str]:
    return [peer.name for peer in peers if peer.is_dropped]


def filled(connections: Connections, *names: str, family: int = socket.AF_INET) -> list[Peer]:
    peers = [Peer(name) for name in names]
    for peer in peers:
        connections.add(peer, family)
    return peers


def test_the_stranger_that_is_open_longest_goes_first() -> None:
    connections = Connections(PLACES)
    peers = filled(connections, "a", "b", "c", "d", "e")
    assert dropped(*peers) == ["a"]
    assert connections.counts(socket.AF_INET) == (4, 4)


def test_strangers_never_take_the_place_of_a_key() -> None:
    connections = Connections(PLACES)
    keyed = filled(connections, "a", "b", "c", "d")
    for peer in keyed:
        connections.mark(peer, socket.AF_INET, is_keyed=True)
        connections.mark_idle(peer, socket.AF_INET)
    filled(connections, *"0123456789")
    assert dropped(*keyed) == []
    assert connections.counts(socket.AF_INET) == (8, 4)


def test_a_new_connection_with_a_key_pushes_out_no_stranger_while_there_is_a_place() -> None:
    connections = Connections(PLACES)
    strangers = filled(connections, "a", "b", "c", "d")
    keyed = [Peer(name) for name in "efgh"]
    for peer in keyed:
        connections.add(peer, socket.AF_INET, is_keyed=True)
    assert dropped(*strangers, *keyed) == []
    last = [Peer(name) for name in "ijklm"]
    for peer in last:
        connections.add(peer, socket.AF_INET, is_keyed=True)
    assert dropped(*strangers, *keyed, *last) == ["a", "b", "c", "d", "m"]
    assert connections.counts(socket.AF_INET) == (8, 0)


def test_where_all_show_a_key_the_one_idle_longest_goes_and_else_the_newest() -> None:
    connections = Connections(PLACES)
    keyed = []
    for name in "abcdefgh":
        keyed += filled(connections, name)
        connections.mark(keyed[-1], socket.AF_INET, is_keyed=True)
    connections.mark_idle(keyed[5], socket.AF_INET)
    connections.mark_idle(keyed[2], socket.AF_INET)
    (first,) = filled(connections, "first")
    assert dropped(*keyed, first) == ["f"]
    connections.mark(first, socket.AF_INET, is_keyed=True)
    connections.mark(keyed[2], socket.AF_INET, is_keyed=True)
    (second,) = filled(connections, "second")
    assert dropped(*keyed, first, second) == ["f", "second"]


def test_a_connection_whose_next_request_shows_no_good_key_is_a_strangers_again() -> None:
    connections = Connections(PLACES)
    (peer,) = filled(connections, "a")
    connections.mark(peer, socket.AF_INET, is_keyed=True)
    connections.mark(peer, socket.AF_INET, is_keyed=False)
    assert connections.counts(socket.AF_INET) == (1, 1)


def test_a_closed_connection_does_not_come_back_with_the_answer_that_was_under_way() -> None:
    connections = Connections(PLACES)
    (peer,) = filled(connections, "a")
    connections.remove(peer, socket.AF_INET)
    connections.mark(peer, socket.AF_INET, is_keyed=True)
    connections.mark_idle(peer, socket.AF_INET)
    assert connections.counts(socket.AF_INET) == (0, 0)


def test_callers_over_tcp_take_no_place_of_the_consoles_socket() -> None:
    connections = Connections(PLACES)
    console = filled(connections, "console", family=socket.AF_UNIX)
    filled(connections, *"0123456789")
    filled(connections, *"0123456789", family=socket.AF_INET6)
    assert dropped(*console) == []
    assert connections.counts(socket.AF_UNIX) == (1, 1)
    others = filled(connections, "second", "third", family=socket.AF_UNIX)
    assert dropped(*console, *others) == ["console"]


@pytest.mark.parametrize("descriptors", [RESERVED_DESCRIPTORS, 300, 512, 1024, 4096, 1_000_000])
def test_places_leave_descriptors_for_the_rest(descriptors: int) -> None:
    bounds = Bounds.within(descriptors)
    assert 8 <= bounds.tcp <= TCP_CONNECTIONS
    assert 8 <= bounds.unix <= UNIX_CONNECTIONS
    assert 8 <= bounds.waiting <= WAITING_CONNECTIONS
    # As many connections to a Unix socket may wait as may be served.
    assert bounds.tcp + 2 * bounds.unix + bounds.waiting <= max(32, descriptors - RESERVED_DESCRIPTORS)


def test_of_the_connections_that_wait_the_one_open_longest_goes_first_and_they_take_no_other_place() -> None:
    connections = Connections(PLACES)
    (served,) = filled(connections, "served")
    peers = [Peer(name) for name in "abcdef"]
    for peer in peers:
        connections.add_waiting(peer, socket.AF_INET)
    assert dropped(served, *peers) == ["a", "b"]
    assert connections.counts(socket.AF_INET) == (5, 5)
    connections.remove(peers[2], socket.AF_INET)
    connections.add(peers[2], socket.AF_INET, is_keyed=True)
    assert connections.counts(socket.AF_INET) == (5, 4)


# On real sockets.


@pytest.fixture
def timers() -> FakeTimers:
    return FakeTimers()


@pytest.fixture
async def timed(tmp_path: Path, timers: FakeTimers) -> AsyncIterator[Local]:
    """A service whose connections wait for as long as the test says."""
    async with serve_in_process(tmp_path / "service", FakeClock(), timers=timers, bounds=PLACES) as service:
        yield service


def stranger_head(local: Local, *lines: str, path: str = "/v1/tenants") -> bytes:
    """The head of a POST without a key."""
    usual = (f"POST {path} HTTP/1.1", f"Host: localhost:{local.address[1]}", "Content-Type: application/json")
    return "\r\n".join([*usual, *lines, "", ""]).encode("ascii")


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop go on until something is so."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def strangers_of(local: Local) -> int:
    return local.context.connections.counts(socket.AF_INET)[1]


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """What connections that are served have received."""
    received = bytearray()
    updated = protocol.PoliteH11Protocol.data_received

    def noted(connection: protocol.PoliteH11Protocol, data: bytes) -> None:
        updated(connection, data)
        received.extend(data)

    monkeypatch.setattr(protocol.PoliteH11Protocol, "data_received", noted)
    return received


async def test_a_head_that_does_not_end_is_answered_and_closed(
    timed: Local, timers: FakeTimers, came: bytearray
) -> None:
    beginning = b"GET /v1/account HTTP/1.1\r\nX: y"
    wire = await Wire.to(timed)
    await wire.send(beginning)
    received = await Wire.to(timed)
    await received.send(head(timed, method="GET", path="/v1/account"))
    assert (await received.answer()).status == 200
    while not came.endswith(beginning):
        timers.advance(REST_S / 100)
        await asyncio.sleep(0.001)
    timers.advance(protocol.HEAD_S)
    heard = await wire.answer()
    problem = check_body(heard.status, heard.body, "request_timeout")
    assert await wire.is_closed()
    assert await timed.stored_problem(problem.instance or "") is not None
    await wire.close()
    await received.close()


async def test_a_head_that_trickles_gets_no_more_time(timed: Local, timers: FakeTimers, came: bytearray) -> None:
    wire = await Wire.to(timed)
    for count, character in enumerate(b"GET / HTT", 1):
        await wire.send(bytes([character]))
        while not came:
            timers.advance(REST_S / 100)
            await asyncio.sleep(0.001)
        await until(lambda count=count: len(came) == count)  # type: ignore[misc]
        timers.advance(1)
    timers.advance(protocol.HEAD_S - 9)
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_timeout")
    await wire.close()


async def test_a_connection_on_which_nothing_comes_is_closed(timed: Local, timers: FakeTimers) -> None:
    wire = await Wire.to(timed)
    await until(lambda: strangers_of(timed) == 1)
    timers.advance(protocol.HEAD_S - 0.1)
    assert strangers_of(timed) == 1
    timers.advance(0.1)
    assert await wire.is_closed()
    await wire.close()


async def test_a_body_that_trickles_is_answered_and_closed(timed: Local, timers: FakeTimers) -> None:
    wire = await Wire.to(timed)
    await wire.send(head(timed, "Idempotency-Key: k", "Content-Length: 1000", "Expect: 100-continue"))
    # The service has begun to wait for the body.
    await wire._reader.readuntil(b"\r\n\r\n")
    timers.advance(protocol.BODY_S)
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_timeout")
    assert await wire.is_closed()
    await wire.close()
    assert timed.context.bytes_in_flight.reserved == 0


async def test_a_large_body_at_a_fair_rate_is_taken(timed: Local, timers: FakeTimers) -> None:
    body = json.dumps(echo_body(pad="x" * 600_000)).encode()
    wire = await Wire.to(timed)
    await wire.send(head(timed, "Idempotency-Key: k", f"Content-Length: {len(body)}"))
    await wire.send(body[:-1])
    await until(lambda: timed.context.bytes_in_flight.reserved >= len(body) - protocol.KEYED_READ_BYTES)
    timers.advance(protocol.BODY_S + 10)
    await wire.send(body[-1:])
    assert (await wire.answer()).status == 200
    await wire.close()


@pytest.mark.parametrize("is_keyed", [True, False])
async def test_an_idle_connection_stays_longer_with_a_key(timed: Local, timers: FakeTimers, is_keyed: bool) -> None:
    wire = await Wire.to(timed)
    if is_keyed:
        await wire.send(head(timed, method="GET", path="/v1/account"))
        assert (await wire.answer()).status == 200
    else:
        await wire.send(f"GET /connect/sign-in HTTP/1.1\r\nHost: localhost:{timed.address[1]}\r\n\r\n".encode("ascii"))
        await wire._reader.readuntil(b"</html>\n")
    timers.advance(protocol.ANONYMOUS_KEEP_ALIVE_S)
    if is_keyed:
        await wire.send(head(timed, method="GET", path="/v1/account"))
        assert (await wire.answer()).status == 200
        timers.advance(protocol.KEEP_ALIVE_S)
    assert await wire.is_closed()
    await wire.close()


async def test_when_full_the_oldest_connection_without_a_key_is_closed_and_keyed_ones_stay(timed: Local) -> None:
    keyed = await Wire.to(timed)
    await keyed.send(head(timed, method="GET", path="/v1/account"))
    assert (await keyed.answer()).status == 200
    strangers = [await Wire.to(timed) for _ in range(PLACES.tcp)]
    assert await strangers[0].is_closed()
    await until(lambda: strangers_of(timed) == PLACES.tcp // 2)
    await keyed.send(head(timed, method="GET", path="/v1/account"))
    assert (await keyed.answer()).status == 200
    newest = await Wire.to(timed)
    await newest.send(head(timed, method="GET", path="/v1/account"))
    assert (await newest.answer()).status == 200
    for wire in (keyed, newest, *strangers):
        with contextlib.suppress(ConnectionError):
            await wire.close()


async def test_no_body_is_read_before_the_key_is_known(timed: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "read_body", forbidden)
    monkeypatch.setattr(bodies, "hash_body", forbidden)
    wire = await Wire.to(timed)
    await wire.send(stranger_head(timed, "Content-Length: 1000000", path="/v1/executions"))
    heard = await wire.answer()
    check_body(heard.status, heard.body, "unauthenticated")
    await wire.close()


def forbidden(*_: object, **__: object) -> None:
    raise AssertionError("not for callers without a key")


async def test_a_body_without_a_key_is_small_and_gets_no_digest(timed: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "hash_body", forbidden)
    async with httpx.AsyncClient(base_url=timed.http.base_url) as stranger:
        body = {"display_name": "x" * rate_limits.ANONYMOUS_BODY_BYTES}
        check(await stranger.post("/v1/tenants", json=body), "request_too_large")
        check(await stranger.post("/v1/tenants", json={"display_name": "x"}), "permission_denied")


async def test_half_sent_bodies_without_a_key_hold_few_bytes(timed: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed.context.strangers, "bytes_in_flight", BytesInFlight(50_000))
    wires = []
    for _ in range(2):
        wires.append(await Wire.to(timed))
        await wires[-1].send(stranger_head(timed, "Content-Length: 60000") + b" " * 30_000)
        if len(wires) == 1:
            await until(lambda: timed.context.strangers.bytes_in_flight.reserved == 30_000)
    heard = await wires[1].answer()
    problem = check_body(heard.status, heard.body, "rate_limited")
    assert problem.retry_after_s == 1
    assert timed.context.strangers.bytes_in_flight.reserved == 30_000
    await timed.submit()
    for wire in wires:
        await wire.close()
    await until(lambda: timed.context.strangers.bytes_in_flight.reserved == 0)


async def test_bad_keys_are_limited_and_a_good_one_is_not(timed: Local) -> None:
    async with httpx.AsyncClient(base_url=timed.http.base_url) as stranger:
        for _ in range(rate_limits.FAILED_KEYS_PER_MINUTE):
            answer = await stranger.get("/v1/account", headers={"Authorization": "Bearer solverapi_test_no"})
            check(answer, "unauthenticated")
            assert answer.headers["connection"] == "close"
        problem = check(await stranger.get("/v1/account"), "rate_limited")
        assert problem.retry_after_s == 60
        assert (await stranger.get("/connect/sign-in")).status_code == 200
    await timed.get("/v1/account")
    timed.fake_clock.advance(60)
    async with httpx.AsyncClient(base_url=timed.http.base_url) as stranger:
        check(await stranger.get("/v1/account"), "unauthenticated")


async def test_private_pages_and_keyed_requests_share_no_limit(tmp_path: Path) -> None:
    async with serve_in_process(tmp_path / "service", FakeClock(), rate_limit_rpm=2) as local:
        bearer = {"Authorization": f"Bearer {local.key}"}
        async with httpx.AsyncClient(base_url=local.http.base_url) as browser:
            for headers in ({}, bearer):
                for _ in range(2):
                    assert (await browser.get("/connect/sign-in", headers=headers)).status_code == 200
                check(await browser.get("/connect/sign-in", headers=headers), "rate_limited")
        for _ in range(2):
            await local.get("/v1/account")
        check(await local.http.get("/v1/account"), "rate_limited")


async def test_problems_of_strangers_cost_one_write_and_so_many_are_kept(timed: Local, timers: FakeTimers) -> None:
    writes = 0
    write = timed.context.database.write

    async def counted(function: Any) -> Any:
        nonlocal writes
        writes += 1
        return await write(function)

    timed.context.database.write = counted  # type: ignore[method-assign]
    async with httpx.AsyncClient(base_url=timed.http.base_url) as stranger:
        answers = [
            await stranger.get("/v1/account") for _ in range(problem_responder.MAX_ANONYMOUS_PROBLEMS_PER_MINUTE + 1)
        ]
    assert writes == 0
    timers.advance(problem_responder.STORE_AFTER_S)
    instances = [answer.json()["instance"] for answer in answers]
    assert await timed.stored_problem(instances[0]) is not None
    assert await timed.stored_problem(instances[-2]) is not None
    assert await timed.stored_problem(instances[-1]) is None
    assert writes == 1
    check(await timed.http.get("/v1/nothing"), "not_found")
    assert writes == 2


async def test_problems_that_wait_are_on_the_disk_after_a_stop(tmp_path: Path) -> None:
    async with serve_in_process(tmp_path / "service", FakeClock(), timers=FakeTimers()) as local:
        refused = await local.http.get("/v1/account", headers={"Authorization": "Bearer solverapi_test_no"})
        instance = refused.json()["instance"]
    async with serve_in_process(tmp_path / "service", FakeClock()) as local:
        assert await local.stored_problem(instance) is not None


async def test_large_bodies_are_decoded_beside_the_event_loop(timed: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    seen: list[threading.Thread] = []
    digest_of = idempotency.hash_body

    def noted(value: Any) -> str:
        seen.append(threading.current_thread())
        return digest_of(value)

    monkeypatch.setattr(bodies, "hash_body", noted)
    await timed.submit()
    await timed.submit(echo_body(pad=[1] * 100_000))
    assert seen[0] is threading.main_thread()
    assert seen[1] is not threading.main_thread()


async def test_a_listener_accepts_few_connections_a_turn_and_lets_many_wait(timed: Local) -> None:
    wires = await asyncio.gather(*(Wire.to(timed) for _ in range(8 * MAX_ACCEPTS_PER_TURN)))
    await timed.get("/v1/account")
    assert strangers_of(timed) <= PLACES.tcp // 2
    for wire in wires:
        with contextlib.suppress(ConnectionError):
            await wire.close()


def test_what_the_event_loop_says_goes_to_the_bounded_log(tmp_path: Path) -> None:
    from runwatch.service import server

    names = ("asyncio", "uvicorn", "uvicorn.error", "runwatch", "runwatch.service.access.strangers")
    before = {name: (list(logging.getLogger(name).handlers), list(logging.getLogger(name).filters)) for name in names}
    try:
        server.open_log(tmp_path)
        for _ in range(server.LOG_LINES_PER_MINUTE + 50):
            logging.getLogger("asyncio").error("socket.accept() out of system resource")
        lines = (tmp_path / "log" / "service.log").read_text().splitlines()
        assert len([line for line in lines if "accept" in line]) == server.LOG_LINES_PER_MINUTE
        assert not logging.getLogger("asyncio").propagate
    finally:
        for name, (handlers, filters) in before.items():
            logger = logging.getLogger(name)
            for handler in set(logger.handlers) - set(handlers):
                handler.close()
            logger.handlers[:], logger.filters[:] = handlers, filters
            logger.propagate = True
