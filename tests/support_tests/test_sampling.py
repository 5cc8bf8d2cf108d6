"""Which cases the short run keeps."""

from __future__ import annotations

import pytest

from tests.support.sampling import first_of_each, spread


@pytest.mark.parametrize(
    ("count", "kept", "places"),
    [(1, 2, {0}), (9, 1, {0}), (2, 2, {0, 1}), (9, 2, {0, 8}), (6, 6, set(range(6))), (11, 3, {0, 5, 10})],
)
def test_cases_are_spread_from_the_first_to_the_last(count: int, kept: int, places: set[int]) -> None:
    assert spread(count, kept) == places


def test_as_many_are_kept_as_asked_for_whatever_the_length() -> None:
    assert all(len(spread(count, 6)) == min(count, 6) for count in range(1, 500))


def test_the_first_case_of_each_class_is_kept() -> None:
    cases = [{"size": 80}, {"size": 80}, {"size": 120}, {"size": 80}]
    assert first_of_each(cases, lambda case: case["size"]) == {0, 2}
