"""Runs with very many events, which are made when they are asked for and never held: what a scripted service tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

AT: Final = "2026-11-21T12:00:00.000Z"


class LongLog:
    """The events of some runs, each by its number; the last one of a run ends it.

    Args:
        runs: How many runs.
        events: How many events each has.
        page: The most events of one answer.
    """

    def __init__(self, runs: int, events: int, page: int) -> None:
        self.run_ids: Final = tuple(f"ex_long_{number:03}" for number in range(runs))
        self.count: Final = events
        self._page = page

    def ids(self, run_id: str) -> list[str]:
        """The ids of a run's events, in order."""
        return [_id(run_id, number) for number in range(self.count)]

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        """The page after the named event; the first page for an unknown event."""
        if run_id not in self.run_ids:
            return None
        run, _, number = (after or "").rpartition(".")
        first = int(number) + 1 if run == run_id and number.isdigit() else 0
        return [self._event(run_id, number) for number in range(first, min(first + self._page, self.count))]

    def _event(self, run_id: str, number: int) -> dict[str, Any]:
        one = {"event_id": _id(run_id, number), "execution_id": run_id, "type": "lifecycle", "at": AT}
        if number == self.count - 1:
            return {**one, "state": "completed"}
        return {**one, "state": "progress", "slice_id": "sl_1"}


def _id(run_id: str, number: int) -> str:
    return f"{run_id}.{number:08}"
