"""The commands: the console's functions without a screen, for pipes, scripts and screen readers.

:mod:`runwatch.commands.cli.grammar` declares every command and option. Each handler's module is imported only when it
runs. What fails below, a DataError or an ApiError, passes through a handler to the dispatcher, which reports it.
"""

from __future__ import annotations

from typing import Final

COMPLETE: Final = "__complete"
"""The word with which completion scripts request names. Not a command, so help and completion do not list it."""
