"""The settings as rows: effective value, source, meaning, and allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.base.text import cell_width
from runwatch.settings.declarations import (
    PROFILE_SETTINGS,
    PROFILES,
    RESERVED_NAMES,
    SETTINGS,
    Profile,
    Settings,
    find_setting,
    is_profile_name,
)
from runwatch.settings.file_parser import SettingsProblem
from runwatch.settings.resolver import SettingSource, SettingsResolver
from runwatch.settings.setting import InvalidValueError, Setting
from runwatch.settings.settings_file import LoadedSettings
from runwatch.view.detail.sections import DetailLine, text_line
from runwatch.view.settings.rows import (
    KEY_CELLS,
    SettingsContext,
    SettingsRow,
    add_entry_row,
    data_cell,
    describe_setting,
    heading_row,
    quiet_cell,
    resolve_in_file,
    setting_cells,
    value_text,
)
from runwatch.view.settings.tables import column_rows, command_rows, filter_rows, key_rows
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

_SWITCH = {"true": "", "false": ""}


def settings_rows(resolver: SettingsResolver, loaded: LoadedSettings, around: SettingsContext) -> list[SettingsRow]:
    """Return rows for problems of the file, every setting, every profile with its own settings, and the tables.

    Raises:
        SettingsError: A flag or a variable has an invalid value, or a profile is unknown.
    """
    profiles = loaded.settings.profiles
    rows = [_problem(number, problem, around) for number, problem in enumerate(loaded.problems)]
    rows.append(heading_row("Console", "how it looks, what it reads and how often"))
    rows += [_single(setting, resolver, loaded, around) for setting in SETTINGS if not setting.is_table]
    rows.append(
        heading_row("Profiles", "the services that you work with; T tests the connection of the one at the cursor")
    )
    if around.in_use and around.in_use not in profiles:
        rows.append(_profile(around.in_use, around.address, around))
    for name, profile in profiles.items():
        rows.append(_profile(name, profile.base_url, around))
        rows += [_of_profile(name, setting, profile, loaded, around) for setting in PROFILE_SETTINGS]
    doc = "A service under a name of your own."
    rows.append(add_entry_row(PROFILES, doc, "NAME = https://HOST", raw_key=f"{PROFILES}.NAME.base_url"))
    rows += filter_rows(resolver, around)
    rows += column_rows(resolver, loaded, around)
    rows += command_rows(loaded, around)
    rows += key_rows(resolver, around)
    return rows


def search_rows(rows: list[SettingsRow], words: str) -> list[SettingsRow]:
    """Return the rows that contain all words in their key, value or description, in any order and ignoring case, below
    their headings.
    """
    sought = words.casefold().split()
    if not sought:
        return rows
    found: list[SettingsRow] = []
    above: SettingsRow | None = None
    for row in rows:
        if row.is_heading:
            above = row
            continue
        texts = (*(cell.text for cell in row.cells.values()), row.edits, *(entry.text for entry in row.about))
        text = " ".join(texts).casefold()
        if all(word in text for word in sought):
            found += [row] if above is None else [above, row]
            above = None
    return found


def parse_edit(row: SettingsRow, text: str) -> tuple[str, str | None]:
    """Return the dotted key and the value to write for typed text; ``None`` restores the default.

    Raises:
        InvalidValueError: The setting does not accept it. The message never contains the text.
    """
    text = text.strip()
    if row.example:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise InvalidValueError(f"must be {row.example}")
        if row.edits == PROFILES and not is_profile_name(name):
            raise InvalidValueError(
                f"must begin with a name of letters, digits, - and _; {', '.join(RESERVED_NAMES)} are taken"
            )
        key = f"{PROFILES}.{name}.base_url" if row.edits == PROFILES else f"{row.edits}.{name}"
    else:
        key, value = row.edits, text
        if not value:
            return key, None
    setting = find_setting(key)
    if setting is None:
        raise InvalidValueError("is not a setting")
    setting.parse(value)
    if row.choices and value not in row.choices:
        raise InvalidValueError(f"must be one of {', '.join(row.choices)}")
    return key, value


def _problem(number: int, problem: SettingsProblem, around: SettingsContext) -> SettingsRow:
    role = Role.WARN if problem.is_warning else Role.BAD
    glyph = around.glyphs.warn if problem.is_warning else around.glyphs.bad
    place = problem.path.name if problem.line is None else f"line {problem.line}"
    named = f"'{problem.key}' {problem.message}" if problem.key else problem.message
    about = [DetailLine(line("problem"), line(named, None), role), DetailLine(line("place"), line(problem.place, None))]
    if problem.nearest:
        about.append(text_line("nearest", problem.nearest))
    if problem.copy is not None:
        about.append(DetailLine(line("copy"), line(str(problem.copy), None)))
    shown = {
        "key": StyledText(line(f"{glyph} {place}"), role),
        "value": StyledText(line(named), role),
        "source": quiet_cell("file"),
    }
    return SettingsRow(f"problem {number}", shown, tuple(about))


def _single(
    setting: Setting[Any], resolver: SettingsResolver, loaded: LoadedSettings, around: SettingsContext
) -> SettingsRow:
    resolved = resolver.value(setting)
    in_file = loaded.settings.chosen
    return SettingsRow(
        setting.key,
        setting_cells(setting.key, resolved, around.glyphs),
        describe_setting(setting.key, setting, resolved),
        edits=setting.key,
        text=value_text(in_file.get(setting.key, setting.default)),
        choices=_choices(setting, loaded, around),
        removes=setting.key if setting.key in in_file else "",
    )


def _profile(name: str, address: str, around: SettingsContext) -> SettingsRow:
    source = around.key_sources.get(name)
    key = f"looking{around.glyphs.ellipsis}" if source is None else source or "no key"
    test = around.tests.get(name)
    about = [
        text_line("profile", name),
        text_line("address", address or "none"),
        text_line("key", f"{key}; the key itself is never shown"),
    ]
    if test is not None:
        about.append(DetailLine(line("last test"), test.text, test.role))
    about.append(text_line("test", "T reads the account of this profile", Role.QUIET))
    is_used = name == around.in_use
    key_cell = f"profile {name}{'   in use' * is_used}"
    if cell_width(line(key_cell)) > KEY_CELLS:
        # A part of the words says nothing; the header bar names this profile too.
        key_cell = f"profile {name}"
    made = {
        "key": StyledText(line(key_cell), Role.LIVE if is_used else Role.PLAIN),
        "value": test or data_cell(address or "no address"),
        "source": quiet_cell(key),
    }
    removes = f"{PROFILES}.{name}" if is_profile_name(name) and not is_used else ""
    return SettingsRow(f"profile {name}", made, tuple(about), removes=removes, profile=name)


def _of_profile(
    name: str, setting: Setting[Any], profile: Profile, loaded: LoadedSettings, around: SettingsContext
) -> SettingsRow:
    key = f"{PROFILES}.{name}.{setting.key}"
    value = profile.chosen.get(setting.key, setting.default)
    is_chosen = setting.key in profile.chosen
    path = (PROFILES, name, setting.key)
    resolved = resolve_in_file(loaded, path, value, SettingSource.PROFILE, is_chosen=is_chosen)
    return SettingsRow(
        key,
        {**setting_cells(key, resolved, around.glyphs), "key": quiet_cell(f"  {setting.key}")},
        describe_setting(key, setting, resolved),
        edits=key,
        text=value_text(value),
        choices=_own_choices(setting),
        removes=key if is_chosen else "",
        profile=name,
    )


def _choices(setting: Setting[Any], loaded: LoadedSettings, around: SettingsContext) -> Mapping[str, str]:
    """Return the choices of a setting with a short description each; empty for free text."""
    if setting is Settings.theme:
        return around.themes
    if setting is Settings.home_screen:
        return dict.fromkeys(around.screens, "")
    if setting is Settings.default_profile:
        return {name: profile.base_url for name, profile in loaded.settings.profiles.items()}
    return _own_choices(setting)


def _own_choices(setting: Setting[Any]) -> Mapping[str, str]:
    return _SWITCH if isinstance(setting.default, bool) else dict.fromkeys(setting.choices, "")
