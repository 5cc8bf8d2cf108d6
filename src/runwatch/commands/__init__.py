"""The commands: the console's work without a screen, for pipes, scripts and screen readers.

:mod:`runwatch.commands.cli.grammar` declares every command and flag in one table; each command's module is imported
when it runs.
"""

from __future__ import annotations

from typing import Final

COMPLETE: Final = "__complete"
"""The word by which completion scripts ask for names; no command, so that help and completion do not offer it."""
