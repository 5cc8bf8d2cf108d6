"""Just enough HTTP/1.1 to sit between a client and a service, or to play a service, without a framework's help.

A framework would repair, refuse or re-word what the tests want to see byte for byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote

HEAD_LIMIT: Final = 1 << 20
"""The longest head in bytes; hostile header values fit in."""

REASONS: Final = {200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 302: "Found", 429: "Too Many Requests"}


class Malformed(Exception):
    """The peer sent something that is no HTTP/1.1 message."""


@dataclass(frozen=True, slots=True)
class Head:
    """The start line and the header lines of a message.

    Attributes:
        start: The three parts of the start line.
        headers: Names in lower case with their values, in order, repeated ones repeated.
        raw: The bytes, with the empty line.
    """

    start: tuple[str, str, str]
    headers: tuple[tuple[str, str], ...]
    raw: bytes = field(repr=False)

    def header(self, name: str) -> str | None:
        """The first value of a header, or ``None``."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    @property
    def method(self) -> str:
        return self.start[0]

    @property
    def path(self) -> str:
        """The path of a request as on the wire, without the query."""
        return self.start[1].partition("?")[0]

    @property
    def segments(self) -> list[str]:
        """The path's segments, percent-decoded."""
        return [unquote(part, errors="surrogateescape") for part in self.path.strip("/").split("/")]

    @property
    def query(self) -> dict[str, str]:
        """The decoded query; of a repeated name the last value."""
        return dict(parse_qsl(self.start[1].partition("?")[2], keep_blank_values=True))

    @property
    def status(self) -> int:
        return int(self.start[1])

    def replace(self, **headers: str | None) -> bytes:
        """The head's bytes with these headers (``_`` for ``-``) replaced, or left out where the value is ``None``."""
        changed = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        lines = self.raw.rstrip(b"\r\n").split(b"\r\n")
        kept = [line for line in lines[1:] if line.partition(b":")[0].strip().lower().decode("latin-1") not in changed]
        added = [f"{name}: {value}".encode("latin-1") for name, value in changed.items() if value is not None]
        return b"\r\n".join([lines[0], *kept, *added]) + b"\r\n\r\n"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Read one head; ``None`` when the peer closed before its first byte.

    Raises:
        Malformed: the bytes are no head, or stop in the middle of one.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise Malformed(f"the head stops after {len(error.partial)} bytes") from None
    except asyncio.LimitOverrunError:
        raise Malformed(f"the head is longer than {HEAD_LIMIT} bytes") from None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    parts = first.split(" ", 2)
    if len(parts) < 2:
        raise Malformed(f"no start line: {first[:80]!r}")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise Malformed(f"no header line: {line[:80]!r}")
        headers.append((name.strip().lower(), value.strip()))
    return Head((parts[0], parts[1], parts[2] if len(parts) > 2 else ""), tuple(headers), raw)


async def read_body(reader: asyncio.StreamReader, head: Head, *, until_closed: bool = False) -> bytes:
    """Read the body that belongs to a head, as on the wire: chunks keep their framing.

    Args:
        reader: Where the head was read from.
        head: The head.
        until_closed: Whether a body without a length goes on until the peer closes, as an answer's does.

    Raises:
        Malformed: the body stops early or its chunks are none.
    """
    try:
        if (head.header("transfer-encoding") or "").lower() == "chunked":
            return await _read_chunks(reader)
        length = head.header("content-length")
        if length is not None:
            return await reader.readexactly(int(length))
        return await reader.read(-1) if until_closed else b""
    except asyncio.IncompleteReadError as error:
        raise Malformed(f"the body stops after {len(error.partial)} bytes") from None
    except ValueError:
        raise Malformed("the body's length is no number") from None


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while True:
        line = await reader.readuntil(b"\r\n")
        parts.append(line)
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            break
        parts.append(await reader.readexactly(size + 2))
    while parts[-1] != b"\r\n":
        parts.append(await reader.readuntil(b"\r\n"))
    return b"".join(parts)


def unchunked(wire: bytes) -> bytes:
    """The content of a chunked body."""
    content: list[bytes] = []
    rest = wire
    while True:
        line, _, rest = rest.partition(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            return b"".join(content)
        content.append(rest[:size])
        rest = rest[size + 2 :]


def chunk(content: bytes) -> bytes:
    """One chunk of a chunked body; the empty one ends it."""
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def answer_head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def answer_bytes(
    status: int,
    body: bytes = b"",
    *,
    content_type: str | None = "application/json",
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    fixed = [] if content_type is None else [("Content-Type", content_type)]
    return answer_head(status, [*fixed, ("Content-Length", str(len(body))), *headers]) + body
