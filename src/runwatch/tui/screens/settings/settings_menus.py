"""Menus and checks of the settings screen that need the key map, the resources or the themes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from runwatch.settings.declarations import Settings, update_action_id
from runwatch.tui.core.key_bindings import KEY_ACTIONS, SCOPE_TITLES, KeyMap
from runwatch.tui.core.themes import NOT_USABLE
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.resources.registry import resource_named
from runwatch.view.settings.rows import KeyedAction, SettingsRow
from runwatch.view.settings.tables import NO_LIST, find_lists_accepting
from runwatch.view.table.column_choice import choose_columns, unknown_columns_text
from runwatch.view.text.safe_text import line

WriteSetting = Callable[[str, str | None], None]
"""Writes a value to a key of the settings file; ``None`` removes the key."""


def choice_menu(
    row: SettingsRow, write: WriteSetting, preview: Callable[[str], object], cancelled: Callable[[], object]
) -> Menu:
    """Return a menu of all values of a setting, starting at the current one.

    The theme at the cursor is previewed; one that is not usable shows the reason.
    """

    def highlighted(index: int) -> None:
        if row.edits == Settings.theme.key and items[index].disabled_reason is None:
            preview(list(row.choices)[index])

    present = {row.text: "in the file" if row.removes else "the default"}
    items = [
        MenuItem(
            line(value),
            partial(write, row.edits, value),
            line("   ".join(filter(None, (word, present.get(value))))),
            disabled_reason=line(word, None) if word.startswith(NOT_USABLE) else None,
        )
        for value, word in row.choices.items()
    ]
    start = next((at for at, value in enumerate(row.choices) if value == row.text), 0)
    return Menu(line(row.edits), items, start=start, highlighted=highlighted, cancelled=cancelled)


def removal_menu(row: SettingsRow, write: WriteSetting) -> Menu:
    """Return the menu that confirms the removal of a key from the file; the cursor starts on keeping it."""
    words = line(f"remove {row.removes} from the settings file", None)
    removal = MenuItem(words, partial(write, row.removes, None))
    return Menu(line(row.removes), (MenuItem(line("leave it"), lambda: None), removal))


def validate_setting(settings: Settings, key: str, value: str) -> str:
    """Return what is wrong with a value of valid form: conflicting keys, a filter no list accepts, unknown columns."""
    table, _, name = key.partition(".")
    if table == Settings.keys.key:
        return KeyMap({**settings.keys, name: value}).refused.get(update_action_id(name), "")
    if table == Settings.filters.key:
        return find_lists_accepting(name, value, settings.filters)[1]
    if table == Settings.columns.key:
        try:
            spec = resource_named(name)
        except KeyError:
            return NO_LIST
        typed: Mapping[str, list[str]] = {name: Settings.columns.read({name: value})[name]}
        return unknown_columns_text(spec, choose_columns(spec, typed))
    return ""


def list_keyed_actions(keys: KeyMap) -> list[KeyedAction]:
    return [
        KeyedAction(
            action.id,
            " ".join(keys.keys(action.id)),
            " ".join(action.keys),
            action.help,
            SCOPE_TITLES[action.scope],
            keys.refused.get(action.id, ""),
        )
        for action in KEY_ACTIONS
    ]
