"""A team service under kill -9; ``python -m tests.performance team-trial`` is the long form, this is the short one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.performance.team_trial import Size, run_trial


@pytest.mark.exhaustive
async def test_no_acknowledged_run_is_lost_and_no_call_is_unknown(tmp_path: Path) -> None:
    size = Size(apis=2, workers=2, limit=12, callers=8, runs=60, kills=3, stops=1, cuts=1)
    trial = await run_trial(tmp_path, size)
    assert (trial.lost, trial.strays, trial.doubled, trial.crowded, trial.wrong) == ([], 0, 0, 0, {})
    assert sum(trial.ends.values()) == size.runs
