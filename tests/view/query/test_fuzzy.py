"""Fuzzy words: what they find, and that texts come in the order in which fzf puts them."""

from __future__ import annotations

import pytest

from runwatch.view.query.fuzzy import fuzzy_score, shortest_match

TEXTS = (
    "northwind_direct", "not_now", "new window", "NetworkWorker", "nw", "sample northwind network", "own", "no wind",
    "answer, no word", "inward",
)  # fmt: skip


@pytest.mark.parametrize(
    ("word", "ranked"),
    # What fzf 0.38 prints for them with --filter WORD -i --tiebreak=length.
    [
        (
            "nw",
            "nw|no wind|answer, no word|new window|NetworkWorker|sample northwind network|northwind_direct|not_now"
            "|inward",
        ),
        ("nowd", "no wind|answer, no word|northwind_direct|sample northwind network"),
        ("xyz", ""),
    ],
)
def test_texts_come_in_the_order_of_fzf(word: str, ranked: str) -> None:
    scores = {text: score for text in TEXTS if (score := fuzzy_score(word, text)) is not None}
    assert "|".join(sorted(scores, key=lambda text: (-scores[text], len(text)))) == ranked


def test_a_text_whose_length_changes_with_its_case_is_searched_too() -> None:
    assert fuzzy_score("st", "İstanbul") is not None


@pytest.mark.parametrize(
    ("text", "marked"),
    [("from all levels: fallback", ["fall"]), ("fa, l, l", ["fa", "l", "l"]), ("all f", []), ("İ fall", [])],
)
def test_the_shortest_part_that_has_the_word_is_marked(text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in shortest_match("fall", text)] == marked
