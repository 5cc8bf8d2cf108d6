"""Periods by name and as people type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given

from runwatch.base.errors import UsageError
from runwatch.view.reports.period import PERIODS, ReportPeriod, parse_period
from tests.view.strategies import many, texts

NOW = datetime(2026, 11, 21, 12, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("today", "2026-11-21", "2026-11-21"),
        ("7d", "2026-11-15", "2026-11-21"),
        ("30d", "2026-10-23", "2026-11-21"),
        ("month", "2026-11-01", "2026-11-21"),
        ("2026-10", "2026-10-01", "2026-10-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("9999-12", "9999-12-01", "9999-12-31"),
        ("2026-11-03", "2026-11-03", "2026-11-03"),
        ("2026-11-03 2026-11-09", "2026-11-03", "2026-11-09"),
        (" 2026-11-03..2026-11-09 ", "2026-11-03", "2026-11-09"),
        ("2026-11-03 to 2026-11-09", "2026-11-03", "2026-11-09"),
    ],
)
def test_a_period_is_a_name_a_month_a_day_or_two_days(name: str, first: str, last: str) -> None:
    assert parse_period(name, NOW).query() == {"from": first, "to": last}


def test_days_are_those_of_utc_wherever_the_reader_is() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=timezone(-timedelta(hours=5)))
    assert PERIODS["today"].at(late).query() == {"from": "2026-11-22", "to": "2026-11-22"}


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13", "2026-02-30", "2026-11-09 2026-11-03", "2026"])
def test_anything_else_is_refused_with_what_can_be_typed(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_period(text, NOW)
    assert refused.value.hint is not None
    assert "2026-10" in refused.value.hint


@many
@given(texts)
def test_no_text_breaks_the_reading(text: str) -> None:
    try:
        period = parse_period(text, NOW)
    except UsageError:
        return
    assert isinstance(period, ReportPeriod)
    assert period.first <= period.last


def test_a_period_is_said_by_its_ends() -> None:
    assert parse_period("7d", NOW).text() == "2026-11-15 to 2026-11-21"
    assert parse_period("today", NOW).text() == "2026-11-21"
