"""One row of the table of settings, and what the rows are made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runwatch.settings.model import LOCAL
from runwatch.settings.resolve import Resolved, Source
from runwatch.settings.setting import Setting
from runwatch.view.detail import Line
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import UNICODE, Glyphs, Role
from runwatch.view.resource import Styled

AT_ONCE: Final = frozenset({"theme", "time", "bell", "notice", "clipboard", "keys", "filters", "columns", "restore"})
"""Settings and tables that hold as soon as they are written; the others wait for the next start."""


@dataclass(frozen=True, slots=True)
class SettingsColumn:
    """A column of the table of settings."""

    id: str
    title: str
    align: Literal["left", "right"] = "left"
    leaves: int = 0
    least: int = 8
    most: int = 40
    keeps_ends: bool = False
    is_whole: bool = False
    only_used: bool = False


COLUMNS: Final = (
    SettingsColumn("key", "key", least=16, most=34),
    SettingsColumn("value", "value", least=16, most=80),
    SettingsColumn("source", "source", most=28),
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
    cells: Mapping[str, Styled]
    about: tuple[Line, ...] = ()
    edits: str = ""
    adds: bool = False
    text: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    removes: str = ""
    profile: str = ""
    is_heading: bool = False

    def cell(self, column: Any) -> Styled:
        """The text of a column and its role."""
        return self.cells[column.id]


@dataclass(frozen=True, slots=True)
class KeyedAction:
    """Something a person can do with a key.

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
class Around:
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
    tests: Mapping[str, Styled] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)
    screens: tuple[str, ...] = ()
    actions: Sequence[KeyedAction] = ()
    glyphs: Glyphs = UNICODE


def heading(title: str, doc: str) -> SettingsRow:
    """A row above a part of the table."""
    cells = {"key": Styled(line(title), Role.LIVE), "value": quiet(doc), "source": quiet("")}
    return SettingsRow(f"part {title}", cells, (Line(line("part"), line(doc)),), is_heading=True)


def adder(table: str, doc: str, example: str, *, raw_key: str) -> SettingsRow:
    """The row that adds an entry to a table."""
    about = (
        Line(line("about"), line(doc)),
        Line(line("new one"), line(f"enter, then {example}")),
        Line(line("raw key"), line(raw_key)),
        effect(table),
    )
    cells = {"key": quiet(f"+ {table}"), "value": quiet(f"enter adds {example}"), "source": quiet("")}
    return SettingsRow(f"+ {table}", cells, about, edits=table, adds=True)


def about(key: str, setting: Setting[Any], resolved: Resolved) -> tuple[Line, ...]:
    """What a setting means, what it takes, where its value comes from, and when a change holds."""
    made = [Line(line("about"), line(setting.doc))]
    if not setting.is_table:
        default = text_of(setting.default) or "nothing"
        made.append(Line(line("takes"), line(f"{setting.takes}; the default is {default}")))
    if resolved.where:
        made.append(Line(line("from"), line(resolved.where, None)))
    if resolved.source in {Source.FLAG, Source.ENVIRONMENT}:
        made.append(Line(line("note"), line(f"{resolved.where} wins over what the file says"), Role.WARN))
    names = [name for name in (setting.flag, setting.environment) if name]
    made.append(Line(line("raw key"), line("   ".join((key, *names)))))
    made.append(effect(key))
    return tuple(made)


def effect(key: str) -> Line:
    """When a change of a setting holds."""
    return Line(line("holds"), line("at once" if holds_at_once(key) else "from the next start"), Role.QUIET)


def holds_at_once(key: str) -> bool:
    """Whether a setting holds as soon as it is written."""
    return key.partition(".")[0] in AT_ONCE


def cells(key: str, resolved: Resolved, glyphs: Glyphs) -> dict[str, Styled]:
    """Key, value and source of a setting."""
    text = text_of(resolved.value)
    return {
        "key": plain(key),
        "value": plain(text) if text else quiet(glyphs.nothing),
        "source": source_of(resolved),
    }


def source_of(resolved: Resolved) -> Styled:
    """Which kind of place a value comes from."""
    return Styled(line(resolved.source.value), Role.QUIET if resolved.source is Source.DEFAULT else Role.PLAIN)


def text_of(value: object) -> str:
    """A value as a person types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def plain(text: str) -> Styled:
    """Text that is data."""
    return Styled(line(text))


def quiet(text: str) -> Styled:
    """Text around the data."""
    return Styled(line(text), Role.QUIET)


def words(label: str, text: str, role: Role = Role.PLAIN) -> Line:
    """A line of what is said about a row, however long."""
    drawn: Drawn = line(text, None)
    return Line(line(label), drawn, role)
