"""Numbers, spans and moments on the right of a comparison."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given

from runwatch.base.json import ExactNumber
from runwatch.view.text.values import Duration, FilterValue, compare_values, parse_value, value_to_time
from tests.view.strategies import NOW, json_values, many, texts


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("0.5", Decimal("0.5")),
        ("-3", Decimal(-3)),
        ("1e3", Decimal(1000)),
        (".5", Decimal("0.5")),
        ("10m", Duration(Decimal(600))),
        ("1h30m", Duration(Decimal(5400))),
        ("250ms", Duration(Decimal("0.25"))),
        ("2d", Duration(Decimal(172800))),
        ("1w", Duration(Decimal(604800))),
        ("1.5h", Duration(Decimal(5400))),
        ("0:42", Duration(Decimal(42))),
        ("1:02:03", Duration(Decimal(3723))),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:00:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("tomorrow", None),
        ("", None),
        ("10 m", None),
        ("1e999999", None),
        ("0:99", None),
    ],
)
def test_a_bound_is_a_number_a_span_or_a_moment(text: str, bound: FilterValue | None) -> None:
    assert parse_value(text) == bound


@pytest.mark.parametrize(
    ("value", "bound", "sign"),
    [
        (Decimal("0.5"), Decimal("0.4"), 1),
        (ExactNumber("0.10"), Decimal("0.1"), 0),
        (3, Decimal("3.5"), -1),
        (31, Duration(Decimal(30)), 1),
        (NOW - timedelta(minutes=5), Duration(Decimal(600)), -1),
        (NOW - timedelta(minutes=15), Duration(Decimal(600)), 1),
        (NOW - timedelta(minutes=15), Decimal(600), 1),
        (NOW, NOW - timedelta(days=1), 1),
        ("2026-11-20T10:00:00Z", datetime(2026, 11, 20, tzinfo=UTC), 1),
        ("2026-11-20T10:00:00Z", Duration(Decimal(60)), 1),
        ("running", Decimal(1), None),
        ("running", NOW, None),
        (True, Decimal(0), None),
        (5, NOW, None),
        (None, Decimal(0), None),
        ([1], Decimal(0), None),
        (Decimal("Infinity"), Decimal(0), None),
    ],
)
def test_values_compare_with_bounds_of_their_kind_and_no_others(
    value: object, bound: FilterValue, sign: int | None
) -> None:
    assert compare_values(value, bound, NOW) == sign


@many
@given(json_values)
def test_any_value_compares_with_any_bound_or_not_at_all(value: object) -> None:
    for bound in (Decimal(0), Duration(Decimal(5)), NOW):
        assert compare_values(value, bound, NOW) in {-1, 0, 1, None}


@many
@given(texts)
def test_any_text_is_a_bound_or_none(text: str) -> None:
    assert parse_value(text) is None or isinstance(parse_value(text), (Decimal, Duration, datetime))


def test_a_span_reaches_back_from_now_unless_the_calendar_ends() -> None:
    assert value_to_time(Duration(Decimal(60)), NOW) == NOW - timedelta(minutes=1)
    assert value_to_time(NOW, NOW) == NOW
    assert value_to_time(Duration(Decimal(10**15)), NOW) is None
    assert value_to_time(Decimal("1e300"), NOW) is None
