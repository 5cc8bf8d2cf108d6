"""Rows of the settings table, and the context for building them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runwatch.base.text import cell_width
from runwatch.settings.declarations import LOCAL, PROFILES
from runwatch.settings.resolver import ResolvedSetting, SettingSource
from runwatch.settings.setting import Setting
from runwatch.settings.settings_file import LoadedSettings
from runwatch.view.detail.sections import DetailLine, text_line
from runwatch.view.spec.members import column
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

EFFECTIVE_AT_ONCE: Final = frozenset(
    {
        "theme", "time", "bell", "notice", "desktop_notice", "clipboard", "keys", "filters", "columns", "commands",
        "restore",
    }
)  # fmt: skip
"""Settings and tables that take effect as soon as they are written."""

KEY_CELLS: Final = 32

_VALUE_CELLS: Final = 16
"""Width of the narrowest column of values, in cells."""

COLUMNS: Final = (
    column("key", lambda row: row.cells["key"].text, min_cells=KEY_CELLS, max_cells=34),
    column("value", lambda row: row.cells["value"].text, min_cells=_VALUE_CELLS, max_cells=120, whole_first=True),
    column("source", lambda row: row.cells["source"].text, min_cells=8, max_cells=28),
)


@dataclass(frozen=True, slots=True)
class SettingsRow:
    """One row.

    Attributes:
        key: Id of the row.
        cells: Cells by column id.
        about: Description below the table.
        edits: Dotted key to write; that of a table if the row adds to it; empty for none.
        example: Form of what is typed for a new entry of a table, such as ``NAME = FILTER``; empty for any other row.
        text: Initial text for editing.
        choices: Allowed values with a short description each; empty for free text.
        removes: Dotted key that can be removed from the file; empty for none.
        profile: Profile whose connection can be tested; empty for none.
    """

    key: str
    cells: Mapping[str, StyledText]
    about: tuple[DetailLine, ...] = ()
    edits: str = ""
    example: str = ""
    text: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    removes: str = ""
    profile: str = ""
    is_heading: bool = False

    def cell(self, column: Any) -> StyledText:
        return self.cells[column.id]


@dataclass(frozen=True, slots=True)
class KeyedAction:
    """A key action.

    Attributes:
        id: Name in the settings.
        keys: Effective keys, separated by spaces.
        usual: Default keys, in the same form.
        refused: Why the keys in the file are not effective; empty if they are.
    """

    id: str
    keys: str
    usual: str
    help: str
    where: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class SettingsContext:
    """Data for building rows besides the settings.

    Attributes:
        key_sources: Source of each profile's key, never the key itself; a missing profile is still being looked up.
        tests: Results of the last connection test by profile.
        refused_commands: Why the key of an own command cannot be used, by command.
    """

    in_use: str = LOCAL
    address: str = ""
    key_sources: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, StyledText] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)
    screens: tuple[str, ...] = ()
    actions: Sequence[KeyedAction] = ()
    refused_commands: Mapping[str, str] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE


def heading_row(title: str, doc: str) -> SettingsRow:
    cells = {"key": StyledText(line(title), Role.LIVE), "value": quiet_cell(""), "source": quiet_cell("")}
    return SettingsRow(f"part {title}", cells, (text_line("part", doc),), is_heading=True)


def add_entry_row(table: str, doc: str, example: str, *, raw_key: str) -> SettingsRow:
    about = (
        text_line("about", doc),
        text_line("new one", f"enter, then {example}"),
        text_line("raw key", raw_key),
        effect_line(table),
    )
    cells = {"key": quiet_cell(f"+ {table}"), "value": quiet_cell(f"enter: {example}"), "source": quiet_cell("")}
    return SettingsRow(f"+ {table}", cells, about, edits=table, example=example)


def describe_setting(key: str, setting: Setting[Any], resolved: ResolvedSetting) -> tuple[DetailLine, ...]:
    """Describe a setting: meaning, allowed values, source, and when a change takes effect."""
    made = [text_line("about", setting.doc), *long_value_lines(value_text(resolved.value))]
    if not setting.is_table:
        default = value_text(setting.default) or "nothing"
        made.append(text_line("takes", f"{setting.takes}; the default is {default}"))
    if resolved.where:
        made.append(DetailLine(line("from"), line(resolved.where, None)))
    if resolved.source in {SettingSource.FLAG, SettingSource.ENVIRONMENT}:
        made.append(text_line("note", f"{resolved.where} wins over what the file says", Role.WARN))
    names = [name for name in (setting.flag, setting.environment) if name]
    made.append(text_line("raw key", "   ".join((key, *names))))
    made.append(effect_line(key))
    return tuple(made)


def long_value_lines(text: str) -> list[DetailLine]:
    """Return the line that shows a value whole if the list may have cut it."""
    return [about_line("now", text)] if cell_width(line(text)) > _VALUE_CELLS else []


def effect_line(key: str) -> DetailLine:
    return text_line("holds", effect_text(key), Role.QUIET)


def effect_text(key: str) -> str:
    """Say when a change of a setting takes effect."""
    first, *rest = key.split(".")
    is_at_once = first in EFFECTIVE_AT_ONCE or (first == PROFILES and (len(rest) == 1 or rest[-1:] == ["colour"]))
    if is_at_once:
        return "at once"
    if first == PROFILES:
        return "when the profile is opened next"
    return f"from the next start{' of the local service' if first == 'local_service' else ''}"


def resolve_in_file(
    loaded: LoadedSettings, path: tuple[str, ...], value: object, source: SettingSource, *, is_chosen: bool
) -> ResolvedSetting:
    """Return a value with its place in the settings file, or as the default."""
    if not is_chosen:
        return ResolvedSetting(".".join(path), value, SettingSource.DEFAULT)
    return ResolvedSetting(".".join(path), value, source, loaded.place(path))


def setting_cells(key: str, resolved: ResolvedSetting, glyphs: Glyphs) -> dict[str, StyledText]:
    text = value_text(resolved.value)
    return {
        "key": data_cell(key),
        "value": data_cell(text) if text else quiet_cell(glyphs.nothing),
        "source": source_cell(resolved),
    }


def source_cell(resolved: ResolvedSetting) -> StyledText:
    """Format the kind of source of a value."""
    return StyledText(
        line(resolved.source.value), Role.QUIET if resolved.source is SettingSource.DEFAULT else Role.PLAIN
    )


def value_text(value: object) -> str:
    """Format a value as the user types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def data_cell(text: str) -> StyledText:
    return StyledText(line(text))


def quiet_cell(text: str) -> StyledText:
    return StyledText(line(text), Role.QUIET)


def about_line(label: str, text: str, role: Role = Role.PLAIN) -> DetailLine:
    return DetailLine(line(label), line(text, None), role)
