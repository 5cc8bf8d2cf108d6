"""Runner of the command that prints a key: without shell or terminal, limited in time, its output never logged."""

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
"""How long a key command may take (manual: decisions, "Keys to the service")."""

_HINT: Final = "Run it by hand to see why; here it runs without a shell and without a terminal."


def run_key_command(command: str, *, patience_s: float = TIMEOUT_S) -> str:
    """Run a key command in its own session, without input, and return its output.

    Its error output is discarded, because it may hold the key.

    Raises:
        SettingsError: It cannot be started, fails, takes too long or does not print text.
    """
    try:
        # A new session has no terminal, so a password prompt fails at once instead of waiting.
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
    """Kill the command and everything it has started, unless it has ended."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
