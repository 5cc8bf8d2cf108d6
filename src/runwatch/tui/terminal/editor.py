"""Editing text in the user's editor: ``$VISUAL``, otherwise ``$EDITOR``."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from textual.app import App, SuspendNotSupported

from runwatch.base.environment import without_own_variables
from runwatch.base.errors import RunwatchError

MAX_BYTES: Final = 4 * 1024 * 1024
"""Larger files are rejected; no form field holds as much."""

_KEYS: Final = ("SIGINT", "SIGQUIT")
"""Signals that keys send to every process on the terminal; they are meant for the editor alone."""


class EditorError(RunwatchError):
    """Editing failed; the text is unchanged."""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the editor's command as words.

    Raises:
        EditorError: No editor is set, its quotes do not close, or the program does not exist.
    """
    name = next((name for name in ("VISUAL", "EDITOR") if environment.get(name, "").strip()), None)
    if name is None:
        raise EditorError("No editor is set", hint="Set VISUAL or EDITOR to a command.")
    words = command_words(environment, name)
    program = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if program is None:
        raise EditorError(f"The editor in {name} is not there", detail=words[0] if words else None)
    return [program, *words[1:]]


def command_words(environment: Mapping[str, str], name: str) -> list[str]:
    """Return the words of a command in a variable.

    Raises:
        EditorError: Its quotes do not close.
    """
    try:
        return shlex.split(environment.get(name, ""))
    except ValueError:
        raise EditorError(f"The command in {name} cannot be read", hint="Close its quotes.") from None


async def edit_text(app: App[None], command: Sequence[str], text: str, environment: Mapping[str, str]) -> str:
    """Give the terminal to the editor until it exits, and return the edited text.

    Background reads continue meanwhile; nothing is drawn. The text is in a temporary file that only this user can read.

    Args:
        command: The words of the editor's command; the file name is added.
        environment: The environment variables; the editor gets all but runwatch's own.

    Raises:
        EditorError: The terminal cannot be released, the editor failed, or its result is not text.
    """
    directory = Path(tempfile.mkdtemp(prefix="runwatch-"))
    file = directory / "text.txt"
    try:
        file.touch(0o600)
        # Editors end the last line, so the file they get does too.
        file.write_text(text if not text or text.endswith("\n") else f"{text}\n", "utf-8", newline="")
        with terminal_given_away(app, "an editor"):
            code = await run_in_terminal([*command, str(file)], without_own_variables(environment))
        if code:
            raise EditorError("The editor failed", detail=f"exit code {code}", hint="The text was not changed.")
        return _written(file, text)
    except OSError as error:
        raise EditorError("The editor could not be used", detail=error.strerror) from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def terminal_given_away(app: App[None], what: str) -> Iterator[None]:
    """Draw nothing while the block runs, and keep interrupt keys from ending the console.

    Args:
        what: The kind of program, for the error.

    Raises:
        EditorError: The terminal cannot be released.
    """
    before = {}
    try:
        # The outer batch keeps screens from drawing over the editor.
        with app.batch_update(), app.suspend():
            for name in _KEYS:
                # A handler and not "ignore", which the editor would inherit.
                before[name] = signal.signal(getattr(signal, name), lambda *_: None)
            try:
                yield
            finally:
                for name, handler in before.items():
                    signal.signal(getattr(signal, name), handler)
    except SuspendNotSupported:
        raise EditorError(f"This terminal cannot run {what}") from None


async def run_in_terminal(
    command: Sequence[str], environment: Mapping[str, str], *, stdin: IO[bytes] | None = None
) -> int:
    """Run a program that has the terminal, and return its exit code; end it if the console ends.

    Args:
        stdin: Its standard input, in place of the terminal.

    Raises:
        OSError: It cannot be started.
    """
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=stdin)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            # The console ends while the editor runs.
            with contextlib.suppress(ProcessLookupError):
                process.terminate()


def _written(file: Path, before: str) -> str:
    """Return the file's content without the final newline that editors add."""
    if file.stat().st_size > MAX_BYTES:
        raise EditorError("The text is too large", detail=f"at most {MAX_BYTES} bytes", hint="It was not changed.")
    try:
        text = file.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise EditorError("The editor did not write UTF-8", hint="The text was not changed.") from None
    return text[:-1] if text.endswith("\n") and not before.endswith("\n") else text
