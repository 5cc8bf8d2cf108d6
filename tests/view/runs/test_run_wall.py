"""How many tiles fit, and which run comes first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from runwatch.records.event import RunEvent
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_wall import (
    MAX_TILES,
    WallGrid,
    find_trouble,
    fit_wall,
    keeps_grid,
    place_runs,
    wall_order,
)
from runwatch.view.text.format import RenderContext
from tests.support import builders
from tests.tui.noon import at
from tests.tui.samples import NOON

CONTEXT = RenderContext(NOON)
RETRY = builders.slice_event(1, "progress", reason="fallback", at=at(3))


@pytest.mark.parametrize(
    ("size", "runs", "grid"),
    [
        ((80, 21), 1, WallGrid(1, 1, 1)),
        ((80, 21), 2, WallGrid(1, 3, 2, 1, 2)),
        ((80, 21), 9, WallGrid(2, 3, 5, 2, 1)),
        ((120, 33), 8, WallGrid(3, 4, 9, 2, 2)),
        ((200, 47), 3, WallGrid(1, 4, 3, 1, 2)),
        ((200, 47), 8, WallGrid(2, 5, 9, 2, 1)),
        ((200, 47), 99, WallGrid(5, 6, 27, 2, 2)),
        ((20, 3), 4, WallGrid(1, 1, 1)),
    ],
)
def test_tiles_are_as_large_as_the_window_allows(size: tuple[int, int], runs: int, grid: WallGrid) -> None:
    assert fit_wall(*size, runs) == grid


@pytest.mark.parametrize(
    ("grid", "runs", "cells"),
    [
        (WallGrid(2, 3, 5, 2, 1), 4, 2), (WallGrid(2, 3, 5, 2, 1), 5, 1), (WallGrid(3, 4, 9, 2, 2), 7, 3),
        (WallGrid(3, 4, 9, 2, 2), 2, 1), (WallGrid(1, 3, 2, 1, 2), 2, 1), (WallGrid(1, 1, 1), 1, 1),
    ],
)  # fmt: skip
def test_the_last_tile_leaves_no_hole_beside_it(grid: WallGrid, runs: int, cells: int) -> None:
    assert grid.columns_of_last(runs) == cells


CALM, ENDED, TRIED_AGAIN, FAILED = (2, 0), (3, 0), (0, -3), (1, -4)


@pytest.mark.parametrize(
    ("placed", "run_ids", "troubled", "places"),
    [
        ("", "abc", {}, "abc"),
        ("abc", "abc", {"a": ENDED, "b": ENDED}, "abc"),
        ("abc", "abcd", {}, "abcd"),
        ("abcd", "acde", {}, "aecd"),
        ("abcd", "acd", {}, "adc"),
        ("abcd", "a", {}, "a"),
        ("abcd", "abcd", {"c": FAILED}, "cbad"),
        ("cbad", "abcd", {"c": FAILED, "d": FAILED}, "cbad"),
        ("cbad", "abcd", {"c": FAILED, "d": TRIED_AGAIN}, "dbac"),
        ("abcdef", "abcdef", {"a": FAILED, "e": FAILED, "f": FAILED}, "aefdbc"),
        ("abcdef", "abcdef", {"b": ENDED, "c": ENDED, "f": ENDED}, "aecdbf"),
        ("abcdef", "abcdef", dict.fromkeys("abcdef", FAILED), "abcdef"),
    ],
)
def test_a_run_keeps_its_tile_and_only_the_worst_trouble_gets_the_first_one(
    placed: str, run_ids: str, troubled: dict[str, tuple[int, int]], places: str
) -> None:
    ranks = dict.fromkeys(run_ids, CALM) | troubled
    assert "".join(place_runs(placed, run_ids, ranks, tiles=4 if len(placed) == 6 else 9)) == places


def test_a_grid_stays_while_no_row_of_it_is_empty() -> None:
    grid = WallGrid(3, 4, 9, 2, 2)
    assert [keeps_grid(grid, runs) for runs in (6, 7, 9, 10)] == [False, True, True, False]


def test_no_window_follows_more_runs_than_can_be_read() -> None:
    assert fit_wall(1000, 300, 500).tiles <= MAX_TILES


def facts(status: str = "running", **over: Any) -> RunFacts:
    members = {"created_at": at(20), "decision_packet": builders.ABSENT, **over}
    return RunFacts(builders.open_run(status=status, **members))


@pytest.mark.parametrize(
    ("run", "events", "weight", "words"),
    [
        (facts("failed", reason="fallback_exhausted"), [], 4, "✗ fallback_exhausted"),
        (facts("expired"), [], 4, "◷ expired"),
        (facts(), [RETRY], 3, "↻ 1 retry"),
        (facts(), [RETRY, RETRY], 3, "↻ 2 retries"),
        (facts(), [builders.event(1, at=at(125))], 2, "◷ silent 2m"),
        (facts("queued", created_at=at(90)), [], 2, "◷ waits 1m"),
        (facts(), [builders.event(1, at=at(59))], 0, ""),
        (facts("completed"), [RETRY], 1, "↻ 1 retry"),
        (facts("completed"), [builders.event(1, at=at(900))], 0, ""),
    ],
)
def test_trouble_is_named_with_a_mark(run: RunFacts, events: list[RunEvent], weight: int, words: str) -> None:
    found = find_trouble(run, events, CONTEXT)
    assert (found.weight, found.text) == (weight, words)


def test_live_runs_in_trouble_come_first_and_those_that_ended_well_last() -> None:
    runs: list[tuple[RunFacts, list[RunEvent]]] = [
        (facts("completed"), []),
        (facts(), []),
        (facts("failed"), []),
        (facts(), [RETRY]),
    ]
    ordered = sorted(runs, key=lambda one: wall_order(one[0], find_trouble(one[0], one[1], CONTEXT)))
    assert [(one.status, len(events)) for one, events in ordered] == [
        ("running", 1), ("failed", 0), ("running", 0), ("completed", 0),
    ]  # fmt: skip
    later = RenderContext(NOON + timedelta(minutes=5))
    assert find_trouble(facts("queued"), [], later).weight == 2
    assert find_trouble(facts(), [], later).weight == 0
