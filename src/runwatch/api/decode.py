"""Bodies to records, with exact values; pages item by item, so that events keep their text and big ones can pause.

What cannot be read raises :class:`Unreadable`, whatever the body is: HTML, cut JSON, another shape, NaN, a thousand
levels. A byte order mark is passed over. An item that is no object spoils nothing: the page keeps and counts it.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Callable, Generator, Iterator
from json.scanner import make_scanner
from typing import Any, Final, TypeVar, cast

from runwatch.base.clock import Clock
from runwatch.base.json import DECODER, dumps, loads
from runwatch.records.event import RunEvent
from runwatch.records.record import Page, Record, Wire

R = TypeVar("R", bound=Record)

BIG: Final = 2_000_000
"""Bodies of more bytes than this are decoded in slices (DESIGN, Events)."""

SLICE_S: Final = 0.010
"""How long a slice of decoding holds the event loop."""

_PIECE: Final = 1 << 18

CHUNK: Final = 256
"""Items that are read at a time; a chunk takes less than a millisecond."""

Chunk = tuple[list[str], list[Any]]
"""Exact texts and values of items, in two lists of the same length."""

# The cast stands for a description of this function that knows only its own kind as its context.
_scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(cast(Any, DECODER))
_SPACE: Final = re.compile(r"[ \t\n\r]*")


class Unreadable(ValueError):
    """A body is not what was asked; the text says how, as part of a sentence."""


def decode_value(body: bytes) -> Any:
    """One JSON value, exactly.

    Raises:
        Unreadable: the body is no JSON in UTF-8.
    """
    if not body:
        raise Unreadable("the answer has no body")
    try:
        return loads(body.decode("utf-8-sig"))
    except ValueError as error:
        raise _unreadable(error) from None


def decode_record(body: bytes, record: type[R]) -> R:
    """One record.

    Raises:
        Unreadable: the body is no JSON object.
    """
    value = decode_value(body)
    if not isinstance(value, dict):
        raise Unreadable("the answer is JSON but no object")
    return record(value)


def decode_page(body: bytes, record: type[R]) -> Page[R]:
    """One page of a list.

    The items stand in the member that the record declares; a bare list is accepted too (DESIGN, Tail).

    Raises:
        Unreadable: the body is no JSON, or has no such member.
    """
    try:
        text = body.decode("utf-8-sig")
        reader = ItemReader(text, _wire(record).items)
        page = _PageMaker(record)
        for texts, values in reader.chunks():
            page.add(texts, values)
    except ValueError as error:
        raise _unreadable(error) from None
    return page.finish(reader)


async def decode_page_sliced(body: bytes, record: type[R], clock: Clock) -> Page[R]:
    """As :func:`decode_page`, giving the event loop a turn after every :data:`SLICE_S` of work.

    A thread would not help: decoding holds the interpreter, and a page of 26 MB froze the loop for 1.4 s (DESIGN).

    Raises:
        Unreadable: the body is no JSON, or has no such member.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    pieces: list[str] = []
    page = _PageMaker(record)
    pause_at = clock.monotonic() + SLICE_S
    try:
        for start in range(0, len(body), _PIECE):
            pieces.append(decoder.decode(body[start : start + _PIECE]))
            if clock.monotonic() >= pause_at:
                await asyncio.sleep(0)
                pause_at = clock.monotonic() + SLICE_S
        pieces.append(decoder.decode(b"", final=True))
        reader = ItemReader("".join(pieces), _wire(record).items)
        pieces.clear()
        for texts, values in reader.chunks():
            page.add(texts, values)
            if clock.monotonic() >= pause_at:
                await asyncio.sleep(0)
                pause_at = clock.monotonic() + SLICE_S
    except ValueError as error:
        raise _unreadable(error) from None
    return page.finish(reader)


def iterate_items(text: str, member: str) -> Iterator[tuple[str, Any]]:
    """Each item of ``{member: [...]}`` or of a bare list, as its exact text and its value.

    Raises:
        ValueError: while iterating, where the text stops being such JSON.
    """
    return iter(ItemReader(text, member))


class ItemReader:
    """Reads a list answer item by item.

    Args:
        text: The whole answer.
        member: The member that holds the items.

    Attributes:
        members: The answer's other members, complete when the iteration is.
        is_bare: Whether the answer is a list without an object around it.
    """

    def __init__(self, text: str, member: str) -> None:
        self.members: dict[str, Any] = {}
        self.is_bare = False
        self._text = text
        self._member = member

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Each item's exact text and value.

        Raises:
            ValueError: where the text stops being a list answer.
        """
        for texts, values in self.chunks():
            yield from zip(texts, values, strict=True)

    def chunks(self) -> Iterator[Chunk]:
        """The items in lists of up to :data:`CHUNK`, because handing them out one by one takes as long as scanning.

        Raises:
            ValueError: where the text stops being a list answer.
        """
        text = self._text
        start = self._skip(0)
        self.is_bare = text.startswith("[", start)
        if self.is_bare:
            end = yield from self._array(start)
        elif text.startswith("{", start):
            end = yield from self._object(start)
        else:
            DECODER.raw_decode(text, start)
            raise Unreadable("the answer is JSON but neither an object nor a list")
        if self._skip(end) != len(text):
            raise Unreadable(f"the JSON is followed by more, at character {end}")

    def _object(self, at: int) -> Generator[Chunk, None, int]:
        text = self._text
        has_items = False
        at = self._skip(at + 1)
        is_open = not text.startswith("}", at)
        while is_open:
            name, at = DECODER.raw_decode(text, at)
            at = self._skip(at)
            if not isinstance(name, str) or not text.startswith(":", at):
                raise Unreadable(f"the JSON is broken at character {at}")
            at = self._skip(at + 1)
            if name == self._member:
                if has_items:
                    raise Unreadable(f"the answer has its member {name!r} twice")
                if not text.startswith("[", at):
                    raise Unreadable(f"the answer's member {name!r} is no list")
                has_items = True
                at = yield from self._array(at)
            else:
                self.members[name], at = DECODER.raw_decode(text, at)
            at, is_open = self._after(at, "}")
        if not has_items:
            raise Unreadable(f"the answer has no member {self._member!r}")
        return at + 1

    def _array(self, at: int) -> Generator[Chunk, None, int]:
        text = self._text
        at = self._skip(at + 1)
        is_open = not text.startswith("]", at)
        while is_open:
            texts: list[str] = []
            values: list[Any] = []
            for _ in range(CHUNK):
                try:
                    # The bare scanner takes two thirds of the time of a decoder around it.
                    value, end = _scan(text, at)
                except (StopIteration, ValueError, RecursionError):
                    value, end = DECODER.raw_decode(text, at)
                texts.append(text[at:end])
                values.append(value)
                # What compact JSON has between two objects, without a search for white space.
                if text[end : end + 2] == ",{":
                    at = end + 1
                    continue
                at, is_open = self._after(end, "]")
                if not is_open:
                    break
            yield texts, values
        return at + 1

    def _after(self, at: int, closing: str) -> tuple[int, bool]:
        """Behind a value: where the next one starts, or where the closing bracket stands, and whether one follows."""
        at = self._skip(at)
        if self._text.startswith(",", at):
            return self._skip(at + 1), True
        if self._text.startswith(closing, at):
            return at, False
        raise Unreadable(f"the JSON is broken at character {at}")

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        assert match is not None
        return match.end()


class _PageMaker:
    """Collects the items of a page and gives each that is an object its view."""

    def __init__(self, record: type[R]) -> None:
        self._wire = _wire(record)
        self._view: Callable[[Any, str], Any] = (
            record if issubclass(record, RunEvent) else lambda value, _text: record(value)
        )
        self._values: list[Any] = []
        self._records: list[Any] = []

    def add(self, texts: list[str], values: list[Any]) -> None:
        self._values.extend(values)
        if not all(type(value) is dict for value in values):
            objects = [(value, text) for value, text in zip(values, texts, strict=True) if type(value) is dict]
            values, texts = [value for value, _ in objects], [text for _, text in objects]
        self._records.extend(map(self._view, values, texts))

    def finish(self, reader: ItemReader) -> Page[Any]:
        members = reader.members
        cursor = _cursor(members.get("next_cursor"))
        if cursor is not None:
            is_end = False
        elif self._wire.paged:
            # On a paged list only an explicit null says that nothing follows.
            is_end = "next_cursor" in members and members["next_cursor"] is None
        else:
            is_end = members.get("next_cursor") is None
        extra = {name: value for name, value in members.items() if name != "next_cursor"}
        return Page(self._values, self._records, next_cursor=cursor, end_is_proven=is_end, extra=extra)


def _cursor(value: Any) -> str | None:
    """The token of the next page as it goes back in the query; an empty one leads nowhere (wire reference 1.7)."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dumps(value)
    return None


def _wire(record: type[Record]) -> Wire:
    assert record.WIRE is not None, f"{record.__name__} is no resource of its own"
    return record.WIRE


def _unreadable(error: ValueError) -> Unreadable:
    if isinstance(error, Unreadable):
        return error
    if isinstance(error, UnicodeDecodeError):
        return Unreadable(f"the answer is not UTF-8, at byte {error.start}")
    return Unreadable(f"the answer is not JSON: {error}")
