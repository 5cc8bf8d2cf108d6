"""Output files of commands (manual: security, "Files and directories")."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.files import export_refusal, write_export
from runwatch.commands.cli.invocation import Invocation


def check_not_existing(call: Invocation, name: str | None) -> None:
    """Refuse an existing file or a missing directory before reading any data for it, unless ``--force`` is given.

    Raises:
        UsageError: The file exists, or cannot be replaced, or its directory is missing.
    """
    if name is None:
        return
    path = Path(name).expanduser()
    if not path.parent.exists():
        raise UsageError(
            f"There is no directory '{path.parent}'",
            detail=f"'{name}' was not written",
            hint="Make the directory first, or choose another name.",
        )
    refusal = export_refusal(path, replace=bool(call.options.force))
    if refusal is not None:
        raise _not_free(call, name, refusal)


def _not_free(call: Invocation, name: str, why: str) -> UsageError:
    hint = "Choose another name." if call.options.force else "Choose another name, or replace it with --force."
    return UsageError(f"'{name}' was not written", detail=f"{why}; nothing was changed", hint=hint)


def save_export(call: Invocation, name: str, content: bytes | str | Iterable[bytes], label: str = "written to") -> None:
    """Write a file atomically, readable only by this user, and print its path.

    An existing file is replaced only with ``--force``; links are never followed.

    Raises:
        UsageError: The file exists.
        RunwatchError: The file cannot be written.
    """
    path = Path(name).expanduser()
    try:
        written = content.encode("utf-8") if isinstance(content, str) else content
        write_export(path, written, replace=bool(call.options.force))
    except FileExistsError as error:
        raise _not_free(call, name, error.strerror or "it already exists") from None
    except OSError as error:
        raise RunwatchError(f"'{name}' cannot be written", detail=error.strerror) from None
    call.output.note(f"{label} {path}")
