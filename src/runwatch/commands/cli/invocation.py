"""One call of the command line: what was asked, by whom, and where the answer goes."""

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
    """What every command is given.

    Attributes:
        options: The parsed options of the command.
        environment: The process's environment.
        paths: Where settings and data are.
        output: Where data, notes and warnings go.
        clock: Time and sleep.
        stdin: Standard input.
        words: The words of the command.
        pending_key: The idempotency key of a submit under way, for the message of an interruption.
        accepted_run: The run that the service accepted from this call; it goes on whatever fails here afterwards.
        on_interrupt: What the user should know who interrupts the command now.
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

    def command(self, words: str, *arguments: str, **options: str | bool | None) -> str:
        """A command for the service of this call: with the flags by which the call chose it.

        Args:
            words: The command's own words.
            arguments: Its arguments.
            options: Its other options.
        """
        given = self.options
        chosen = {"profile": given.profile, "base_url": given.base_url, "local": given.local}
        return runwatch_command(words, *arguments, **chosen, **options)

    def read_input(self, name: str) -> bytes:
        """The content of a file, or of standard input for ``-``.

        Raises:
            UsageError: the file cannot be read.
        """
        if name == "-":
            return self.stdin.buffer.read()
        try:
            with open(name, "rb") as file:  # noqa: PTH123 - a name that the user typed, used once
                return file.read()
        except OSError as error:
            raise UsageError(f"'{clean_line(name)}' cannot be read", detail=error.strerror) from None

    def confirm(self, question: str) -> bool:
        """Ask on the terminal before something is destroyed; ``--yes`` answers for it.

        Raises:
            ConfirmationRequired: there is no terminal to ask on and no ``--yes``.
        """
        if self.options.yes:
            return True
        if not (self.stdin.isatty() and sys.stderr.isatty()):
            raise ConfirmationRequired(
                "This needs a yes, and there is no terminal to ask on", detail=question, hint="Add --yes."
            )
        sys.stderr.write(f"{clean_line(question)} [y/N] ")
        sys.stderr.flush()
        return self.stdin.readline().strip().lower() in {"y", "yes"}
