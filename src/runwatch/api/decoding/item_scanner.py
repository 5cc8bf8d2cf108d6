"""Scanner that decodes many list items at once and cuts their text apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from json.scanner import make_scanner
from typing import Any, Final, cast

from runwatch.base.json import DECODER

Chunk = tuple[list[str], list[Any]]
"""Exact texts and values of items, in two lists of the same length."""

# The cast works around a type description that accepts only its own kind of context.
_scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(cast(Any, DECODER))
HEAD: Final = re.compile(r'\{"\w+":( ?)', re.ASCII)
"""Start of an object up to its first value, in compact JSON and in JSON with a space after colon and comma."""


class UnreadableBodyError(ValueError):
    """A body is not what was expected; the text says how, as part of a sentence."""


class MixedItemsError(Exception):
    """Items begin in different ways, so the ends of the items are ambiguous."""


def scan_chunk(text: str, start: int, stop: int) -> tuple[Chunk, int] | None:
    """Scan the complete items between ``start`` and ``stop`` except the last in one go; also return where the last
    starts.

    Items scanned together share the names of their members, which takes a fifth less time and two thirds of the memory.
    The scanner does not report where an item ends, so the text is cut wherever an object follows another and begins
    with the same name as the first. A JSON string cannot contain such a cut, because its quotation mark would end it
    before a word; and because the cuts end before the first list inside an item, they separate items. So the cuts are
    right if there are as many pieces as items.

    Returns:
        ``None`` where the items must be scanned one by one: they are not objects, hold lists, are broken or large, or
        are not in a usual JSON layout.

    Raises:
        MixedItemsError: The cuts are wrong.
    """
    head = HEAD.match(text, start)
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
        raise MixedItemsError
    return (texts, values), end + len(between) - len(begin)
