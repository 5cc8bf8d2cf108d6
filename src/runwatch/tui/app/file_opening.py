"""Opening a file instead of a service: its records on the same screens, without a session or requests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.settings.view_state import ViewState
from runwatch.store.state.changes import ListRead
from runwatch.tui.core.workers import run_in_app
from runwatch.tui.sources.row_sources import FILE_PROFILE
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runwatch.base.clock import Clock
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.view.export.record_file import RecordFile

MAX_FILE_BYTES: Final = 1 << 29
SLICE_S: Final = 0.010
"""How long a step of reading may hold the event loop."""


def check_openable(path: Path) -> None:
    """Check that a file can be opened, before taking the terminal.

    Raises:
        UsageError: It does not exist, is not a file, is not readable, or is too large.
    """
    try:
        if not path.is_file():
            raise UsageError(f"'{line(path)}' is not a file" if path.exists() else f"There is no file '{line(path)}'")
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise UsageError(f"'{line(path)}' cannot be read", detail=error.strerror) from None
    if size > MAX_FILE_BYTES:
        raise UsageError(f"'{line(path)}' is too large", detail=f"{size:,} bytes; up to {MAX_FILE_BYTES:,} are opened")


async def load_file(console: NavigatingApp, path: Path) -> None:
    """Read a file into the store and show its records.

    Raises:
        RunwatchError: It cannot be read, or has no known records.
    """
    name = line(path.name, 40)
    console.startup_status = f"reading {name}{console.glyphs.ellipsis}"
    try:
        content, modified_at = await asyncio.to_thread(_read, path)
    except OSError as error:
        raise RunwatchError(f"{name} cannot be read", detail=error.strerror) from None

    def on_progress(done: float) -> None:
        console.startup_status = f"reading {name}{console.glyphs.ellipsis} {done:.0%}"

    filed = await read_in_slices(content, console.clock, on_progress)
    now, monotonic = console.clock.now(), console.clock.monotonic()
    # Its records are as old as the file: a run that was live then says nothing of the time since.
    written_at = min(now, modified_at)
    console.file_written_at = written_at
    console.startup_status = f"{name} has no records of this kind."
    for kind, records in filed.records.items():
        console.store.apply(
            ListRead(
                FILE_PROFILE, kind, written_at, monotonic, tuple(records.values()), complete=True, end_is_proven=True
            )
        )
    if filed.flaws():
        console.warn(f"{name}: {filed.flaws()}")
    main = filed.main
    if main is not None:
        records = filed.records.get(main.kind, {})
        only = next(iter(records)) if len(records) == 1 or filed.is_bundle else ""
        view = ViewState(main.name, selected=only, is_open=bool(only))

        async def show() -> None:
            # Do not navigate if the user has left this screen in the meantime.
            if console.console_screen is console.first_screen:
                # Replace the screen that showed the progress, so that "back" does not lead there.
                console.history.keep(view)
                await console.go_to_view(view)
            console.first_screen = None

        run_in_app(console, show, "showing the file")


def _read(path: Path) -> tuple[bytes, datetime]:
    """Return what a file holds, and when it was written."""
    return path.read_bytes(), datetime.fromtimestamp(path.stat().st_mtime, UTC)


async def read_in_slices(content: bytes, clock: Clock, on_progress: Callable[[float], None]) -> RecordFile:
    """Parse a file, yielding to the event loop after every :data:`SLICE_S` of work.

    A thread would not help: decoding holds the interpreter (manual: decisions, "Event storage").

    Args:
        clock: Measures slices.
        on_progress: Called at every yield with the progress, from 0 to 1.

    Raises:
        UsageError: It has no known records.
    """
    # Imported here because it imports every kind of record, which the first paint does not need.
    from runwatch.view.export.record_file import read_records

    steps = read_records(content)
    pause_at = clock.monotonic() + SLICE_S
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            filed: RecordFile = end.value
            return filed
        if clock.monotonic() >= pause_at:
            on_progress(done)
            await asyncio.sleep(0)
            pause_at = clock.monotonic() + SLICE_S
