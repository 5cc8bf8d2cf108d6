"""Writing the rows of a list to a file: the marked ones, or all that are shown.

A file is written whole or not at all, for this user alone, beside the screen; a file that is there already is left as
it is. Nothing is sent, so that a read-only profile exports like any other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.base.files import write_export as write_file
from runwatch.base.memory import pause_collection
from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.widgets.bars.status_bar import NOTICE_S
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.tui.widgets.panes.notice import Notice
from runwatch.view.export.file_formats import (
    FILE_FORMATS,
    FORMAT_TITLES,
    FileFormat,
    build_export_name,
    encode_for_file,
    format_from_name,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen, RowScreen

_BESIDE: Final = 26
"""Cells of the line of hints that a notice cannot take."""


def open_export_menu(screen: RowScreen, more: Sequence[MenuItem] = ()) -> None:
    """Let the user choose how the rows are written.

    Args:
        screen: The list.
        more: What else can be written there, offered first; a target without arguments is called.
    """
    count = len(screen.rows_to_export())
    if not count and not more:
        screen.notify_user("No rows to export.", Role.WARN)
        return
    what = screen.spec.singular if count == 1 else screen.spec.name
    items = [
        MenuItem(line(form), partial(export_rows, screen, form), line(FORMAT_TITLES[form])) for form in FILE_FORMATS
    ]
    title = (
        label_span("Export   ", Role.PLAIN),
        label_span(f"{count} {what}; `:export FILE` takes a name of your own"),
    )
    screen.open_overlay(Menu(title, [*more, *(items if count else ())], id="export-menu"))


def export_rows(screen: RowScreen, form: FileFormat, path: Path | None = None) -> None:
    """Write the rows of a list, and say where they are.

    Args:
        screen: The list.
        form: How they are written.
        path: The file; a new one in the folder of exports when left out.
    """
    # The rows as they are now: what comes while the file is written is not in it.
    rows = screen.rows_to_export()
    spec = screen.spec
    pieces = (encode_for_file(text) for text in screen.export_pieces(form, rows))
    path = path or choose_export_path(screen.console, screen.spec.name, form)
    write_export(screen, path, pieces, f"{len(rows)} {spec.singular if len(rows) == 1 else spec.name}")


def export_to_named_file(screen: RowScreen, name: str) -> None:
    """Write the rows to a file that the user names; its ending says how."""
    form = format_from_name(name)
    if form is None:
        screen.notify_user(f"A file to export to ends in .{', .'.join(FILE_FORMATS)}.", Role.WARN)
    elif not screen.rows_to_export():
        screen.notify_user("No rows to export.", Role.WARN)
    else:
        export_rows(screen, form, Path(name).expanduser().absolute())


def choose_export_path(console: Console, noun: str, form: FileFormat) -> Path:
    """A file in the folder of exports that is not there yet."""
    return free_name(console.launch.paths.exports_dir / build_export_name(noun, console.clock.now(), form))


def free_name(first: Path) -> Path:
    """The path itself, or with a number behind its stem where something is there already, such as a link to nothing."""
    path, number = first, 1
    while os.path.lexists(path):
        number += 1
        path = first.with_stem(f"{first.stem}-{number}")
    return path


def write_export(screen: ConsoleScreen, path: Path, pieces: Iterable[bytes], what: str) -> None:
    """Write a file beside the screen, and say its whole name; an error is said too.

    Args:
        screen: Where it is said.
        path: The file, which must not be there yet.
        pieces: Its content.
        what: What is in it.
    """

    async def write() -> None:
        # A long table is thousands of objects that are no garbage until its end.
        with pause_collection():
            await asyncio.to_thread(_write, path, pieces)
        _tell(screen, line(path, None), line(what))

    start_worker(screen, write(), "export", group="export")


def _tell(screen: ConsoleScreen, path: SafeText, what: SafeText) -> None:
    """Say the whole name of a file: in place of the hints, or above them where it is longer than they."""
    if cell_width(path) + cell_width(what) <= screen.size.width - _BESIDE:
        screen.notify_user(f"{path}   {what}")
        return
    note = next(iter(screen.query("#exported").results(Notice)), None)
    if note is None:
        note = Notice((), id="exported")
        screen.mount(note, before="#status")
    note.say([line(f"written: {what}"), *wrap_text(path, max(20, screen.size.width - 2))], for_s=2 * NOTICE_S)


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the file.

    Raises:
        RunwatchError: it is there already, or cannot be written.
    """
    try:
        write_file(path, pieces)
    except FileExistsError:
        raise RunwatchError(f"{path} already exists", hint="Choose another name. Nothing was written.") from None
    except OSError as error:
        raise RunwatchError(f"{path} cannot be written", detail=error.strerror or "") from None
