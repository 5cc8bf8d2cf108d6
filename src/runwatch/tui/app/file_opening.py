"""A file in the place of a service: its records in the same screens, without a session, so that nothing can be sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.settings.view_state import ViewState
from runwatch.store.state.changes import ListRead
from runwatch.tui.core.workers import run_in_app
from runwatch.tui.sources.row_sources import FILE_PROFILE
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runwatch.base.clock import Clock
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.view.export.record_file import RecordFile

MAX_FILE_BYTES: Final = 1 << 29
"""The largest file that is opened, in bytes."""

SLICE_S: Final = 0.010
"""How long a step of reading holds the event loop."""


def check_openable(path: Path) -> None:
    """Make sure that a file can be opened, before the screen is taken.

    Raises:
        UsageError: there is none, it is no file, may not be read, or is too large.
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
    """Read a file into the store, and show what it holds.

    Raises:
        RunwatchError: it cannot be read, or holds nothing that runwatch knows.
    """
    name = file_label(path)
    console.startup_status = f"reading {name}{console.glyphs.ellipsis}"
    try:
        content = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise RunwatchError(f"{name} cannot be read", detail=error.strerror) from None

    def told(done: float) -> None:
        console.startup_status = f"reading {name}{console.glyphs.ellipsis} {done:.0%}"

    filed = await read_in_slices(content, console.clock, told)
    now, monotonic = console.clock.now(), console.clock.monotonic()
    console.startup_status = f"{name} has no records of this kind."
    for kind, records in filed.records.items():
        console.store.apply(
            ListRead(FILE_PROFILE, kind, now, monotonic, tuple(records.values()), complete=True, end_is_proven=True)
        )
    if filed.flaws():
        console.warn(f"{name}: {filed.flaws()}")
    main = filed.main
    if main is not None:
        records = filed.records.get(main.kind, {})
        only = next(iter(records)) if len(records) == 1 or filed.is_bundle else ""
        view = ViewState(main.name, selected=only, is_open=bool(only))

        async def show() -> None:
            # Whoever went elsewhere meanwhile is not taken away from there.
            if console.console_screen is console.first_screen:
                # In the place of the screen that said how far the reading is: going back does not lead there.
                console.history.keep(view)
                await console.go_to_view(view)
            console.first_screen = None

        run_in_app(console, show, "showing the file")


async def read_in_slices(content: bytes, clock: Clock, told: Callable[[float], None]) -> RecordFile:
    """Read a file, giving the event loop a turn after every :data:`SLICE_S` of work.

    A thread would not help: decoding holds the interpreter (DESIGN 4, Events).

    Args:
        content: The file.
        clock: What slices are measured with.
        told: Is told at each turn how much is done, from 0 to 1.

    Raises:
        UsageError: nothing in it is a record that runwatch knows.
    """
    # Only now, because it knows every kind of record, and the first paint waits for none of them.
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
            told(done)
            await asyncio.sleep(0)
            pause_at = clock.monotonic() + SLICE_S


def file_label(path: Path) -> SafeText:
    """A file's name for the bar above and for messages."""
    return line(path.name, 40)
