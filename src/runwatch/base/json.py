"""JSON that preserves exact values.

A number that a float would change (``0.10``, ``1e400``, twenty digits of money) keeps its own digits, and output is
ASCII without control bytes, safe for any terminal or pipe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isfinite
from typing import Any, Final


class ExactNumber(float):
    """A float that remembers its digits."""

    literal: str

    def __new__(cls, literal: str) -> ExactNumber:
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __reduce__(self) -> tuple[type[ExactNumber], tuple[str]]:
        """Keep the digits over pickling and copying."""
        return (ExactNumber, (self.literal,))


def _float(literal: str) -> float:
    number = float(literal)
    return number if repr(number) == literal else ExactNumber(literal)


def _int(literal: str) -> int | ExactNumber:
    # Python refuses to convert more than 4,300 digits; such a number keeps its digits as a literal.
    return int(literal) if len(literal) < 4000 else ExactNumber(literal)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class DuplicateMemberError(ValueError):
    """An object has two members of the same name, and readers would disagree on which counts."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise DuplicateMemberError("an object has two members of the same name")
    return members


class ExactDecoder(json.JSONDecoder):
    """Decodes to exact values: numbers keep their digits, NaN and Infinity are refused.

    The standard decoder refuses integers of more than 4,300 digits, because converting them takes quadratic time.
    Searching for them first would cost twice the decoding, so only a refused text is decoded again with such integers
    as literals.

    Args:
        is_strict: Refuse an object that has two members of the same name; otherwise the last one counts.
    """

    def __init__(self, *, is_strict: bool = False) -> None:
        hook = _unique if is_strict else None
        super().__init__(parse_float=_float, parse_constant=_constant, object_pairs_hook=hook)
        self._patient: Final = json.JSONDecoder(
            parse_float=_float, parse_int=_int, parse_constant=_constant, object_pairs_hook=hook
        )

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """Decode the value that starts exactly at ``idx`` and return it with the position after it.

        Raises:
            ValueError: There is no JSON value, or it is nested deeper than the interpreter's recursion limit.
        """
        try:
            try:
                return super().raw_decode(s, idx)
            except (json.JSONDecodeError, DuplicateMemberError):
                raise
            except ValueError:
                return self._patient.raw_decode(s, idx)
        except RecursionError:
            raise ValueError("nested too deeply") from None


DECODER: Final = ExactDecoder()
"""The decoder for reading; it keeps no state between calls."""

_STRICT_DECODER: Final = ExactDecoder(is_strict=True)

_SPACE: Final = re.compile(r"[ \t\n\r]*")


def loads(body: bytes | str) -> Any:
    """Decode one JSON value, exactly.

    Raises:
        ValueError: It is not UTF-8, not JSON, holds NaN or Infinity, or is nested deeper than the recursion limit.
    """
    return _load(DECODER, body)


def loads_strict(body: bytes | str) -> Any:
    """Decode one JSON value that decides something, exactly.

    Raises:
        DuplicateMemberError: An object has two members of the same name.
        ValueError: As for :func:`loads`.
    """
    return _load(_STRICT_DECODER, body)


def _load(decoder: ExactDecoder, body: bytes | str) -> Any:
    text = body.decode("utf-8") if isinstance(body, bytes) else body
    value, end = decoder.raw_decode(text, _space(text, 0))
    if _space(text, end) != len(text):
        raise ValueError(f"more text after the value, at character {end}")
    return value


def _space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    assert match is not None
    return match.end()


def dumps(value: Any, *, indent: int | None = None, readable: bool = False) -> str:
    """Encode a value as ASCII JSON with exact digits, compact unless indented.

    Args:
        indent: Spaces a level; ``None`` for one compact line.
        readable: Keep non-ASCII characters, for text that is cleaned before the user sees it.

    Raises:
        TypeError: A part of the value has no JSON form.
        ValueError: A plain float is infinite or not a number, or the value is nested too deeply.
    """
    try:
        if readable:
            return _encode(value, encode_basestring, indent, 0)
        # A delete character can be in strings only, and none of their escapes begins with it.
        return _encode(value, encode_basestring_ascii, indent, 0).replace("\x7f", "\\u007f")
    except RecursionError:
        raise ValueError("nested too deeply") from None


def encode_body(value: Any) -> bytes:
    """Encode a request body: compact UTF-8, member order and digits as given, the same bytes for the same value.

    Raises:
        ValueError: A text holds a lone surrogate, a number is not finite, or the value is nested too deeply.
    """
    return dumps(value, readable=True).encode("utf-8")


def _encode(value: Any, quote: Callable[[str], str], indent: int | None, depth: int) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        colon = ":" if indent is None else ": "
        members = [
            # Most members are texts: a call less for each.
            f"{quote(str(name))}{colon}{quote(item) if type(item) is str else _encode(item, quote, indent, depth + 1)}"
            for name, item in value.items()
        ]
        return _enclose("{", members, "}", indent, depth)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, ExactNumber):
        return value.literal
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{value} is not JSON")
        return float.__repr__(value)
    if isinstance(value, (list, tuple)):
        return _enclose("[", [_encode(item, quote, indent, depth + 1) for item in value], "]", indent, depth)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _enclose(opening: str, items: list[str], closing: str, indent: int | None, depth: int) -> str:
    if indent is None or not items:
        return f"{opening}{','.join(items)}{closing}"
    line = "\n" + " " * (indent * depth)
    inner = line + " " * indent
    return f"{opening}{inner}{f',{inner}'.join(items)}{line}{closing}"
