"""Ids that were copied in part: refused where they are cut by a mark, and completed from what this machine has seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.text import clean_line
from runwatch.commands.cli.grammar import command_at
from runwatch.commands.cli.invocation import Invocation

MIN_CHARACTERS: Final = 4
"""Minimum characters of a part that may be completed: a short id shows so many of its end."""

_CUT: Final = re.compile(r"(.*?)(?:…|~(?=\w{4}\Z))(.*)", re.DOTALL)
"""A shortened id in Unicode or ASCII: both ends and the mark between them."""

_PART: Final = re.compile(r"[0-9A-Za-z]{1,12}")
"""A part of an id, which has its kind before an underscore."""


def refuse_shortened_ids(call: Invocation) -> None:
    """Refuse an id as lists show it, before anything is sent.

    Raises:
        UsageError: An argument is one; the whole id is named if only one is known.
    """
    for kind, value in _ids(call):
        cut = _CUT.fullmatch(value)
        if cut is None:
            continue
        found = _find_seen(call, kind, partial(_has_ends, *cut.groups()))
        raise UsageError(
            f"'{clean_line(value)}' is a shortened id",
            detail=f"did you mean '{found}'?" if found else None,
            hint="Copy the whole one: `y` in the console, or from the table of a list command.",
        )


def name_seen_id(error: RunwatchError, call: Invocation, record_id: str | None = None) -> None:
    """Complete the detail of an error about an unknown id with the one known id that contains it, if only one does.

    Args:
        record_id: The id that is unknown, of several.
    """
    if getattr(error, "code", None) != "not_found" or "did you mean" in (error.detail or ""):
        return
    from runwatch.store.repositories.id_search import normalize_id

    for kind, value in _ids(call):
        if record_id not in {None, value}:
            continue
        part, found = normalize_id(value), None
        if len(part) >= MIN_CHARACTERS:
            found = _find_seen(call, kind, partial(_contains, part))
        words = f"did you mean '{found}'?" if found else "The id has to be whole." if _PART.fullmatch(value) else None
        error.detail = " ".join(filter(None, [error.detail, words]))


def _contains(part: str, each: str) -> bool:
    from runwatch.store.repositories.id_search import normalize_id

    return part in normalize_id(each) != part


def _has_ends(head: str, tail: str, each: str) -> bool:
    return each.startswith(head) and each.endswith(tail)


def _ids(call: Invocation) -> Iterator[tuple[str, str]]:
    """Yield the kind and the id of each argument that names a record; parts of a problem's instance are enough."""
    command = command_at(call.words)
    for argument in () if command is None else command.arguments:
        kind = argument.names or ("run" if argument.name == "ID" else "")
        given = call.options[argument.name.lower()]
        if kind and kind != "problem":
            for value in given if isinstance(given, list) else [given]:
                if isinstance(value, str):
                    yield kind, value


def _find_seen(call: Invocation, kind: str, is_meant: Callable[[str], bool]) -> str | None:
    from runwatch.store.repositories.seen_ids import find_seen_ids
    from runwatch.view.resources.registry import resource_for_kind

    try:
        record = resource_for_kind(kind).record
    except KeyError:
        return None
    seen = find_seen_ids(call.paths.database, record, (call.profile,) if call.profile else None)
    meant = [clean_line(each) for each in seen if is_meant(each)]
    return meant[0] if len(meant) == 1 else None
