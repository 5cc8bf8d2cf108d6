"""The part of a filter that the service applies, as query parameters and as text for the frame of a list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.view.query.expressions import AllOf, FieldCompares, FieldEquals, Query
from runwatch.view.text.format import RenderContext, seconds_since, short_id, time_of_day
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.values import parse_time, value_to_time

_UNITS: Final = ((86400, "day"), (3600, "hour"), (60, "minute"))


def describe_server_filter(parameters: Mapping[str, str], context: RenderContext) -> SafeText:
    """Describe the parameters of a server filter: ``since 7 days, status failed``; empty if there are none."""
    # The time range first, because a narrow frame cuts from the end.
    ordered = sorted(parameters.items(), key=lambda item: item[0] != "since")
    return line(", ".join(_part_text(name, value, context) for name, value in ordered))


def _part_text(name: str, value: str, context: RenderContext) -> str:
    if name == "since":
        at = parse_time(value)
        return f"since {value if at is None else _age_text(at, context)}"
    if name.endswith("_id"):
        return f"{name.removesuffix('_id')} {short_id(value, context.glyphs)}"
    return f"{name} {line(value, 60)}"


def _age_text(at: datetime, context: RenderContext) -> str:
    """Describe a time that is a whole number of minutes, hours or days ago as a duration, because a filter by age gives
    it.
    """
    # Parameters are computed and rendered within the same second.
    seconds = round(seconds_since(at, context.now))
    for size, unit in _UNITS:
        if seconds >= size and seconds % size <= 1:
            number = seconds // size
            return f"{number} {unit}{'s' * (number != 1)}"
    return time_of_day(at, context)


def server_parameters(query: Query, parameters: tuple[str, ...], now: datetime) -> dict[str, str]:
    """Return the part of a filter that the service can apply, as query parameters.

    Only terms that every match must satisfy are used: an exact value, or an oldest time for ``since``. The rows that
    come back are filtered again locally with the whole query, so a service that reads a parameter differently or
    ignores it only changes the traffic. ``parameters`` are :attr:`runwatch.records.record.Wire.filters`.
    """
    found: dict[str, str] = {}
    for term in query.term.terms if isinstance(query.term, AllOf) else (query.term,):
        if isinstance(term, FieldEquals):
            name = query.servers.get(term.field, "")
            if name in parameters and name != "since":
                found.setdefault(name, term.text)
        elif isinstance(term, FieldCompares) and query.servers.get(term.field) == "since" and "since" in parameters:
            since = _since(term, now)
            if since is not None:
                found["since"] = max(found.get("since", ""), since)
    return found


def _since(term: FieldCompares, now: datetime) -> str | None:
    """Return the oldest time that a match of the term can have: from an age's upper bound or a time's lower bound."""
    if term.operator not in ((">", ">=") if isinstance(term.bound, datetime) else ("<", "<=")):
        return None
    moment = value_to_time(term.bound, now)
    try:
        return None if moment is None else format_iso(moment)
    except OverflowError:
        return None
