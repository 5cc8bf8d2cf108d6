"""Pieces that several specifications share: how a decoded member of any type is drawn."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from runwatch.records.receipt import ReceiptSlice
from runwatch.records.run import Slice
from runwatch.records.states import CUT
from runwatch.view.bounds import as_number, read_moment
from runwatch.view.drawn import Drawn, block, json_text, line
from runwatch.view.format import Context, ago, duration, moment, money, short_id, time_of_day
from runwatch.view.glyphs import Role, state_glyph
from runwatch.view.resource import Shown, Styled

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def as_state(value: object, context: Context) -> Shown:
    """A state with its glyph and colour, uncut; anything but text as it came."""
    if not isinstance(value, str):
        return line(json_text(value), None)
    glyph, role = state_glyph(value, context.glyphs)
    return Styled(line(f"{glyph} {line(value, None)}", None), role)


def output_end(_: object, part: Slice | ReceiptSlice, context: Context) -> Shown | None:
    """Why the output of a slice ends; one that was cut says so."""
    reason = part.finish_reason
    if reason == CUT:
        return Styled(line(f"{context.glyphs.warn} cut at the limit of output tokens, {CUT}"), Role.WARN)
    return None if reason is None else line(reason)


def as_moment(value: object, context: Context) -> Shown:
    """A date-time as the service sent it, with its age, and in the local zone where that is asked for."""
    found = read_moment(value) if isinstance(value, str) else None
    if found is None:
        return line(json_text(value), None)
    local = f"{moment(found, context)}, " if context.time == "local" else ""
    return line(f"{value} ({local}{ago(found, context.now)})")


def as_usd(value: object, _: Context) -> Shown:
    """Money with all its digits; anything but a number as it came."""
    return block(f"{json_text(value)} USD" if _is_number(value) else json_text(value))


def as_seconds(value: object, _: Context) -> Shown:
    """Seconds with all their digits; anything but a number as it came."""
    return block(f"{json_text(value)} s" if _is_number(value) else json_text(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and as_number(value) is not None


def when(value: datetime, context: Context) -> Drawn:
    """A moment in a list: an age, or the time of day with as much of the date as differs from today."""
    return moment(value, context) if context.time == "relative" else time_of_day(value, context)


def usd(value: Decimal, _: Context) -> Drawn:
    """Money in a list."""
    return money(value)


def span(value: Decimal, _: Context) -> Drawn:
    """A span of time in a list, from seconds."""
    return duration(value)


def elided(value: str, context: Context) -> Drawn:
    """An id in a list."""
    return short_id(value, context.glyphs)


def newest_first(value: datetime | None) -> float | None:
    """A sort key that puts the newest first, as an age does."""
    return None if value is None else -(value - _EPOCH).total_seconds()


def no_charge() -> Styled:
    """What stands where a number of a test run would mean nothing."""
    return Styled(line("test run"), Role.TEST)
