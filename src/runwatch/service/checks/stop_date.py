"""When the service stops using a protected key (``stop_choice``; manual: interface, "Verifiers").

A key stops at the start of a day: a named day in a named time zone, or a number of days after today in UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from runwatch.base.clock import format_iso
from runwatch.records.requests.binding import StopChoice
from runwatch.service.errors import make_validation_error


class StopDate(NamedTuple):
    """The time at which a key stops, and the zone in which that is the start of a day; both or neither."""

    at: str | None = None
    time_zone: str | None = None


NEVER: Final = StopDate()


def parse_stop(choice: StopChoice, now: datetime) -> StopDate:
    """Convert a choice to a stop date.

    Refuses with ``validation_failed`` when the time zone is unknown or the day has already started.
    """
    if choice.days is not None:
        day = now.astimezone(UTC).date() + timedelta(days=choice.days)
        return StopDate(format_iso(datetime.combine(day, time(), UTC)), "UTC")
    if choice.date is None or choice.time_zone is None:
        return NEVER
    try:
        begin = datetime.combine(date.fromisoformat(choice.date), time(), _zone(choice.time_zone)).astimezone(UTC)
    except OverflowError:
        raise make_validation_error(("stop_choice.date", "Must be a date between the years 1 and 9999.")) from None
    if begin <= now:
        raise make_validation_error(("stop_choice.date", "Must be in the future."))
    return StopDate(format_iso(begin), choice.time_zone)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        # Available even if the system has no time zone data.
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise make_validation_error(
            ("stop_choice.time_zone", "Must be a time zone of the IANA list, such as Europe/Vienna.")
        ) from None


def days_left(stop_at: str, now: datetime) -> int:
    """Return the days for which the key may still be used, a started day counting as a whole one."""
    return max(0, -((now - datetime.fromisoformat(stop_at)) // timedelta(days=1)))
