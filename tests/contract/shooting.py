"""Sends the requests of :mod:`tests.contract.fuzzing` over bare sockets, and judges the responses."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from runwatch.records.problem import PROBLEM_TYPE, Problem
from tests.contract.fuzzing import Shot
from tests.support.http1 import HEAD_LIMIT, Head, read_body, read_head, unchunked
from tests.support.problems import is_closed

WAIT_S: Final = 60.0
"""How long an answer may take on a busy machine before it counts as missing."""

TRACES: Final = (b"Traceback", b'File \\"', b"site-packages", b"sqlalchemy", b"uvicorn", b"starlette", b"pydantic")
"""What no answer and no page ever holds: it would tell of the inside."""


@dataclass(slots=True)
class Range:
    """One service that is shot at.

    Attributes:
        port: Its port.
        secrets: What no answer may hold; what answers tell once is added, as what no file may hold.
        told: Secrets that answers have told once.
        answers: How many answers had each status.
        flaws: What was wrong, each with the shot.
    """

    port: int
    secrets: frozenset[str]
    told: set[str] = field(default_factory=set)
    answers: Counter[int] = field(default_factory=Counter)
    flaws: list[str] = field(default_factory=list)

    async def shoot_whole(self, shots: Iterator[Shot]) -> None:
        """Send whole requests, one after another, over a connection that is kept as long as the service keeps it."""
        reader, writer = await self._connect()
        for shot in shots:
            head = None
            try:
                async with asyncio.timeout(WAIT_S):
                    writer.write(shot.content)
                    head = await read_head(reader)
                    assert head is not None, "the connection was closed without an answer"
                    body = b"" if shot.is_head or head.status == 204 else await _content(reader, head)
                self._judge(shot, head, body)
            except Exception as error:
                self._note(shot, f"{type(error).__name__}: {error}")
                head = None
            if head is None or (head.header("connection") or "").lower() == "close":
                writer.close()
                reader, writer = await self._connect()
        writer.close()

    async def shoot_broken(self, shots: Iterator[Shot]) -> None:
        """Send each broken request over its own connection, send no more, and read all that comes."""
        for shot in shots:
            reader, writer = await self._connect()
            try:
                async with asyncio.timeout(WAIT_S):
                    writer.write(shot.content)
                    writer.write_eof()
                    count = 0
                    while (head := await read_head(reader)) is not None:
                        body = b"" if head.status in {100, 204} else await _content(reader, head)
                        self._judge(shot, head, body)
                        count += head.status != 100
                    if not count and shot.content.strip(b"\r\n"):
                        self._note(shot, f"no answer at all to {shot.content[:200]!r}")
            except Exception as error:
                self._note(shot, f"{type(error).__name__}: {error} after {shot.content[:300]!r}")
            finally:
                writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=HEAD_LIMIT)

    def _note(self, shot: Shot, flaw: str) -> None:
        self.flaws.append(f"{shot.operation.id} ({shot.what}): {flaw}")

    def _judge(self, shot: Shot, head: Head, body: bytes) -> None:
        self.answers[head.status] += 1
        whole = head.raw + body
        for secret in self.secrets:
            if secret.encode() in whole:
                self._note(shot, "a secret was told")
        for trace in TRACES:
            if trace in whole:
                self._note(shot, f"the inside was told: {whole[:400]!r}")
        kind = head.header("content-type") or ""
        if head.status >= 400:
            if kind.startswith("text/html") and shot.operation.is_page:
                pass
            elif kind != PROBLEM_TYPE:
                self._note(shot, f"{head.status} is no Problem but {kind!r}")
            elif not shot.is_head:
                self._judge_problem(shot, head.status, body)
        elif kind == "application/json" and not shot.is_head:
            self.told.update(_told_in(json.loads(body)))
        if head.status >= 500 and head.status != 502:
            self._note(shot, f"{head.status} {body!r}")

    def _judge_problem(self, shot: Shot, status: int, body: bytes) -> None:
        problem = Problem(json.loads(body))
        if not is_closed(problem) or problem.flaws() or problem.status != status:
            self._note(shot, f"no closed Problem: {body!r}")
        if status == 502 and (problem.code != "upstream_unavailable" or not shot.operation.calls_out):
            self._note(shot, f"502 {body!r}")


async def _content(reader: asyncio.StreamReader, head: Head) -> bytes:
    body = await read_body(reader, head)
    return unchunked(body) if (head.header("transfer-encoding") or "").lower() == "chunked" else body


def _told_in(value: Any) -> Iterator[str]:
    """The secrets that an answer tells once: keys, signing secrets, and the tokens of private pages."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and name in {"key", "secret"}:
                yield inner
            elif isinstance(inner, str) and name == "continue_url":
                yield inner.partition("intent=")[2]
            else:
                yield from _told_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _told_in(inner)


async def shoot(target: Range, whole: Iterator[Shot], broken: Iterator[Shot], *, connections: int) -> None:
    """Send everything, over several connections at once: what waits for the disk then waits together."""
    await asyncio.gather(
        *(target.shoot_whole(whole) for _ in range(connections)),
        *(target.shoot_broken(broken) for _ in range(connections // 4)),
    )
