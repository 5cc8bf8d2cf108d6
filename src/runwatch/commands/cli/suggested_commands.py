"""Suggested commands that call the same service as the command that suggests them.

Sentences of lower layers and of the service name commands without knowing how the service was chosen.
"""

from __future__ import annotations

import re
from typing import Final

from runwatch.base.shell_words import quote_word
from runwatch.commands.cli.grammar import command_at, list_paths
from runwatch.commands.cli.parser import CommandOptions

_COMMAND: Final = re.compile(r"\brunwatch((?: [a-z][a-z-]*){1,2})(?! --(?:local|profile|base-url|help)\b)")
_SEVERAL: Final = re.compile(r"all\Z|.*,")
"""Values of ``--profile`` that name several profiles, which most commands do not take."""


def service_words(options: CommandOptions) -> str:
    """Return the options that chose the service, as typed behind a command; empty if there are none.

    A value that needs quotes is left out with all others: the sentence may itself be inside quotes.
    """
    words = ["--local"] if options.local else []
    for name, value in (("--profile", options.profile), ("--base-url", options.base_url)):
        if not value or (name == "--profile" and _SEVERAL.match(value)):
            continue
        if value.startswith("-") or quote_word(value) != value:
            return ""
        words += [name, value]
    return " ".join(words)


def add_service(text: str, options: CommandOptions) -> str:
    """Return a text in which every command that calls a service has the options that chose this one."""
    words = service_words(options)
    return _COMMAND.sub(lambda found: _completed(found, words), text) if words else text


def _completed(found: re.Match[str], words: str) -> str:
    named = tuple(found[1].split())
    paths = set(list_paths())
    path = next((named[:count] for count in (2, 1) if named[:count] in paths and len(named) >= count), None)
    command = None if path is None else command_at(path)
    if path is None or command is None or "--local" not in {flag.name for flag in command.flags}:
        return found[0]
    rest = " ".join(named[len(path) :])
    return " ".join(part for part in ("runwatch", *path, words, rest) if part)
