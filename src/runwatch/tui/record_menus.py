"""The menus of a record: what to copy of it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import OPERATIONS
from runwatch.tui.actions import BY_ID
from runwatch.tui.draw import Pieces, word
from runwatch.tui.messages import CopyWanted
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.view.copies import Copy, copies
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role
from runwatch.view.resource import Action
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.tui.screens.resource import ResourceScreen

_READ_ONLY = line("this profile is read-only")


def open_copy_menu(screen: ResourceScreen) -> None:
    """Let a person choose what to copy of the record under the cursor."""
    row = screen.row
    if row is None:
        screen.say("There is nothing to copy.", Role.WARN)
        return
    found = [*copies(screen.spec, row.subject), *screen.copies_in_focus()]
    items = [MenuItem(copy.what, copy, _first_line(copy.text)) for copy in found]
    screen.put_over(Menu(_title(screen, row, "Copy"), items, id="copy-menu"))


def open_action_menu(screen: ResourceScreen) -> None:
    """Show everything that can be done with the record under the cursor, and why the rest of it cannot."""
    row = screen.row
    if row is None or not screen.spec.actions:
        screen.say(f"Nothing can be done with a {screen.spec.singular} here." if row else "There is no row.", Role.WARN)
        return
    items = list(_actions(screen, row))
    screen.put_over(Menu(_title(screen, row, "Actions"), items, id="action-menu"))


async def take_choice(screen: ResourceScreen, target: object) -> None:
    """Do what was chosen in one of the menus; the record is looked up anew, because it may have changed meanwhile."""
    if isinstance(target, Copy):
        screen.post_message(CopyWanted(screen, target.what, target.text, several_lines=True))
        return
    assert isinstance(target, tuple)
    key, action = target
    row = next((row for row in screen.table.rows if row.key == key), None)
    if not isinstance(row, Row) or not isinstance(action, Action):
        screen.say("The record is not in the list any more.", Role.WARN)
    elif not action.enabled_when(row.subject):
        screen.say(action.off_because, Role.WARN)
    else:
        await screen.do_with(row, action)


def _actions(screen: ResourceScreen, row: Row[Any]) -> Iterator[MenuItem]:
    desk = screen.console.desk
    is_read_only = desk is not None and desk.client.read_only
    for action in screen.spec.actions:
        off: Drawn | None = None
        if not action.enabled_when(row.subject):
            off = line(action.off_because)
        elif is_read_only and action.operation in OPERATIONS and OPERATIONS[action.operation].mutates:
            off = _READ_ONLY
        key = f"screen.{action.id}"
        here = screen.console.keys.shown(key) if key in BY_ID else line("")
        note = line(f"runwatch {action.verb} {line(row.id)}") if action.verb else here
        yield MenuItem(line(action.label), (row.key, action), note, off)


def _title(screen: ResourceScreen, row: Row[Any], what: str) -> Pieces:
    name = short_id(row.id, screen.console.glyphs)
    return (word(f"{what}   ", Role.PLAIN), word(f"{screen.spec.singular} {name}"))


def _first_line(text: str) -> Drawn:
    """Enough of a text to know it by."""
    return line(" ".join(text[:400].split()))
