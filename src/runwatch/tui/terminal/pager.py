"""Text in the user's pager: ``$PAGER``, otherwise ``less`` or ``more``."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from typing import Final

from textual.app import App

from runwatch.base.environment import without_own_variables
from runwatch.base.errors import RunwatchError
from runwatch.tui.terminal.editor import command_words, run_in_terminal, terminal_given_away
from runwatch.view.text.safe_text import SafeText

_USUAL: Final = ("less", "more")


def pager_command(environment: Mapping[str, str]) -> list[str]:
    """Return the pager's command as words.

    Raises:
        RunwatchError: The quotes in PAGER do not close, or there is no such program.
    """
    chosen = command_words(environment, "PAGER")
    for words in [chosen] if chosen else [[name] for name in _USUAL]:
        program = shutil.which(words[0], path=environment.get("PATH"))
        if program is not None:
            return [program, *words[1:]]
    raise RunwatchError(
        "The pager in PAGER is not there" if chosen else "There is no pager",
        detail=chosen[0] if chosen else None,
        hint="Set PAGER to a program.",
    )


async def page_text(app: App[None], text: SafeText, environment: Mapping[str, str]) -> None:
    """Give the terminal to the pager until it exits.

    Args:
        environment: The environment variables; the pager gets all but runwatch's own.

    Raises:
        RunwatchError: There is no pager, or the terminal cannot be released.
    """
    command = pager_command(environment)
    try:
        with tempfile.TemporaryFile() as file:
            file.write(f"{text}\n".encode())
            file.seek(0)
            with terminal_given_away(app, "a pager"):
                await run_in_terminal(command, without_own_variables(environment), stdin=file)
    except OSError as error:
        raise RunwatchError("The pager could not be used", detail=error.strerror) from None
