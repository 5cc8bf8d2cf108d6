"""Events are searched from the cursor in both directions, keep their place, and are shown as soon as their run is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.tui.sources import event_tail
from runwatch.tui.sources.event_tail import _moved, _next_part
from tests.support.builders import event, run
from tests.support.scripted import ScriptedService
from tests.tui.console import console
from tests.view.strategies import many


@many
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 25))
def test_every_event_is_searched_once_and_near_ones_before_far_ones(near: int, length: int, size: int) -> None:
    near = min(near, length)
    here = there = near
    seen: list[int] = []
    while (part := _next_part(near, here, there, length, size)) is not None:
        start, stop = part
        assert stop == here or start == there
        assert 0 < stop - start <= size
        seen += range(start, stop)
        here, there = min(start, here), max(stop, there)
        # Neither side is more than one part ahead while the other has something left.
        if here > 0 and there < length:
            assert abs((there - near) - (near - here)) <= size
    assert sorted(seen) == list(range(length))


@many
@given(st.integers(0, 20), st.lists(st.integers(0, 20)))
def test_an_older_event_is_found_by_its_new_number(length: int, before: list[int]) -> None:
    places = sorted(place for place in before if place < length)
    shown: list[int | None] = []
    for number in range(length):
        shown += [*[None] * places.count(number), number]
    inserted = [place for place, number in enumerate(shown) if number is None]
    assert [shown[_moved(number, inserted)] for number in range(length)] == list(range(length))


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
            await driven.session.events.append(driven.session.scope, name, events[name])
        for name in ("ex_b", "ex_a", "ex_b"):
            await driven.select(name)
            await driven.shows(f"{name}-199")
