"""How the Summary of a run names its state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runwatch.records.run import Run
from runwatch.view.export.text_output import detail_lines
from runwatch.view.resources.runs import RUNS, _status_line
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import RenderContext


@pytest.mark.parametrize(
    ("status", "is_unknown"), [(None, True), (42, True), ("pondering", True), ("running", False), ("failed", False)]
)
def test_an_unknown_state_says_that_it_counts_as_live(status: Any, is_unknown: bool) -> None:
    facts = RunFacts(Run({"execution_id": "ex_1", "status": status}))
    shown = _status_line(facts, None, RenderContext(datetime(2026, 1, 1, tzinfo=UTC)))
    assert ("counts as live" in shown.text) is is_unknown


@pytest.mark.parametrize(
    ("status", "queue", "expected"),
    [
        ("queued", (1, 203), "for its turn in the queue since 07:05:45; 1 running, 203 queued"),
        ("queued", (2, 1), "for its turn in the queue since 07:05:45; 2 running, 1 queued"),
        ("queued", None, "for its turn in the queue since 07:05:45"),
        ("running", (1, 203), None),
    ],
)
def test_a_queued_run_says_why_it_waits(status: str, queue: tuple[int, int] | None, expected: str | None) -> None:
    record = Run({"execution_id": "ex_1", "status": status, "created_at": "2026-01-01T07:05:45Z"})
    context = RenderContext(datetime(2026, 1, 1, 8, tzinfo=UTC), time="utc")
    shown = [" ".join(str(one).split()) for one in detail_lines(RUNS, RunFacts(record, queue=queue), context)]
    assert [one.removeprefix("waits ") for one in shown if "waits " in one] == ([expected] if expected else [])
