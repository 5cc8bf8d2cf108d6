"""Find members of a receipt that look like a prompt or an output.

The service promises that receipts contain no content (manual: interface, "Evaluation summary and compliance export";
manual: interface, "Receipt fields"). This scan lets a reviewer check that: it reports a member whose name suggests
content and whose value could be content, or any very long text. The rules are not in the specification; they use names
and lengths and do not interpret the text.
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
"""Words in a member's name that suggest content."""

LONG_CHARACTERS: Final = 200
"""Length in characters from which a single word below such a name may be content; ids, digests and addresses are
shorter.
"""

VERY_LONG_CHARACTERS: Final = 1000
"""Length in characters from which any text may be content; all regular values of a receipt are shorter."""

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PHRASE: Final = re.compile(r"\S\s+\S+\s+\S")


@dataclass(frozen=True, slots=True)
class ContentSuspect:
    """A member that looks like content, by its path with dots and brackets, and its length in characters."""

    path: str
    length: int


def find_content(raw: Mapping[str, Any]) -> Iterator[ContentSuspect]:
    """Yield the members of a decoded record that look like a prompt or an output, in order.

    A text qualifies if it is very long, or if a name on its path suggests content and it has several lines, is a phrase
    of at least three words, or is long. Numbers and booleans never qualify: ``output_tokens`` and ``output_present``
    are facts about content. Values deeper than :data:`runwatch.view.text.json_paths.MAX_DEPTH` are scanned as a whole.
    """
    for path, value in json_paths.iter_leaves(raw, lists=True):
        names = [part for part in path if isinstance(part, str)]
        speaks = any(any(word.lower() in NAMES for word in _WORDS.findall(name)) for name in names)
        length = max((len(text) for text in _texts(value) if _could_be(text, speaks=speaks)), default=0)
        if length:
            yield ContentSuspect(json_paths.format_path(path), length)


def _could_be(text: str, *, speaks: bool) -> bool:
    if len(text) >= VERY_LONG_CHARACTERS:
        return True
    return speaks and (len(text) >= LONG_CHARACTERS or "\n" in text or _PHRASE.search(text) is not None)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value that was not taken apart."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
