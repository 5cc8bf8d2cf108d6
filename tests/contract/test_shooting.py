"""The judge of the fuzz sees what it is there to see."""

from __future__ import annotations

import asyncio
import json

import pytest

from runwatch.records.problem import PROBLEM_TYPE
from tests.contract.fuzzing import Shot
from tests.contract.operations import TABLE
from tests.contract.shooting import Range
from tests.support.http1 import answer_bytes, read_head

PROBLEM = {
    "type": "https://runwatch.invalid/problems/not_found", "title": "There is no such resource.", "status": 404,
    "instance": "3f0c9a34-3a0f-4a36-9a29-5c7e6f1f0a11",
}  # fmt: skip
SECRET = "sentinel-1234"


def problem(http_status: int = 404, **more: object) -> bytes:
    return answer_bytes(http_status, json.dumps({**PROBLEM, **more}).encode(), content_type=PROBLEM_TYPE)


async def flaws_of(answer: bytes) -> Range:
    """What is found in one answer to a good request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await read_head(reader) is not None:
            writer.write(answer)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    handlers: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.create_task(serve(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        target = Range(server.sockets[0].getsockname()[1], frozenset({SECRET}))
        shot = Shot(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", TABLE[0], is_head=False, what="nothing")
        await target.shoot_whole(iter([shot]))
        # A connection that was opened after a flaw and closed at once may still be in acceptance.
        for _ in range(10):
            await asyncio.sleep(0)
        await asyncio.gather(*handlers)
    return target


@pytest.mark.parametrize(
    "answer",
    [problem(), answer_bytes(200, b"{}"), answer_bytes(204, content_type=None)],
    ids=["refused", "done", "empty"],
)
async def test_an_answer_in_good_order_has_no_flaw(answer: bytes) -> None:
    assert (await flaws_of(answer)).flaws == []


@pytest.mark.parametrize(
    ("answer", "flaw"),
    [
        pytest.param(answer_bytes(404, b"not found", content_type="text/plain"), "no Problem", id="no Problem"),
        pytest.param(answer_bytes(404, b"<p>", content_type="text/html"), "no Problem", id="a page that is none"),
        pytest.param(problem(trace="x"), "no closed Problem", id="a member too many"),
        pytest.param(problem(400), "no closed Problem", id="another status"),
        pytest.param(problem(500, status=500), "500", id="something unforeseen"),
        pytest.param(problem(502, status=502), "502", id="an upstream that nobody called"),
        pytest.param(problem(detail=f"key {SECRET}"), "a secret was told", id="a secret"),
        pytest.param(answer_bytes(200, b'{"a": "Traceback (most"}'), "the inside was told", id="a stack trace"),
        pytest.param(b"nonsense\r\n\r\n", "Malformed", id="no HTTP"),
        pytest.param(answer_bytes(404, b"{", content_type=PROBLEM_TYPE), "JSONDecodeError", id="no JSON"),
    ],
)
async def test_an_answer_with_a_flaw_is_told_of(answer: bytes, flaw: str) -> None:
    assert flaw in "\n".join((await flaws_of(answer)).flaws)


async def test_what_is_shown_once_is_remembered_as_a_secret() -> None:
    body = {"api_key": {"key": "k1"}, "consent": {"continue_url": "http://x/connect/source?intent=t1"}, "secret": "s1"}
    assert (await flaws_of(answer_bytes(200, json.dumps(body).encode()))).told == {"k1", "t1", "s1"}
