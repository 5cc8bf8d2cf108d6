"""Export of a list's rows to a file: the marked rows, or all visible ones.

A file is written completely or not at all, readable by this user alone, in a worker. Existing files are never
overwritten. Nothing is sent, so exports work in read-only profiles too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.base.files import write_export as write_file
from runwatch.base.memory import pause_collection
from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.sources.events.event_sequences import find_events
from runwatch.tui.widgets.bars.status_bar import NOTICE_S
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.export.file_formats import (
    FILE_FORMATS,
    FileFormat,
    build_export_name,
    encode_for_file,
    export_records,
    format_from_name,
    format_title,
)
from runwatch.view.resources.events import EVENTS
from runwatch.view.text.format import grouped_number, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.shell.record_screen import RecordScreen

_LONGEST_WRITE_S: Final = 600.0
"""How long it is said that a file is being written, at most: until it is written."""

_BATCH_EVENTS: Final = 500
"""Events read and encoded before other work goes on."""

_EVENTS_TITLE: Final = "one a line; `runwatch open FILE` replays them"

_BESIDE: Final = 26
"""Width of the status bar not available to a notice."""


def open_export_menu(screen: RecordScreen, more: Sequence[MenuItem] = ()) -> None:
    """Open the menu of file formats, after more items."""
    count = len(screen.rows_to_export())
    if not count and not more:
        screen.refuse_key("No rows to export.")
        return

    def items() -> list[MenuItem]:
        count = len(screen.rows_to_export())
        what = _chosen_text(screen, count)
        forms = [
            MenuItem(line(form), partial(export_rows, screen, form), line(f"{what}: {format_title(form, screen.spec)}"))
            for form in FILE_FORMATS
        ]
        return [*more, *(forms if count else ())]

    rest = "`:export FILE` writes the rows to a path of your own" if count else ""
    title = (label_span("Export   ", Role.PLAIN), label_span(rest))
    screen.open_overlay(Menu(title, items(), id="export-menu", now=items))


def _chosen_text(screen: RecordScreen, count: int) -> str:
    """Say which rows are exported: ``3 marked runs`` or ``all 60 listed runs``."""
    what = _noun(screen.spec.singular, count)
    if screen.marked_rows():
        return f"{grouped_number(count)} marked {what}"
    return f"{'the' if count == 1 else 'all'} {grouped_number(count)} listed {what}"


def _noun(singular: str, count: int) -> str:
    """Return what records are called for their number, as the screen calls them."""
    if count == 1:
        return singular
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"


def events_item(screen: ConsoleScreen, run_id: str) -> MenuItem:
    what = f"events of {short_id(run_id, screen.console.glyphs)}: {_EVENTS_TITLE}"
    return MenuItem(line("events"), partial(export_events, screen, run_id), line(what))


def open_events_menu(screen: ConsoleScreen, run_id: str) -> None:
    """Open the menu that exports a run's events, where there are no rows to export."""
    if not run_id:
        screen.refuse_key("No run to export.")
        return
    title = (label_span("Export   ", Role.PLAIN), label_span(f"run {short_id(run_id, screen.console.glyphs)}"))
    screen.open_overlay(Menu(title, [events_item(screen, run_id)], id="export-menu"))


def export_events(screen: ConsoleScreen, run_id: str) -> None:
    """Export all events of a run that are known, and show the path."""

    async def read() -> None:
        events = find_events(screen.console, run_id)
        context, pieces = screen.console.render_context(), list[bytes]()
        if events is not None:
            await events.grow()
            while batch := await events.window(len(pieces), _BATCH_EVENTS):
                pieces += map(encode_for_file, export_records("ndjson", EVENTS, batch, context))
                await asyncio.sleep(0)
        if not pieces:
            screen.notify_user("No event of this run is known.", Role.WARN)
            return
        count = f"{grouped_number(len(pieces))} event{'s' * (len(pieces) != 1)}"
        write_export(screen, choose_export_path(screen.console, EVENTS.name, "ndjson"), pieces, count)

    start_worker(screen, read(), "reading events", group="export events")


def export_rows(screen: RecordScreen, form: FileFormat, path: Path | None = None) -> None:
    """Export the rows of a list to a file, by default a new one in the export directory, and show the path."""
    # A snapshot: rows that arrive during the export are not included.
    rows = screen.rows_to_export()
    spec = screen.spec
    pieces = (encode_for_file(text) for text in screen.export_pieces(form, rows))
    path = path or choose_export_path(screen.console, screen.spec.name, form)
    write_export(screen, path, pieces, f"{grouped_number(len(rows))} {_noun(spec.singular, len(rows))}")


def export_to_named_file(screen: RecordScreen, name: str) -> None:
    """Export the rows to a file named by the user; its extension selects the format."""
    form = format_from_name(name)
    if form is None:
        screen.notify_user(f"A file to export to ends in .{', .'.join(FILE_FORMATS)}.", Role.WARN)
    elif not screen.rows_to_export():
        screen.refuse_key("No rows to export.")
    else:
        # A user in a browser names a download, not a place on this machine.
        here = screen.console.launch.paths.exports_dir
        is_web = screen.console.is_web
        path = free_name(here / Path(name).name) if is_web else Path(name).expanduser().absolute()
        if is_web or path.parent == here or path.parent.exists():
            export_rows(screen, form, path)
        else:
            screen.notify_user(f"There is no directory {line(path.parent, None)}. Nothing was written.", Role.WARN)


def choose_export_path(console: Console, noun: str, form: FileFormat) -> Path:
    return free_name(console.launch.paths.exports_dir / build_export_name(noun, console.clock.now(), form))


def free_name(first: Path) -> Path:
    """Return the path, with a number after its stem if it exists, even as a dangling link."""
    path, number = first, 1
    while os.path.lexists(path):
        number += 1
        path = first.with_stem(f"{first.stem}-{number}")
    return path


def write_export(screen: ConsoleScreen, path: Path, pieces: Iterable[bytes], what: str) -> None:
    """Write a file that must not exist in a worker, and show its full path or an error."""
    choose_path(screen, path, lambda chosen: _start(screen, chosen, pieces, what))


def choose_path(screen: ConsoleScreen, path: Path, write: Callable[[Path], object]) -> None:
    """Write to a path; in the demo, ask first where to, because its folder goes when it ends."""
    launch = screen.console.launch
    if not launch.demo or path.parent != launch.paths.exports_dir:
        write(path)
        return
    here = free_name(Path.cwd() / path.name)
    items = [
        MenuItem(line("keep it"), partial(write, here), line(here, None)),
        MenuItem(line("in the demo's folder"), partial(write, path), line("deleted when the demo ends")),
    ]
    screen.open_overlay(Menu((label_span("Export to", Role.PLAIN),), items, id="export-place"))


def _start(screen: ConsoleScreen, path: Path, pieces: Iterable[bytes], what: str) -> None:

    writing = f"writing {what} to {line(path, None)}{screen.console.glyphs.ellipsis}"

    async def write() -> None:
        try:
            # A long table creates thousands of objects that stay alive until the end.
            with pause_collection():
                is_new = await asyncio.to_thread(_write, path, pieces)
        finally:
            screen.clear_notice(writing)
        if screen.console.download(path):
            screen.notify_user(f"{line(path.name)} goes to the browser's downloads   {line(what)}")
        else:
            _show_path(screen, line(path, None), line(f"{what}, in a new directory" if is_new else what))

    screen.notify_user(writing, for_s=_LONGEST_WRITE_S)
    start_worker(screen, write(), "export", group="export")


def _show_path(screen: ConsoleScreen, path: SafeText, what: SafeText) -> None:
    """Show a file's full path in place of the hints, or above them if it is longer."""
    if cell_width(path) + cell_width(what) <= screen.size.width - _BESIDE:
        screen.notify_user(f"{path}   {what}")
        return
    lines = [line(f"written: {what}"), *wrap_text(path, max(20, screen.size.width - 2))]
    screen.show_lines("exported", lines, for_s=2 * NOTICE_S)


def _write(path: Path, pieces: Iterable[bytes]) -> bool:
    """Write the file, and return whether its directory was made for it.

    Raises:
        RunwatchError: It exists, or cannot be written.
    """
    is_new = not path.parent.exists()
    try:
        write_file(path, pieces)
    except FileExistsError:
        raise RunwatchError(f"{path} already exists", hint="Choose another name. Nothing was written.") from None
    except OSError as error:
        raise RunwatchError(f"{path} cannot be written", detail=error.strerror or "") from None
    return is_new
