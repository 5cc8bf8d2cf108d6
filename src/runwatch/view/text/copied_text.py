"""Text for the clipboard that executes nothing when pasted into a shell.

The clipboard takes only :data:`CopiedText`, and only this module makes it: a word, labelled lines, JSON, or a command
(manual: security, "Copied text").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NewType

from runwatch.base.json import dumps
from runwatch.base.shell_words import quote_exactly, quote_word

CopiedText = NewType("CopiedText", str)


def copied_word(text: str) -> CopiedText:
    """Return a value unchanged if it is a safe shell word, otherwise quoted as one word. Empty text stays empty."""
    return CopiedText(quote_exactly(text) if text else "")


def copied_fields(fields: Mapping[str, str | None]) -> CopiedText:
    """Return one line for each field: its label with a colon, which names no command, and its value as one word, or
    ``-``.

    Every quote closes on its own line, because values contain no quote or newline outside their own quotes. Labels must
    come from the program, never from data.
    """
    width = max(map(len, fields), default=0) + 1
    return CopiedText(
        "\n".join(
            f"{label + ':':<{width}} {'-' if value is None else quote_word(value)}" for label, value in fields.items()
        )
    )


_ESCAPES: Final = str.maketrans({"$": "\\u0024", "`": "\\u0060", "!": "\\u0021"})
"""Characters that a shell acts on inside double quotes. In JSON they occur only in strings, which may escape them."""


def copied_json(value: Any) -> CopiedText:
    """Return a value as ASCII JSON in which a shell finds nothing to execute.

    Each line begins with a bracket or with a member name and its colon, so no text of the value is the first word of a
    line.
    """
    return CopiedText("".join(_lines(value, "")).translate(_ESCAPES))


def _lines(value: Any, margin: str) -> Iterator[str]:
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        yield "{\n"
        for position, (name, item) in enumerate(value.items()):
            comma = ",\n" if position else ""
            yield f"{comma}{inner}{dumps(str(name))}: "
            yield from _lines(item, inner)
        yield f"\n{margin}}}"
    elif isinstance(value, list) and value and all(isinstance(item, dict) and item for item in value):
        yield "[\n"
        for position, item in enumerate(value):
            comma = ",\n" if position else ""
            yield f"{comma}{inner}"
            yield from _lines(item, inner)
        yield f"\n{margin}]"
    else:
        yield dumps(value)


def copied_command(command: str) -> CopiedText:
    """Return a command whose words are already quoted. This is the only text meant to be executed."""
    return CopiedText(command)


def copied_unchanged(text: str) -> CopiedText:
    """Return text that must not be changed: the user's selection, a secret, or the address of a private page."""
    return CopiedText(text)
