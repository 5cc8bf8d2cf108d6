"""Rows for the tables in the settings: named filters, list columns, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from runwatch.base.closest_word import closest_name, closest_word
from runwatch.base.shell_words import quote_exactly
from runwatch.settings.declarations import COMMAND_SETTINGS, COMMANDS, OwnCommand, Settings, update_action_id
from runwatch.settings.resolver import ResolvedSetting, SettingSource, SettingsResolver
from runwatch.settings.settings_file import LoadedSettings
from runwatch.view.detail.sections import DetailLine
from runwatch.view.query.expressions import QueryError
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.registry import RESOURCES, resource_named, screen_names
from runwatch.view.settings.rows import (
    KeyedAction,
    SettingsContext,
    SettingsRow,
    about_line,
    add_entry_row,
    data_cell,
    describe_setting,
    effect_line,
    heading_row,
    long_value_lines,
    quiet_cell,
    resolve_in_file,
    setting_cells,
    source_cell,
    value_text,
)
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.column_choice import choose_columns, list_columns, unknown_columns_text
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

NO_LIST: Final = "names no list"

_KEYS_CELLS: Final = 15
"""Width of the keys before their action's description, in cells."""


class ValueProblem(NamedTuple):
    """A value that its setting accepts and that names nothing, by its dotted key, with the most similar name if there
    is one.
    """

    key: str
    message: str
    nearest: str = ""


def find_value_problems(settings: Settings, themes: Iterable[str]) -> Iterator[ValueProblem]:
    """Yield each theme, screen, named filter and column of the settings that does not exist."""
    for key, value, known, what in (
        (Settings.theme.key, settings.theme, tuple(themes), "theme"),
        (Settings.home_screen.key, settings.home_screen, screen_names(), "screen"),
    ):
        if value not in known:
            nearest = closest_name(value, known) or ""
            choice = "" if nearest else f"; there are {', '.join(known)}"
            yield ValueProblem(key, f"names no {what}: {value}{choice}", nearest)
    for name, text in settings.filters.items():
        problem = find_lists_accepting(name, text, settings.filters)[1]
        if problem:
            yield ValueProblem(f"{Settings.filters.key}.{name}", f"is a filter that no list takes: {problem}")
    for name in settings.columns:
        key = f"{Settings.columns.key}.{name}"
        try:
            spec = resource_named(name)
        except KeyError:
            yield ValueProblem(key, NO_LIST, closest_word(name, (spec.name for spec in RESOURCES)) or "")
            continue
        wrong = unknown_columns_text(spec, choose_columns(spec, settings.columns))
        if wrong:
            yield ValueProblem(key, wrong.removeprefix(f"{key} "))
    for command in settings.commands.values():
        unknown, nearest = find_unknown_kind(command)
        if unknown:
            yield ValueProblem(f"{COMMANDS}.{command.name}.{OwnCommand.kinds.key}", unknown, nearest)


def find_unknown_kind(command: OwnCommand) -> tuple[str, str]:
    """Return which kind of an own command is no list, and the nearest one; empty texts if there is none."""
    known = [spec.name for spec in RESOURCES]
    stems = {name.removesuffix("s") for name in known}
    unknown = next((kind for kind in command.kinds if kind.removesuffix("s") not in stems), "")
    return (f"names no list: {unknown}", closest_word(unknown, known) or "") if unknown else ("", "")


def command_rows(loaded: LoadedSettings, around: SettingsContext) -> Iterator[SettingsRow]:
    """Yield every own command with its settings, if there are any."""
    if not loaded.settings.commands:
        return
    yield heading_row("Own commands", "programs of yours that run with a record; the file adds and changes them")
    for command in loaded.settings.commands.values():
        key = f"{COMMANDS}.{command.name}"
        run = " ".join(map(quote_exactly, command.run))
        wrong = next(filter(None, (find_unknown_kind(command)[0], around.refused_commands.get(command.name))), "")
        about = [about_line("wrong", wrong, Role.BAD)] if wrong else []
        for setting in COMMAND_SETTINGS:
            value = run if setting is OwnCommand.run else value_text(command.chosen.get(setting.key, setting.default))
            about.append(about_line(setting.key, value or around.glyphs.nothing))
        place = loaded.place((COMMANDS, command.name))
        about += [about_line("from", place), about_line("raw key", key), effect_line(key)]
        cells = {
            "key": data_cell(key),
            "value": StyledText(line(wrong), Role.BAD) if wrong else data_cell(run),
            "source": data_cell(SettingSource.FILE.value),
        }
        yield SettingsRow(key, cells, tuple(about), removes=key)


def filter_rows(resolver: SettingsResolver, around: SettingsContext) -> Iterator[SettingsRow]:
    """Yield every named filter with the lists that accept it, and the row that adds one."""
    setting = Settings.filters
    yield heading_row(
        "Named filters", "each is used as :NAME where filters are typed, and by its name in the command line"
    )
    named = resolver.value(setting).value
    for resolved in _entries(resolver, setting.key):
        name = resolved.key.partition(".")[2]
        about = _about_filter(name, named)
        made = setting_cells(resolved.key, resolved, around.glyphs)
        if about.role is Role.BAD:
            made["value"] = StyledText(made["value"].text, Role.BAD)
        first, *rest = describe_setting(resolved.key, setting, resolved)
        text = value_text(resolved.value)
        yield SettingsRow(
            resolved.key, made, (first, about, *rest), edits=resolved.key, text=text, removes=resolved.key
        )
    yield add_entry_row(setting.key, setting.doc, "NAME = FILTER", raw_key=f"{setting.key}.NAME")


def _about_filter(name: str, named: Mapping[str, str]) -> DetailLine:
    lists, problem = find_lists_accepting(name, named[name], named)
    if problem:
        return about_line("wrong", problem, Role.BAD)
    return about_line("works on", "every list" if len(lists) == len(RESOURCES) else ", ".join(lists))


def find_lists_accepting(name: str, text: str, named: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """Return the lists that accept a named filter beside the other ones; if there are none, also what is wrong with
    it.
    """
    found: list[str] = []
    problem = ""
    for spec in RESOURCES:
        try:
            parse_filter(text, spec, named={**named, name: text})
        except QueryError as error:
            problem = problem or str(error)
        else:
            found.append(spec.name)
    return tuple(found), "" if found else problem


def column_rows(resolver: SettingsResolver, loaded: LoadedSettings, around: SettingsContext) -> Iterator[SettingsRow]:
    """Yield the columns of every list, chosen or default."""
    yield heading_row(
        "Columns", "which columns a list has, and in which order; those of a narrow window leave by themselves"
    )
    chosen = resolver.value(Settings.columns).value
    for spec in RESOURCES:
        yield _columns(spec, chosen, loaded, around)
    known = {spec.name for spec in RESOURCES}
    for resolved in _entries(resolver, Settings.columns.key):
        if resolved.key.partition(".")[2] not in known:
            about = (about_line("wrong", NO_LIST, Role.BAD), *long_value_lines(value_text(resolved.value)))
            made = {
                **setting_cells(resolved.key, resolved, around.glyphs),
                "key": StyledText(line(resolved.key), Role.BAD),
            }
            yield SettingsRow(resolved.key, made, about, removes=resolved.key)


def _columns(
    spec: ResourceSpec[Any], chosen: Mapping[str, list[str]], loaded: LoadedSettings, around: SettingsContext
) -> SettingsRow:
    key = f"{Settings.columns.key}.{spec.name}"
    found = choose_columns(spec, chosen)
    is_chosen = spec.name in chosen
    usual = " ".join(column.id for column in spec.columns)
    text = " ".join(chosen[spec.name]) if is_chosen else usual
    path = (Settings.columns.key, spec.name)
    resolved = resolve_in_file(loaded, path, text, SettingSource.FILE, is_chosen=is_chosen)
    made = setting_cells(key, resolved, around.glyphs)
    about = [about_line("about", f"The columns of {spec.title}, in order.")]
    wrong = unknown_columns_text(spec, found)
    if wrong:
        about.append(about_line("wrong", wrong, Role.WARN))
        made["value"] = StyledText(made["value"].text, Role.WARN)
    elif not is_chosen:
        made["value"] = quiet_cell(text)
    if is_chosen:
        about += long_value_lines(text)
    if resolved.where:
        about.append(about_line("from", resolved.where))
    about += [
        about_line("usual", usual),
        about_line("names", " ".join(list_columns(spec))),
        about_line("raw key", key),
        effect_line(key),
    ]
    return SettingsRow(key, made, tuple(about), edits=key, text=text, removes=key if is_chosen else "")


def key_rows(resolver: SettingsResolver, around: SettingsContext) -> Iterator[SettingsRow]:
    """Yield every action with its keys, then entries of the file that are not actions and can be removed."""
    yield heading_row(
        "Keys", f"{len(around.actions)} actions; a key that another action has at the same place is refused"
    )
    resolved = {update_action_id(item.key.partition(".")[2]): item for item in _entries(resolver, Settings.keys.key)}
    for action in around.actions:
        yield _key(action, resolved.pop(action.id, None))
    for item in resolved.values():
        about = (about_line("wrong", "no action has this id", Role.BAD), *long_value_lines(value_text(item.value)))
        made = {**setting_cells(item.key, item, around.glyphs), "key": StyledText(line(item.key), Role.BAD)}
        yield SettingsRow(item.key, made, about, removes=item.key)


def _key(action: KeyedAction, chosen: ResolvedSetting | None) -> SettingsRow:
    resolved = chosen or ResolvedSetting(f"{Settings.keys.key}.{action.id}", action.usual, SettingSource.DEFAULT)
    key = resolved.key
    about = [about_line("about", action.help), about_line("works", action.where)]
    shown = data_cell(f"{action.keys:{_KEYS_CELLS}}  {action.help}")
    if action.refused:
        about.append(about_line("refused", action.refused, Role.BAD))
        shown = StyledText(line(f"{action.keys:{_KEYS_CELLS}}  {action.refused}"), Role.BAD)
    about += long_value_lines(action.keys)
    about.append(about_line("takes", f"keys with spaces between them; the usual ones are {action.usual}"))
    if resolved.where:
        about.append(about_line("from", resolved.where))
    about += [about_line("raw key", key), effect_line(key)]
    return SettingsRow(
        key,
        {"key": data_cell(key), "value": shown, "source": source_cell(resolved)},
        tuple(about),
        edits=key,
        text=value_text(chosen.value) if chosen is not None else action.usual,
        removes=key if chosen is not None else "",
    )


def _entries(resolver: SettingsResolver, table: str) -> Iterable[ResolvedSetting]:
    return (resolved for resolved in resolver.values() if resolved.key.startswith(f"{table}."))
