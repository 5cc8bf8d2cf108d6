"""The menus of a record: what to copy of it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import OPERATIONS
from runwatch.base.shell import runwatch_command
from runwatch.tui.actions import BY_ID
from runwatch.tui.draw import Pieces, word
from runwatch.tui.messages import CopyWanted
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.view.copies import Copy, copies
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.tui.screens.base import RecordScreen

_READ_ONLY = line("this profile is read-only")
_FROM_A_FILE = line("this is a file")


def open_copy_menu(screen: RecordScreen) -> None:
    """Let a person choose what to copy of the record under the cursor."""
    row = screen.row
    if row is None:
        screen.say("There is nothing to copy.", Role.WARN)
        return
    console = screen.console
    offered = copies(screen.spec, row.subject, is_foreign=console.has_file, socket=console.local_socket)
    found = [*offered, *screen.copies_in_focus()]
    items = [MenuItem(copy.what, copy, _first_line(copy.text)) for copy in found]
    screen.put_over(Menu(_title(screen, row, "Copy"), items, id="copy-menu"))


def open_action_menu(screen: RecordScreen) -> None:
    """Show everything that can be done with the record under the cursor, and why the rest of it cannot."""
    row = screen.row
    if row is None and screen.spec.makes:
        open_make_menu(screen)
        return
    if row is None or not screen.spec.actions:
        screen.say(f"Nothing can be done with a {screen.spec.singular} here." if row else "There is no row.", Role.WARN)
        return
    items = list(_actions(screen, row))
    screen.put_over(Menu(_title(screen, row, "Actions"), items, id="action-menu"))


def open_make_menu(screen: RecordScreen) -> None:
    """Let a person choose what to make here."""
    items = [_item(screen, action, (None, action), None) for action in screen.spec.makes]
    screen.put_over(Menu((word(f"New {screen.spec.singular}", Role.PLAIN),), items, id="make-menu"))


def make_something(screen: RecordScreen) -> None:
    """Make what is made here, or let a person choose where there are several things."""
    makes = screen.spec.makes
    if len(makes) > 1:
        open_make_menu(screen)
    elif makes:
        screen.console.perform(screen, None, makes[0])


async def destroy(screen: RecordScreen) -> None:
    """Do what destroys the record under the cursor, the first of it that can be done now."""
    row = screen.row
    found = [action for action in screen.spec.actions if action.is_destructive]
    if row is None or not found:
        screen.say("There is no row.", Role.WARN)
        return
    usable = [action for action in found if action.enabled_when(row.subject)]
    if len(usable) > 1:
        items = [_item(screen, action, (row.key, action), row) for action in usable]
        screen.put_over(Menu(_title(screen, row, "Actions"), items, id="action-menu"))
    elif usable:
        await screen.do_with(row, usable[0])
    else:
        screen.say(found[-1].off_because, Role.WARN)


async def do_named(screen: RecordScreen, id: str) -> None:
    """Do an action with the record under the cursor, by the action's id."""
    row = screen.row
    action = next((action for action in screen.spec.actions if action.id == id), None)
    if row is None or action is None:
        screen.say("There is no row.", Role.WARN)
    elif not action.enabled_when(row.subject):
        screen.say(action.off_because, Role.WARN)
    else:
        await screen.do_with(row, action)


async def take_choice(screen: RecordScreen, target: object) -> None:
    """Do what was chosen in one of the menus; the record is looked up anew, because it may have changed meanwhile."""
    if isinstance(target, Copy):
        screen.post_message(CopyWanted(screen, target.what, target.text, several_lines=True))
        return
    assert isinstance(target, tuple)
    key, action = target
    if key is None and isinstance(action, Action):
        screen.console.perform(screen, None, action)
        return
    row = next((row for row in screen.table.rows if row.key == key), None)
    if not isinstance(row, Row) or not isinstance(action, Action):
        screen.say("The record is not in the list any more.", Role.WARN)
    elif not action.enabled_when(row.subject):
        screen.say(action.off_because, Role.WARN)
    else:
        await screen.do_with(row, action)


def _actions(screen: RecordScreen, row: Row[Any]) -> Iterator[MenuItem]:
    for action in screen.spec.actions:
        yield _item(screen, action, (row.key, action), row)
    for action in screen.spec.makes:
        yield _item(screen, action, (None, action), None)


def _item(screen: RecordScreen, action: Action[Any], target: object, row: Row[Any] | None) -> MenuItem:
    """An action with its key or its verb, or why it is off."""
    desk = screen.console.desk
    off: Drawn | None = None
    if not action.enabled_when(None if row is None else row.subject):
        off = line(action.off_because)
    elif screen.console.has_file and not _is_read(action):
        off = _FROM_A_FILE
    elif desk is not None and desk.client.read_only and is_write(action):
        off = _READ_ONLY
    here = screen.console.keys.shown(key) if (key := _key_of(screen, action, row)) else line("")
    verb = line(runwatch_command(action.verb, *([] if row is None else [row.id])) if action.verb else "")
    if action.mutation is None:
        # Without a screen that does it the verb alone does.
        return MenuItem(line(action.label), target, verb or here, off)
    return MenuItem(line(action.label), target, line("   ".join(part for part in (here, verb) if part)), off)


def _key_of(screen: RecordScreen, action: Action[Any], row: Row[Any] | None) -> str:
    """The action of the keyboard that does the same; empty where none does."""
    if f"screen.{action.id}" in BY_ID:
        return f"screen.{action.id}"
    if row is None:
        return "screen.new" if len(screen.spec.makes) == 1 else ""
    return "screen.destroy" if action.is_destructive and action.mutation is not None else ""


def _is_read(action: Action[Any]) -> bool:
    """Whether an action shows something that the service, or a file in its place, has."""
    return action.mutation is None and action.calls in OPERATIONS and OPERATIONS[action.calls].method == "GET"


def is_write(action: Action[Any]) -> bool:
    """Whether an action changes something at the service."""
    return action.calls in OPERATIONS and OPERATIONS[action.calls].mutates


def _title(screen: RecordScreen, row: Row[Any], what: str) -> Pieces:
    name = short_id(row.id, screen.console.glyphs)
    return (word(f"{what}   ", Role.PLAIN), word(f"{screen.spec.singular} {name}"))


def _first_line(text: str) -> Drawn:
    """Enough of a text to know it by."""
    return line(" ".join(text[:400].split()))
