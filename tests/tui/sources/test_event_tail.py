"""Events are shown as soon as their run is."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.screens.base.event_screen import EventScreen
from runwatch.tui.sources.events import event_tail
from runwatch.tui.widgets.lists.event_log import EventLog
from tests.support.builders import event, run
from tests.support.scripted import ScriptedService
from tests.tui.console import console


async def test_a_run_that_is_chosen_right_after_another_does_not_wait_for_that_ones_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_tail, "GATHER_S", 3600.0)
    monkeypatch.setattr(event_tail, "FLOOD_S", 3600.0)
    names = ("ex_a", "ex_b")
    events = {
        name: [event(number, "progress", execution_id=name, reason=f"{name}-{number}") for number in range(200)]
        for name in names
    }
    service = ScriptedService(
        runs=[run(name, slices=[]) for name in names],
        events={name: [each.raw for each in listed] for name, listed in events.items()},
    )
    async with console(service, tmp_path, size=(160, 50)) as driven:
        for name in names:
            await driven.session.event_store.append(driven.session.scope, name, events[name])
        for name in ("ex_b", "ex_a", "ex_b"):
            await driven.select(name)
            await driven.shows(f"{name}-199")
        screen, log = driven.app.screen, driven.app.screen.query_one(EventLog)
        assert isinstance(screen, EventScreen)
        log._side = 8
        screen.tail.filter_by("progress")
        assert log._side == 0, "what a filter finds is shown from the left"
