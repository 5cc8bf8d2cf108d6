"""Parse and compare filter values: numbers, durations and timestamps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from runwatch.base.json import ExactNumber
from runwatch.base.lazy_pattern import lazy_pattern

_NUMBER: Final = lazy_pattern(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_SPAN: Final = lazy_pattern(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|s|m|h|d|w))+")
_SPAN_PART: Final = lazy_pattern(r"([0-9.]+)(ms|[smhdw])")
_CLOCK: Final = lazy_pattern(r"(?:([0-9]{1,6}):)?([0-9]{1,6}):([0-5][0-9])")
_SECONDS: Final = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600), "d": Decimal(86400)}
_WEEK: Final = Decimal(7 * 86400)


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration in seconds."""

    seconds: Decimal


FilterValue = Decimal | Duration | datetime


def parse_value(text: str) -> FilterValue | None:
    """Parse a number (``0.01``), a duration (``10m``, ``1h30m``, ``250ms``, ``0:42``) or a time (``2026-11-20``,
    ``2026-11-20T10:00``); ``None`` for anything else.

    A time without a zone is in UTC.
    """
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    if _SPAN.fullmatch(text):
        parts = _SPAN_PART.findall(text)
        return Duration(sum((Decimal(digits) * _SECONDS.get(unit, _WEEK) for digits, unit in parts), Decimal(0)))
    match = _CLOCK.fullmatch(text)
    if match is not None:
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return Duration(Decimal(hours * 3600 + minutes * 60 + seconds))
    return parse_time(text)


def read_seconds(text: str, max_s: int) -> int | None:
    """Parse a duration such as ``30d`` or ``12h`` to whole seconds.

    ``None`` for anything else, for less than one second, and for more than ``max_s`` seconds.
    """
    span = parse_value(text)
    return int(span.seconds) if isinstance(span, Duration) and 1 <= span.seconds <= max_s else None


def parse_time(text: str) -> datetime | None:
    """Parse an ISO 8601 date or date-time to an aware time, or return ``None``."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def value_to_time(bound: FilterValue, now: datetime) -> datetime | None:
    """Return the time that a filter value means when compared with times; a duration counts back from now.

    ``None`` for a time before the calendar begins.
    """
    if isinstance(bound, datetime):
        return bound
    seconds = bound.seconds if isinstance(bound, Duration) else bound
    try:
        return now - timedelta(seconds=float(seconds))
    except OverflowError:
        return None


def compare_values(value: object, bound: FilterValue, now: datetime) -> int | None:
    """Return -1, 0 or 1 if a value is less than, equal to or greater than a bound; ``None`` if they cannot be compared.

    A time compared with a duration or number is its age in seconds; a number compared with a duration is seconds.
    """
    if isinstance(value, datetime):
        return _compare_moment(value, bound, now)
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, Decimal)):
        if isinstance(bound, datetime):
            return None
        other = bound.seconds if isinstance(bound, Duration) else bound
        number = to_decimal(value)
        return None if number is None else (number > other) - (number < other)
    if isinstance(value, str) and not isinstance(bound, Decimal):
        moment = parse_time(value)
        return None if moment is None else _compare_moment(moment, bound, now)
    return None


def _compare_moment(value: datetime, bound: FilterValue, now: datetime) -> int:
    if isinstance(bound, datetime):
        return (value > bound) - (value < bound)
    age = Decimal(str((now - value).total_seconds()))
    other = bound.seconds if isinstance(bound, Duration) else bound
    return (age > other) - (age < other)


def to_decimal(value: float | Decimal) -> Decimal | None:
    """Return a number as a decimal with its own digits, or ``None`` if it is not finite."""
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    number = Decimal(value.literal if isinstance(value, ExactNumber) else repr(value))
    return number if number.is_finite() else None
