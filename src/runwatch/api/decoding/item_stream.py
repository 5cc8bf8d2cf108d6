"""Stream of the items of a list response, read while its text arrives in pieces.

The whole text of a very long response is never in memory: joining sixty megabytes takes longer than a screen may
freeze, and text with one character outside Latin-1 takes two to four times the memory of its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from json import JSONDecodeError
from typing import Any, Final

from runwatch.base.json import DECODER

Chunk = tuple[list[str], list[Any]]
"""Exact texts and values of items, in two lists of the same length."""

_HEAD: Final = re.compile(r'\{"\w+":( ?)', re.ASCII)
"""Start of an object up to its first value, in compact JSON and in JSON with a space after colon and comma."""


class UnreadableBodyError(ValueError):
    """A body is not what was expected; the text says how, as part of a sentence."""


WINDOW: Final = 1 << 16
"""Characters of items read in one go; about a millisecond."""

CANDIDATES: Final = 4
"""Places to try to cut a window before its items are read one by one."""

ONE_BY_ONE: Final = 64
"""Items handed out together where each is read by itself."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")


class ItemStream:
    """Reads a list response item by item from the pieces of its text.

    Args:
        pieces: The response's text.
        with_texts: Whether to return each item's exact text. Items are read many at a time and share the names of their
            members, which takes half the memory; with texts, only before one that holds a list.

    Attributes:
        members: The response's other members, complete when the iteration is.
    """

    def __init__(self, pieces: Iterator[str], member: str, *, with_texts: bool) -> None:
        self.members: dict[str, Any] = {}
        self._pieces = pieces
        self._member = member
        self._with_texts = with_texts
        self._text = ""
        self._at = 0
        self._passed = 0
        self._are_alike = True

    def chunks(self) -> Iterator[Chunk]:
        """Yield the items in short lists, with their texts or as many empty ones.

        Raises:
            ValueError: The text is not a valid list response.
        """
        if self._skip("["):
            yield from self._array()
        elif self._skip("{"):
            yield from self._object()
        else:
            self._value()
            raise UnreadableBodyError("the response is JSON but neither an object nor a list")
        if self._next():
            raise UnreadableBodyError(f"the JSON is followed by more, at character {self._position}")

    def _object(self) -> Generator[Chunk, None, None]:
        has_items = False
        is_open = not self._skip("}")
        while is_open:
            name, _ = self._value()
            if not isinstance(name, str) or not self._skip(":"):
                raise self._broken()
            if name != self._member:
                self.members[name], _ = self._value()
            elif has_items:
                raise UnreadableBodyError(f"the response has its member {name!r} twice")
            elif not self._skip("["):
                raise UnreadableBodyError(f"the response's member {name!r} is not a list")
            else:
                has_items = True
                yield from self._array()
            is_open = self._go_on("}")
        if not has_items:
            raise UnreadableBodyError(f"the response has no member {self._member!r}")

    def _array(self) -> Generator[Chunk, None, None]:
        is_open = not self._skip("]")
        while is_open:
            chunk = self._window()
            if chunk is not None:
                yield chunk
                continue
            texts: list[str] = []
            values: list[Any] = []
            while is_open and len(values) < ONE_BY_ONE:
                value, text = self._value()
                values.append(value)
                texts.append(text if self._with_texts else "")
                is_open = self._go_on("]")
            yield texts, values

    def _window(self) -> Chunk | None:
        """Read all items but the last that begin in the next :data:`WINDOW` characters.

        Text that begins like the first item, after a closed object, is taken for an item. That is right if everything
        before it parses as a list, because then no object, list or string is open at that place.

        The exact texts are cut at the same places, before the first list inside an item, so that nothing but an item
        begins there. They are right if there are as many as items; else the items begin in different ways, and this
        way is tried no more.

        Returns:
            ``None`` where the items must be read one by one: they are not objects, or have another layout.
        """
        if not self._are_alike:
            return None
        self._next()
        self._fill(WINDOW)
        head = _HEAD.match(self._text, self._at)
        if head is None:
            return None
        between = f"}},{head[1]}{head[0]}"
        end = self._at + WINDOW
        if self._with_texts and (bracket := self._text.find("[", head.end(), end)) >= 0:
            end = bracket
        for _ in range(CANDIDATES):
            end = self._text.rfind(between, head.end(), end)
            if end < 0:
                return None
            items = self._text[self._at : end + 1]
            try:
                values, scanned = DECODER.raw_decode(f"[{items}]")
            except ValueError:
                continue
            if scanned != len(items) + 2:
                continue
            texts = [""] * len(values)
            if self._with_texts:
                texts = [f"{head[0]}{piece}}}" for piece in items[len(head[0]) : -1].split(between)]
                self._are_alike = len(texts) == len(values)
                if not self._are_alike:
                    return None
            self._at = end + 2
            return texts, values
        return None

    def _value(self) -> tuple[Any, str]:
        """Read the next value and its text, across pieces."""
        self._next()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except ValueError as error:
                if self._fill_more():
                    continue
                if isinstance(error, JSONDecodeError):
                    raise UnreadableBodyError(f"the JSON is broken at character {self._passed + error.pos}") from None
                raise
            # A number at the end of the text may continue in the next piece.
            if end < len(self._text) or not self._fill_more():
                text = self._text[self._at : end]
                self._at = end
                return value, text

    def _go_on(self, closing: str) -> bool:
        """Skip the comma before another value or the closing bracket; return whether it was the comma."""
        if self._skip(","):
            return True
        if self._skip(closing):
            return False
        raise self._broken()

    def _skip(self, sign: str) -> bool:
        """Skip ``sign`` and the space before it if it comes next; return whether it did."""
        is_there = self._next() == sign
        self._at += is_there
        return is_there

    def _next(self) -> str:
        """Skip space and return the character after it; an empty text at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill(1):
                return ""

    def _fill_more(self) -> bool:
        """Double the text ahead, so that a long value is not parsed again with every piece."""
        return self._fill(2 * (len(self._text) - self._at) + 1)

    def _fill(self, length: int) -> bool:
        """Buffer ``length`` characters ahead, or all there are; return whether any came."""
        ahead = len(self._text) - self._at
        came: list[str] = []
        while ahead < length and (piece := next(self._pieces, None)) is not None:
            came.append(piece)
            ahead += len(piece)
        if came:
            self._text = "".join((self._text[self._at :], *came))
            self._passed += self._at
            self._at = 0
        return bool(came)

    @property
    def _position(self) -> int:
        return self._passed + self._at

    def _broken(self) -> UnreadableBodyError:
        return UnreadableBodyError(f"the JSON is broken at character {self._position}")
