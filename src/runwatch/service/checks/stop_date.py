"""When the service stops using a protected key (wire reference 2.4, ``stop_choice``).

A key stops at the beginning of a day: of the day named, in the zone named, or of the day that is so many days after
today, in UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from runwatch.base.clock import format_iso
from runwatch.records.requests.binding import StopChoice
from runwatch.service.errors import make_validation_error


class StopDate(NamedTuple):
    """The moment at which a key stops, and the zone in which that is the beginning of a day; both or neither."""

    at: str | None = None
    time_zone: str | None = None


NEVER: Final = StopDate()
"""A key without a stop date."""


def parse_stop(choice: StopChoice, now: datetime) -> StopDate:
    """What a choice means now.

    Raises:
        Refusal: ``validation_failed``: nobody knows the time zone, or the day has begun already.
    """
    if choice.days is not None:
        day = now.astimezone(UTC).date() + timedelta(days=choice.days)
        return StopDate(format_iso(datetime.combine(day, time(), UTC)), "UTC")
    if choice.date is None or choice.time_zone is None:
        return NEVER
    try:
        begin = datetime.combine(date.fromisoformat(choice.date), time(), _zone(choice.time_zone)).astimezone(UTC)
    except OverflowError:
        raise make_validation_error(("stop_choice.date", "Must be a date that can be reckoned with.")) from None
    if begin <= now:
        raise make_validation_error(("stop_choice.date", "Must be in the future."))
    return StopDate(format_iso(begin), choice.time_zone)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        # Known also where the system has no time zones.
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise make_validation_error(
            ("stop_choice.time_zone", "Must be a time zone of the IANA list, such as Europe/Vienna.")
        ) from None


def days_left(stop_at: str, now: datetime) -> int:
    """Whole days that the key may still be used, a day that has begun counted whole."""
    return max(0, -((now - datetime.fromisoformat(stop_at)) // timedelta(days=1)))
