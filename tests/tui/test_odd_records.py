"""Records of unknown shapes on every screen: shown whole, without a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.records.record import Record
from runwatch.store.state.freshness import LoadState
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.runs.merged_tail import MergedTailScreen
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.panes.drawer import Drawer
from tests.support.odd_events import SHAPES, mark, odd_events
from tests.tui import noon
from tests.tui.console import WIDE, Driven, console
from tests.tui.every_screen import SCREENS, Scene, keep_still, records_of, settle_drawn

Raw = dict[str, Any]

UNKNOWN: Final[Raw] = {"unheard_of": {"deep": [1, None, "two"]}, "unheard_text": "said by a newer service"}


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_still(monkeypatch)


def other_type(value: object) -> object:
    """A value of an unexpected type."""
    if isinstance(value, str):
        return {"was": value}
    return 7 if isinstance(value, (list, Mapping)) else f"{value} as text"


def odd(change: Callable[[Raw, str], Raw]) -> Callable[[str], Sequence[Record]]:
    """The sample records of a kind, each changed except for its id."""

    def given(kind: str) -> Sequence[Record]:
        return [type(it)(change(dict(it.raw), it.id)) for it in records_of(kind)]

    return given


def _kept(raw: Raw, id: str) -> Raw:
    return {name: value for name, value in raw.items() if value == id}


ODD: Final[dict[str, Callable[[Raw, str], Raw]]] = {
    "unknown members": lambda raw, id: raw | UNKNOWN,
    "nothing but the id": _kept,
    "nulls": lambda raw, id: dict.fromkeys(raw) | _kept(raw, id) | UNKNOWN,
    "wrong types": lambda raw, id: {name: other_type(value) for name, value in raw.items()} | _kept(raw, id) | UNKNOWN,
    "a new status": lambda raw, id: raw | {"status": "hovering", "state": "hovering"} | UNKNOWN,
}


@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize("name", SCREENS)
async def test_odd_records_are_shown_whole(tmp_path: Path, name: str) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at=name) as driven:
        for what, change in ODD.items():
            Scene(driven, odd(change)).enter(LoadState.FRESH)
            await settle_drawn(driven)
            screen = driven.app.screen
            if not isinstance(screen, ResourceScreen) or screen.spec.is_local or name == "runs":
                # Pages draw known members of records; the detail of a run has its own views.
                continue
            assert screen.table.line_count(), what
            if what != "nothing but the id":
                for view in screen.query("#detail DetailView"):
                    view.focus()
                await driven.press("end")
                assert "unheard_text" in driven.text, (what, driven.text)
                screen.table.focus()


async def at_events(driven: Driven, log: EventLog) -> None:
    """Fill the list with all odd events, and go to the first one."""
    await driven.comes(f"{len(SHAPES)} events", within_s=60)
    log.focus()
    await driven.press("g")


async def open_each(driven: Driven, log: EventLog) -> None:
    """Open every event of the list, and see that nothing of it is hidden."""
    for number, (name, shape) in enumerate(SHAPES.items()):
        log.focus()
        log.move_cursor(number)
        await driven.press("enter")
        await driven.until(partial(_holds, driven, mark(number)), f"the event with {name}")
        assert all(_holds(driven, f'"{member}"') for member in shape), name
        await driven.press("escape")


def _holds(driven: Driven, text: str) -> bool:
    """Whether a text is in the drawer, beyond its window too."""
    drawer = driven.app.screen.query_one(Drawer)
    return text in "\n".join(
        "".join(text for text, _ in row.pieces) for view in drawer.query(DetailView) for row in view._rows
    )


@pytest.mark.exhaustive
async def test_odd_events_are_shown_whole_in_the_tail_of_a_run_and_told_in_its_story(tmp_path: Path) -> None:
    events = {noon.LIVE: odd_events(noon.LIVE)}
    async with console(noon.service(events=events), tmp_path, size=WIDE) as driven:
        await driven.select(noon.LIVE)
        await driven.press("enter")
        log = driven.app.screen.query_one(EventLog)
        await at_events(driven, log)
        for words in ("telemetry_burst", "hovering", "unheard-01"):
            await driven.shows(words)
        await open_each(driven, log)
        await driven.reaches("Summary", "greater_than_sign")
        assert driven.app.is_running


@pytest.mark.exhaustive
async def test_odd_events_are_shown_whole_in_the_tail_of_several_runs(tmp_path: Path) -> None:
    live = [record for record in noon.runs() if record.id == noon.LIVE]
    events = {noon.LIVE: odd_events(noon.LIVE)}
    async with console(noon.service(runs=live, events=events), tmp_path, size=WIDE) as driven:
        await driven.select(noon.LIVE)
        await driven.opens(MergedTailScreen, "L")
        log = driven.app.screen.query_one(EventLog)
        await at_events(driven, log)
        for words in ("telemetry_burst", "hovering", "unheard-01"):
            await driven.shows(words)
        await open_each(driven, log)
