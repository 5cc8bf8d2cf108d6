"""The known word that was probably meant."""

from __future__ import annotations

import pytest

from runwatch.base.closest_word import closest_word, closest_words

KNOWN = ["runs", "receipts", "profiles"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("rns", "runs"), ("recepit", "receipts"), ("runs", "runs"), ("zebra", None), ("", None)],
)
def test_the_closest_word_is_the_one_most_like_it(word: str, meant: str | None) -> None:
    assert closest_word(word, KNOWN) == meant


def test_several_come_the_closest_first_and_no_more_than_asked_for() -> None:
    models = ["qwen3:4b", "llama3.1:8b", "llama3.2", "llama3"]
    assert closest_words("llama3", models, 2) == ["llama3", "llama3.2"]
    assert closest_words("llama3", models, 9) == ["llama3", "llama3.2", "llama3.1:8b"]
    assert closest_words("llama3", (), 0) == []
