"""What can go wrong with one request on its way: the steps of a fault plan.

Each step is handed the passage of one request and decides what reaches the service and what reaches the client.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Final, Literal, Protocol

from runwatch.base.clock import Clock, format_iso
from runwatch.base.json import dumps
from runwatch.records.problem import PROBLEM_TYPE, Problem
from tests.support.builders import problem
from tests.support.http1 import Head, answer_bytes, answer_head, chunk, unchunked

PIECE: Final = 1 << 16

_MOMENT: Final = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))"')


@dataclass(frozen=True, slots=True)
class Response:
    """What the service answered.

    Attributes:
        head: Status line and headers.
        wire: The body as on the wire, chunk framing included.
    """

    head: Head
    wire: bytes

    @property
    def content(self) -> bytes:
        """The body without chunk framing."""
        chunked = (self.head.header("transfer-encoding") or "").lower() == "chunked"
        return unchunked(self.wire) if chunked else self.wire


class Passage(Protocol):
    """One request on its way through the peer, as a step sees it."""

    head: Head

    @property
    def clock(self) -> Clock: ...

    async def body(self) -> bytes:
        """Read the rest of the request from the client."""
        ...

    async def ask(self) -> Response:
        """Send the request to the service and read its whole answer."""
        ...

    async def ask_in_part(self, body_bytes: int) -> None:
        """Send the head and this many bytes of the body to the service, then reset that connection."""
        ...

    async def send(self, data: bytes) -> None: ...

    async def stall(self) -> None:
        """Send nothing until the peer releases."""
        ...

    def reset(self) -> None:
        """Reset the client's connection, so that it sees a failure and no end of file."""
        ...

    def close(self) -> None:
        """Close the client's connection in order after what was sent."""
        ...


class Step(Protocol):
    async def apply(self, passage: Passage) -> None:
        """Carry the request through, or not."""
        ...


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing goes wrong."""

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        await passage.send(response.head.raw + response.wire)


@dataclass(slots=True)
class Latency:
    """The request arrives late.

    Attributes:
        seconds: The least delay.
        jitter: The most that is added to it, by chance.
        seed: The seed of that chance.
        then: What happens after the delay.
    """

    seconds: float
    jitter: float = 0.0
    seed: int = 0
    then: Step = field(default_factory=Pass)
    _chance: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    async def apply(self, passage: Passage) -> None:
        await passage.clock.sleep(self.seconds + self.jitter * self._chance.random())
        await self.then.apply(passage)


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The answer trickles in.

    Attributes:
        bytes_per_s: How fast.
        piece: How many bytes arrive at once.
    """

    bytes_per_s: float
    piece: int = 64

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        data = response.head.raw + response.wire
        for start in range(0, len(data), self.piece):
            await passage.clock.sleep(len(data[start : start + self.piece]) / self.bytes_per_s)
            await passage.send(data[start : start + self.piece])


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks.

    Attributes:
        after: ``nothing``: the service sees nothing of the request. ``request``: it sees a part and never acts.
            ``answer``: it has acted and answered, and the answer is swallowed.
        size: How many bytes still pass: of the request's body for ``request``, of the answer, head included, for
            ``answer``.
    """

    after: Literal["nothing", "request", "answer"] = "nothing"
    size: int = 0

    async def apply(self, passage: Passage) -> None:
        if self.after == "request":
            await passage.ask_in_part(self.size)
        elif self.after == "answer":
            response = await passage.ask()
            if self.size:
                await passage.send((response.head.raw + response.wire)[: self.size])
        passage.reset()


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer's body ends in good order, but too early.

    Attributes:
        size: How many bytes of the body arrive.
    """

    size: int

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        await passage.send(response.head.raw + response.wire[: self.size])
        passage.close()


@dataclass(frozen=True, slots=True)
class Stall:
    """Silence until the peer releases; then everything goes on.

    Attributes:
        at: ``request``: the service has not seen the request. ``answer``: it has answered.
        size: How many bytes of the answer, head included, arrive before the silence.
    """

    at: Literal["request", "answer"] = "request"
    size: int = 0

    async def apply(self, passage: Passage) -> None:
        if self.at == "request":
            await passage.body()
            await passage.stall()
            await Pass().apply(passage)
            return
        response = await passage.ask()
        data = response.head.raw + response.wire
        if self.size:
            await passage.send(data[: self.size])
        await passage.stall()
        await passage.send(data[self.size :])


@dataclass(frozen=True, slots=True)
class SlowClose:
    """The answer has no length and ends with the connection, which stays open for a while.

    Attributes:
        seconds: How long it stays open after the last byte.
    """

    seconds: float

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        head = response.head.replace(content_length=None, transfer_encoding=None, connection="close")
        await passage.send(head + response.content)
        await passage.clock.sleep(self.seconds)
        passage.close()


@dataclass(frozen=True, slots=True)
class Doubled:
    """A part of the answer's body arrives twice, in otherwise perfect framing.

    Attributes:
        size: How many bytes are doubled, from the start; ``None`` for the whole body.
    """

    size: int | None = None

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        first, rest = (
            (response.content, b"")
            if self.size is None
            else (response.content[: self.size], response.content[self.size :])
        )
        pieces = [chunk(piece) for piece in (first, first, rest) if piece]
        head = response.head.replace(content_length=None, transfer_encoding="chunked")
        await passage.send(head + b"".join(pieces) + chunk(b""))


@dataclass(frozen=True, slots=True)
class Retyped:
    """The service's answer under another content type.

    Attributes:
        content_type: The type it claims; ``None`` for none at all.
    """

    content_type: str | None

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        await passage.send(response.head.replace(content_type=self.content_type) + response.wire)


@dataclass(frozen=True, slots=True)
class Skewed:
    """The service's clock is wrong: every time in its answer, and its ``Date``, is off by this much.

    Attributes:
        seconds: How far; below 0 for a clock that is behind.
    """

    seconds: float

    async def apply(self, passage: Passage) -> None:
        response = await passage.ask()
        by = timedelta(seconds=self.seconds)

        def moved(found: re.Match[bytes]) -> bytes:
            return b'"' + format_iso(datetime.fromisoformat(found[1].decode()) + by).encode() + b'"'

        body = _MOMENT.sub(moved, response.content)
        date = response.head.header("date")
        changed = {"content_length": str(len(body)), "transfer_encoding": None}
        if date is not None:
            changed["date"] = format_datetime(parsedate_to_datetime(date) + by, usegmt=True)
        await passage.send(response.head.replace(**changed) + body)


@dataclass(slots=True)
class Storm:
    """A 429 for everything, for a while from its first request on; use it as ``always``.

    Every answer names the seconds that are left, so a client that heeds the first sends nothing before the end.

    Attributes:
        seconds: How long it lasts.
        ignored: How many requests came after the first answer and before the end.
    """

    seconds: float
    ignored: int = field(default=0, init=False)
    _until: float | None = field(default=None, init=False, repr=False)

    async def apply(self, passage: Passage) -> None:
        now = passage.clock.monotonic()
        if self._until is None:
            self._until = now + self.seconds
        elif now < self._until:
            self.ignored += 1
        left = self._until - now
        await (too_many(math.ceil(left)) if left > 0 else Pass()).apply(passage)


@dataclass(frozen=True, slots=True)
class Answer:
    """Another answer than the service's.

    Attributes:
        status: Its status.
        body: Its body.
        content_type: Its type; ``None`` for none.
        headers: Further headers.
        commits: Whether the service has seen and acted on the request before its answer is replaced.
    """

    status: int
    body: bytes = b""
    content_type: str | None = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    commits: bool = False

    async def apply(self, passage: Passage) -> None:
        if self.commits:
            await passage.ask()
        else:
            await passage.body()
        await passage.send(answer_bytes(self.status, self.body, content_type=self.content_type, headers=self.headers))


@dataclass(frozen=True, slots=True)
class Huge:
    """An answer of this many bytes, valid JSON, sent without being held in memory.

    Attributes:
        size: The length of the body in bytes.
        declared: Whether the head names the length; else the body is chunked.
    """

    size: int = 50_000_000
    declared: bool = True

    async def apply(self, passage: Passage) -> None:
        await passage.body()
        length = ("Content-Length", str(self.size)) if self.declared else ("Transfer-Encoding", "chunked")
        await passage.send(answer_head(200, [("Content-Type", "application/json"), length]))
        framed = (lambda piece: piece) if self.declared else chunk
        before, after = b'{"padding":"', b'"}'
        await passage.send(framed(before))
        left = self.size - len(before) - len(after)
        while left > 0:
            await passage.send(framed(b"x" * min(PIECE, left)))
            left -= PIECE
        await passage.send(framed(after) + (b"" if self.declared else chunk(b"")))


@dataclass(frozen=True, slots=True)
class Endless:
    """An answer that never ends; it stops when the client leaves or the peer closes."""

    content_type: str = "application/json"

    async def apply(self, passage: Passage) -> None:
        await passage.body()
        headers = [("Content-Type", self.content_type), ("Transfer-Encoding", "chunked")]
        await passage.send(answer_head(200, headers) + chunk(b'{"padding":"'))
        while True:
            await passage.send(chunk(b"x" * PIECE))


@dataclass(frozen=True, slots=True)
class Note:
    """Calls a function when the request comes, then goes on; for tests that act at an exact moment.

    Attributes:
        call: What to call; it must not block.
        then: What happens afterwards.
    """

    call: _Callback
    then: Step = field(default_factory=Pass)

    async def apply(self, passage: Passage) -> None:
        self.call(passage.head)
        await self.then.apply(passage)


class _Callback(Protocol):
    def __call__(self, head: Head, /) -> object: ...


def times(count: int, step: Step) -> Sequence[Step]:
    """The same step this many times in a row."""
    return (step,) * count


def html_502(*, commits: bool = False) -> Answer:
    """What a proxy in front of the service says when it cannot reach it."""
    page = b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>"
    return Answer(502, page, content_type="text/html; charset=utf-8", commits=commits)


def failing(code: str = "upstream_unavailable", status: int = 503, *, commits: bool = False, **over: object) -> Answer:
    """A Problem of the service, a 503 unless told otherwise."""
    return _answer_of(problem(code, status=status, **over), commits=commits)


def too_many(
    seconds: int | None = 20, code: str = "rate_limited", *, member: bool = True, header: str | None = ""
) -> Answer:
    """A 429.

    Args:
        seconds: The wait it asks for; ``None`` for a Problem and a head that name none.
        code: ``rate_limited`` or ``quota_exceeded``.
        member: Whether the Problem has ``retry_after_s``.
        header: The text of ``Retry-After``; empty for ``seconds``, ``None`` for no header.
    """
    over: dict[str, object] = {"retry_after_s": seconds} if member and seconds is not None else {}
    headers: list[tuple[str, str]] = []
    if header is not None and (header or seconds is not None):
        headers.append(("Retry-After", header or str(seconds)))
    return _answer_of(problem(code, status=429, **over), headers=headers)


def deep_json(depth: int = 100_000) -> Answer:
    """A success whose body nests deeper than any reader should follow."""
    return Answer(200, b'{"events":' + b"[" * depth + b"]" * depth + b"}")


def _answer_of(value: Problem, *, commits: bool = False, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    body = dumps(dict(value.raw)).encode()
    return Answer(value.status or 500, body, content_type=PROBLEM_TYPE, headers=tuple(headers), commits=commits)
