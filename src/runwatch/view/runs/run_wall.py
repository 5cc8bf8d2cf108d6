"""The wall of runs: how many tiles fit a window, and which run is in trouble and so gets the largest tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from runwatch.records.event import RunEvent
from runwatch.records.states import QUEUED_STATES, UNWANTED_STATES
from runwatch.view.runs.decision_packet import is_rejected
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_trace import RETRIES
from runwatch.view.text.format import RenderContext, counted, short_duration, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

TILE_CELLS: Final = 38
TILE_ROWS: Final = 7
"""Smallest useful tile, with its frame."""

MAX_TILES: Final = 50
"""Most tiles at once: with more runs to follow, each would be read too seldom to be live."""

SILENT_S: Final = 60
"""A live run without an event for so many seconds is in trouble."""

STAYS_S: Final = 60
"""A run that has ended stays on the wall of live runs for so many seconds, so that one sees how it ended. They count
from the moment in which the wall learns of the end, on this machine's clock: the service's may differ.
"""

_ENOUGH: Final = 3
"""Columns, and rows, of which the largest tile takes two."""


class WallGrid(NamedTuple):
    """A grid of equal cells for a number of tiles; the first tile may take several columns and rows."""

    columns: int
    rows: int
    tiles: int
    columns_of_first: int = 1
    rows_of_first: int = 1

    def columns_of_last(self, runs: int) -> int:
        """Return how many columns the last of so many tiles takes: all that is left of its row."""
        beside_first = (self.columns - self.columns_of_first) * self.rows_of_first
        if runs < 2 or runs - 1 < beside_first:
            return 1
        return 1 + (beside_first - runs + 1) % self.columns


class Trouble(NamedTuple):
    """What is wrong with a run in a few words, empty for nothing; more weight is worse."""

    weight: int
    text: SafeText
    role: Role


_RANKS_OF_TROUBLE: Final = (0, 1)
"""First part of the sort key of live and ended runs in trouble."""

_NONE: Final = Trouble(0, line(""), Role.QUIET)


def passed_runs_text(count: int, since: datetime, context: RenderContext) -> str:
    """Say how many runs began and ended since a view was opened; empty for none."""
    return f" {counted(count, 'run')} began and ended since {time_of_day(since, context)}." if count else ""


def no_live_run_text(new: str, mark: str, shows: str, passed: str = "") -> SafeText:
    """Say what to do where no run is live, by the keys that start a run, mark runs and show the marked ones.

    ``passed`` is what :func:`passed_runs_text` says; ``new`` is empty where no run can be started.
    """
    start = f"{new} starts one; on" if new else "On"
    return line(f"No run is live.{passed} {start} Runs, {mark} marks runs and {shows} the marked ones.")


def place_runs(
    placed: Sequence[str], run_ids: Sequence[str], ranks: Mapping[str, tuple[int, int]], tiles: int
) -> list[str]:
    """Return the runs in the order of their tiles. A run keeps its place while it is shown.

    A new run takes the place of one that has left, or comes last; a place that stays free goes to the last run. The
    first tile, the largest, belongs to the run in the worst trouble, which changes places with the run there. In the
    same way runs in trouble come from other pages to the first one, and live runs where others have ended. ``ranks``
    are what :func:`wall_order` says of each.
    """
    shown, before = set(run_ids), set(placed)
    new = [run_id for run_id in run_ids if run_id not in before]
    places = [run_id if run_id in shown else new.pop(0) if new else "" for run_id in placed]
    places += new
    while "" in places:
        last = places.pop()
        if last:
            places[places.index("")] = last
    troubled = sorted((run_id for run_id in places if ranks[run_id][0] in _RANKS_OF_TROUBLE), key=ranks.__getitem__)
    if troubled and ranks[troubled[0]] < ranks[places[0]]:
        _swap(places, 0, places.index(troubled[0]))

    def group(run_id: str) -> int:
        rank = ranks[run_id][0]
        return 0 if rank in _RANKS_OF_TROUBLE else rank

    for run_id in sorted(places[tiles:], key=ranks.__getitem__):
        less = [other for other in places[1:tiles] if group(other) > group(run_id)]
        if less:
            # Of those that matter least, the one that is here longest was seen longest.
            oldest = min(less, key=lambda other: (-group(other), run_ids.index(other)))
            _swap(places, places.index(run_id), places.index(oldest))
    return places


def _swap(places: list[str], one: int, other: int) -> None:
    places[one], places[other] = places[other], places[one]


def keeps_grid(grid: WallGrid, runs: int) -> bool:
    """Whether a grid still suits a page of so many runs: all fit, and none of its rows is empty."""
    return grid.tiles - grid.columns < runs <= grid.tiles


def fit_wall(cells: int, rows: int, runs: int) -> WallGrid:
    """Return the grid for so many runs in a window: as few and as large tiles as hold all, or all that fit."""
    most = [
        _grid(columns, lines)
        for columns in range(1, max(1, cells // TILE_CELLS) + 1)
        for lines in range(1, max(1, rows // TILE_ROWS) + 1)
        if _grid(columns, lines).tiles <= MAX_TILES
    ]
    enough = [grid for grid in most if grid.tiles >= runs]
    if not enough:
        return max(most, key=lambda grid: grid.tiles)
    # Of two grids with as many cells, wide tiles show more of each event.
    return min(enough, key=lambda grid: (runs > 1 and not _has_largest(grid), grid.columns * grid.rows, grid.columns))


def _grid(columns: int, rows: int) -> WallGrid:
    """Return the grid whose first tile is larger than the others, where there is room."""
    wide = 2 if columns >= _ENOUGH or (columns > 1 and rows > 1) else 1
    high = 2 if rows >= _ENOUGH and columns != 2 else 1
    return WallGrid(columns, rows, columns * rows - wide * high + 1, wide, high)


def _has_largest(grid: WallGrid) -> bool:
    return grid.columns_of_first * grid.rows_of_first > 1


def find_trouble(facts: RunFacts, events: Sequence[RunEvent], context: RenderContext) -> Trouble:
    """Return the worst that is known of a run by its newest events: failed or blocked, tried again, silent or waiting
    for long.
    """
    if facts.status in UNWANTED_STATES or is_rejected(facts.packet.value):
        packet = facts.packet.value
        reason = facts.reason.value or (None if packet is None else packet.verdict)
        role = Role.WARN if facts.status == "expired" else Role.BAD
        mark = context.glyphs.warn if facts.status == "expired" else context.glyphs.bad
        return Trouble(4, line(f"{mark} {line(reason or facts.status or 'blocked', 30)}"), role)
    retries = sum(event.state == "progress" and event.reason in RETRIES for event in events)
    if retries:
        word = "retry" if retries == 1 else "retries"
        # Of a run that ended well, it is no trouble any more.
        return Trouble(1 if facts.is_final else 3, line(f"{context.glyphs.again} {retries} {word}"), Role.WARN)
    quiet_s = _quiet_s(facts, events, context.now)
    if quiet_s is not None and quiet_s >= SILENT_S:
        waits = facts.status in QUEUED_STATES
        what = "waits" if waits else "silent"
        return Trouble(2, line(f"{context.glyphs.warn} {what} {short_duration(quiet_s)}"), Role.WARN)
    return _NONE


def _quiet_s(facts: RunFacts, events: Sequence[RunEvent], now: datetime) -> float | None:
    """Return for how many seconds a live run has said nothing; ``None`` if it has ended or that is not known."""
    if facts.is_final:
        return None
    # A run at work has events; before they are read, when it was created says nothing of its silence.
    created = facts.run.created_at if facts.status in QUEUED_STATES else None
    since = next((event.at for event in reversed(events) if event.at is not None), created)
    return None if since is None else (now - since).total_seconds()


def wall_order(facts: RunFacts, trouble: Trouble) -> tuple[int, int]:
    """Return the sort key of a run on the wall: live ones in trouble, those that ended badly, other live ones, others.

    Of each, the worst comes first.
    """
    is_bad = trouble.weight > 1
    return len(_RANKS_OF_TROUBLE) * (not is_bad) + facts.is_final, -trouble.weight
