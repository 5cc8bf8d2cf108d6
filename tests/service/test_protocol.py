"""Bytes that are not a whole HTTP request get a Problem too, and no reset swallows it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest

from runwatch.records.problem import PROBLEM_TYPE
from runwatch.service.http import protocol
from runwatch.service.http.rate_limits import BODY_BYTES
from tests.service.conftest import Json, Local, echo_body
from tests.support.problems import check_body

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Heard:
    """One answer as it came over the socket."""

    status: int
    headers: dict[str, str]
    body: Json


class Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, local: Local) -> Wire:
        return cls(*await asyncio.open_connection(*local.address))

    async def send(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def send_for_ever(self) -> None:
        while True:
            await self.send(b" " * 65536)

    def send_no_more(self) -> None:
        self._writer.write_eof()

    async def answer(self) -> Heard:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await self._reader.readexactly(int(headers["content-length"]))
        return Heard(int(start.split(" ")[1]), headers, json.loads(body))

    async def is_closed(self) -> bool:
        return await self._reader.read(1) == b""

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


def head(local: Local, *lines: str, method: str = "POST", path: str = "/v1/executions") -> bytes:
    """The head of a request with the owner's key."""
    usual = (f"{method} {path} HTTP/1.1", f"Host: localhost:{local.address[1]}", f"Authorization: Bearer {local.key}")
    return "\r\n".join([*usual, "Content-Type: application/json", *lines, "", ""]).encode("latin-1")


async def written(local: Local) -> int:
    """How many runs there are."""
    return int((await local.get("/v1/account"))["quota"]["executions"]["used"])


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="the beginning of TLS"),
        pytest.param(b"HELLO\r\n\r\n", id="a line that is no request line"),
        pytest.param(b"GET /v1/account\r\n\r\n", id="no version"),
        pytest.param(b"GET /v1/a b HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a space in the path"),
        pytest.param(b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a byte that is no ASCII in the path"),
        pytest.param(b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n", id="a header without a colon"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00B: c\r\n\r\n", id="a NUL in a header"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no Host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", id="two Hosts"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n", id="no length"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", id="two lengths"
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", id="an encoding of elsewhere"
        ),
    ],
)
async def test_what_is_no_request_is_answered_with_a_problem(shared: Local, content: bytes) -> None:
    wire = await Wire.to(shared)
    await wire.send(content)
    heard = await wire.answer()
    assert heard.headers["content-type"] == PROBLEM_TYPE
    assert heard.headers["connection"] == "close"
    problem = check_body(heard.status, heard.body, "validation_failed")
    kept = await shared.stored_problem(problem.instance or "")
    assert kept is not None
    assert kept["cause"]
    assert await wire.is_closed()
    await wire.close()


async def test_a_head_without_an_end_is_too_large(shared: Local) -> None:
    wire = await Wire.to(shared)
    await wire.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000)
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_too_large")
    await wire.close()


async def test_a_bad_chunk_is_answered_although_the_handler_waits_for_the_body(shared: Local) -> None:
    before = await written(shared)
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", "Transfer-Encoding: chunked") + b'5\r\n{"mod\r\nnonsense\r\n')
    heard = await wire.answer()
    check_body(heard.status, heard.body, "validation_failed")
    assert await wire.is_closed()
    await wire.close()
    assert await written(shared) == before


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET /v1/acc", id="in the request line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: local", id="in a header"),
    ],
)
async def test_a_request_that_ends_in_its_head_is_answered(shared: Local, sent: bytes) -> None:
    wire = await Wire.to(shared)
    await wire.send(sent)
    wire.send_no_more()
    heard = await wire.answer()
    check_body(heard.status, heard.body, "validation_failed")
    assert await wire.is_closed()
    await wire.close()


async def test_a_request_that_ends_in_its_body_is_answered_and_has_no_effect(shared: Local) -> None:
    before = await written(shared)
    content = json.dumps(echo_body()).encode()
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", f"Content-Length: {len(content) + 1}") + content)
    wire.send_no_more()
    heard = await wire.answer()
    check_body(heard.status, heard.body, "validation_failed")
    assert await wire.is_closed()
    await wire.close()
    assert await written(shared) == before


async def test_a_caller_that_sends_no_more_still_gets_its_answer(shared: Local) -> None:
    wire = await Wire.to(shared)
    await wire.send(head(shared, method="GET", path="/v1/account"))
    wire.send_no_more()
    heard = await wire.answer()
    assert (heard.status, heard.body["is_demo"]) == (200, False)
    assert await wire.is_closed()
    await wire.close()


async def test_a_declared_body_that_is_too_large_is_refused_before_it_is_sent(shared: Local) -> None:
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", "Content-Length: 99999999999", "Expect: 100-continue"))
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_too_large")
    await wire.close()


@pytest.mark.parametrize("closing", [(), ("Connection: close",)])
async def test_a_chunked_body_is_refused_as_soon_as_it_is_too_large(shared: Local, closing: tuple[str, ...]) -> None:
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", "Transfer-Encoding: chunked", *closing))
    chunk = b"%x\r\n%s\r\n" % (65536, b" " * 65536)
    for _ in range(BODY_BYTES // 65536 + 1):
        await wire.send(chunk)
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_too_large")
    await wire.close()


async def test_a_request_with_two_lengths_is_the_last_one_of_its_connection(shared: Local) -> None:
    content = json.dumps(echo_body()).encode()
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: two", "Content-Length: 4", "Transfer-Encoding: chunked"))
    await wire.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content))
    heard = await wire.answer()
    assert heard.status == 200
    assert await wire.is_closed()
    await wire.close()


async def test_a_refused_caller_may_send_on_and_still_reads_its_answer(shared: Local) -> None:
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", f"Content-Length: {4 * BODY_BYTES}", "Connection: close"))
    await wire.send(b" " * 4 * BODY_BYTES)
    heard = await wire.answer()
    check_body(heard.status, heard.body, "request_too_large")
    assert await wire.is_closed()
    await wire.close()


async def test_a_refused_caller_that_never_stops_sending_is_cut_off(
    shared: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "LINGER_BYTES", BODY_BYTES)
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", "Content-Length: 99999999999"))
    with pytest.raises(ConnectionError):
        await wire.send_for_ever()


async def test_a_body_that_is_longer_than_declared_is_not_read_as_part_of_it(shared: Local) -> None:
    content = json.dumps(echo_body()).encode()
    wire = await Wire.to(shared)
    await wire.send(head(shared, "Idempotency-Key: k", f"Content-Length: {len(content)}") + content + b"more\r\n\r\n")
    first = await wire.answer()
    assert (first.status, first.body["status"]) == (200, "accepted")
    second = await wire.answer()
    check_body(second.status, second.body, "validation_failed")
    await wire.close()


async def test_one_connection_serves_many_requests(shared: Local) -> None:
    wire = await Wire.to(shared)
    for _ in range(3):
        await wire.send(head(shared, method="GET", path="/v1/account"))
        heard = await wire.answer()
        assert heard.status == 200
        assert "server" not in heard.headers
        assert heard.headers["date"]
        assert heard.headers["cache-control"] == "no-store"
    await wire.close()


async def test_an_answer_that_leaves_a_body_unread_says_that_the_connection_ends(shared: Local) -> None:
    path = "/v1/executions"
    refused = await shared.http.post(path, json=echo_body(), headers={"authorization": "Bearer wrong"})
    assert (refused.status_code, refused.headers["connection"]) == (401, "close")
    read = await shared.http.post(path, json={}, headers={"idempotency-key": "read-to-its-end"})
    assert read.status_code == 400
    assert "connection" not in read.headers


async def test_a_target_in_absolute_form_is_served(shared: Local) -> None:
    port = shared.address[1]
    for target in (f"http://localhost:{port}/v1/account", f"HTTP://127.0.0.1:{port}/v1/account?x=1"):
        wire = await Wire.to(shared)
        await wire.send(head(shared, method="GET", path=target))
        heard = await wire.answer()
        assert (heard.status, "tenant_id" in heard.body) == (200, True)
        await wire.close()


async def test_the_host_of_an_absolute_target_counts_and_not_the_header(shared: Local) -> None:
    wire = await Wire.to(shared)
    await wire.send(head(shared, method="GET", path="http://elsewhere.example/v1/account"))
    heard = await wire.answer()
    problem = check_body(heard.status, heard.body, "validation_failed")
    assert [error.field for error in problem.errors or ()] == ["Host"]
    await wire.close()
