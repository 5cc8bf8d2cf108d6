"""Decoders of response bodies to records, with exact values. Pages are decoded in chunks, so that events keep their
text and large pages can yield to the event loop.

Any body that cannot be read raises :class:`~runwatch.api.decoding.item_stream.UnreadableBodyError`: HTML, cut JSON,
another shape, NaN, a thousand levels. A byte order mark is skipped. A page keeps and counts an item that is not an
object.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from runwatch.api.decoding.item_stream import ItemStream, UnreadableBodyError
from runwatch.base.clock import Clock
from runwatch.base.json import dumps, loads
from runwatch.base.memory import note_long_lived, pause_collection
from runwatch.records.event import RunEvent
from runwatch.records.record import Page, Record, RecordPacker, Wire

R = TypeVar("R", bound=Record)

SLICED_DECODE_BYTES: Final = 2_000_000
"""Bodies of more bytes are decoded in slices (manual: decisions, "Event storage")."""

SLICE_S: Final = 0.010
"""How long a slice of decoding holds the event loop."""

_PIECE: Final = 1 << 18


def decode_value(body: bytes) -> Any:
    """Decode one JSON value, exactly.

    Raises:
        UnreadableBodyError: The body is not JSON in UTF-8.
    """
    if not body:
        raise UnreadableBodyError("the response has no body")
    try:
        return loads(body.decode("utf-8-sig"))
    except ValueError as error:
        raise _unreadable(error) from None


def decode_record(body: bytes, record: type[R]) -> R:
    """Decode one record.

    Raises:
        UnreadableBodyError: The body is not a JSON object.
    """
    value = decode_value(body)
    if not isinstance(value, dict):
        raise UnreadableBodyError("the response is JSON but not an object")
    return record(value)


def decode_page(body: bytes, record: type[R], intern: Callable[[Record], Record] | None = None) -> Page[R]:
    """Decode one page of a list.

    The items are in the member that the record declares; a bare list is accepted too (manual: decisions, "Event tail").

    Args:
        intern: Returns the record to keep for a received one: the stored record if the two are equal.

    Raises:
        UnreadableBodyError: The body is not JSON, or lacks the member.
    """
    try:
        stream = _stream(iter((body.decode("utf-8-sig"),)), record)
        page = _PageMaker(record, intern)
        for texts, values in stream.chunks():
            page.add(texts, values)
    except ValueError as error:
        raise _unreadable(error) from None
    return page.finish(stream.members)


async def decode_page_sliced(
    body: bytes, record: type[R], clock: Clock, intern: Callable[[Record], Record] | None = None
) -> Page[R]:
    """Decode a page as :func:`decode_page` does, yielding to the event loop after every :data:`SLICE_S` of work.

    New records are packed if stored ones are reused, because then they are kept.

    A thread would not help, because decoding holds the interpreter lock: a page of 26 MB froze the loop for 1.4 s.

    With ``intern``, a long list that is read again never takes its memory twice.
    """
    stream = _stream(_pieces(body), record)
    page = _PageMaker(record, intern, packs=intern is not None)
    pause_at = clock.monotonic() + SLICE_S
    with pause_collection():
        try:
            for texts, values in stream.chunks():
                page.add(texts, values)
                if clock.monotonic() >= pause_at:
                    await asyncio.sleep(0)
                    pause_at = clock.monotonic() + SLICE_S
        except ValueError as error:
            raise _unreadable(error) from None
        note_long_lived(page.fresh)
    return page.finish(stream.members)


def _stream(pieces: Iterator[str], record: type[R]) -> ItemStream:
    return ItemStream(pieces, _wire(record).items, with_texts=issubclass(record, RunEvent))


def _pieces(body: bytes) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    for start in range(0, len(body), _PIECE):
        yield decoder.decode(body[start : start + _PIECE])
    yield decoder.decode(b"", final=True)


class _PageMaker:
    """Collects the items of a page and makes a record of each object.

    Attributes:
        fresh: The number of records not stored before.
    """

    def __init__(
        self, record: type[R], intern: Callable[[Record], Record] | None = None, *, packs: bool = False
    ) -> None:
        self._packs = packs
        self._packer = RecordPacker(record)
        self._wire = _wire(record)
        self._make_record: Callable[[Any, str], Any] = (
            record if issubclass(record, RunEvent) else lambda value, _text: record(value)
        )
        self._intern = intern
        self._values: list[Any] = []
        self._records: list[Any] = []
        self.fresh = 0

    def add(self, texts: list[str], values: list[Any]) -> None:
        page_values = values
        if not {dict}.issuperset(map(type, values)):
            objects = [(value, text) for value, text in zip(values, texts, strict=True) if type(value) is dict]
            values, texts = [value for value, _ in objects], [text for _, text in objects]
        received = list(map(self._make_record, values, texts))
        self.fresh += len(received)
        records = received
        if self._intern is not None:
            records = list(map(self._intern, received))
            new = [record for record, kept in zip(received, records, strict=True) if record is kept]
            self.fresh -= len(received) - len(new)
            if self._packs and new:
                self._packer.pack(new)
            left = iter(records)
            page_values = [next(left) if type(value) is dict else value for value in page_values]
        self._values.extend(page_values)
        self._records.extend(records)

    def finish(self, members: Mapping[str, Any]) -> Page[Any]:
        cursor = _cursor(members.get("next_cursor"))
        if cursor is not None:
            is_end = False
        elif self._wire.paged:
            # On a paged list only an explicit null proves the end.
            is_end = "next_cursor" in members and members["next_cursor"] is None
        else:
            is_end = members.get("next_cursor") is None
        extra = {name: value for name, value in members.items() if name != "next_cursor"}
        return Page(self._values, self._records, next_cursor=cursor, end_is_proven=is_end, extra=extra)


def _cursor(value: Any) -> str | None:
    """Return the next page's token as sent in the query; an empty one means no page (manual: interface, "Paging")."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dumps(value)
    return None


def _wire(record: type[Record]) -> Wire:
    assert record.WIRE is not None, f"{record.__name__} is no resource of its own"
    return record.WIRE


def _unreadable(error: ValueError) -> UnreadableBodyError:
    if isinstance(error, UnreadableBodyError):
        return error
    if isinstance(error, UnicodeDecodeError):
        return UnreadableBodyError(f"the response is not UTF-8, at byte {error.start}")
    return UnreadableBodyError(f"the response is not JSON: {error}")
