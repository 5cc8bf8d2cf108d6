"""Writing a text in the editor that the user has chosen for everything: ``$VISUAL``, else ``$EDITOR``."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.app import App, SuspendNotSupported

from runwatch.base.errors import RunwatchError

if TYPE_CHECKING:
    pass

MAX_BYTES: Final = 4 * 1024 * 1024
"""A larger file is not taken; no field of a form holds as much."""

_KEYS: Final = ("SIGINT", "SIGQUIT")
"""Signals that a key sends to everything on the terminal; they are meant for the editor alone."""

_OURS: Final = "RUNWATCH_"
"""What begins variables of ours, the key to a service among them; an editor needs none."""


class EditorError(RunwatchError):
    """The text could not be written in an editor; it is as it was."""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """The words of the editor's command.

    Args:
        environment: The environment variables.

    Raises:
        EditorError: none is named, its quotes do not close, or there is no such program.
    """
    name = next((name for name in ("VISUAL", "EDITOR") if environment.get(name, "").strip()), None)
    if name is None:
        raise EditorError("No editor is set", hint="Set VISUAL or EDITOR to a command.")
    try:
        words = shlex.split(environment[name])
    except ValueError:
        raise EditorError(f"The command in {name} cannot be read", hint="Close its quotes.") from None
    program = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if program is None:
        raise EditorError(f"The editor in {name} is not there", detail=words[0] if words else None)
    return [program, *words[1:]]


async def edit_text(app: App[None], command: Sequence[str], text: str, environment: Mapping[str, str]) -> str:
    """Give the terminal to the editor until it ends, and answer what it has written.

    Background reads go on meanwhile, and nothing is drawn. The text is in a file that only this user can read; it is
    gone afterwards.

    Args:
        app: Whose terminal it is.
        command: The words of the editor's command; the file comes behind them.
        text: What the editor begins with.
        environment: The environment variables; the editor gets those that are not ours.

    Raises:
        EditorError: the terminal cannot be given away, the editor failed, or what it wrote is no text.
    """
    directory = Path(tempfile.mkdtemp(prefix="runwatch-"))
    file = directory / "text.txt"
    try:
        file.touch(0o600)
        # Editors end the last line, and so does the file that they get.
        file.write_text(text if not text or text.endswith("\n") else f"{text}\n", "utf-8", newline="")
        variables = {name: value for name, value in environment.items() if not name.startswith(_OURS)}
        with _terminal_given_away(app):
            code = await _run([*command, str(file)], variables)
        if code:
            raise EditorError("The editor failed", detail=f"exit code {code}", hint="The text was not changed.")
        return _written(file, text)
    except OSError as error:
        raise EditorError("The editor could not be used", detail=error.strerror) from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _terminal_given_away(app: App[None]) -> Iterator[None]:
    """Nothing is drawn while the block runs, and keys that interrupt do not end the console."""
    before = {}
    try:
        # The outer batch keeps screens from drawing over the editor.
        with app.batch_update(), app.suspend():
            for name in _KEYS:
                # A handler instead of "ignore", which the editor would inherit.
                before[name] = signal.signal(getattr(signal, name), lambda *_: None)
            try:
                yield
            finally:
                for name, handler in before.items():
                    signal.signal(getattr(signal, name), handler)
    except SuspendNotSupported:
        raise EditorError("This terminal cannot run an editor") from None


async def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            # The console ends under it.
            with contextlib.suppress(ProcessLookupError):
                process.terminate()


def _written(file: Path, before: str) -> str:
    """What stands in the file, without the end of the last line that editors add by themselves."""
    if file.stat().st_size > MAX_BYTES:
        raise EditorError("The text is too large", detail=f"at most {MAX_BYTES} bytes", hint="It was not changed.")
    try:
        text = file.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise EditorError("The editor did not write UTF-8", hint="The text was not changed.") from None
    return text[:-1] if text.endswith("\n") and not before.endswith("\n") else text
