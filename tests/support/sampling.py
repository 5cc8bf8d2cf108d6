"""Which cases of a parametrised test the short run takes; the others get the marker ``exhaustive``.

A function keeps a few cases, spread evenly over its table, the first and the last among them. A function whose cases
fall into classes names the class with ``@pytest.mark.representatives(key=…)`` and keeps the first case of each class.
The choice depends on the table alone, so every process of a run makes the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import settings

CASES: Final = 3
"""How many cases a function keeps unless it names classes."""

FEWER: Final = {
    "tests/commands/test_process.py": 1,
    "tests/commands/test_three_edits.py": 1,
    "tests/end_to_end/": 1,
    "tests/faults/": 1,
    "tests/service/": 2,
    "tests/tui/": 2,
    "tests/view/text/test_copied_text.py": 1,
}
"""How many it keeps where a case starts processes or draws a console, by the beginning of its path."""


def examples(count: int) -> int:
    """Return how many of ``count`` examples of a property this run draws: a fifth in the short run, at least five."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return max(5, count * profile.max_examples // 100)


def spread(count: int, kept: int) -> frozenset[int]:
    """Return the positions of ``kept`` cases of ``count``, evenly apart from the first to the last."""
    if count <= kept:
        return frozenset(range(count))
    if kept == 1:
        return frozenset({0})
    return frozenset(round(number * (count - 1) / (kept - 1)) for number in range(kept))


def first_of_each(cases: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Hashable]) -> frozenset[int]:
    """Return the position of the first case of each class."""
    places: dict[Hashable, int] = {}
    for place, case in enumerate(cases):
        places.setdefault(key(case), place)
    return frozenset(places.values())


def mark_the_rest(items: Iterable[pytest.Item]) -> None:
    """Give the marker ``exhaustive`` to every case that the short run leaves out."""
    tables: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tables.setdefault((item.nodeid.partition("[")[0], item.originalname), []).append(item)
    for (name, _), cases in tables.items():
        # A case that is marked by its test stays out of the choice.
        cases = [case for case in cases if case.get_closest_marker("exhaustive") is None]
        mark = cases[0].get_closest_marker("representatives") if cases else None
        if mark is not None:
            kept = first_of_each([case.callspec.params for case in cases], mark.kwargs["key"])
        else:
            most = next((most for start, most in FEWER.items() if name.startswith(start)), CASES)
            kept = spread(len(cases), most)
        for place, case in enumerate(cases):
            if place not in kept:
                case.add_marker(pytest.mark.exhaustive)
