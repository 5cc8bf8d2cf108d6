"""A pattern that is compiled late behaves as one compiled at once."""

from __future__ import annotations

from copy import deepcopy

from runwatch.base.lazy_pattern import lazy_pattern


def test_a_copy_of_an_unused_pattern_matches() -> None:
    assert deepcopy(lazy_pattern("b+")).findall("abbc") == ["bb"]
