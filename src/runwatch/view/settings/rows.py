"""One row of the table of settings, and what the rows are made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runwatch.settings.declarations import LOCAL
from runwatch.settings.resolver import ResolvedSetting, SettingSource
from runwatch.settings.setting import Setting
from runwatch.view.detail.sections import DetailLine
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import StyledText

EFFECTIVE_AT_ONCE: Final = frozenset(
    {"theme", "time", "bell", "notice", "clipboard", "keys", "filters", "columns", "restore"}
)
"""Settings and tables that hold as soon as they are written; the others wait for the next start."""


@dataclass(frozen=True, slots=True)
class SettingsColumn:
    """A column of the table of settings."""

    id: str
    title: str
    align: Literal["left", "right"] = "left"
    hide_order: int = 0
    min_cells: int = 8
    max_cells: int = 40
    elides_middle: bool = False
    never_cut: bool = False
    hide_if_empty: bool = False


COLUMNS: Final = (
    SettingsColumn("key", "key", min_cells=16, max_cells=34),
    SettingsColumn("value", "value", min_cells=16, max_cells=80),
    SettingsColumn("source", "source", max_cells=28),
)


@dataclass(frozen=True, slots=True)
class SettingsRow:
    """One row.

    Attributes:
        key: Names the row.
        cells: What stands in the columns, by their ids.
        about: What is said of it below the table.
        edits: The dotted key that is written; of a table for a row that adds to it; empty where nothing is.
        adds: Whether ``NAME = VALUE`` is typed, for a new entry of a table.
        text: What editing begins with.
        choices: The values there are, each with a word about it, where nothing else is taken.
        removes: The dotted key that can be taken out of the file; empty where there is none.
        profile: The profile whose connection can be tested; empty where none can.
        is_heading: Whether it stands above a part of the table.
    """

    key: str
    cells: Mapping[str, StyledText]
    about: tuple[DetailLine, ...] = ()
    edits: str = ""
    adds: bool = False
    text: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    removes: str = ""
    profile: str = ""
    is_heading: bool = False

    def cell(self, column: Any) -> StyledText:
        """The text of a column and its role."""
        return self.cells[column.id]


@dataclass(frozen=True, slots=True)
class KeyedAction:
    """Something the user can do with a key.

    Attributes:
        id: Names it in the settings.
        keys: The keys that hold, with spaces between them.
        usual: The keys that hold where nobody has chosen others.
        help: What it does, in a sentence.
        where: Where it works, in words.
        refused: Why the keys that the file gives it do not hold; empty where they do.
    """

    id: str
    keys: str
    usual: str
    help: str
    where: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class SettingsContext:
    """What the rows are made with beside the settings themselves.

    Attributes:
        in_use: The profile that the console works with.
        address: Its address.
        key_sources: Where the key of each profile comes from, never the key; a profile that is missing is being
            looked up.
        tests: What came of the last test of a profile's connection.
        themes: Names of the themes there are, each with its title.
        screens: Names of the screens there are.
        actions: Everything that can be done with a key.
        glyphs: The signs.
    """

    in_use: str = LOCAL
    address: str = ""
    key_sources: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, StyledText] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)
    screens: tuple[str, ...] = ()
    actions: Sequence[KeyedAction] = ()
    glyphs: Glyphs = UNICODE


def heading_row(title: str, doc: str) -> SettingsRow:
    """A row above a part of the table."""
    cells = {"key": StyledText(line(title), Role.LIVE), "value": quiet_cell(doc), "source": quiet_cell("")}
    return SettingsRow(f"part {title}", cells, (DetailLine(line("part"), line(doc)),), is_heading=True)


def add_entry_row(table: str, doc: str, example: str, *, raw_key: str) -> SettingsRow:
    """The row that adds an entry to a table."""
    about = (
        DetailLine(line("about"), line(doc)),
        DetailLine(line("new one"), line(f"enter, then {example}")),
        DetailLine(line("raw key"), line(raw_key)),
        effect_line(table),
    )
    cells = {"key": quiet_cell(f"+ {table}"), "value": quiet_cell(f"enter adds {example}"), "source": quiet_cell("")}
    return SettingsRow(f"+ {table}", cells, about, edits=table, adds=True)


def describe_setting(key: str, setting: Setting[Any], resolved: ResolvedSetting) -> tuple[DetailLine, ...]:
    """What a setting means, what it takes, where its value comes from, and when a change holds."""
    made = [DetailLine(line("about"), line(setting.doc))]
    if not setting.is_table:
        default = value_text(setting.default) or "nothing"
        made.append(DetailLine(line("takes"), line(f"{setting.takes}; the default is {default}")))
    if resolved.where:
        made.append(DetailLine(line("from"), line(resolved.where, None)))
    if resolved.source in {SettingSource.FLAG, SettingSource.ENVIRONMENT}:
        made.append(DetailLine(line("note"), line(f"{resolved.where} wins over what the file says"), Role.WARN))
    names = [name for name in (setting.flag, setting.environment) if name]
    made.append(DetailLine(line("raw key"), line("   ".join((key, *names)))))
    made.append(effect_line(key))
    return tuple(made)


def effect_line(key: str) -> DetailLine:
    """When a change of a setting holds."""
    return DetailLine(
        line("holds"), line("at once" if takes_effect_at_once(key) else "from the next start"), Role.QUIET
    )


def takes_effect_at_once(key: str) -> bool:
    """Whether a setting holds as soon as it is written."""
    return key.partition(".")[0] in EFFECTIVE_AT_ONCE


def setting_cells(key: str, resolved: ResolvedSetting, glyphs: Glyphs) -> dict[str, StyledText]:
    """Key, value and source of a setting."""
    text = value_text(resolved.value)
    return {
        "key": data_cell(key),
        "value": data_cell(text) if text else quiet_cell(glyphs.nothing),
        "source": source_cell(resolved),
    }


def source_cell(resolved: ResolvedSetting) -> StyledText:
    """Which kind of place a value comes from."""
    return StyledText(
        line(resolved.source.value), Role.QUIET if resolved.source is SettingSource.DEFAULT else Role.PLAIN
    )


def value_text(value: object) -> str:
    """A value as the user types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def data_cell(text: str) -> StyledText:
    """Text that is data."""
    return StyledText(line(text))


def quiet_cell(text: str) -> StyledText:
    """Text around the data."""
    return StyledText(line(text), Role.QUIET)


def about_line(label: str, text: str, role: Role = Role.PLAIN) -> DetailLine:
    """A line of what is said about a row, however long."""
    drawn: SafeText = line(text, None)
    return DetailLine(line(label), drawn, role)
