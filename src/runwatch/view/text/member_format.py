"""Formats for decoded members, shared by several specifications."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from runwatch.records.check import is_baseline
from runwatch.records.receipt import ReceiptSlice
from runwatch.records.run import Slice
from runwatch.records.spend import is_guess, is_partial
from runwatch.records.states import INCOMPLETE
from runwatch.view.text.format import (
    UNKNOWN,
    RenderContext,
    ago,
    duration,
    estimated,
    in_display_zone,
    short_id,
    time_of_day,
)
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.safe_text import SafeText, block, json_text, line
from runwatch.view.text.styled_text import CellText, StyledText, signed, with_role
from runwatch.view.text.values import parse_time, to_decimal

NO_CHARGE: Final = "test run"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def detail_state(value: object, context: RenderContext) -> CellText:
    """Format a state with its glyph and colour, uncut. Anything but text is shown as sent."""
    if not isinstance(value, str):
        return _as_sent(value, context)
    glyph, role = state_glyph(value, context.glyphs)
    return StyledText(line(f"{glyph} {line(value, None)}", None), role)


def _as_sent(value: object, context: RenderContext) -> CellText:
    nothing = StyledText(line(context.glyphs.nothing), Role.QUIET)
    return nothing if value is None else line(json_text(value), None)


_VERDICT: Final = frozenset({"is_correct", "quality_score"})


def output_end(_: object, part: Slice | ReceiptSlice, context: RenderContext) -> CellText | None:
    """Format why the output of a slice ended, with a warning if it is not a whole answer."""
    reason = part.finish_reason
    if reason is not None and reason in INCOMPLETE:
        said = INCOMPLETE[reason]
        words = said if said == reason else f"{said}, {reason}"
        return signed(words, Role.WARN, context.glyphs)
    return None if reason is None else line(reason)


def detail_time(value: object, context: RenderContext) -> CellText:
    """Format a date-time as sent, with its age, and also in the local zone if that mode is on."""
    found = parse_time(value) if isinstance(value, str) else None
    if found is None:
        return _as_sent(value, context)
    local = f"{in_display_zone(found, context):%Y-%m-%d %H:%M:%S}, " if context.time == "local" else ""
    return line(f"{value} ({local}{ago(found, context.now)})")


def detail_usd(value: object, context: RenderContext) -> CellText:
    """Format money with all its digits. Anything but a number is shown as sent."""
    return _with_unit(value, "USD", context)


def mark_member(shown: CellText, holder: object, name: str | int) -> CellText:
    """Mark a shown member of an object that is a partly unknown or partly estimated sum (see
    :mod:`runwatch.records.spend`), or that looks like the verdict of a check which never looked at correctness.
    """
    if name in _VERDICT and is_baseline(holder) and with_role(shown).text:
        return StyledText(line(f"{with_role(shown).text} (of the presence of output)"), Role.QUIET)
    if is_partial(holder, name):
        assert isinstance(holder, Mapping)
        text = f"at least {with_role(shown).text}" if holder[name] else UNKNOWN
        shown = StyledText(line(text), Role.WARN)
    if is_guess(holder, name):
        text, role = with_role(shown)
        shown = StyledText(estimated(line(text), is_estimated=True), role)
    return shown


def detail_seconds(value: object, context: RenderContext) -> CellText:
    """Format seconds with all their digits. Anything but a number is shown as sent."""
    return _with_unit(value, "s", context)


def _with_unit(value: object, unit: str, context: RenderContext) -> CellText:
    if value is None:
        return _as_sent(value, context)
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and to_decimal(value) is not None:
        return block(f"{json_text(value)} {unit}")
    return block(json_text(value))


def time_cell(value: datetime, context: RenderContext) -> SafeText:
    """Format a time for a list: an age, or the time of day plus the part of the date that differs from today."""
    return ago(value, context.now) if context.time == "relative" else time_of_day(value, context)


def duration_cell(value: Decimal, _: RenderContext) -> SafeText:
    return duration(value)


def id_cell(value: str, context: RenderContext) -> SafeText:
    return short_id(value, context.glyphs)


def arm_cell(value: str, context: RenderContext) -> SafeText:
    """Format the id of a saved model for a list: by its name, where that is known."""
    name = context.names.get(value)
    return line(name) if name else short_id(value, context.glyphs)


def model_name(value: str | None) -> str | None:
    """Return a model's key without its publisher; lists show and sort this."""
    return value and (value.rpartition("/")[2] or value)


def model_cell(value: str, _: RenderContext) -> SafeText:
    """Format a model for a list without its publisher, which would push the model's name out of a narrow column."""
    return line(model_name(value))


def whole_model(value: str | None) -> SafeText:
    """Format a model with its publisher, if that is known."""
    return line("" if value is None else value.removeprefix("unknown/"))


def newest_first_key(value: datetime | None) -> float | None:
    """Return a sort key that puts the newest first, as an age does."""
    return None if value is None else -(value - _EPOCH).total_seconds()


def no_charge_cell() -> StyledText:
    """Return the cell for an amount that does not apply to a test run."""
    return StyledText(line(NO_CHARGE), Role.TEST)
