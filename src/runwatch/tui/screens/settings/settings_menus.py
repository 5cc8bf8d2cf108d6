"""Menus and checks of the settings screen that need the key map, the resources or the themes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """A value for a setting.

    Attributes:
        key: The dotted key.
        value: The value as typed; ``None`` removes the key from the file.
        write: Writes them.
    """

    key: str
    value: str | None
    write: WriteSetting

    def __call__(self) -> None:
        self.write(self.key, self.value)


def choice_menu(row: SettingsRow, write: WriteSetting) -> Menu:
    """Return a menu of all values of a setting, starting at the current one; an unusable theme shows the reason."""
    present = {row.text: "in the file" if row.removes else "the default"}
    items = [
        MenuItem(
            line(value),
            SettingChoice(row.edits, value, write),
            line("   ".join(filter(None, (word, present.get(value))))),
            disabled_reason=line(word, None) if word.startswith(NOT_USABLE) else None,
        )
        for value, word in row.choices.items()
    ]
    return Menu(
        line(row.edits), items, start=next((at for at, value in enumerate(row.choices) if value == row.text), 0)
    )


def removal_menu(row: SettingsRow, write: WriteSetting) -> Menu:
    """Return the menu that confirms the removal of a key from the file; the cursor starts on keeping it."""
    words = line(f"remove {row.removes} from the settings file", None)
    removal = MenuItem(words, SettingChoice(row.removes, None, write))
    return Menu(line(row.removes), (MenuItem(line("leave it"), lambda: None), removal))


def find_choice_theme(choice: object) -> str | None:
    return choice.value if isinstance(choice, SettingChoice) and choice.key == Settings.theme.key else None


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
