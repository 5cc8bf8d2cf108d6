"""Menus of a record: what to copy, and its actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.tui.core.key_bindings import BY_ID, RECORD_KEYS
from runwatch.tui.core.messages import CopyRequested
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.flows.action_dialog import perform_action
from runwatch.tui.shell.refusals import action_refusal
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.problems.copy_options import list_copy_options
from runwatch.view.spec.action import ResourceAction
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.copied_text import copied_command
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line, truncate

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.shell.record_screen import RecordScreen


_PREVIEW_CELLS: Final = 120
"""Cells of the beginning of a text that is copied."""

_GONE: Final = "The record is no longer in the list."


OwnActions = Mapping[str, Callable[[Any], None]]
"""What opens instead of the form or dialog of actions, by their ids; it takes the record."""


def open_copy_menu(screen: RecordScreen) -> None:
    """Open the menu of what can be copied from the record at the cursor."""
    row = screen.row
    if row is None:
        screen.nothing_to_copy()
        return
    console, focused = screen.console, [*screen.copies_in_focus()]

    def items() -> list[MenuItem]:
        offered = list_copy_options(
            screen.spec,
            (_row_now(screen, row.key) or row).subject,
            is_foreign=console.has_file,
            socket=console.local_socket,
            program=console.launch.program,
            find_body=console.find_sent_body,
        )
        return [
            MenuItem(
                copy.what,
                partial(screen.post_message, CopyRequested(copy.what, copy.text, several_lines=True)),
                _first_line(copy.text, console.glyphs.ellipsis),
            )
            for copy in (*offered, *focused)
        ]

    menu = Menu(_title(screen, row, "Copy"), items(), id="copy-menu", now=items, is_about_record=True)
    screen.open_overlay(menu)


def open_action_menu(screen: RecordScreen, own: OwnActions) -> None:
    """Open the menu of all actions of the record at the cursor, with the reason for each unavailable one.

    What the service can do with it comes first, then what the keys of the screen do with any record, and the keys that
    the status bar has no room for. A file does not change, so what is unavailable there is left out.
    """
    row, has_file = screen.row, screen.console.has_file
    if row is None and screen.spec.create_actions and not has_file:
        open_create_menu(screen)
        return
    if row is None:
        screen.open_more_keys()
        return
    keys = [*_key_items(screen, row), *_rest_items(screen, row)]

    def items() -> list[MenuItem]:
        now = _row_now(screen, row.key) or row
        actions = (
            *(_record_item(screen, now, action, own) for action in screen.spec.actions),
            *_command_item(screen, now, screen.spec.actions),
            *_create_items(screen),
        )
        return [*(item for item in actions if item.disabled_reason is None or not has_file), *keys]

    menu = Menu(_title(screen, row, "Actions"), items(), id="action-menu", now=items, is_about_record=True)
    screen.open_overlay(menu)


def open_create_menu(screen: RecordScreen) -> None:
    title = (label_span(f"New {screen.spec.singular}", Role.PLAIN),)
    items = [*_create_items(screen), *_command_item(screen, None, screen.spec.create_actions)]
    screen.open_overlay(Menu(title, items, id="make-menu"))


def create_record(screen: RecordScreen) -> None:
    """Create a record of a kind that can be created; with several ways to do so, open the menu."""
    first, *others = screen.spec.create_actions
    if others:
        open_create_menu(screen)
    else:
        perform_action(screen, None, first)


def open_destroy(screen: RecordScreen, own: OwnActions) -> None:
    """Run the destructive action available for the record at the cursor; with several, open a menu."""
    row = screen.row
    found = [action for action in screen.spec.actions if action.is_destructive]
    if row is None or not found:
        screen.refuse_key("No row is selected.")
        return
    usable = [action for action in found if action.enabled_when(row.subject)]
    if len(usable) > 1:
        # Without its key, which is that of all of them, and opens this menu.
        items = [replace(_record_item(screen, row, action, own), key=line("")) for action in usable]
        screen.open_overlay(Menu(_title(screen, row, "Actions"), items, id="action-menu", is_about_record=True))
    else:
        _run_if_enabled(screen, row, [*usable, found[-1]][0], own)


def run_named_action(screen: RecordScreen, id: str, own: OwnActions) -> None:
    row = screen.row
    action = next((action for action in screen.spec.actions if action.id == id), None)
    if row is None or action is None:
        screen.refuse_key("No row is selected.")
    else:
        _run_if_enabled(screen, row, action, own)


def _run_if_enabled(screen: RecordScreen, row: RecordRow[Any], action: ResourceAction[Any], own: OwnActions) -> None:
    if not action.enabled_when(row.subject):
        screen.notify_user(action.off_text(row.subject), Role.WARN)
    elif action.id in own:
        screen.table.select(row.key)
        own[action.id](row.subject)
    else:
        perform_action(screen, row.subject, action)


def _run_chosen(screen: RecordScreen, key: str, action: ResourceAction[Any], own: OwnActions) -> None:
    """Run a chosen action; the record is looked up again, because it may have changed."""
    row = _row_now(screen, key)
    if row is not None:
        _run_if_enabled(screen, row, action, own)
    else:
        screen.notify_user(_GONE, Role.WARN)


def _row_now(screen: RecordScreen, key: str) -> RecordRow[Any] | None:
    """Return the row of a record as it is now; ``None`` if it is not listed any more."""
    row = next((row for row in screen.table.rows if row.key == key), None)
    return row if isinstance(row, RecordRow) else None


def _run_key(screen: RecordScreen, key: str, node: DOMNode, handler: str) -> None:
    """Run what a key does with the record, on the widget, screen or app that has the key."""
    if screen.row is not None and screen.row.key == key:
        # Later, because the menu is still closing, and the focus returns to the pane whose key this is.
        screen.call_later(screen.app.run_action, handler, node)
    else:
        screen.notify_user(_GONE, Role.WARN)


def _record_item(screen: RecordScreen, row: RecordRow[Any], action: ResourceAction[Any], own: OwnActions) -> MenuItem:
    return _item(screen, action, partial(_run_chosen, screen, row.key, action, own), row)


def _create_items(screen: RecordScreen) -> Iterator[MenuItem]:
    for action in screen.spec.create_actions:
        yield _item(screen, action, partial(perform_action, screen, None, action), None)


def _key_items(screen: RecordScreen, row: RecordRow[Any]) -> Iterator[MenuItem]:
    """Yield what the active keys do with the record, unless one of its actions is the same."""
    shown = {_key_of(screen, action, row) for action in screen.spec.actions}
    active = {
        binding.id: partial(_run_key, screen, row.key, node, binding.action)
        for node, binding, is_enabled, _ in screen.active_bindings.values()
        if is_enabled and binding.id is not None
    }
    labels = dict(hint for hint in screen.hints() if isinstance(hint, tuple))
    for id in RECORD_KEYS:
        if id in active and id not in shown and screen.offers(id):
            label = labels.get(id, BY_ID[id].label)
            title, key = line(label[:1].upper() + label[1:]), screen.console.keys.shown(id)
            yield MenuItem(title, active[id], line(screen.key_help(id)), key=key)


def _rest_items(screen: RecordScreen, row: RecordRow[Any]) -> Iterator[MenuItem]:
    """Yield the keys that the status bar has no room for, unless the menu has them already."""
    shown = {*RECORD_KEYS, *(_key_of(screen, action, row) for action in screen.spec.actions)}
    for id, label in screen.hidden_hints:
        if id not in shown:
            yield screen.key_item(id, label)


def _item(
    screen: RecordScreen, action: ResourceAction[Any], target: Callable[[], None], row: RecordRow[Any] | None
) -> MenuItem:
    """Return an action's menu item with its key, or why it is off."""
    subject = None if row is None else row.subject
    is_enabled = action.enabled_when(subject)
    off = action_refusal(screen.console, action) if is_enabled else line(action.off_text(subject))
    here = screen.console.keys.shown(key) if (key := _key_of(screen, action, row)) else line("")
    return MenuItem(line(_label(action, row)), target, disabled_reason=off, key=here)


def _label(action: ResourceAction[Any], row: RecordRow[Any] | None) -> str:
    return action.label if row is None else action.label_of(row.subject)


def _command_item(
    screen: RecordScreen, row: RecordRow[Any] | None, actions: Iterable[ResourceAction[Any]]
) -> Iterator[MenuItem]:
    """Yield the item that leads to the commands of those actions that are possible now."""
    commands: list[tuple[str, str]] = []
    for action in actions:
        if action.command and action.enabled_when(None if row is None else row.subject):
            fixed = () if row is not None or action.mutation is None else action.mutation.fixed_options
            words = " ".join((action.command, *fixed))
            commands.append((_label(action, row), screen.console.command(words, *([] if row is None else [row.id]))))
    return command_item(screen, commands)


def command_item(screen: ConsoleScreen, commands: Sequence[tuple[str, str]]) -> Iterator[MenuItem]:
    """Yield the item that opens a menu to copy commands, each with what it does; none without commands."""

    def open_commands() -> None:
        items = [
            MenuItem(
                line(label),
                partial(screen.post_message, CopyRequested(line("command"), copied_command(text))),
                line(text),
            )
            for label, text in commands
        ]
        title = (label_span("Copy the command for", Role.PLAIN),)
        screen.open_overlay(Menu(title, items, id="command-copy-menu"))

    if commands:
        yield MenuItem(line("Copy a command"), open_commands, line("Copy the command for one of these actions."))


def _key_of(screen: RecordScreen, action: ResourceAction[Any], row: RecordRow[Any] | None) -> str:
    """Return the key action that does the same, or an empty text."""
    if f"screen.{action.id}" in BY_ID:
        return f"screen.{action.id}"
    if row is None:
        return "screen.new" if len(screen.spec.create_actions) == 1 else ""
    return "screen.destroy" if action.is_destructive else ""


def _title(screen: RecordScreen, row: RecordRow[Any], what: str) -> StyledSpans:
    name = screen.spec.title_of(row.subject, screen.console.glyphs)
    return (label_span(f"{what}   ", Role.PLAIN), (name, Role.QUIET))


def _first_line(text: str, mark: str) -> SafeText:
    """Return the beginning of a text, enough to recognize it."""
    return truncate(line(" ".join(text[:400].split())), _PREVIEW_CELLS, mark)
