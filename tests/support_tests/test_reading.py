"""What reads a service in measurements counts right, however a body is cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.support.http1 import answer_bytes, answer_head, chunk, read_head
from tests.support.reading import PART_BYTES, connected, seconds_of_reads

SIGN = b"needle"


@contextlib.asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """A service that gives every request the same answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await read_head(reader) is not None:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def chunked(*parts: bytes) -> bytes:
    head = answer_head(200, [("Transfer-Encoding", "chunked")])
    return head + b"".join(chunk(part) for part in (*parts, b""))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(answer_bytes(200, SIGN + b"--" + SIGN), id="plain"),
        pytest.param(answer_bytes(200, SIGN + b"-" * (PART_BYTES - 9) + SIGN), id="plain, across two parts"),
        pytest.param(chunked(b"nee", b"dle-need", b"l", b"e"), id="chunks, across several"),
        pytest.param(chunked(SIGN, SIGN), id="chunks, each whole"),
    ],
)
async def test_a_sign_is_counted_once_wherever_the_body_is_cut(answer: bytes) -> None:
    async with answering(answer) as base_url, connected(base_url, "k") as connection:
        assert [await connection.count("/", SIGN) for _ in range(3)] == [2, 2, 2]


async def test_an_answer_that_is_no_success_ends_the_measurement() -> None:
    async with answering(answer_bytes(404, b"nothing")) as base_url:
        with pytest.raises(AssertionError, match="nothing"):
            await seconds_of_reads(base_url, "k", "/", at_once=2, seconds=1)
