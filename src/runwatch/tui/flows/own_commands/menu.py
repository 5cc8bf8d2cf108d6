"""Menu of the user's own commands for the records of a list, and the question before one runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.tui.core.rendering import label_span
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.actions.own_command import call_text, records_text
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.settings.declarations import OwnCommand
    from runwatch.tui.shell.record_screen import RecordScreen
    from runwatch.view.table.rows import RecordRow

MAX_ROWS: Final = 100
"""Maximum records that a command runs with at once."""


def open_command_menu(screen: RecordScreen) -> None:
    console = screen.console
    found = [command for command in console.settings.commands.values() if command.is_for(screen.spec.name)]
    if not found:
        screen.notify_user("No own commands here: see runwatch help settings.")
        return
    rows = _usable_rows(screen)
    if not rows:
        return
    refused = console.command_keys.refused
    items = [
        MenuItem(
            line(command.name),
            partial(start_command, screen, command, rows),
            line(call_text(command.run)),
            key=line("" if command.name in refused else command.key),
        )
        for command in found
    ]
    about = records_text(screen.spec, [row.id for row in rows], console.glyphs)
    title = (label_span("Own commands   ", Role.PLAIN), label_span(about))
    screen.open_overlay(Menu(title, items, id="command-menu"))


def start_command_at_cursor(screen: RecordScreen, command: OwnCommand) -> None:
    """Start a command with the marked rows, or the one at the cursor."""
    rows = _usable_rows(screen)
    if rows:
        start_command(screen, command, rows)


def start_command(screen: RecordScreen, command: OwnCommand, rows: Sequence[RecordRow[Any]]) -> None:
    """Ask the command's question if it has one, with the words that will run, and run it with each row."""
    from runwatch.tui.flows.own_commands.run import build_calls, run_calls

    if len(rows) > MAX_ROWS:
        screen.notify_user(
            f"An own command runs with at most {MAX_ROWS} records; {grouped_number(len(rows))} are marked.", Role.WARN
        )
        return
    calls = build_calls(screen, command, rows)
    if calls and not command.question:
        run_calls(screen, command, calls)
    elif calls:
        more = f"   and the same for {grouped_number(len(calls) - 1)} more" if len(calls) > 1 else ""
        about = records_text(screen.spec, [row.id for row in rows], screen.console.glyphs)
        title = (label_span(f"{command.question}   ", Role.WARN), label_span(about))
        items = [
            MenuItem(line("No"), lambda: None, line("runs nothing")),
            MenuItem(
                line("Yes"),
                partial(run_calls, screen, command, calls),
                line(f"{call_text(calls[0].words)}{more}", None),
            ),
        ]
        screen.open_overlay(Menu(title, items, id="command-question"))


def _usable_rows(screen: RecordScreen) -> list[RecordRow[Any]]:
    """Return the marked rows, or the one at the cursor; say why there are none."""
    if screen.console.is_web:
        screen.notify_user(
            "Own commands run programs on the machine of 'runwatch web'; a browser runs none.", Role.WARN
        )
        return []
    rows = [] if screen.HAS_SEVERAL_PROFILES else screen.selected_rows()
    if screen.HAS_SEVERAL_PROFILES:
        screen.notify_user("Own commands run in one profile; open the record there first.", Role.WARN)
    elif not rows:
        screen.refuse_key("No row is selected.")
    return rows
