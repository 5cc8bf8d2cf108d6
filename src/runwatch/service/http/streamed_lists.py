"""Lists of stored texts that have no pages on the wire (wire reference 1.7), however long they are.

Such a list is read and sent a part at a time: the event loop never holds more of it than a part, a caller that takes
it slowly holds no thread and no transaction, and nothing is read that nobody takes.

Every part is a transaction of its own. That makes no difference to the list, as long as its rows never change and new
ones come only at the end that the list begins with or ends at, which is so for receipts and events.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from runwatch.service.http.endpoints import AuthenticatedRequest
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.transaction import Row, Transaction

PART_ROWS: Final = 500
"""How many rows a part has; a list of fewer is sent whole, with its length."""

SHORT_BYTES: Final = 65_536
"""A body made in parts that is no longer is sent whole, with its length."""

ReadPart = Callable[[Transaction, int | None], Sequence[Row]]
"""Reads the next rows of a list, :data:`PART_ROWS` at most: those behind the row with this sequence number, or the
first ones for ``None``."""


async def stream_texts(call: AuthenticatedRequest, member: str, read_part: ReadPart) -> ServiceResponse:
    """An object with one member, the list of the stored texts (``body``) of all rows.

    What the first part's reading raises is raised here. A later part that cannot be read cuts the answer short, which
    the caller notices: the end of the body is missing.
    """
    part = await call.read(partial(_read, read_part, None))
    begun = b'{"%s":[%s' % (member.encode("ascii"), part.texts)
    if part.edge is None:
        return ServiceResponse(200, begun + b"]}")
    return ServiceResponse(200, begun, rest=_rest(call, read_part, part.edge))


async def stream_parts(begun: bytes, parts: AsyncGenerator[bytes, None]) -> ServiceResponse:
    """A body that begins with these bytes and goes on with these parts, whole where it is short.

    What making its first parts raises is raised here; a later one that cannot be made cuts the answer short.
    """
    async for part in parts:
        begun += part
        if len(begun) > SHORT_BYTES:
            return ServiceResponse(200, begun, rest=parts)
    return ServiceResponse(200, begun)


async def _rest(call: AuthenticatedRequest, read_part: ReadPart, edge: int | None) -> AsyncGenerator[bytes, None]:
    while edge is not None:
        part = await call.read(partial(_read, read_part, edge))
        if part.texts:
            yield b"," + part.texts
        edge = part.edge
    yield b"]}"


class _Part(NamedTuple):
    """The texts of some rows, with commas between them, and the sequence number behind which there may be more."""

    texts: bytes
    edge: int | None


def _read(read_part: ReadPart, edge: int | None, transaction: Transaction) -> _Part:
    rows = read_part(transaction, edge)
    texts = ",".join(row["body"] for row in rows).encode("ascii")
    return _Part(texts, rows[-1]["sequence"] if len(rows) == PART_ROWS else None)
