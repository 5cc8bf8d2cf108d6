"""Calls to other servers: where they may go, what is judged, and how long and how large an answer may be."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from runwatch.base.network.addresses import Address, AddressKind
from runwatch.service.address_policy import PROVIDERS, PUBLIC, PUBLIC_OR_LOOPBACK, AddressPolicy
from runwatch.service.outbound import OutboundClient, OutboundError
from tests.api.certificate import authority_file, server_context

PATIENCE_S = 30.0

Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]


@contextlib.asynccontextmanager
async def server(
    answer: Answering | bytes, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server on loopback: its port, and the request heads that it got."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            heads.append(head)
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer, head)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with listening:
        yield listening.sockets[0].getsockname()[1], heads


def names(**known: str) -> Callable[[str, int], Awaitable[list[Address]]]:
    """A look-up that knows these names, with the addresses parted by commas."""

    async def look_up(host: str, _: int) -> list[Address]:
        if host not in known:
            raise OutboundError("dns_resolution_failed")
        return [ipaddress.ip_address(text) for text in known[host].split(",")]

    return look_up


@contextlib.asynccontextmanager
async def calling(outbound: OutboundClient) -> AsyncIterator[OutboundClient]:
    """An outbound client that is closed at the end."""
    try:
        yield outbound
    finally:
        await outbound.close()


async def refused(outbound: OutboundClient, url: str, reach: AddressPolicy, **more: float) -> OutboundError:
    """The error of a call without an answer."""
    given = {"timeout_s": PATIENCE_S, **more}
    with pytest.raises(OutboundError) as caught:
        await outbound.send("GET", url, reach=reach, timeout_s=given["timeout_s"], limit_bytes=1000)
    return caught.value


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def test_an_answer_of_any_status_is_an_answer() -> None:
    async with (
        server(b"HTTP/1.1 418 No\r\nContent-Length: 2\r\n\r\nhi") as (port, heads),
        calling(OutboundClient()) as out,
    ):
        answer = await out.send(
            "POST", f"http://127.0.0.1:{port}/a?b=c", reach=PROVIDERS, timeout_s=PATIENCE_S, headers={"X-Two": "2"},
            body=b"{}",
        )  # fmt: skip
    assert (answer.status, answer.content) == (418, b"hi")
    assert heads[0].startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert b"X-Two: 2\r\n" in heads[0]
    assert b"accept-encoding: identity" in heads[0].lower()


@pytest.mark.parametrize(
    ("url", "reach", "kind"),
    [
        ("ftp://one.test/", PUBLIC, "scheme_rejected"),
        ("http://one.test/", PUBLIC, "scheme_rejected"),
        ("http://one.test/", PUBLIC_OR_LOOPBACK, "scheme_rejected"),
        ("http://one.test/", PROVIDERS, "scheme_rejected"),
        ("https://user:word@one.test/", PUBLIC, "scheme_rejected"),
        ("https:///path", PUBLIC, "scheme_rejected"),
        ("https://one.test:port/", PUBLIC, "scheme_rejected"),
        ("https://nowhere.test/", PUBLIC, "dns_resolution_failed"),
        ("https://loop.test/", PUBLIC, "private_range_rejected"),
        ("https://home.test/", PUBLIC, "private_range_rejected"),
        ("https://home.test/", PUBLIC_OR_LOOPBACK, "private_range_rejected"),
        ("https://both.test/", PUBLIC, "private_range_rejected"),
        ("https://mapped.test/", PUBLIC, "private_range_rejected"),
        ("https://cloud.test/", PUBLIC, "private_range_rejected"),
        ("https://cloud.test/", PROVIDERS, "private_range_rejected"),
        ("https://any.test/", PUBLIC, "private_range_rejected"),
        ("https://any.test/", PROVIDERS, "private_range_rejected"),
    ],
)
async def test_what_may_not_be_called_is_not(url: str, reach: AddressPolicy, kind: str) -> None:
    known = names(**{
        "one.test": "93.184.215.14", "loop.test": "127.0.0.1", "home.test": "192.168.0.9",
        "both.test": "93.184.215.14,10.0.0.1", "mapped.test": "::ffff:127.0.0.1", "cloud.test": "169.254.169.254",
        "any.test": "0.0.0.0",
    })  # fmt: skip
    async with calling(OutboundClient(known)) as out:
        failure = await refused(out, url, reach)
    assert (failure.kind, failure.was_sent) == (kind, False)


async def test_a_call_goes_to_the_address_that_was_judged_and_names_the_host(tmp_path: Path) -> None:
    tls = ssl.create_default_context(cafile=authority_file(tmp_path))
    async with (
        server(OK, server_context(tmp_path)) as (port, heads),
        calling(OutboundClient(names(**{"service.test": "127.0.0.1", "other.test": "127.0.0.1"}), tls)) as out,
    ):
        answer = await out.send("GET", f"https://service.test:{port}/", reach=PUBLIC_OR_LOOPBACK, timeout_s=PATIENCE_S)
        assert answer.content == b"hi"
        assert f"host: service.test:{port}\r\n".encode() in heads[0].lower()
        failure = await refused(out, f"https://other.test:{port}/", PUBLIC_OR_LOOPBACK)
    assert (failure.kind, failure.failure_class, failure.was_sent) == ("tls_failed", "network", False)


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async with (
        server(OK) as (port, _),
        calling(OutboundClient(names(**{"two.test": "127.0.0.2,127.0.0.1"}))) as out,
    ):
        answer = await out.send("GET", f"http://two.test:{port}/", reach=PROVIDERS, timeout_s=PATIENCE_S)
    assert answer.status == 200


async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with server(moved) as (port, heads), calling(OutboundClient()) as out:
        answer = await out.send("GET", f"http://127.0.0.1:{port}/", reach=PROVIDERS, timeout_s=PATIENCE_S)
    assert answer.status == 302
    assert len(heads) == 1


async def test_nobody_there_is_a_call_that_was_not_sent() -> None:
    async with server(OK) as (port, _):
        pass
    async with calling(OutboundClient()) as out:
        failure = await refused(out, f"http://127.0.0.1:{port}/", PROVIDERS)
    assert (failure.kind, failure.was_sent) == ("network", False)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", "network"),
        (b"nonsense\r\n\r\n", "network"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi", "network"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000, "response_too_large"),
    ],
)
async def test_an_answer_that_cannot_be_read_whole_is_none(answer: bytes, kind: str) -> None:
    async with server(answer) as (port, _), calling(OutboundClient()) as out:
        failure = await refused(out, f"http://127.0.0.1:{port}/", PROVIDERS)
    assert (failure.kind, failure.was_sent) == (kind, True)


async def test_the_time_limit_covers_the_last_byte() -> None:
    gone = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        try:
            # One byte now and then would defeat a limit that starts again with every part.
            while not reader.at_eof():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        finally:
            # The caller has closed the connection, or reset it.
            gone.set()

    async with server(drip) as (port, _), calling(OutboundClient()) as out:
        failure = await refused(out, f"http://127.0.0.1:{port}/", PROVIDERS, timeout_s=0.5)
        async with asyncio.timeout(PATIENCE_S):
            await gone.wait()
    assert (failure.kind, failure.was_sent) == ("timeout", True)


async def test_the_environment_s_proxy_is_for_public_addresses_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        server(OK) as (proxy, heads),
        calling(OutboundClient(names(**{"far.test": "93.184.215.14", "near.test": "127.0.0.1"}))) as out,
    ):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy}")
        monkeypatch.delenv("no_proxy", raising=False)
        everywhere = AddressPolicy(frozenset(AddressKind), frozenset(AddressKind))
        answer = await out.send("GET", "http://far.test/x", reach=everywhere, timeout_s=PATIENCE_S)
        assert answer.content == b"hi"
        assert heads[0].startswith(b"GET http://far.test/x HTTP/1.1\r\n")
        async with server(OK) as (port, near):
            await out.send("GET", f"http://near.test:{port}/y", reach=everywhere, timeout_s=PATIENCE_S)
        assert near[0].startswith(b"GET /y HTTP/1.1\r\n")
        assert len(heads) == 1
