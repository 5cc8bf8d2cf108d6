"""Small programs of the desktop and the terminal, which have little time to answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Final

from runwatch.base.environment import without_own_variables

TOOL_TIMEOUT_S: Final = 1.0


def run_tool(command: Sequence[str], text: bytes) -> bool:
    """Run a tool with the text as its input; return whether it succeeded in time.

    Its output is not read, because a clipboard tool goes on in the background with it open.
    """
    return _run(command, text, subprocess.DEVNULL) is not None


def read_tool(command: Sequence[str], limit_s: float | None = None) -> str | None:
    """Run a tool and return its output, or ``None`` if it failed or took too long."""
    output = _run(command, b"", subprocess.PIPE, limit_s)
    return None if output is None else output.decode("utf-8", "replace").strip()


def _run(command: Sequence[str], text: bytes, stdout: int, limit_s: float | None = None) -> bytes | None:
    try:
        done = subprocess.run(  # noqa: S603 - the command is a constant, or one that the caller makes
            command,
            input=text,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env=without_own_variables(os.environ),
            timeout=limit_s or TOOL_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout or b""
