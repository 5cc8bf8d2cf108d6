"""Commands pass on events of unknown kinds: exactly for programs, one line each for users."""

from __future__ import annotations

import pytest

from tests.commands.conftest import RUNNING
from tests.commands.here import Here
from tests.support.builders import event
from tests.support.odd_events import SHAPES, odd_events
from tests.support.scripted import Said, ScriptedService

LAST = event(99, "completed", execution_id=RUNNING)


@pytest.fixture(autouse=True)
def _odd(service: ScriptedService) -> None:
    listed = [dict(it.raw) for it in (*odd_events(RUNNING), LAST)]
    service.say("GET", f"/v1/executions/{RUNNING}/events", Said(200, {"events": listed}))


@pytest.mark.parametrize("verb", ["events", "watch"])
def test_programs_get_odd_events_exactly(runwatch: Here, verb: str) -> None:
    outcome = runwatch("runs", verb, RUNNING, "--json")
    assert outcome.json_lines == [dict(it.raw) for it in (*odd_events(RUNNING), LAST)]
    assert outcome.code == 0


@pytest.mark.parametrize("verb", ["events", "watch"])
def test_people_get_a_line_for_each_odd_event(runwatch: Here, verb: str) -> None:
    outcome = runwatch("runs", verb, RUNNING)
    lines = outcome.text.splitlines()
    assert outcome.code == 0
    assert len(lines) == len(SHAPES) + 1
    assert not [text for text in lines if not text.isprintable()]
    told = dict(zip(SHAPES, lines, strict=False))
    assert "telemetry_burst" in told["a new type"]
    assert "hovering" in told["a new state"]
    assert "7" in told["a number as type"]
    assert '"rejected"' in told["a text as check"]
    assert all(f"unheard-{number:02}" in text for number, text in enumerate(lines[:-1]))
