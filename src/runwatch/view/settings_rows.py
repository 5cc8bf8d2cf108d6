"""The settings as rows: what holds, where it comes from, what it means, and what may be written in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runwatch.settings.file import Loaded
from runwatch.settings.model import (
    LOCAL,
    PROFILE_SETTINGS,
    PROFILES,
    SETTINGS,
    Profile,
    Settings,
    find_setting,
    is_profile_name,
)
from runwatch.settings.reading import SettingsProblem
from runwatch.settings.resolve import Resolved, Resolver, Source
from runwatch.settings.setting import Setting, Unfit
from runwatch.view.detail import Line
from runwatch.view.drawn import line
from runwatch.view.glyphs import UNICODE, Glyphs, Role
from runwatch.view.resource import Styled

AT_ONCE: Final = frozenset({"theme", "time", "bell", "clipboard", "keys", "filters"})
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


COLUMNS: Final = (
    SettingsColumn("key", "key", least=16, most=34),
    SettingsColumn("value", "value", most=60),
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
        choices: What is offered.
        is_closed: Whether nothing but the choices is taken.
        profile: The profile whose connection can be tested; empty where none can.
    """

    key: str
    cells: Mapping[str, Styled]
    about: tuple[Line, ...]
    edits: str = ""
    adds: bool = False
    text: str = ""
    choices: tuple[str, ...] = ()
    is_closed: bool = False
    profile: str = ""

    def cell(self, column: Any) -> Styled:
        """The text of a column and its role."""
        return self.cells[column.id]


@dataclass(frozen=True, slots=True)
class Around:
    """What the rows are made with beside the settings themselves.

    Attributes:
        in_use: The profile that the console works with.
        address: Its address.
        key_sources: Where the key of each profile comes from, never the key; a profile that is missing is being
            looked up.
        tests: What came of the last test of a profile's connection.
        themes: Names of the themes there are.
        screens: Names of the screens there are.
        glyphs: The signs.
    """

    in_use: str = LOCAL
    address: str = ""
    key_sources: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, Styled] = field(default_factory=dict)
    themes: tuple[str, ...] = ()
    screens: tuple[str, ...] = ()
    glyphs: Glyphs = UNICODE


def settings_rows(resolver: Resolver, loaded: Loaded, around: Around) -> list[SettingsRow]:
    """What is wrong with the file, every setting, every profile with its own settings.

    Raises:
        SettingsError: a flag or a variable holds what its setting does not take, or a profile is not known.
    """
    profiles = loaded.settings.profiles
    rows = [_problem(number, problem, around) for number, problem in enumerate(loaded.problems)]
    for setting in SETTINGS:
        made = _table if setting.is_table else _single
        rows += made(setting, resolver, loaded, around)
    if around.in_use not in profiles:
        rows.append(_profile(around.in_use, around.address, around))
    for name, profile in profiles.items():
        rows.append(_profile(name, profile.base_url, around))
        rows += [_of_profile(name, setting, profile, loaded, around) for setting in PROFILE_SETTINGS]
    rows.append(_adder(PROFILES, "A service under a name of your own.", "NAME = https://HOST"))
    return rows


def wanted(row: SettingsRow, text: str) -> tuple[str, str | None]:
    """What a typed text means for a row: the dotted key to write, and its value; ``None`` puts the default back.

    Raises:
        Unfit: the setting does not take it; the message never holds the text.
    """
    text = text.strip()
    if row.adds:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise Unfit("must be NAME = VALUE")
        if row.edits == PROFILES and not is_profile_name(name):
            raise Unfit("must begin with a name of letters, digits, - and _ that is neither local nor unnamed")
        key = f"{PROFILES}.{name}.base_url" if row.edits == PROFILES else f"{row.edits}.{name}"
    else:
        key, value = row.edits, text
        if not value:
            return key, None
    setting = find_setting(key)
    if setting is None:
        raise Unfit("is no setting")
    setting.parse(value)
    if row.is_closed and value not in row.choices:
        raise Unfit(f"must be one of {', '.join(row.choices)}")
    return key, value


def holds_at_once(key: str) -> bool:
    """Whether a setting holds as soon as it is written."""
    return key.partition(".")[0] in AT_ONCE


def _problem(number: int, problem: SettingsProblem, around: Around) -> SettingsRow:
    role = Role.WARN if problem.is_warning else Role.BAD
    glyph = around.glyphs.warn if problem.is_warning else around.glyphs.bad
    place = problem.path.name if problem.line is None else f"line {problem.line}"
    named = f"'{problem.key}' {problem.message}" if problem.key else problem.message
    about = [Line(line("problem"), line(named, None), role), Line(line("place"), line(problem.place, None))]
    if problem.nearest:
        about.append(Line(line("nearest"), line(problem.nearest)))
    if problem.copy is not None:
        about.append(Line(line("copy"), line(str(problem.copy), None)))
    cells = {"key": Styled(line(f"{glyph} {place}"), role), "value": Styled(line(named), role), "source": _word("file")}
    return SettingsRow(f"problem {number}", cells, tuple(about))


def _single(setting: Setting[Any], resolver: Resolver, loaded: Loaded, around: Around) -> Iterator[SettingsRow]:
    resolved = resolver.value(setting)
    choices, is_closed = _choices(setting, loaded, around)
    in_file = loaded.settings.chosen.get(setting.key, setting.default)
    yield SettingsRow(
        setting.key,
        _cells(setting.key, resolved, around),
        _about(setting.key, setting, resolved),
        edits=setting.key,
        text=_text(in_file),
        choices=choices,
        is_closed=is_closed,
    )


def _table(setting: Setting[Any], resolver: Resolver, loaded: Loaded, around: Around) -> Iterator[SettingsRow]:
    for resolved in resolver.values():
        if resolved.key.startswith(f"{setting.key}."):
            about = _about(resolved.key, setting, resolved)
            cells = _cells(resolved.key, resolved, around)
            yield SettingsRow(resolved.key, cells, about, edits=resolved.key, text=_text(resolved.value))
    example = "ID = KEYS, such as screen.copy = ctrl+y" if setting is Settings.keys else "NAME = FILTER"
    yield _adder(setting.key, setting.doc, example)


def _adder(table: str, doc: str, example: str) -> SettingsRow:
    about = (
        Line(line("about"), line(doc)),
        Line(line("new one"), line(f"enter, then {example}")),
        Line(line("raw key"), line(f"{table}.NAME" + (".base_url" if table == PROFILES else ""))),
        _effect(table),
    )
    cells = {"key": _word(f"+ {table}"), "value": _word(f"enter adds {example}"), "source": _word("")}
    return SettingsRow(f"+ {table}", cells, about, edits=table, adds=True)


def _profile(name: str, address: str, around: Around) -> SettingsRow:
    source = around.key_sources.get(name)
    key = f"looking{around.glyphs.ellipsis}" if source is None else source or "no key"
    test = around.tests.get(name)
    about = [
        Line(line("profile"), line(name)),
        Line(line("address"), line(address or "none")),
        Line(line("key"), line(f"{key}; the key itself is never shown")),
    ]
    if test is not None:
        about.append(Line(line("last test"), test.text, test.role))
    about.append(Line(line("test"), line("T reads the account of this profile"), Role.QUIET))
    used = "in use" if name == around.in_use else ""
    shown = f"{address or 'no address'}   {used}".rstrip()
    cells = {
        "key": Styled(line(f"profile {name}"), Role.LIVE if used else Role.PLAIN),
        "value": test or _plain(shown),
        "source": _word(key),
    }
    return SettingsRow(f"profile {name}", cells, tuple(about), profile=name)


def _of_profile(name: str, setting: Setting[Any], profile: Profile, loaded: Loaded, around: Around) -> SettingsRow:
    key = f"{PROFILES}.{name}.{setting.key}"
    value = profile.chosen.get(setting.key, setting.default)
    is_chosen = setting.key in profile.chosen
    number = loaded.lines.get((PROFILES, name, setting.key))
    where = f"{loaded.path}:{number}" if number else str(loaded.path)
    resolved = Resolved(key, value, Source.PROFILE if is_chosen else Source.DEFAULT, where if is_chosen else "")
    choices = setting.choices or (("true", "false") if isinstance(setting.default, bool) else ())
    return SettingsRow(
        key,
        {**_cells(key, resolved, around), "key": _word(f"  {setting.key}")},
        _about(key, setting, resolved),
        edits=key,
        text=_text(value),
        choices=choices,
        is_closed=bool(choices),
        profile=name,
    )


def _about(key: str, setting: Setting[Any], resolved: Resolved) -> tuple[Line, ...]:
    made = [Line(line("about"), line(setting.doc))]
    if not setting.is_table:
        default = _text(setting.default) or "nothing"
        made.append(Line(line("takes"), line(f"{setting.takes}; the default is {default}")))
    if resolved.where:
        made.append(Line(line("from"), line(resolved.where, None)))
    if resolved.source in {Source.FLAG, Source.ENVIRONMENT}:
        made.append(Line(line("note"), line(f"{resolved.where} wins over what the file says"), Role.WARN))
    names = [name for name in (setting.flag, setting.environment) if name]
    made.append(Line(line("raw key"), line("   ".join((key, *names)))))
    made.append(_effect(key))
    return tuple(made)


def _effect(key: str) -> Line:
    return Line(line("holds"), line("at once" if holds_at_once(key) else "from the next start"), Role.QUIET)


def _choices(setting: Setting[Any], loaded: Loaded, around: Around) -> tuple[tuple[str, ...], bool]:
    """What is offered for a setting, and whether nothing else is taken."""
    if isinstance(setting.default, bool):
        return ("true", "false"), True
    if setting is Settings.theme:
        return around.themes, True
    if setting is Settings.home_screen:
        return around.screens, True
    if setting is Settings.default_profile:
        return tuple(loaded.settings.profiles), True
    return setting.choices, bool(setting.choices)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cells(key: str, resolved: Resolved, around: Around) -> dict[str, Styled]:
    text = _text(resolved.value)
    role = Role.QUIET if resolved.source is Source.DEFAULT else Role.PLAIN
    return {
        "key": _plain(key),
        "value": _plain(text) if text else _word(around.glyphs.nothing),
        "source": Styled(line(resolved.source.value), role),
    }


def _plain(text: str) -> Styled:
    return Styled(line(text))


def _word(text: str) -> Styled:
    return Styled(line(text), Role.QUIET)
