"""Text for drawing: nothing a terminal could act on, and widths that hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, clean_block, clean_line, elide_middle, is_clean, pad, truncate

# Wide, combining, joined, flagged and coloured characters, which make text narrower or wider than it is long.
AWKWARD = st.text(alphabet="ab漢字😀🇩🇪👍🏽ﷺ각ก็é́\u0302\u20e3\u1100\u1161\u11a8 -\t\n\r\x1b\u200d\ufe0f", max_size=30)
ANY = st.text(st.characters(exclude_categories=()), max_size=40) | AWKWARD
WIDTHS = st.integers(0, 40)

# Signs of Arabic, Syriac and Kaithi that Unicode counts as format characters although they are visible.
VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u3164\ufe0f\uffa0")


def can_act(character: str) -> bool:
    if character in VISIBLE_FORMATS:
        return False
    return unicodedata.category(character) in ACTING or character in INVISIBLE


@cache
def characters(planes: Sequence[int]) -> str:
    """Each character of these planes by itself: a letter between two of them keeps marks from adding up."""
    return "a".join(chr(0x10000 * plane + place) for plane in planes for place in range(0x10000))


each_plane = pytest.mark.parametrize(
    "planes",
    # Unicode has nothing but ideographs, private characters and unused places in the others.
    [(0, 1, 14), pytest.param(tuple(range(17)), marks=pytest.mark.exhaustive)],
    ids=["with characters that act", "all"],
)


@each_plane
def test_no_character_that_a_terminal_could_act_on_is_left_in_a_line(planes: Sequence[int]) -> None:
    assert [hex(ord(left)) for left in set(clean_line(characters(planes))) if can_act(left)] == []


@each_plane
def test_a_block_keeps_newlines_and_nothing_else_that_acts(planes: Sequence[int]) -> None:
    assert {left for left in set(clean_block(characters(planes))) if can_act(left)} == {"\n"}


@given(ANY)
def test_cleaning_a_line_twice_is_cleaning_it_once(text: str) -> None:
    cleaned = clean_line(text)
    assert clean_line(cleaned) == cleaned
    assert is_clean(cleaned)
    assert "\n" not in cleaned


@given(ANY)
@example("\r\r\n")
def test_cleaning_a_block_twice_is_cleaning_it_once(text: str) -> None:
    cleaned = clean_block(text)
    assert clean_block(cleaned) == cleaned
    assert is_clean(cleaned)


@given(st.text(st.characters(codec="ascii", min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_comes_through_unchanged(text: str) -> None:
    assert clean_line(text) == text
    assert clean_block(text) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b]52;c;cm0gLXJm\x07", "␛]52;c;cm0gLXJm␇"),
        ("\x1b[2J\x9b31m", "␛[2J\\x9b31m"),
        ("failed\rcompleted", "failed␍completed"),
        ("a\tb\nc", "a␉b␊c"),
        ("\x7f", "␡"),
        ("run\u202egpj.exe", "run\\u202egpj.exe"),
        ("ad\u200bmin", "ad\\u200bmin"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("[/red] [@click=app.quit]", "[/red] [@click=app.quit]"),
    ],
)
def test_what_could_act_is_shown(hostile: str, shown: str) -> None:
    assert clean_line(hostile) == shown


def test_lines_of_windows_end_like_others() -> None:
    assert clean_block("one\r\ntwo\tthree\n") == "one\ntwo    three\n"


def test_a_letter_keeps_at_most_four_marks() -> None:
    assert clean_line("a" + "\u0301" * 500 + "b") == "a" + "\u0301" * 4 + "b"


def test_a_letter_keeps_at_most_four_letters_below_it() -> None:
    assert clean_line("\u0f67" + "\u0fb7" * 60) == "\u0f67" + "\u0fb7" * 4


@given(ANY, WIDTHS)
def test_a_truncated_text_is_never_too_wide(text: str, width: int) -> None:
    line = clean_line(text)
    cut = truncate(line, width)
    assert cell_width(cut) <= width
    assert cut == line or cut == "" or cut.endswith("…")


@given(ANY, WIDTHS)
def test_a_text_elided_in_its_middle_is_never_too_wide(text: str, width: int) -> None:
    line = clean_line(text)
    cut = elide_middle(line, width)
    assert cell_width(cut) <= width
    assert cut == line or cut == "" or "…" in cut


@given(ANY, WIDTHS)
def test_a_padded_text_has_exactly_its_width(text: str, width: int) -> None:
    assert cell_width(pad(clean_line(text), width)) == width


def test_both_ends_of_an_id_stay_readable() -> None:
    assert elide_middle("8f21c0de-aaaa-bbbb-cccc-00000000b7e9", 9) == "8f21…b7e9"
    assert elide_middle("short", 9) == "short"
    assert elide_middle("漢字漢字漢字", 7) == "漢 …字"


def test_another_mark_shows_the_cut_where_unicode_is_not_wanted() -> None:
    assert truncate("abcdef", 4, "~") == "abc~"
    assert re.fullmatch("[ -~]+", elide_middle("abcdefgh", 5, "~"))
