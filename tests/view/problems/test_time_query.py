"""A time that the user types is found in any zone; one that a clock showed twice or never is reported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.errors import UsageError
from runwatch.view.problems.time_query import (
    DEFAULT_RADIUS,
    TimeQuery,
    build_time_query,
    contains_all_words,
    find_zone,
    parse_radius,
    parse_time_query,
)

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
BERLIN = "Europe/Berlin"
ZONES = (BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-11-22T03:10", "UTC", "2026-11-22T03:10"),
        ("2026-11-22T03:10:05", BERLIN, "2026-11-22T02:10:05"),
        ("2026-07-01T03:10", BERLIN, "2026-07-01T01:10"),
        ("2026-11-22T03:10Z", BERLIN, "2026-11-22T03:10"),
        ("2026-11-22T03:10:05.250+05:45", BERLIN, "2026-11-21T21:25:05.250"),
        ("03:10", "UTC", "2026-11-22T03:10"),
        ("23:59", "UTC", "2026-11-21T23:59"),
        ("12:30", BERLIN, "2026-11-22T11:30"),
        ("now", "UTC", "2026-11-22T12:00"),
        ("90m", BERLIN, "2026-11-22T10:30"),
        ("2h", "UTC", "2026-11-22T10:00"),
    ],
)
def test_a_time_is_read_by_the_clock_of_its_zone(text: str, zone: str, moment: str) -> None:
    found = build_time_query(text, NOW, zone=zone)
    assert found.moments == (utc(moment),)
    assert found.explanation == ""
    assert found.windows == ((utc(moment) - DEFAULT_RADIUS, utc(moment) + DEFAULT_RADIUS),)


def test_a_time_that_the_clock_showed_twice_is_looked_at_twice_and_told() -> None:
    found = build_time_query("2026-10-25T02:30", NOW, zone=BERLIN)
    assert found.moments == (utc("2026-10-25T00:30"), utc("2026-10-25T01:30"))
    assert len(found.windows) == 2
    assert "moved back: 00:30 UTC and 01:30 UTC" in found.explanation
    assert found.windows[0].until == utc("2026-10-25T00:35")
    assert found.windows[1].since == utc("2026-10-25T01:25")
    assert found.offset_s(utc("2026-10-25T01:29")) == -60.0


def test_windows_that_touch_are_one() -> None:
    found = build_time_query("2026-10-25T02:30", NOW, zone=BERLIN, within=timedelta(minutes=30))
    assert found.windows == ((utc("2026-10-25T00:00"), utc("2026-10-25T02:00")),)


def test_a_time_that_the_clock_never_showed_is_reported_and_looked_at_behind_the_change() -> None:
    found = build_time_query("2026-03-29T02:30", NOW, zone=BERLIN)
    assert found.moments == (utc("2026-03-29T01:30"),)
    assert "does not exist" in found.explanation
    assert "03:30" in found.explanation


@pytest.mark.parametrize("text", ["2026-10-25T02:30+01:00", "2026-10-25T01:30Z"])
def test_an_offset_says_which_of_the_two_is_meant(text: str) -> None:
    found = build_time_query(text, NOW, zone=BERLIN)
    assert (found.moments, found.explanation) == ((utc("2026-10-25T01:30"),), "")


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own zone is Berlin's."""
    monkeypatch.setenv("TZ", BERLIN)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
def test_the_zone_of_this_machine_has_its_changes_too() -> None:
    assert build_time_query("2026-11-22T03:10", NOW, zone="local").moments == (utc("2026-11-22T02:10"),)
    assert len(build_time_query("2026-10-25T02:30", NOW, zone="local").moments) == 2
    assert "does not exist" in build_time_query("2026-03-29T02:30", NOW, zone="Local").explanation


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2037, 1, 1)).map(lambda moment: moment.replace(microsecond=0)),
    st.sampled_from(ZONES),
)
def test_every_moment_found_shows_the_time_that_was_named_unless_it_never_was(shown: datetime, zone: str) -> None:
    found = build_time_query(shown.isoformat(), NOW, zone=zone)
    clocks = {moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for moment in found.moments}
    assert clocks == {shown} or "does not exist" in found.explanation
    assert list(found.moments) == sorted(found.moments)
    assert bool(found.explanation) == (len(found.moments) > 1 or clocks != {shown})


@given(st.lists(st.datetimes(timezones=st.just(UTC)), max_size=3), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_windows_are_in_order_and_hold_their_moments(moments: list[datetime], within: timedelta) -> None:
    found = TimeQuery(tuple(sorted(moments)), within)
    assert all(window.since <= window.until for window in found.windows)
    assert all(one.until < other.since for one, other in pairwise(found.windows))
    assert all(any(window.since <= moment <= window.until for window in found.windows) for moment in moments)


def test_a_whole_question_is_read() -> None:
    found = parse_time_query("2026-11-22 03:10 within 10m in Europe/Berlin not_found ex_1", NOW)
    assert found == TimeQuery((utc("2026-11-22T02:10"),), timedelta(minutes=10), BERLIN, "", "not_found ex_1")
    assert parse_time_query("03:10 tz Asia/Kathmandu within 1h30m", NOW).within == timedelta(minutes=90)
    assert parse_time_query("03:10 quota", NOW).text == "quota"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "A time is missing"),
        ("yesterday", "'yesterday' is not a time"),
        ("2026-11-22", "no time of day"),
        ("2026-13-01T03:10", "is not a time"),
        ("25:00", "is not a time"),
        ("03:10 within", "A duration is missing"),
        ("03:10 within soon", "is not a duration"),
        ("03:10 within 5", "is not a duration"),
        ("03:10 within 500d", "more than a year"),
        ("900w", "more than a year"),
        ("03:10 in", "A zone is missing"),
        ("03:10 in Europe/Berlim", "no time zone named"),
        ("0001-01-01T00:00+14:00", "is not a time"),
        ("9999-12-31T23:59:59-14:00", "is not a time"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_time_query(text, NOW)


@pytest.mark.parametrize("name", ["Europe", "", ".", "../etc/passwd", "/etc/localtime", "a\0b", "x" * 5000, "Berlin"])
def test_a_name_that_is_no_zone_is_refused_whatever_it_is(name: str) -> None:
    with pytest.raises(UsageError):
        find_zone(name)


def test_the_nearest_zone_is_offered() -> None:
    for name in ("Europe/Berlim", "europe/berlin ", "Berlin"):
        with pytest.raises(UsageError) as caught:
            find_zone(name)
        assert caught.value.detail == "did you mean Europe/Berlin?"


@pytest.mark.parametrize("edge", ["0001-01-01T00:00Z", "9999-12-31T23:59:59Z"])
def test_windows_end_where_the_calendar_does(edge: str) -> None:
    (window,) = build_time_query(edge, NOW, within=parse_radius("1d")).windows
    assert window.since <= window.until


def test_every_word_has_to_stand_somewhere() -> None:
    assert contains_all_words("NOT_found ex_1", ["/v1/executions/ex_1", "not_found"])
    assert not contains_all_words("not_found ex_2", ["/v1/executions/ex_1", "not_found"])
    assert contains_all_words("", [])
