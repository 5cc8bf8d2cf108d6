"""The days that a report covers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runwatch.service.errors import RefusalError
from runwatch.service.organization.period import ServicePeriod, month_of, read_period, read_window
from tests.support.clock import START

NOVEMBER = {"from": "2026-11-01", "to": "2026-11-30"}


def moments(period: ServicePeriod) -> tuple[bool, ...]:
    """Which of four moments around November 2026 lie within a period."""
    stored = ("2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z", "2026-11-30T23:59:59.999Z",
              "2026-12-01T00:00:00.000Z")  # fmt: skip
    return tuple(period.since <= moment < period.before for moment in stored)


@pytest.mark.parametrize("query", [{}, {"period": "2026-11"}, NOVEMBER, {"period": "", "from": "", "to": ""}])
def test_a_period_covers_its_first_and_its_last_day_whole(query: dict[str, str]) -> None:
    period = read_period(query, START)
    assert period.to_json() == NOVEMBER
    assert moments(period) == (False, True, True, False)


@pytest.mark.parametrize(("month", "last"), [("2028-02", "2028-02-29"), ("2026-12", "2026-12-31"), ("9999-12", None)])
def test_a_month_ends_on_its_own_last_day(month: str, last: str | None) -> None:
    assert read_period({"period": month}, START).to_json()["to"] == (last or "9999-12-31")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"period": "2026"}, "period"),
        ({"period": "2026-13"}, "period"),
        ({"period": "0000-01"}, "period"),
        ({"period": "2026-11-01"}, "period"),
        ({"period": "2026-11", "from": "2026-11-01"}, "period"),
        ({"from": "2026-11-01"}, "to"),
        ({"to": "2026-11-01"}, "from"),
        ({"from": "2026-11-02", "to": "2026-11-01"}, "to"),
        ({"from": "2026-11-31", "to": "2026-12-01"}, "from"),
        ({"from": "20261101", "to": "2026-12-01"}, "from"),
        ({"from": "2026-11-01", "to": "2026-11-01T00:00:00Z"}, "to"),
        ({"from": "٢٠٢٦-11-01", "to": "2026-12-01"}, "from"),
    ],
)
def test_another_form_is_refused_by_name(query: dict[str, str], field: str) -> None:
    with pytest.raises(RefusalError) as caught:
        read_period(query, START)
    assert caught.value.code == "validation_failed"
    assert [name for name, _ in caught.value.errors] == [field]


def test_a_window_may_be_open_at_either_end() -> None:
    assert moments(read_window({})) == (True, True, True, True)
    assert moments(read_window({"from": "2026-11-01"})) == (False, True, True, True)
    assert moments(read_window({"to": "2026-11-30"})) == (True, True, True, False)
    assert read_window({"to": "2026-11-30"}).to_json() == {"from": None, "to": "2026-11-30"}


def test_a_month_ends_where_the_next_begins() -> None:
    december = datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert month_of(december) == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
