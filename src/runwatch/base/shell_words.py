"""Quoting of commands that users paste into bash, zsh or fish (manual: security, "Copied text")."""

from __future__ import annotations

import re
from typing import Final

from runwatch.base.text import clean_line

_PLAIN: Final = re.compile(r"[A-Za-z0-9_+:,./@-]+\Z")
"""Words that need no quotes in any of the three shells; not ``=`` and ``%``, because zsh expands ``=ls`` and fish
``%self``.
"""

_PARTS: Final = re.compile(r"['\\]|[^'\\]+")


def quote_word(text: str) -> str:
    """Return text as exactly one word of a command line of bash, zsh and fish, on one line.

    Characters that a terminal acts on become visible first; such a word differs from the text and matches nothing.
    """
    return quote_exactly(clean_line(text))


def quote_exactly(text: str) -> str:
    """Return text as exactly one word of a command line of bash, zsh and fish, with every character unchanged.

    A backslash and a single quote are written outside the quotes, because fish interprets both inside single quotes and
    the other shells do not. Two quoted parts never touch, because zsh can be set to read ``''`` inside quotes as a
    quote.
    """
    if _PLAIN.match(text):
        return text
    return "".join(f"\\{part}" if part in "'\\" else f"'{part}'" for part in _PARTS.findall(text)) or "''"


def runwatch_command(words: str, *arguments: str, **options: str | bool | None) -> str:
    """Return a command of runwatch, with every value quoted as one word that cannot become an option.

    Args:
        words: The command's own words, such as ``runs watch``; not quoted.
        arguments: Its arguments, such as ids.
        options: Its options, with ``_`` for ``-``; ``True`` is a switch, and ``None`` or ``False`` is left out.
    """
    parts = ["runwatch", words]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(flag)
        elif value is not None and value is not False:
            parts.append(f"{flag}={quote_word(value)}" if value.startswith("-") else f"{flag} {quote_word(value)}")
    if any(argument.startswith("-") for argument in arguments):
        parts.append("--")
    return " ".join([*parts, *map(quote_word, arguments)])


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra into this Python.

    It names the packages, because an index need not have runwatch, and ``pip`` alone may belong to another Python.
    """
    # Imported here, because few commands need them.
    import sys
    from importlib import metadata

    try:
        requirements = metadata.requires("runwatch") or []
    except metadata.PackageNotFoundError:
        requirements = []
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    packages = [each.partition(";")[0].strip() for each in requirements if marker.search(each)]
    return " ".join(map(quote_word, [sys.executable, "-m", "pip", "install", *(packages or [f".[{extra}]"])]))
