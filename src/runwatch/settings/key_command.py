"""Running the command that prints a key: no shell, no terminal, no waiting for ever, and no word of what it printed."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from typing import Final

from runwatch.base.errors import SettingsError

TIMEOUT_S: Final = 10.0
"""How long a key command may take (DESIGN 4, Keys to the service)."""

_HINT: Final = "Run it by hand to see why; here it runs without a shell and without a terminal."


def run_key_command(command: str, *, patience_s: float = TIMEOUT_S) -> str:
    """Run a key command in a session of its own, with nothing to read, and return what it printed.

    What the command writes to its error output goes nowhere, because it may hold the key.

    Raises:
        SettingsError: it cannot be started, fails, takes too long or does not print text.
    """
    try:
        # A session of its own has no terminal, so that a prompt for a password fails at once and cannot hang.
        process = subprocess.Popen(  # noqa: S603 - the person's own command, split without a shell
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise SettingsError("The key command cannot be started", detail=reason, hint=_HINT) from None
    with process:
        try:
            output, _ = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            raise SettingsError(f"The key command did not end within {patience_s:g} seconds", hint=_HINT) from None
        finally:
            _end(process)
    if process.returncode != 0:
        status = process.returncode
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise SettingsError("The key command failed", detail=how, hint=_HINT)
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        raise SettingsError("The key command does not print text", hint=_HINT) from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command with all that it has started; harmless when it has ended."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
