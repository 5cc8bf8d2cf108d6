"""Pieces that several specifications share: how a decoded member of any type is drawn."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from runwatch.records.receipt import ReceiptSlice
from runwatch.records.run import Slice
from runwatch.records.states import CUT
from runwatch.view.text.format import RenderContext, ago, duration, list_time, money, short_id, time_of_day
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.safe_text import SafeText, block, json_text, line
from runwatch.view.text.styled_text import CellText, StyledText
from runwatch.view.text.values import parse_time, to_decimal

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def detail_state(value: object, context: RenderContext) -> CellText:
    """A state with its glyph and colour, uncut; anything but text as it came."""
    if not isinstance(value, str):
        return line(json_text(value), None)
    glyph, role = state_glyph(value, context.glyphs)
    return StyledText(line(f"{glyph} {line(value, None)}", None), role)


def output_end(_: object, part: Slice | ReceiptSlice, context: RenderContext) -> CellText | None:
    """Why the output of a slice ends; one that was cut says so."""
    reason = part.finish_reason
    if reason == CUT:
        return StyledText(line(f"{context.glyphs.warn} cut at the limit of output tokens, {CUT}"), Role.WARN)
    return None if reason is None else line(reason)


def detail_time(value: object, context: RenderContext) -> CellText:
    """A date-time as the service sent it, with its age, and in the local zone where that is asked for."""
    found = parse_time(value) if isinstance(value, str) else None
    if found is None:
        return line(json_text(value), None)
    local = f"{list_time(found, context)}, " if context.time == "local" else ""
    return line(f"{value} ({local}{ago(found, context.now)})")


def detail_usd(value: object, _: RenderContext) -> CellText:
    """Money with all its digits; anything but a number as it came."""
    return block(f"{json_text(value)} USD" if _is_number(value) else json_text(value))


def detail_seconds(value: object, _: RenderContext) -> CellText:
    """Seconds with all their digits; anything but a number as it came."""
    return block(f"{json_text(value)} s" if _is_number(value) else json_text(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and to_decimal(value) is not None


def time_cell(value: datetime, context: RenderContext) -> SafeText:
    """A moment in a list: an age, or the time of day with as much of the date as differs from today."""
    return list_time(value, context) if context.time == "relative" else time_of_day(value, context)


def usd_cell(value: Decimal, _: RenderContext) -> SafeText:
    """Money in a list."""
    return money(value)


def duration_cell(value: Decimal, _: RenderContext) -> SafeText:
    """A span of time in a list, from seconds."""
    return duration(value)


def id_cell(value: str, context: RenderContext) -> SafeText:
    """An id in a list."""
    return short_id(value, context.glyphs)


def newest_first_key(value: datetime | None) -> float | None:
    """A sort key that puts the newest first, as an age does."""
    return None if value is None else -(value - _EPOCH).total_seconds()


def no_charge_cell() -> StyledText:
    """What stands where a number of a test run would mean nothing."""
    return StyledText(line("test run"), Role.TEST)
