"""A new connection with a key is served before those without one, and those cost little while they wait."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwatch.service.http import lobby
from runwatch.service.http.connections import Bounds
from runwatch.service.http.lobby import Lobby
from runwatch.service.http.protocol import HEAD_S, PoliteH11Protocol
from tests.service.conftest import Local, serve_in_process
from tests.service.test_connections import stranger_head, strangers_of, until
from tests.service.test_protocol import Wire, head
from tests.support.clock import FakeClock
from tests.support.problems import check_body
from tests.support.timers import FakeTimers

PLACES = Bounds(tcp=8, unix=2, waiting=4)


@pytest.fixture
def timers() -> FakeTimers:
    return FakeTimers()


@pytest.fixture
async def timed(tmp_path: Path, timers: FakeTimers) -> AsyncIterator[Local]:
    async with serve_in_process(tmp_path / "service", FakeClock(), timers=timers, bounds=PLACES) as service:
        yield service


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[PoliteH11Protocol]:
    """The protocols of the connections that are served."""
    made: list[PoliteH11Protocol] = []
    connection_made = PoliteH11Protocol.connection_made

    def noted(protocol: PoliteH11Protocol, transport: asyncio.Transport) -> None:
        made.append(protocol)
        connection_made(protocol, transport)

    monkeypatch.setattr(PoliteH11Protocol, "connection_made", noted)
    return made


async def close(*wires: Wire) -> None:
    for wire in wires:
        with contextlib.suppress(ConnectionError):
            await wire.close()


async def test_a_key_is_served_while_callers_without_one_wait_for_their_turn(
    timed: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    wires = []
    for path in ("/v1/account", "/v1/tenants"):
        wires.append(await Wire.to(timed))
        await wires[-1].send(stranger_head(timed, path=path))
    wires.append(await Wire.to(timed))
    await wires[-1].send(head(timed, method="GET", path="/v1/account"))
    assert (await wires[-1].answer()).status == 200
    assert strangers_of(timed) == 2
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 1)
    heard = await wires[0].answer()
    check_body(heard.status, heard.body, "unauthenticated")
    await wires[1].answer()
    await close(*wires)


async def test_of_those_that_wait_the_one_open_longest_goes_first(
    timed: Local, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol]
) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    wires = []
    for count in range(1, PLACES.tcp // 2 + 1):
        wires.append(await Wire.to(timed))
        # Some have sent the beginning of a head, some nothing.
        await wires[-1].send(b"GET / HTTP/1.1\r\n" * (count % 2))
        await until(lambda count=count: strangers_of(timed) == count)  # type: ignore[misc]
    for oldest in list(wires[:3]):
        wires.append(await Wire.to(timed))
        with contextlib.suppress(ConnectionResetError):
            assert await oldest.is_closed()
        assert strangers_of(timed) == PLACES.tcp // 2
    assert not built
    await close(*wires)


async def test_a_key_keeps_its_place_before_its_request_is_read(
    timed: Local, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol]
) -> None:
    monkeypatch.setattr(PoliteH11Protocol, "buffer_updated", lambda *_: None)
    keyed = await Wire.to(timed)
    await keyed.send(head(timed, method="GET", path="/v1/account"))
    await until(lambda: bool(built))
    wires = [await Wire.to(timed) for _ in range(PLACES.tcp)]
    assert await wires[0].is_closed()
    assert timed.context.connections.counts(socket.AF_INET) == (PLACES.tcp // 2 + 1, PLACES.tcp // 2)
    await close(keyed, *wires)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("Authorization: Bearer solverapi_test_no", id="a key that does not exist"),
        pytest.param("X-Authorization: Bearer {key}", id="another header"),
        pytest.param("X: y\r\n\r\nAuthorization: Bearer {key}", id="the body"),
        pytest.param("Authorization: Basic {key}", id="another scheme"),
        pytest.param("Authorization: \r\nX: Bearer {key}", id="the line after"),
    ],
)
async def test_only_a_good_key_in_the_head_is_served_at_once(
    timed: Local, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol], lines: str
) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    wire = await Wire.to(timed)
    await wire.send(stranger_head(timed, lines.format(key=timed.key)))
    keyed = await Wire.to(timed)
    await keyed.send(stranger_head(timed, f"AUTHORIZATION:bearer  {timed.key} "))
    await keyed.answer()
    assert len(built) == 1
    assert strangers_of(timed) == 1
    await close(wire, keyed)


async def test_silent_connections_and_those_were_reset_cost_no_protocol(
    timed: Local, timers: FakeTimers, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol]
) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    reset, silent, ended = [await Wire.to(timed) for _ in range(3)]
    await reset.send(b"GET / HTTP/1.1\r\n")
    await until(lambda: strangers_of(timed) == 3)
    # A reset, not an orderly end.
    reset._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    await reset.close()
    await ended.close()
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 1)
    await until(lambda: strangers_of(timed) == 1)
    timers.advance(HEAD_S / 2)
    later = await Wire.to(timed)
    await until(lambda: strangers_of(timed) == 2)
    timers.advance(HEAD_S / 2)
    assert await silent.is_closed()
    assert strangers_of(timed) == 1
    timers.advance(HEAD_S / 2)
    assert await later.is_closed()
    assert not built
    await close(silent, later)


async def test_a_stop_closes_what_is_not_served_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    async with serve_in_process(tmp_path / "service", FakeClock(), timers=FakeTimers(), bounds=PLACES) as local:
        wires = [await Wire.to(local) for _ in range(2)]
        await wires[0].send(b"GET / HTTP/1.1\r\n")
        await until(lambda: strangers_of(local) == 2)
    for wire in wires:
        with contextlib.suppress(ConnectionResetError):
            assert await wire.is_closed()
    await close(*wires)


class _Exhausted(socket.socket):
    """A listener of a system that has no descriptor left for the first connection."""

    failures = 0

    def accept(self) -> tuple[socket.socket, object]:
        if not self.failures:
            self.failures += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_a_listener_rests_when_no_descriptor_is_left(
    timed: Local, timers: FakeTimers, caplog: pytest.LogCaptureFixture, built: list[PoliteH11Protocol]
) -> None:
    with _Exhausted() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        built_here: list[bool] = []

        def build(*, is_keyed: bool) -> asyncio.BaseProtocol:
            built_here.append(is_keyed)
            return asyncio.Protocol()

        with caplog.at_level(logging.ERROR, "asyncio"):
            waiting = Lobby(listener, timed.context, build)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(head(timed))
            await until(lambda: listener.failures == 1)
        assert "Too many open files" in caplog.text
        assert not built_here
        timers.advance(lobby.ACCEPT_PAUSE_S)
        await until(lambda: built_here == [True])
        waiting.close()
        await waiting.wait_closed()
        writer.close()
        await writer.wait_closed()
        assert not built
    del reader


async def test_a_key_that_comes_in_pieces_is_served_at_once(
    timed: Local, timers: FakeTimers, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol]
) -> None:
    monkeypatch.setattr(lobby, "MAX_SERVED_PER_TURN", 0)
    wire = await Wire.to(timed)
    for byte in head(timed, method="GET", path="/v1/account"):
        await wire.send(bytes([byte]))
        await asyncio.sleep(0)
    assert (await wire.answer()).status == 200
    assert [protocol._is_keyed for protocol in built] == [True]
    timers.advance(lobby.REST_S)
    await wire.send(head(timed, method="GET", path="/v1/account"))
    assert (await wire.answer()).status == 200
    await close(wire)


async def test_a_head_whose_rest_does_not_come_takes_its_turn(
    timed: Local, timers: FakeTimers, monkeypatch: pytest.MonkeyPatch, built: list[PoliteH11Protocol]
) -> None:
    peeks = 0
    peek = Lobby._peek

    def counted(waiting: Lobby, guest: object) -> bool:
        nonlocal peeks
        peeks += 1
        return peek(waiting, guest)  # type: ignore[arg-type]

    monkeypatch.setattr(Lobby, "_peek", counted)
    wire = await Wire.to(timed)
    await wire.send(b"GET / HTTP/1.1\r\n")
    keyed = await Wire.to(timed)
    for _ in range(20):
        await keyed.send(head(timed, method="GET", path="/v1/account"))
        assert (await keyed.answer()).status == 200
    # What has come is in the system's buffer all the time, and wakes the loop only once.
    assert peeks <= 4
    assert len(built) == 1
    timers.advance(lobby.REST_S)
    await until(lambda: len(built) == 2)
    await close(wire, keyed)


async def test_a_caller_that_ends_within_its_head_is_told_so_at_once(timed: Local) -> None:
    wire = await Wire.to(timed)
    await wire.send(b"GET / HTTP/1.1\r\n")
    await until(lambda: strangers_of(timed) == 1)
    wire._writer.write_eof()
    heard = await wire.answer()
    check_body(heard.status, heard.body, "validation_failed")
    await close(wire)
