"""One invocation of the command line: options, environment and output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from runwatch.base.clock import Clock
from runwatch.base.errors import ConfirmationRequired, UsageError
from runwatch.base.paths import Paths
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.output import CommandOutput
from runwatch.commands.cli.parser import CommandOptions


@dataclass(slots=True)
class Invocation:
    """The context passed to every handler.

    Attributes:
        pending_key: Idempotency key of a submit in progress, for the message after an interruption.
        accepted_run: Run that the service accepted from this invocation; it continues even if a later step fails.
        on_interrupt: Message if the user interrupts the command now.
        profile: The profile of the service that is called; empty before it is chosen.
    """

    options: CommandOptions
    environment: Mapping[str, str]
    paths: Paths
    output: CommandOutput
    clock: Clock
    stdin: TextIO
    words: tuple[str, ...] = ()
    pending_key: str | None = None
    accepted_run: str | None = None
    on_interrupt: str | None = None
    profile: str = ""

    def command(self, words: str, *arguments: str, **options: str | bool | None) -> str:
        """Format a command for the same service, with the options that selected it."""
        given = self.options
        chosen = {"profile": given.profile, "base_url": given.base_url, "local": given.local}
        return runwatch_command(words, *arguments, **chosen, **options)

    def read_input(self, name: str) -> bytes:
        """Read a file, or standard input for ``-``.

        Raises:
            UsageError: The file cannot be read.
        """
        if name == "-":
            return self.stdin.buffer.read()
        try:
            with open(name, "rb") as file:  # noqa: PTH123 - a name that the user typed, used once
                return file.read()
        except OSError as error:
            raise UsageError(f"'{clean_line(name)}' cannot be read", detail=error.strerror) from None

    def confirm(self, question: str) -> bool:
        """Ask on the terminal before a destructive action; ``--yes`` confirms it.

        Raises:
            ConfirmationRequired: There is no terminal and no ``--yes``.
        """
        if self.options.yes:
            return True
        if not (self.stdin.isatty() and sys.stderr.isatty()):
            raise ConfirmationRequired(
                "Confirmation required, but there is no terminal to ask on", detail=question, hint="Add --yes."
            )
        sys.stderr.write(f"{clean_line(question)} [y/N] ")
        sys.stderr.flush()
        return self.stdin.readline().strip().lower() in {"y", "yes"}
