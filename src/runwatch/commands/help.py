"""``help``: pages of the manual in the terminal."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from runwatch.base.closest_word import did_you_mean
from runwatch.base.environment import without_own_variables
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.grammar import list_paths
from runwatch.commands.cli.invocation import Invocation
from runwatch.view.manual.pages import TOPICS, page_text

MAX_COLUMNS: Final = 100
"""Longer lines are hard to read."""


def help_page(call: Invocation) -> int:
    """``help``: print a page of the manual, or list the pages.

    Raises:
        UsageError: There is no such page; the nearest one is named.
        RunwatchError: The page is missing from the installation.
    """
    topic = call.options.topic
    if topic is None:
        width = max(map(len, TOPICS))
        call.output.text("".join(f"{name:<{width}}  {about}\n" for name, about in TOPICS.items()))
        call.output.note("runwatch help TOPIC prints a page; runwatch COMMAND --help explains a command")
        return 0
    if topic not in TOPICS:
        hint = "'runwatch help' lists them."
        raise UsageError(f"The manual has no page '{topic}'", detail=_nearest(topic), hint=hint)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    try:
        text = page_text(topic, max(20, min(columns, MAX_COLUMNS)))
    except OSError as error:
        raise RunwatchError(
            f"The page '{topic}' cannot be read", detail=error.strerror, hint="Install runwatch again."
        ) from None
    if not (sys.stdout.isatty() and _page(text, call.environment)):
        call.output.text(text)
    return 0


def _nearest(topic: str) -> str | None:
    if any(path[0] == topic for path in list_paths()):
        return f"'{topic}' is a command: {runwatch_command(topic)} --help"
    return did_you_mean(topic, TOPICS)


def _page(text: str, environment: Mapping[str, str]) -> bool:
    """Show text in the user's pager, without a shell; return whether that was possible."""
    try:
        words = shlex.split(environment.get("PAGER", ""))
    except ValueError:
        return False
    if not words or shutil.which(words[0]) is None:
        return False
    try:
        pager = subprocess.Popen(  # noqa: S603 - $PAGER
            words, stdin=subprocess.PIPE, text=True, encoding="utf-8", env=without_own_variables(environment)
        )
    except OSError:
        return False
    with contextlib.suppress(BrokenPipeError):
        assert pager.stdin is not None
        pager.stdin.write(text)
        pager.stdin.close()
    while pager.poll() is None:
        # The pager handles Ctrl+C itself and continues.
        with contextlib.suppress(KeyboardInterrupt):
            pager.wait()
    return True
