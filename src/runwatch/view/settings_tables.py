"""Rows for the tables of the settings: named filters, columns of lists, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runwatch.settings.file import Loaded
from runwatch.settings.model import Settings
from runwatch.settings.resolve import Resolved, Resolver, Source
from runwatch.view.columns import chosen_columns, known_names, unknown_words
from runwatch.view.detail import Line
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.query import QueryError
from runwatch.view.query_text import parse
from runwatch.view.registry import RESOURCES, by_name
from runwatch.view.resource import ResourceSpec, Styled
from runwatch.view.settings_row import (
    Around,
    KeyedAction,
    SettingsRow,
    about,
    adder,
    cells,
    effect,
    heading,
    plain,
    quiet,
    source_of,
    text_of,
    words,
)

NO_LIST: Final = "names no list"
"""What is said of columns for a list that there is none of."""

_KEYS_CELLS: Final = 14
"""How wide the keys stand before what they do."""


def table_faults(settings: Settings) -> Iterator[tuple[str, str]]:
    """What is wrong with named filters and columns beyond their form, each with its dotted key."""
    for name, text in settings.filters.items():
        problem = lists_that_take(name, text, settings.filters)[1]
        if problem:
            yield f"{Settings.filters.key}.{name}", f"is a filter that no list takes: {problem}"
    for name in settings.columns:
        key = f"{Settings.columns.key}.{name}"
        try:
            spec = by_name(name)
        except KeyError:
            yield key, NO_LIST
            continue
        wrong = unknown_words(spec, chosen_columns(spec, settings.columns))
        if wrong:
            yield key, wrong.removeprefix(f"{key} ")


def filter_rows(resolver: Resolver, around: Around) -> Iterator[SettingsRow]:
    """Every named filter with the lists that it can be used on, and the row that adds one."""
    setting = Settings.filters
    yield heading("Named filters", "each is used as :NAME where filters are typed, and by its name in the command line")
    named = resolver.value(setting).value
    for resolved in _entries(resolver, setting.key):
        name = resolved.key.partition(".")[2]
        told = _about_filter(name, named)
        made = cells(resolved.key, resolved, around.glyphs)
        if told.role is Role.BAD:
            made["value"] = Styled(made["value"].text, Role.BAD)
        first, *rest = about(resolved.key, setting, resolved)
        text = text_of(resolved.value)
        yield SettingsRow(resolved.key, made, (first, told, *rest), edits=resolved.key, text=text, removes=resolved.key)
    yield adder(setting.key, setting.doc, "NAME = FILTER", raw_key=f"{setting.key}.NAME")


def _about_filter(name: str, named: Mapping[str, str]) -> Line:
    lists, problem = lists_that_take(name, named[name], named)
    if problem:
        return words("wrong", problem, Role.BAD)
    return words("works on", "every list" if len(lists) == len(RESOURCES) else ", ".join(lists))


def lists_that_take(name: str, text: str, named: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """The lists that a named filter can be used on; where there is none, what is wrong with it.

    Args:
        name: Its own name, which it must not lead back to.
        text: The filter.
        named: The other named filters.
    """
    found: list[str] = []
    problem = ""
    for spec in RESOURCES:
        try:
            parse(text, spec, named={**named, name: text})
        except QueryError as error:
            problem = problem or str(error)
        else:
            found.append(spec.name)
    return tuple(found), "" if found else problem


def column_rows(resolver: Resolver, loaded: Loaded, around: Around) -> Iterator[SettingsRow]:
    """The columns of every list, chosen or its own."""
    yield heading(
        "Columns", "which columns a list has, and in which order; those of a narrow window leave by themselves"
    )
    chosen = resolver.value(Settings.columns).value
    for spec in RESOURCES:
        yield _columns(spec, chosen, loaded, around)
    known = {spec.name for spec in RESOURCES}
    for resolved in _entries(resolver, Settings.columns.key):
        if resolved.key.partition(".")[2] not in known:
            told = words("wrong", NO_LIST, Role.BAD)
            made = {**cells(resolved.key, resolved, around.glyphs), "key": Styled(line(resolved.key), Role.BAD)}
            yield SettingsRow(resolved.key, made, (told,), removes=resolved.key)


def _columns(spec: ResourceSpec[Any], chosen: Mapping[str, list[str]], loaded: Loaded, around: Around) -> SettingsRow:
    key = f"{Settings.columns.key}.{spec.name}"
    found = chosen_columns(spec, chosen)
    is_chosen = spec.name in chosen
    usual = " ".join(column.id for column in spec.columns)
    number = loaded.lines.get((Settings.columns.key, spec.name))
    where = f"{loaded.path}:{number}" if number else str(loaded.path)
    text = " ".join(chosen[spec.name]) if is_chosen else usual
    resolved = Resolved(key, text, Source.FILE if is_chosen else Source.DEFAULT, where if is_chosen else "")
    made = cells(key, resolved, around.glyphs)
    told = [words("about", f"The columns of {spec.title}, in order.")]
    wrong = unknown_words(spec, found)
    if wrong:
        told.append(words("wrong", wrong, Role.WARN))
        made["value"] = Styled(made["value"].text, Role.WARN)
    elif not is_chosen:
        made["value"] = quiet(text)
    if resolved.where:
        told.append(words("from", resolved.where))
    told += [words("names", " ".join(known_names(spec))), words("usual", usual), words("raw key", key), effect(key)]
    return SettingsRow(key, made, tuple(told), edits=key, text=text, removes=key if is_chosen else "")


def key_rows(resolver: Resolver, around: Around) -> Iterator[SettingsRow]:
    """Every action with its keys; entries of the file that are no action come last, to be removed."""
    yield heading("Keys", f"{len(around.actions)} actions; a key that another action has at the same place is refused")
    resolved = {item.key.partition(".")[2]: item for item in _entries(resolver, Settings.keys.key)}
    for action in around.actions:
        yield _key(action, resolved.pop(action.id, None))
    for item in resolved.values():
        told = words("wrong", "no action has this id", Role.BAD)
        made = {**cells(item.key, item, around.glyphs), "key": Styled(line(item.key), Role.BAD)}
        yield SettingsRow(item.key, made, (told,), removes=item.key)


def _key(action: KeyedAction, chosen: Resolved | None) -> SettingsRow:
    key = f"{Settings.keys.key}.{action.id}"
    resolved = chosen or Resolved(key, action.usual, Source.DEFAULT)
    told = [words("about", action.help), words("works", action.where)]
    shown = plain(f"{action.keys:{_KEYS_CELLS}}{action.help}")
    if action.refused:
        told.append(words("refused", action.refused, Role.BAD))
        shown = Styled(line(f"{action.keys:{_KEYS_CELLS}}{action.refused}"), Role.BAD)
    told.append(words("takes", f"keys with spaces between them; the usual ones are {action.usual}"))
    if resolved.where:
        told.append(words("from", resolved.where))
    told += [words("raw key", key), effect(key)]
    return SettingsRow(
        key,
        {"key": plain(key), "value": shown, "source": source_of(resolved)},
        tuple(told),
        edits=key,
        text=text_of(chosen.value) if chosen is not None else action.usual,
        removes=key if chosen is not None else "",
    )


def _entries(resolver: Resolver, table: str) -> Iterable[Resolved]:
    return (resolved for resolved in resolver.values() if resolved.key.startswith(f"{table}."))
