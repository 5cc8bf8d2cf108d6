"""The one gate: any text that goes in comes out safe to show."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import ExactNumber
from runwatch.base.text import cell_width, is_clean
from runwatch.view.text.safe_text import (
    LINE_CELLS,
    SafeText,
    block,
    cut_around,
    elide_middle,
    fit,
    join,
    json_block,
    json_text,
    json_value,
    last_words,
    line,
    truncate,
    truncate_before,
)
from tests.support.hostile import CORPUS, Hostile
from tests.view.strategies import json_values, many, texts


def test_nobody_else_can_make_drawn_text() -> None:
    with pytest.raises(TypeError, match="made by line"):
        SafeText("\x1b[2J")


def test_what_string_methods_give_is_no_drawn_text_any_more() -> None:
    text = line("a b")
    assert type(text + "c") is str
    assert type(text[:1]) is str
    assert type(text.replace("a", "\x1b")) is str


@many
@given(st.one_of(json_values, st.lists(texts)))
def test_a_line_of_any_value_is_clean_and_one_line_and_narrow(value: object) -> None:
    text = line(value)
    assert isinstance(text, SafeText)
    assert is_clean(text)
    assert "\n" not in text
    assert cell_width(text) <= LINE_CELLS


@many
@given(json_values)
def test_a_block_of_any_value_is_clean(value: object) -> None:
    for text in (block(value), json_block(value), json_value(value)):
        assert isinstance(text, SafeText)
        assert is_clean(text)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_becomes_visible_and_stays_so_when_drawn_again(entry: Hostile) -> None:
    text = entry.text
    for drawn in (line(text), block(text), line(text, None)):
        assert is_clean(drawn)
        assert line(drawn, None) == line(str(drawn), None)
        assert block(drawn) is drawn


@many
@given(texts, texts, st.integers(0, 30), st.sampled_from(["left", "right"]))
def test_pieces_put_together_stay_clean_and_keep_their_width(one: str, other: str, width: int, align: str) -> None:
    drawn = join([line(one), line(other)], "\x1b  ")
    assert is_clean(drawn)
    for text in (truncate(line(one), width), elide_middle(line(one), width)):
        assert isinstance(text, SafeText)
        assert is_clean(text)
        assert cell_width(text) <= width
    fitted = fit(line(one), width, align)
    assert isinstance(fitted, SafeText)
    assert cell_width(fitted) == width


@many
@given(texts, texts, texts, st.integers(0, 30))
def test_a_text_cut_around_a_part_has_its_beginning_and_is_never_too_wide(
    before: str, part: str, after: str, width: int
) -> None:
    whole = line(f"{line(before)}{line(part)}{line(after)}", None)
    start = len(line(before))
    cut = cut_around(whole, start, start + len(line(part)), width)
    assert sum(map(cell_width, cut)) <= width
    assert all(isinstance(text, SafeText) for text in cut)
    assert cut[1] == truncate(line(part), width)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (15, "one two three 4"), (14, "…e two three 4"), (12, "…two three 4"), (8, "…three 4"), (5, "three"),
    ],
)  # fmt: skip
def test_what_is_around_a_part_is_cut_on_both_sides(width: int, shown: str) -> None:
    assert "".join(cut_around(line("one two three 4"), 8, 13, width)) == shown


@pytest.mark.parametrize(
    ("width", "shown"),
    [(12, "ex_01M8…TKS0"), (11, "ex_01M…TKS0"), (9, "ex_0…TKS0"), (6, "e…TKS0"), (5, "ex…S0"), (2, "e…")],
)
def test_what_lost_its_middle_loses_more_of_its_head_as_long_as_there_is_room(width: int, shown: str) -> None:
    assert elide_middle(line("ex_01M8…TKS0"), width) == shown
    assert elide_middle(line("ex_01M8~TKS0"), width, "~") == shown.replace("…", "~")


def test_copies_and_pickles_come_back_through_the_gate() -> None:
    text = block("a\nb\x07")
    for again in (copy.copy(text), copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert again == text
        assert isinstance(again, SafeText)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (ExactNumber("0.10"), "0.10"),
        (ExactNumber("1e400"), "1e400"),
        (0.1, "0.1"),
        (Decimal("0.0500"), "0.0500"),
        (Decimal("1E+40"), "1E+40"),
        (datetime(2026, 11, 21, 12, tzinfo=UTC), "2026-11-21T12:00:00.000Z"),
        ([], "[]"),
        ({"a": None, "b": [True, ExactNumber("1.0"), "ü"]}, '{"a":null,"b":[true,1.0,"ü"]}'),
        ("", ""),
    ],
)
def test_each_type_of_value_has_its_words(value: object, text: str) -> None:
    assert line(value) == text


def test_null_is_spelled_out_where_json_is_shown() -> None:
    assert json_value(None) == "null"
    assert line(None) == "–"


def test_member_names_are_cleaned_like_values() -> None:
    assert line({"a\x1b[2J": 1}) == '{"a\\u001b[2J":1}'
    assert is_clean(json_block({"\u202ea": {"\x9b": "\x9b"}}))


def test_a_value_that_cannot_be_shown_says_so() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert line(deep) == "(a list that cannot be shown)"
    assert line(10**5000) == "(a int that cannot be shown)"


def test_a_megabyte_in_a_cell_is_cut_and_says_so() -> None:
    text = line("x" * 1_000_000)
    assert cell_width(text) == LINE_CELLS
    assert text.endswith("…")
    assert len(line("x" * 5000, None)) == 5000


def test_a_moment_that_utc_cannot_write_is_shown_as_it_came() -> None:
    early = datetime.fromisoformat("0001-01-01T00:00:00+23:59")
    assert json_text(early) == "0001-01-01T00:00:00+23:59"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("A name · arm_1", 14, "A name · arm_1"), ("A name · arm_1", 12, "A n… · arm_1"),
        ("A name · arm_1", 9, "A name ·…"), ("A long name", 6, "A lon…"),
    ],
)  # fmt: skip
def test_a_name_is_cut_before_the_id_that_tells_it_apart(text: str, width: int, shown: str) -> None:
    assert truncate_before(line(text), " · ", width) == shown


@pytest.mark.parametrize(
    ("width", "shown"), [(14, "started 4m ago"), (13, "4m ago"), (8, "4m ago"), (4, "ago"), (1, "ago"), (0, "ago")]
)
def test_a_text_whose_end_is_the_value_loses_words_at_its_start(width: int, shown: str) -> None:
    assert last_words(line("started 4m ago"), width) == shown
