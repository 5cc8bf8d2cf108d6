"""Short declarations for specifications whose parts are members of a record.

A field is named ``id|alias|…=path``. The path leads from the subject to its value through attributes; it is the last
name where it is left out. A value of ``None`` on the way gives ``None``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from runwatch.view.spec.resource import Column, Field, MemberLine
from runwatch.view.text.format import RenderContext
from runwatch.view.text.member_format import detail_seconds, detail_state, detail_time, detail_usd, newest_first_key
from runwatch.view.text.member_format import time_cell as draw_time
from runwatch.view.text.status_format import detail_status, status_cell
from runwatch.view.text.styled_text import CellText

_FORMATS: Final[Mapping[str, Callable[[Any, RenderContext], CellText] | None]] = {
    "": None,
    "status": detail_status,
    "state": detail_state,
    "time": detail_time,
    "usd": detail_usd,
    "s": detail_seconds,
}


def member_lines(words: str, under: str = "") -> tuple[MemberLine, ...]:
    """Declare a line for each member named in ``words``, which are separated by spaces.

    Args:
        words: Paths; ``path:format`` names a format: ``status``, ``state``, ``time``, ``usd`` or ``s`` for seconds.
        under: The path of the object that holds them all; the labels leave it out.
    """
    lines = []
    for word in words.split():
        name, _, form = word.partition(":")
        lines.append(MemberLine(f"{under}.{name}" if under else name, name, _FORMATS[form]))
    return tuple(lines)


def fields(words: str) -> tuple[Field[Any], ...]:
    """Declare a field for each word."""
    return tuple(field(word) for word in words.split())


def field(names: str, value: Callable[[Any], object] | None = None, **options: Any) -> Field[Any]:
    """Declare a field; ``value`` reads it where it is no member."""
    return Field(**_name_field(names, value), **options)


def column(names: str, value: Callable[[Any], object] | None = None, **options: Any) -> Column[Any]:
    """Declare a column, titled by its id unless ``title`` says otherwise."""
    named = _name_field(names, value)
    return Column(**{"title": named["id"], **named, **options})


def status_column(names: str, value: Callable[[Any], Any] | None = None, **options: Any) -> Column[Any]:
    """Declare a column of a status, with its glyph and colour."""
    read = _name_field(names, value)["value"]
    options = {"whole_first": True, **options}
    return column(names, value, cell=lambda subject, context: status_cell(read(subject), context), **options)


def time_column(names: str, **options: Any) -> Column[Any]:
    """Declare a column of a time, which sorts the newest first."""
    read = _name_field(names, None)["value"]
    return column(
        names,
        format=draw_time,
        searched="nothing",
        never_cut=True,
        sort_key=lambda subject: newest_first_key(read(subject)),
        puts_newest_first=True,
        **options,
    )


def id_column(names: str, **options: Any) -> Column[Any]:
    """Declare a column of an id, which is whole or in its short form."""
    defaults = {"min_cells": 8, "whole_first": True, **options}
    return column(names, **defaults, elides_middle=True, is_id=True, shows_id=names.endswith("=id"))


def _name_field(names: str, value: Callable[[Any], object] | None) -> dict[str, Any]:
    names, _, path = names.partition("=")
    first, *aliases = names.split("|")
    members = (path or [first, *aliases][-1]).split(".")

    def read(subject: Any) -> Any:
        for member in members:
            if subject is None:
                break
            subject = getattr(subject, member)
        return subject

    read_it = attrgetter(*members) if len(members) == 1 else read
    return {"id": first, "aliases": tuple(aliases), "value": value or read_it}
