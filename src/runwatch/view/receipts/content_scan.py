"""Whether a record that must hold neither prompt nor output holds a member that looks like either.

Receipts are content-free (wire reference 2.12 and 3.4). That is the service's promise, and a reviewer wants to see it
kept: a member whose name speaks of content and whose value is a text that could be some, or any text of great length,
is pointed out. The rules are ours; they look at names and lengths and never judge what a text says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.view.text import json_paths

NAMES: Final = frozenset(
    {
        "answer", "body", "candidate", "chat", "completion", "content", "contents", "conversation", "document",
        "input", "inputs", "message", "messages", "objective", "output", "outputs", "prompt", "prompts",
        "question", "response", "responses", "text", "transcript",
    }
)  # fmt: skip
"""Words with which a member's name speaks of content."""

LONG_CHARACTERS: Final = 200
"""Characters from which on one word below such a name could be content; ids, digests and addresses are shorter."""

VERY_LONG_CHARACTERS: Final = 1000
"""Characters from which on any text could be; what a receipt tells, digests and addresses included, is shorter."""

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PHRASE: Final = re.compile(r"\S\s+\S+\s+\S")


@dataclass(frozen=True, slots=True)
class ContentSuspect:
    """A member that looks like content.

    Attributes:
        path: Where it stands, spelled with dots and brackets.
        length: How many characters its text has.
    """

    path: str
    length: int


def find_content(raw: Mapping[str, Any]) -> Iterator[ContentSuspect]:
    """The members of a decoded record that look like a prompt or an output, in order.

    A text counts when it is very long; or when a name on the way to it speaks of content and it has several lines, is
    a phrase of three words and more, or is long. Numbers and switches never do: ``output_tokens`` and
    ``output_present`` are facts about content. What is nested deeper than
    :data:`runwatch.view.text.json_paths.MAX_DEPTH` is looked at as a whole.
    """
    for path, value in json_paths.iter_leaves(raw, lists=True):
        names = [part for part in path if isinstance(part, str)]
        speaks = any(_speaks_of_content(name) for name in names)
        length = max((len(text) for text in _texts(value) if _could_be(text, speaks=speaks)), default=0)
        if length:
            yield ContentSuspect(json_paths.format_path(path), length)


def _speaks_of_content(name: str) -> bool:
    return any(word.lower() in NAMES for word in _WORDS.findall(name))


def _could_be(text: str, *, speaks: bool) -> bool:
    if len(text) >= VERY_LONG_CHARACTERS:
        return True
    return speaks and (len(text) >= LONG_CHARACTERS or "\n" in text or _PHRASE.search(text) is not None)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value that was not taken apart."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
