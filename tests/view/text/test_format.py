"""Money, times, states, sizes and ids as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, is_clean
from runwatch.records.states import FINAL_STATES, LIVE_STATES
from runwatch.view.text import format as shown
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs, Role, state_glyph
from runwatch.view.text.member_format import time_cell
from runwatch.view.text.safe_text import line
from tests.view.strategies import NOW, many, texts


def before(**span: float) -> datetime:
    return NOW - timedelta(**span)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "–"),
        (Decimal(0), "0.0000"),
        (Decimal("0.0142"), "0.0142"),
        (Decimal("0.00005"), "<0.0001"),
        (Decimal("-0.00005"), ">-0.0001"),
        (Decimal("18.4"), "18.4000"),
        (Decimal("0.12345"), "0.1234"),
        (Decimal("1E+900"), "1E+900"),
    ],
)
def test_money_in_lists_has_four_decimals_and_small_change_is_no_zero(amount: Decimal | None, text: str) -> None:
    assert shown.money(amount) == text


@pytest.mark.parametrize(
    ("known", "text"),
    [(Decimal("0.01046"), "0.0104"), (Decimal("0.000059"), "0.00005"), (Decimal("-0.00005"), ">-0.0001")],
)
def test_the_known_part_of_an_amount_is_rounded_down_and_never_to_zero(known: Decimal, text: str) -> None:
    assert shown.money(known, is_part=True) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(Decimal("0.10"), "0.10 USD"), (Decimal("0.012345678"), "0.012345678 USD"), (None, "–")]
)
def test_money_in_details_has_the_digits_that_were_sent(amount: Decimal | None, text: str) -> None:
    assert shown.money_exact(amount) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (None, "–"),
        (before(), "0s"),
        (before(seconds=59.9), "59s"),
        (before(minutes=4), "4m"),
        (before(hours=3, minutes=59), "3h"),
        (before(days=2), "2d"),
        (before(days=900), "900d"),
        (before(seconds=-30), "0s"),
        (before(minutes=-5), "in 5m"),
        (before(days=-10), "in 10d"),
        (before(days=-333, hours=-20), "in 334d"),
    ],
)
def test_ages_are_short_and_never_negative(at: datetime | None, text: str) -> None:
    assert shown.age(at, NOW) == text


@pytest.mark.parametrize(
    ("at", "text"), [(before(days=2), "2d ago"), (before(seconds=5), "5s ago"), (before(days=-10), "in 10d")]
)
def test_ages_say_ago_or_in(at: datetime, text: str) -> None:
    assert shown.ago(at, NOW) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0, "0:00"), (42, "0:42"), (Decimal("198.9"), "3:18"), (3723, "1:02:03"), (183_840, "2d 03:04")],
)
def test_elapsed_time_is_a_clock(seconds: Decimal | float | None, text: str) -> None:
    assert shown.elapsed_clock(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0, "0 ms"),
        (Decimal("0.143"), "143 ms"),
        (Decimal("9.8"), "9.8 s"),
        (60, "1 min"),
        (185, "3 min 5 s"),
        (7500, "2 h 5 min"),
        (266_400, "3 d 2 h"),
        (Decimal("-3"), "-3 s"),
        (Decimal("1E+900"), "1E+900 s"),
    ],
)
def test_durations_are_in_words(seconds: Decimal | float | None, text: str) -> None:
    assert shown.duration(seconds) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2026, 11, 21, 9, 5, 7, tzinfo=UTC), "09:05:07"),
        (datetime(2026, 11, 20, 9, 5, 7, tzinfo=UTC), "11-20 09:05:07"),
        (datetime(2025, 11, 21, 9, 5, 7, tzinfo=UTC), "2025-11-21 09:05:07"),
        (None, "?"),
    ],
)
def test_a_timeline_shows_as_much_of_the_date_as_differs_from_today(at: datetime | None, text: str) -> None:
    assert shown.time_of_day(at, RenderContext(NOW, time="utc")) == text


def test_a_column_of_moments_shows_ages_or_no_more_of_the_date_than_differs_from_today() -> None:
    at = datetime(2026, 11, 21, 9, 5, 7, tzinfo=UTC)
    assert time_cell(at, RenderContext(NOW)) == shown.ago(at, NOW)
    assert time_cell(at, RenderContext(NOW, time="utc")) == "09:05:07"
    assert time_cell(at - timedelta(days=1), RenderContext(NOW, time="utc")) == "11-20 09:05:07"


@many
@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=23, minutes=59))])))
def test_no_moment_of_the_calendar_is_too_early_or_too_late(at: datetime) -> None:
    for mode in ("relative", "local", "utc"):
        context = RenderContext(NOW, time=mode)
        assert is_clean(time_cell(at, context) + shown.time_of_day(at, context) + shown.ago(at, NOW))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (None, "?"),
        ("", "?"),
        ("key_A1b2C3", "key_A1b2C3"),
        ("ex_01HXA", "ex_01HXA"),
        ("8f21c0aa-1111-4222-8333-444455559b7e", "8f21…9b7e"),
        ("ex_01HXAZZZZZZZZZZZZZQ7", "ex_…ZZQ7"),
        ("cred_v_0123456789abcdef0123456789abcdef", "cred_v_…cdef"),
        ("sha256:0123456789abcdef", "sha256:…cdef"),
        ("abcdefghijkl", "abcdefghijkl"),
        ("pooled-open-model", "pooled-open-model"),
        ("pooled-open-model-4711", "pool…4711"),
        ("ex_\x1b[2J\x1b[2J\x1b[2J", "ex_…␛[2J"),
    ],
)
def test_long_ids_keep_their_prefix_and_their_end(text: str | None, short: str) -> None:
    assert shown.short_id(text) == short


@pytest.mark.parametrize(
    ("width", "shown_as"),
    [(29, "ex_01M8KETRKBX5E297QTEH8A6989"), (28, "ex_…6989"), (8, "ex_…6989"), (7, "…6989")],
)
def test_an_id_is_whole_or_has_its_short_form_in_every_width_that_holds_this(width: int, shown_as: str) -> None:
    assert shown.fit_id(line("ex_01M8KETRKBX5E297QTEH8A6989"), width) == shown_as


@pytest.mark.parametrize(
    ("text", "width", "shown_as"),
    [
        ("a long label ex_…6989", 21, "a long label ex_…6989"),
        ("a long label ex_…6989", 15, "a lon… ex_…6989"),
        ("a long label ex_…6989", 9, "a long l…"),
        ("abc ex_…6989", 9, "abc"),
    ],
)
def test_no_label_before_an_id_breaks_it(text: str, width: int, shown_as: str) -> None:
    assert shown.fit_id(line(text), width) == shown_as


@many
@given(texts, st.sampled_from([UNICODE, ASCII]))
def test_an_elided_id_is_clean_and_never_longer_than_the_id(text: str, glyphs: Glyphs) -> None:
    short = shown.short_id(text, glyphs)
    assert is_clean(short)
    assert cell_width(short) <= max(cell_width(line(text)), 1)


def test_every_known_state_has_glyph_word_and_role() -> None:
    assert state_glyph("completed") == ("✓", Role.GOOD)
    assert state_glyph("failed") == ("✗", Role.BAD)
    assert state_glyph("cancelled") == ("⊘", Role.OFF)
    assert state_glyph("expired") == ("◷", Role.WARN)
    assert len({state_glyph(state) for state in FINAL_STATES}) == len(FINAL_STATES)
    assert {state_glyph(state) for state in LIVE_STATES} == {("●", Role.LIVE)}


def test_an_unknown_state_is_live_and_no_state_is_unknown() -> None:
    assert shown.state_cell("hovering") == ("● hovering", Role.LIVE)
    assert shown.state_cell(None) == ("?", Role.PLAIN)


def test_the_ascii_set_has_the_same_widths_and_is_ascii() -> None:
    for name in set(Glyphs._fields) - {"at_least", "bar_steps"}:
        one: Any = getattr(UNICODE, name)
        other: Any = getattr(ASCII, name)
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert cell_width(left) == cell_width(right) == 1
            assert right.isascii()


def test_the_ascii_marks_of_states_cuts_and_links_differ() -> None:
    marks = [
        ASCII.live, ASCII.good, ASCII.bad, ASCII.off, ASCII.warn, ASCII.unknown, ASCII.nothing, ASCII.ellipsis,
        ASCII.dot, ASCII.arrow, ASCII.again, ASCII.going_on,
    ]  # fmt: skip
    assert len(set(marks)) == len(marks)


def test_a_partly_unknown_amount_is_at_least_its_known_part_in_both_sets() -> None:
    known = Decimal("0.0001")
    assert shown.listed_amount(known, 1, UNICODE, is_estimated=False) == "≥0.0001"
    assert shown.listed_amount(known, 1, ASCII, is_estimated=False) == ">=0.0001"


@pytest.mark.parametrize(
    ("part", "bar", "words", "role"),
    [
        ("0", "▕░░░░░▏", "0 %", Role.GOOD),
        ("0.009", "▕░░░░░▏", "<1 %", Role.GOOD),
        ("0.01", "▕█░░░░▏", "1 %", Role.GOOD),
        ("0.69", "▕███░░▏", "69 %", Role.GOOD),
        ("0.7", "▕███░░▏", "70 %", Role.WARN),
        ("0.9", "▕████░▏", "90 %", Role.BAD),
        ("0.999", "▕████░▏", "99 %", Role.BAD),
        ("1", "▕█████▏", "LIMIT", Role.BAD),
        ("7", "▕█████▏", "LIMIT", Role.BAD),
    ],
)
def test_a_gauge_is_full_only_at_the_limit(part: str, bar: str, words: str, role: Role) -> None:
    assert shown.gauge(Decimal(part)) == bar
    assert shown.percent(Decimal(part)) == words
    assert shown.usage_role(Decimal(part)) is role


@pytest.mark.parametrize(
    ("used", "cap", "part"),
    [("1", "4", "0.25"), (None, "4", None), ("1", None, None), ("1", "0", None), ("1", "-2", None), ("-1", "2", "0")],
)
def test_a_share_needs_both_numbers_and_a_cap_above_zero(used: str | None, cap: str | None, part: str | None) -> None:
    number = {text: None if text is None else Decimal(text) for text in (used, cap, part)}
    assert shown.usage_ratio(number[used], number[cap]) == number[part]


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "–"), (812, "812 B"), (14_230, "14.2 kB"), (3_100_000, "3.1 MB"), (10**12, "1000.0 GB"), (-5, "-5 B")],
)
def test_sizes_are_in_the_largest_unit_that_fits(count: int | None, text: str) -> None:
    assert shown.byte_size(count) == text


@many
@given(st.integers())
def test_any_number_can_be_a_size_or_a_count(number: int) -> None:
    assert is_clean(shown.byte_size(number) + shown.grouped_number(number))


def test_counts_have_their_thousands_apart() -> None:
    assert shown.grouped_number(1830) == "1,830"
