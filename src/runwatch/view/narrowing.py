"""The part of a filter that the service does itself, in words for the frame of a list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from runwatch.view.bounds import read_moment
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context, seconds_since, short_id, time_of_day

_UNITS: Final = ((86400, "day"), (3600, "hour"), (60, "minute"))


def narrowed_words(parameters: Mapping[str, str], context: Context) -> Drawn:
    """What the service was asked for: ``since 7 days, status failed``; empty where it was asked for everything.

    Args:
        parameters: The query parameters (:func:`runwatch.view.query.server_part`).
        context: For the present moment and the zone.
    """
    # The span first, because a narrow frame cuts from the end.
    ordered = sorted(parameters.items(), key=lambda item: item[0] != "since")
    return line(", ".join(_words(name, value, context) for name, value in ordered))


def _words(name: str, value: str, context: Context) -> str:
    if name == "since":
        at = read_moment(value)
        return f"since {value if at is None else _since(at, context)}"
    if name.endswith("_id"):
        return f"{name.removesuffix('_id')} {short_id(value, context.glyphs)}"
    return f"{name} {line(value, 60)}"


def _since(at: datetime, context: Context) -> str:
    """A span where the moment is so many whole minutes, hours or days ago, as a filter by age gives it."""
    # A filter is worked out and drawn within the same second.
    seconds = round(seconds_since(at, context.now))
    for size, unit in _UNITS:
        if seconds >= size and seconds % size <= 1:
            number = seconds // size
            return f"{number} {unit}{'s' * (number != 1)}"
    return time_of_day(at, context)
