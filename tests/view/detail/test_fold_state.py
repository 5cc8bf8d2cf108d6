"""Trees show everything, fold where people say so, and hide nothing unsaid."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runwatch.view.detail.fold_state import FOLD_THRESHOLD_LINES, FoldKey, FoldState, visible_lines
from runwatch.view.detail.sections import DetailLine
from runwatch.view.text.json_tree import MAX_INLINE_CHARS, walk_json
from runwatch.view.text.safe_text import line

TITLE = line("Row")


def lines_of(value: Any) -> list[DetailLine]:
    return [DetailLine(line(node.name), line(""), level=node.level) for node in walk_json(value)]


def shown(value: Any, *folded: str) -> list[str]:
    """The lines of a tree with what is folded, each with its guides spelled out."""

    def is_folded(key: FoldKey, count: int) -> bool:
        return key[-1] in folded

    return [
        "".join("|."[not more] for more in place.follows)
        + place.line.label
        + (f" {place.head.text}" if place.head else "")
        for place in visible_lines(TITLE, lines_of(value), is_folded)
    ]


def test_a_line_is_a_level_deeper_than_what_it_belongs_to() -> None:
    assert shown({"a": {"b": 1, "c": {"d": 2}}, "e": 3}) == ["|a ", "||b", "|.c ", "|..d", ".e"]


def test_what_is_folded_says_how_many_lines_it_hides() -> None:
    value = {"a": {"b": 1, "c": {"d": 2}}, "e": {"f": 1}}
    assert shown(value, "a", "e") == ["|a 3 lines hidden", ".e 1 line hidden"]
    assert shown(value, "c") == ["|a ", "||b", "|.c 1 line hidden", ".e ", "..f"]


def test_a_short_list_of_plain_values_stays_on_one_line() -> None:
    assert [node.name for node in walk_json({"short": ["one", 2, None], "empty": [], "none": {}})] == [
        "short", "empty", "none",
    ]  # fmt: skip
    assert [node.name for node in walk_json({"long": ["x" * MAX_INLINE_CHARS, "y"]})] == ["long", "[0]", "[1]"]
    assert [node.name for node in walk_json({"deep": [[1], {"a": 2}]})] == ["deep", "[0]", "[1]", "a"]


def test_a_plain_value_has_no_lines() -> None:
    assert not list(walk_json("text"))
    assert not list(walk_json(None))


def test_labels_are_as_wide_as_those_of_the_values_beside_them() -> None:
    value = {"a": 1, "bbb": 2, "a head is wider": {"cc": 3}, "d": 4}
    assert [place.labels for place in visible_lines(TITLE, lines_of(value), lambda key, count: False)] == [
        3, 3, 3, 2, 3,
    ]  # fmt: skip


def test_only_what_is_very_long_is_folded_before_the_user_says_so() -> None:
    folds = FoldState()
    part: FoldKey = (TITLE, line("many"))
    assert not folds.is_folded("templates", part, FOLD_THRESHOLD_LINES)
    assert folds.is_folded("templates", part, FOLD_THRESHOLD_LINES + 1)
    assert not folds.is_folded("templates", (TITLE,), FOLD_THRESHOLD_LINES + 1), (
        "a section is shown, however long it is"
    )
    folds.fold("templates", part, folded=False)
    assert not folds.is_folded("templates", part, FOLD_THRESHOLD_LINES + 1)
    assert folds.is_folded("models", part, FOLD_THRESHOLD_LINES + 1)


def test_two_thousand_levels_take_no_stack() -> None:
    value: Any = "innermost"
    for number in range(2_000):
        value = {f"level {number}": value}
    *_, last = walk_json(value)
    assert (last.value, last.level) == ("innermost", 1_999)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=6))
def test_every_plain_value_is_in_the_tree_or_in_a_list_on_one_line(value: dict[str, Any]) -> None:
    def plain(it: Any) -> list[Any]:
        if isinstance(it, dict):
            return [found for inner in it.values() for found in plain(inner)]
        return [found for inner in it for found in plain(inner)] if isinstance(it, list) else [it]

    told = [found for node in walk_json(value) if not node.is_head for found in plain(node.value)]
    assert told == plain(value)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=6), st.booleans())
def test_hidden_and_shown_lines_are_all_there_are(value: dict[str, Any], folded: bool) -> None:
    lines = lines_of(value)
    found = visible_lines(TITLE, lines, lambda key, count: folded)
    hidden = sum(place.head.count for place in found if place.head is not None and place.head.is_folded)
    assert len(found) + hidden == len(lines)
    assert all(len(place.follows) == place.line.level + 1 for place in found)
