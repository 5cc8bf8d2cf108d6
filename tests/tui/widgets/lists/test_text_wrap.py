"""Texts are broken into rows without losing anything but blanks at the breaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.text.safe_text import block
from tests.support.hostile import CORPUS


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 5, [""]),
        ("hello", 5, ["hello"]),
        ("hello world foo bar", 8, ["hello", "world", "foo bar"]),
        ("one\n\ntwo", 5, ["one", "", "two"]),
        ("  indented text", 10, ["  indented", "text"]),
        ("xxxxxxxxxxxx", 5, ["xxxxx", "xxxxx", "xx"]),
        ("a xxxxxxxxxxxx", 5, ["a", "xxxxx", "xxxxx", "xx"]),
        ("日本語テキスト", 5, ["日本", "語テ", "キス", "ト"]),
        ("é is a letter", 6, ["é is a", "letter"]),
        ("é xxxxxxxx", 5, ["é", "xxxxx", "xxx"]),
        # The parts of a path.
        ("/v1/runs/ex_1234/events", 10, ["/v1/runs/", "ex_1234/", "events"]),
        ("é /v1/runs/ex_1234/events", 10, ["é", "/v1/runs/", "ex_1234/", "events"]),
        ("at https://x.invalid/v1", 12, ["at", "https://", "x.invalid/v1"]),
        ("a/bcdefghijkl", 5, ["a/bcd", "efghi", "jkl"]),
        # Parts with more than a space between them.
        ("GET /v1/runs   12 ms   attempt 3   key 7c1e", 34, ["GET /v1/runs   12 ms   attempt 3", "key 7c1e"]),
        ("GET /v1/runs   12 ms   attempt 3   key 7c1e", 31, ["GET /v1/runs   12 ms", "attempt 3   key 7c1e"]),
        ("GET /v1/runs   12 ms   attempt 3", 23, ["GET /v1/runs   12 ms", "attempt 3"]),
        ("░ queued   ▒ slice   █ attempt", 26, ["░ queued   ▒ slice", "█ attempt"]),
        ("░ queued   ▒ slice   █ attempt", 23, ["░ queued   ▒ slice", "█ attempt"]),
        ("░ queued    ▒ one that needs two rows", 18, ["░ queued    ▒ one", "that needs two", "rows"]),
        ("one  two words that need two rows", 14, ["one  two words", "that need two", "rows"]),
        ("+  new test run", 13, ["+  new test", "run"]),
        ("✓  new test run", 13, ["✓  new test", "run"]),
    ],
)
def test_rows_break_between_words_and_inside_long_ones(text: str, width: int, rows: list[str]) -> None:
    assert list(wrap_text(block(text), width)) == rows


@given(st.text(max_size=300), st.integers(2, 40))
def test_no_row_is_too_wide_and_every_letter_is_there(text: str, width: int) -> None:
    drawn = block(text)
    rows = wrap_text(drawn, width)
    assert all(cell_width(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == drawn.replace("\n", "").replace(" ", "")


def test_the_whole_corpus_fits() -> None:
    for hostile in CORPUS:
        assert all(cell_width(row) <= 40 for row in wrap_text(block(hostile.text), 40)), hostile.name
