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

CASES: Final = 2
"""How many cases a function keeps unless it names classes."""

ONE: Final = (
    "tests/base/test_shell_typed.py", "tests/commands/test_process.py", "tests/commands/test_three_edits.py",
    "tests/contract/", "tests/end_to_end/", "tests/faults/", "tests/service/", "tests/tui/",
    "tests/view/export/test_record_file.py", "tests/view/test_hostile_records.py",
    "tests/view/text/test_copied_text.py",
)  # fmt: skip
"""Where it keeps one, by the beginning of its path: a case starts a service or a process, or draws a console."""


def examples(count: int) -> int:
    """Return how many of ``count`` examples of a property this run draws: a tenth in the short run, at least five."""
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


def kept_of(path: str, function: pytest.Function, cases: Sequence[Mapping[str, Any]]) -> frozenset[int]:
    """Return the positions of the cases of a function that the short run takes."""
    mark = function.get_closest_marker("representatives")
    if mark is not None:
        return first_of_each(cases, mark.kwargs["key"])
    return spread(len(cases), 1 if path.startswith(ONE) else CASES)


def mark_the_rest(items: Iterable[pytest.Item]) -> None:
    """Give the marker ``exhaustive`` to every case that the short run leaves out."""
    tables: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tables.setdefault((item.nodeid.partition("[")[0], item.originalname), []).append(item)
    for (name, _), cases in tables.items():
        # A case that is marked by its test stays out of the choice.
        cases = [case for case in cases if case.get_closest_marker("exhaustive") is None]
        kept = kept_of(name, cases[0], [case.callspec.params for case in cases]) if cases else frozenset()
        for place, case in enumerate(cases):
            if place not in kept:
                case.add_marker(pytest.mark.exhaustive)


def leave_out_the_rest(metafunc: pytest.Metafunc) -> None:
    """Make no test at all of a case that the short run leaves out: that takes most of the time of collecting."""
    function = metafunc.definition
    calls = [call for call in metafunc._calls if all(mark.name != "exhaustive" for mark in call.marks)]
    if calls and function.get_closest_marker("exhaustive") is None:
        kept = kept_of(function.nodeid, function, [call.params for call in calls])
        calls = [call for place, call in enumerate(calls) if place in kept]
    # Without a case the function would be collected as one that has no parameters.
    metafunc._calls = calls or metafunc._calls[:1]
