"""The items of a list answer, each with its own text, in chunks that never hold anybody up."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from json.scanner import make_scanner
from typing import Any, Final, cast

from runwatch.base.json import DECODER

CHUNK: Final = 256
"""Items that are read at a time where each is scanned by itself; a chunk takes less than a millisecond."""

Chunk = tuple[list[str], list[Any]]
"""Exact texts and values of items, in two lists of the same length."""

# The cast stands for a description of this function that knows only its own kind as its context.
_scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(cast(Any, DECODER))
_SPACE: Final = re.compile(r"[ \t\n\r]*")

_WINDOW: Final = 1 << 15
"""Characters that are scanned in one go; they take a fraction of a millisecond."""

_HEAD: Final = re.compile(r'\{"\w+":( ?)', re.ASCII)
"""How an object begins, up to its first value, in compact JSON and in JSON with a space behind colon and comma."""


class Unreadable(ValueError):
    """A body is not what was asked; the text says how, as part of a sentence."""


class UnlikeItems(Exception):
    """Items begin in different ways, so that it cannot be told where one ends and the next begins."""


def scan_together(text: str, start: int, stop: int) -> tuple[Chunk, int] | None:
    """The items from ``start`` on that end before ``stop``, but for the last, scanned in one go; and where that starts.

    Items that are scanned together share the names of their members: it takes a fifth less time, and they take two
    thirds of the memory (ours, measured). The scanner does not say where one ends, so the text is cut wherever an
    object follows another and begins with the same name as the first. In JSON no text reaches over such a cut, because
    its quotation mark would end it in front of a word; and as the cuts end before a list inside of an item begins, what
    they separate are items. So they are right where there are as many pieces as items.

    Returns:
        ``None`` where the items have to be scanned one by one: they are no objects, hold lists, are broken or large, or
        are not written as programs write JSON.

    Raises:
        UnlikeItems: the cuts are not right.
    """
    head = _HEAD.match(text, start)
    if head is None:
        return None
    begin = head[0]
    between = f"}},{head[1]}{begin}"
    bracket = text.find("[", head.end(), stop)
    end = text.rfind(between, head.end(), stop if bracket < 0 else bracket)
    if end < 0:
        return None
    inner = text[head.end() : end]
    joined = f"[{begin}{inner}}}]"
    try:
        values, scanned = _scan(joined, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    texts = [f"{begin}{piece}}}" for piece in inner.split(between)]
    if scanned != len(joined) or len(values) != len(texts):
        raise UnlikeItems
    return (texts, values), end + len(between) - len(begin)


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
        self._are_alike = True

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
            window = self._window(at) if self._are_alike else None
            if window is not None:
                chunk, at = window
                yield chunk
                continue
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

    def _window(self, at: int) -> tuple[Chunk, int] | None:
        try:
            return scan_together(self._text, at, at + _WINDOW)
        except UnlikeItems:
            # What begins in different ways once does so again.
            self._are_alike = False
            return None

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
