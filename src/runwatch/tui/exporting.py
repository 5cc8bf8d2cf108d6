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
from runwatch.base.memory import no_walks
from runwatch.base.text import cell_width
from runwatch.tui.draw import word
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.widgets.notice import Note
from runwatch.tui.widgets.status_line import NOTICE_S
from runwatch.tui.widgets.wrapping import wrapped
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, line
from runwatch.view.exports import FORM_WORDS, FORMS, Form, encoded, file_name, form_of
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.console import Console
    from runwatch.tui.screens.base import ConsoleScreen, RowScreen

_BESIDE: Final = 26
"""Cells of the line of hints that a notice cannot take."""


def open_export_menu(screen: RowScreen, more: Sequence[MenuItem] = ()) -> None:
    """Let a person choose how the rows are written.

    Args:
        screen: The list.
        more: What else can be written there, offered first; a target without arguments is called.
    """
    count = len(screen.exported())
    if not count and not more:
        screen.say("There are no rows to export.", Role.WARN)
        return
    what = screen.spec.singular if count == 1 else screen.spec.name
    items = [MenuItem(line(form), partial(export_rows, screen, form), line(FORM_WORDS[form])) for form in FORMS]
    title = (word("Export   ", Role.PLAIN), word(f"{count} {what}; `:export FILE` takes a name of your own"))
    screen.put_over(Menu(title, [*more, *(items if count else ())], id="export-menu"))


def export_rows(screen: RowScreen, form: Form, path: Path | None = None) -> None:
    """Write the rows of a list, and say where they are.

    Args:
        screen: The list.
        form: How they are written.
        path: The file; a new one in the folder of exports when left out.
    """
    # The rows as they are now: what comes while the file is written is not in it.
    rows = screen.exported()
    spec = screen.spec
    pieces = (encoded(text) for text in screen.export_pieces(form, rows))
    path = path or new_file(screen.console, screen.spec.name, form)
    write_export(screen, path, pieces, f"{len(rows)} {spec.singular if len(rows) == 1 else spec.name}")


def export_to(screen: RowScreen, name: str) -> None:
    """Write the rows to a file that a person names; its ending says how."""
    form = form_of(name)
    if form is None:
        screen.say(f"A file to export to ends in .{', .'.join(FORMS)}.", Role.WARN)
    elif not screen.exported():
        screen.say("There are no rows to export.", Role.WARN)
    else:
        export_rows(screen, form, Path(name).expanduser().absolute())


def new_file(console: Console, noun: str, form: Form) -> Path:
    """A file in the folder of exports that is not there yet."""
    return free_name(console.opening.paths.exports_dir / file_name(noun, console.clock.now(), form))


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
        with no_walks():
            await asyncio.to_thread(_write, path, pieces)
        _tell(screen, line(path, None), line(what))

    start_work(screen, write(), "export", group="export")


def _tell(screen: ConsoleScreen, path: Drawn, what: Drawn) -> None:
    """Say the whole name of a file: in place of the hints, or above them where it is longer than they."""
    if cell_width(path) + cell_width(what) <= screen.size.width - _BESIDE:
        screen.say(f"{path}   {what}")
        return
    note = next(iter(screen.query("#exported").results(Note)), None)
    if note is None:
        note = Note((), id="exported")
        screen.mount(note, before="#status")
    note.say([line(f"written: {what}"), *wrapped(path, max(20, screen.size.width - 2))], for_s=2 * NOTICE_S)


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the file.

    Raises:
        RunwatchError: it is there already, or cannot be written.
    """
    try:
        write_file(path, pieces)
    except FileExistsError:
        raise RunwatchError(f"{path} is there already", hint="Choose another name; nothing was written.") from None
    except OSError as error:
        raise RunwatchError(f"{path} cannot be written", detail=error.strerror or "") from None
