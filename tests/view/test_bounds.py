"""Numbers, spans and moments on the right of a comparison."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given

from runwatch.base.json import Numeral
from runwatch.view.bounds import Bound, Span, as_moment, compare, read_bound
from tests.view.strategies import NOW, json_values, many, texts


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("0.5", Decimal("0.5")),
        ("-3", Decimal(-3)),
        ("1e3", Decimal(1000)),
        (".5", Decimal("0.5")),
        ("10m", Span(Decimal(600))),
        ("1h30m", Span(Decimal(5400))),
        ("250ms", Span(Decimal("0.25"))),
        ("2d", Span(Decimal(172800))),
        ("1w", Span(Decimal(604800))),
        ("1.5h", Span(Decimal(5400))),
        ("0:42", Span(Decimal(42))),
        ("1:02:03", Span(Decimal(3723))),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:00:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("tomorrow", None),
        ("", None),
        ("10 m", None),
        ("1e999999", None),
        ("0:99", None),
    ],
)
def test_a_bound_is_a_number_a_span_or_a_moment(text: str, bound: Bound | None) -> None:
    assert read_bound(text) == bound


@pytest.mark.parametrize(
    ("value", "bound", "sign"),
    [
        (Decimal("0.5"), Decimal("0.4"), 1),
        (Numeral("0.10"), Decimal("0.1"), 0),
        (3, Decimal("3.5"), -1),
        (31, Span(Decimal(30)), 1),
        (NOW - timedelta(minutes=5), Span(Decimal(600)), -1),
        (NOW - timedelta(minutes=15), Span(Decimal(600)), 1),
        (NOW - timedelta(minutes=15), Decimal(600), 1),
        (NOW, NOW - timedelta(days=1), 1),
        ("2026-11-20T10:00:00Z", datetime(2026, 11, 20, tzinfo=UTC), 1),
        ("2026-11-20T10:00:00Z", Span(Decimal(60)), 1),
        ("running", Decimal(1), None),
        ("running", NOW, None),
        (True, Decimal(0), None),
        (5, NOW, None),
        (None, Decimal(0), None),
        ([1], Decimal(0), None),
        (Decimal("Infinity"), Decimal(0), None),
    ],
)
def test_values_compare_with_bounds_of_their_kind_and_no_others(value: object, bound: Bound, sign: int | None) -> None:
    assert compare(value, bound, NOW) == sign


@many
@given(json_values)
def test_any_value_compares_with_any_bound_or_not_at_all(value: object) -> None:
    for bound in (Decimal(0), Span(Decimal(5)), NOW):
        assert compare(value, bound, NOW) in {-1, 0, 1, None}


@many
@given(texts)
def test_any_text_is_a_bound_or_none(text: str) -> None:
    assert read_bound(text) is None or isinstance(read_bound(text), (Decimal, Span, datetime))


def test_a_span_reaches_back_from_now_unless_the_calendar_ends() -> None:
    assert as_moment(Span(Decimal(60)), NOW) == NOW - timedelta(minutes=1)
    assert as_moment(NOW, NOW) == NOW
    assert as_moment(Span(Decimal(10**15)), NOW) is None
    assert as_moment(Decimal("1e300"), NOW) is None
