"""How the Summary of a run names its state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runwatch.records.run import Run
from runwatch.view.resources.runs import _status_line
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import RenderContext


@pytest.mark.parametrize(
    ("status", "is_unknown"), [(None, True), (42, True), ("pondering", True), ("running", False), ("failed", False)]
)
def test_an_unknown_state_says_that_it_counts_as_live(status: Any, is_unknown: bool) -> None:
    facts = RunFacts(Run({"execution_id": "ex_1", "status": status}))
    shown = _status_line(facts, None, RenderContext(datetime(2026, 1, 1, tzinfo=UTC)))
    assert ("counts as live" in shown.text) is is_unknown
