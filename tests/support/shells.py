"""Text as a user pastes it into a shell where every program is a harmless stand-in that records how it was called."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

SHELLS: Final = ("bash", "zsh", "fish")

STAND_INS: Final = (
    "curl", "runwatch", "ssh", "touch", "rm", "sh", "cat", "id", "host", "owned", "reboot", "env", "ls",
)  # fmt: skip
"""Programs of the only directory in ``PATH``. Those that no command of ours names show that something executed."""

_RECORD: Final = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; } >"$RECORDS/$CASE.$$"
"""

_START: Final = {"bash": ("--norc", "--noprofile"), "zsh": ("-f",), "fish": ("--no-config",)}


def needs(shell: str) -> pytest.MarkDecorator:
    """Skips a test where a shell is missing, with the reason."""
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


SHELL_PARAMETERS: Final = [pytest.param(shell, marks=needs(shell)) for shell in SHELLS]
"""Every shell, for ``parametrize``."""


def interactive(shell: str) -> list[str]:
    """The command that starts a shell at a prompt, without the settings of any user."""
    return [shutil.which(shell) or shell, *_START[shell], "-i"]


class ShellBox:
    """A directory with stand-ins, their records, and an empty working directory.

    Args:
        home: Where it is made.
    """

    def __init__(self, home: Path) -> None:
        self.home: Final = home / "box"
        self.bin: Final = self.home / "bin"
        self.records: Final = self.home / "records"
        self.work: Final = self.home / "work"
        for directory in (self.home, self.bin, self.records, self.work):
            directory.mkdir()
        for name in STAND_INS:
            self.stand_in(name, _RECORD)

    def stand_in(self, name: str, script: str) -> None:
        """Put a program into the only directory of ``PATH``."""
        program = self.bin / name
        program.write_text(script)
        program.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.bin), "HOME": str(self.home), "RECORDS": str(self.records), "CASE": "typed",
            "LC_ALL": "C.UTF-8", "TERM": "dumb",
        }  # fmt: skip

    def run(self, shell: str, texts: Sequence[str]) -> list[list[list[str]]]:
        """Have a shell read each text as commands, and return for each the calls of stand-ins, as words.

        Each text is read on its own, so that a syntax error ends nothing but its text.
        """
        lines = []
        for number, text in enumerate(texts):
            file = self.home / f"text-{number}"
            file.write_bytes(f"{text}\n".encode("utf-8", "surrogateescape"))
            setting = f"set -gx CASE {number}" if shell == "fish" else f"export CASE={number}"
            lines += [setting, f"source {file}", f"cd {self.work}"]
        program = shutil.which(shell)
        assert program is not None
        script = self.home / "script"
        script.write_text("\n".join([*lines, ""]))
        subprocess.run(
            [program, *_START[shell], str(script)], env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=300,
        )  # fmt: skip
        found = [self.calls(str(number)) for number in range(len(texts))]
        for file in self.records.iterdir():
            file.unlink()
        return found

    def calls(self, case: str) -> list[list[str]]:
        """The calls that were recorded for a case, in the order of their names."""
        files = self.records.glob(f"{case}.*")
        return sorted(file.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1] for file in files)

    def made(self) -> list[str]:
        """What is in the working directory, in which no text may make anything."""
        return sorted(path.name for path in self.work.iterdir())
