"""Lists of stored texts without pages (manual: interface, "Paging"), of any length.

Such a list is read and sent in parts: the event loop holds only one part at a time, a slow caller holds no thread and
no transaction, and nothing is read ahead of the caller.

Every part is its own transaction. The list is still consistent as long as rows never change and new ones are added only
at one of its ends, which is so for receipts and events.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Final

from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.transaction import Row, Transaction

PART_ROWS: Final = 500
"""Rows per part; a list of fewer is sent whole, with its length."""

SHORT_BYTES: Final = 65_536
"""Bodies in parts up to this size are sent whole, with their length."""

ReadPart = Callable[[Transaction, int | None], Sequence[Row]]
"""Reads the next rows of a list, at most :data:`PART_ROWS`: those after the row with this sequence number, or the first
ones for ``None``.
"""


async def stream_texts(call: ServiceCall, member: str, read_part: ReadPart) -> ServiceResponse:
    """Build an object with one member, the list of the stored texts (``body``) of all rows.

    Errors from reading the first part are raised here. A later part that cannot be read cuts the response short, which
    the caller notices by the missing end.
    """
    texts, edge = await call.read(partial(_read, read_part, None))
    begun = b'{"%s":[%s' % (member.encode("ascii"), texts)
    if edge is None:
        return ServiceResponse(200, begun + b"]}")
    return ServiceResponse(200, begun, further_parts=_further_parts(call, read_part, edge))


async def stream_parts(begun: bytes, parts: AsyncGenerator[bytes, None]) -> ServiceResponse:
    """Build a body from its start and further parts; a short one is sent whole.

    Errors from making the first parts are raised here; a later part that fails cuts the response short.
    """
    async for part in parts:
        begun += part
        if len(begun) > SHORT_BYTES:
            return ServiceResponse(200, begun, further_parts=parts)
    return ServiceResponse(200, begun)


async def _further_parts(call: ServiceCall, read_part: ReadPart, edge: int | None) -> AsyncGenerator[bytes, None]:
    while edge is not None:
        texts, edge = await call.read(partial(_read, read_part, edge))
        if texts:
            yield b"," + texts
    yield b"]}"


def _read(read_part: ReadPart, edge: int | None, transaction: Transaction) -> tuple[bytes, int | None]:
    """Return the texts of some rows joined by commas, and the sequence number after which there may be more."""
    rows = read_part(transaction, edge)
    texts = ",".join(row["body"] for row in rows).encode("ascii")
    return texts, rows[-1]["sequence"] if len(rows) == PART_ROWS else None
