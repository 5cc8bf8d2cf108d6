"""The part of a filter that the service does itself, in words for the frame of a list."""

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
    """What the service was asked for: ``since 7 days, status failed``; empty where it was asked for everything.

    Args:
        parameters: The query parameters (:func:`runwatch.view.query.server_filter.server_parameters`).
        context: For the present moment and the zone.
    """
    # The span first, because a narrow frame cuts from the end.
    ordered = sorted(parameters.items(), key=lambda item: item[0] != "since")
    return line(", ".join(_words(name, value, context) for name, value in ordered))


def _words(name: str, value: str, context: RenderContext) -> str:
    if name == "since":
        at = parse_time(value)
        return f"since {value if at is None else _age_text(at, context)}"
    if name.endswith("_id"):
        return f"{name.removesuffix('_id')} {short_id(value, context.glyphs)}"
    return f"{name} {line(value, 60)}"


def _age_text(at: datetime, context: RenderContext) -> str:
    """A span where the moment is so many whole minutes, hours or days ago, as a filter by age gives it."""
    # A filter is worked out and drawn within the same second.
    seconds = round(seconds_since(at, context.now))
    for size, unit in _UNITS:
        if seconds >= size and seconds % size <= 1:
            number = seconds // size
            return f"{number} {unit}{'s' * (number != 1)}"
    return time_of_day(at, context)


def server_parameters(query: Query, parameters: tuple[str, ...], now: datetime) -> dict[str, str]:
    """The part of a filter that the service can do itself, as query parameters.

    Only terms that every match must meet are taken: an exact value, or for ``since`` a moment it may not be older than.
    The rows that come back are filtered here again with the whole query, so that a service that reads a parameter
    another way, or ignores it, changes nothing but the traffic.

    Args:
        query: The filter.
        parameters: What the service filters by (:attr:`runwatch.records.record.Wire.filters`).
        now: The moment that ages are counted to.
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
    """The moment that every match of the term is not older than: an age has an upper bound, a moment a lower one."""
    if term.operator not in ((">", ">=") if isinstance(term.bound, datetime) else ("<", "<=")):
        return None
    moment = value_to_time(term.bound, now)
    try:
        return None if moment is None else format_iso(moment)
    except OverflowError:
        return None
