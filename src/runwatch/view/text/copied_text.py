"""The one gate between values and the clipboard: what is copied executes nothing where it is pasted into a shell.

A copied text is a word, lines of labels with a word each, JSON, or a command. The clipboard takes :data:`CopiedText`
and nothing else, and only this module makes it. (What is left out: manual, Security: Copied text.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NewType

from runwatch.base.json import dumps
from runwatch.base.shell_words import quote_exactly, quote_word

CopiedText = NewType("CopiedText", str)
"""Text that the clipboard may take."""


def copied_word(text: str) -> CopiedText:
    """A value exactly as it is: plain, or as one quoted word of a shell; empty where it is empty."""
    return CopiedText(quote_exactly(text) if text else "")


def copied_fields(fields: Mapping[str, str | None]) -> CopiedText:
    """A line for each field: its label with a colon, which names no command, and its value as one word.

    A quote that opens in a line is closed in it, because no value has a quote or a newline outside its own quotes.

    Args:
        fields: Values by label; ``None`` is written as ``-``. Labels are words of the program, never of data.
    """
    width = max(map(len, fields), default=0) + 1
    return CopiedText(
        "\n".join(
            f"{label + ':':<{width}} {'-' if value is None else quote_word(value)}" for label, value in fields.items()
        )
    )


_ESCAPES: Final = str.maketrans({"$": "\\u0024", "`": "\\u0060", "!": "\\u0021"})
"""What a shell acts on inside double quotes; in JSON these characters are in texts alone, where they may be escaped."""


def copied_json(value: Any) -> CopiedText:
    """A value as ASCII JSON in which a shell finds nothing to execute.

    Each line is a bracket or begins with a bracket or a member's name with its colon, so no text of the value is the
    first word of a line.
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
    """A command whose words are quoted already; it is the only text that is meant to be executed."""
    return CopiedText(command)


def copied_unchanged(text: str) -> CopiedText:
    """A text that has to stay as it is: what the user selected, a secret, or the address of a private page."""
    return CopiedText(text)
