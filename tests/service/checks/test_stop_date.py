"""When a key stops: at the beginning of a day, in the user's time zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runwatch.records.requests.binding import StopChoice
from runwatch.service.checks.stop_date import NEVER, StopDate, days_left, parse_stop
from runwatch.service.errors import RefusalError

NOW = datetime(2026, 11, 10, 12, 0, 5, tzinfo=UTC)


def stop(**choice: object) -> StopDate:
    return parse_stop(StopChoice.model_validate(choice), NOW)


def on(date: str, zone: str = "UTC") -> StopDate:
    return stop(kind="calendar_date", date=date, time_zone=zone)


def refused_field(date: str, zone: str) -> str:
    with pytest.raises(RefusalError) as caught:
        on(date, zone)
    assert caught.value.code == "validation_failed"
    ((name, _),) = caught.value.errors
    return name


def test_a_key_may_never_stop() -> None:
    assert stop(kind="no_expiration") == NEVER


def test_preset_days_end_at_midnight_in_utc() -> None:
    assert stop(kind="preset_days", days=90) == StopDate("2027-02-08T00:00:00.000Z", "UTC")


@pytest.mark.parametrize(
    ("zone", "at"),
    [
        ("UTC", "2026-12-01T00:00:00.000Z"),
        ("Europe/Vienna", "2026-11-30T23:00:00.000Z"),
        ("America/New_York", "2026-12-01T05:00:00.000Z"),
    ],
)
def test_a_calendar_date_begins_where_its_zone_says(zone: str, at: str) -> None:
    assert on("2026-12-01", zone) == StopDate(at, zone)


def test_the_same_day_may_have_begun_in_one_zone_and_not_in_another() -> None:
    assert refused_field("2026-11-10", "UTC") == "stop_choice.date"
    assert refused_field("2026-11-11", "Pacific/Kiritimati") == "stop_choice.date"
    assert on("2026-11-11", "UTC").at == "2026-11-11T00:00:00.000Z"


@pytest.mark.parametrize("zone", ["Nowhere/Land", "America", "../../etc/passwd", "/etc/passwd", "a\x00b", "Europe/"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    assert refused_field("2026-12-01", zone) == "stop_choice.time_zone"


def test_dates_at_the_edges_of_the_calendar_do_no_harm() -> None:
    assert refused_field("0001-01-01", "Asia/Tokyo") == "stop_choice.date"
    assert on("9999-12-31", "Pacific/Pago_Pago").at == "9999-12-31T11:00:00.000Z"


@pytest.mark.parametrize(
    ("stop_at", "days"),
    [
        ("2027-02-08T00:00:00.000Z", 90),
        ("2026-11-11T12:00:05.000Z", 1),
        ("2026-11-11T12:00:06.000Z", 2),
        ("2026-11-10T12:00:06.000Z", 1),
        ("2026-11-10T12:00:05.000Z", 0),
        ("2026-11-01T00:00:00.000Z", 0),
    ],
)
def test_days_that_have_begun_count_whole(stop_at: str, days: int) -> None:
    assert days_left(stop_at, NOW) == days
