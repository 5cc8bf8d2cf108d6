"""The tail of several runs: every event once, with its run, in order; filtered, followed, and led back to its run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runwatch.tui.screens.runs.merged_tail import MAX_FOLLOWED_RUNS, MergedTailScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.lists.event_log import EventLog
from tests.support.builders import event, run
from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, Driven, console
from tests.tui.golden import check_golden
from tests.tui.test_console_runs import Growing, many_events

SIZE = (120, 30)


async def on_tail(driven: Driven) -> None:
    """Follow all live runs."""
    await driven.shows("8f21")
    await driven.opens(MergedTailScreen, "L")
    await driven.comes("events")


async def test_all_live_runs_are_followed_in_one_list_with_their_ids(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_tail(driven)
        await driven.comes("14 events")
        await driven.shows("8f21…9b7e  check", "Tail of 3 runs · 3 live", "90cc…1f00")
        assert "…\n" not in driven.text
        check_golden("120x30/tail-all", driven.text)


@pytest.mark.exhaustive
async def test_marked_runs_alone_are_followed_and_the_choice_is_there_when_one_comes_back(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        for chosen in (noon.LIVE, noon.DONE):
            await driven.select(chosen)
            await driven.press("space")
        await driven.press("L")
        await driven.comes("Tail of 2 runs · 1 live")
        await driven.comes("8f21…9b7e")
        assert "90cc…1f00" not in driven.text
        await driven.opens(RunsScreen, "u")
        await driven.press("left_square_bracket")
        await driven.comes("Tail of 2 runs")


@pytest.mark.exhaustive
async def test_what_comes_in_is_counted_while_the_user_looks_elsewhere(tmp_path: Path) -> None:
    growing = Growing(many_events(40))
    live = [record for record in noon.runs() if record.id == noon.LIVE]
    async with console(noon.service(runs=live, events=growing), tmp_path, size=NARROW) as driven:
        await on_tail(driven)
        await driven.comes("40 events")
        await driven.reaches("PAUSED", "k")
        growing.add(40)
        await driven.comes("+1 new", within_s=30)
        await driven.shows("41 events")
        await driven.reaches("+0 new", "G")


@pytest.mark.exhaustive
@pytest.mark.parametrize("filter", ["", "progress"])
async def test_a_late_event_is_at_its_time_and_moves_nothing_that_is_read(tmp_path: Path, filter: str) -> None:
    live = [record for record in noon.runs() if record.id in (noon.LIVE, noon.HOVERING)]
    events = {noon.LIVE: Growing(many_events(60)), noon.HOVERING: Growing([])}

    class OfEach:
        def events(self, run_id: str, after: str | None) -> Any:
            return events[run_id].events(run_id, after)

    async with console(noon.service(runs=live, events=OfEach()), tmp_path, size=NARROW) as driven:
        await on_tail(driven)
        await driven.comes("60 events")
        if filter:
            await driven.filter(filter)
            await driven.shows("60 of 60 events match")
        await driven.reaches("PAUSED", "pageup", "pageup", "k", "k")
        (read,) = (row for row in driven.lines if "▸" in row)
        place = driven.lines.index(read)
        late = event(900, "progress", execution_id=noon.HOVERING, at=noon.at(58.5))
        events[noon.HOVERING].listed.append(dict(late.raw))
        await driven.comes("61 of 61 events" if filter else "61 events", within_s=30)
        assert driven.lines[place] == read
        await driven.reaches(re.compile(r"8f21…9b7e.*\n.*8f21…9b7e.*\n.*90cc…1f00.*\n.*8f21…9b7e"), "g")


@pytest.mark.exhaustive
async def test_the_filter_of_every_list_works_here_and_knows_the_run(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_tail(driven)
        await driven.comes("14 events")
        await driven.press("slash")
        await driven.type("run:8f21 kind=check")
        await driven.shows("2 of 14 events match run:8f21 kind=check")
        await driven.type(" verification_check")
        await driven.shows(' · in JSON: "type":"verification_check",')
        await driven.press(*["backspace"] * len(" verification_check"))
        await driven.type(" is:nothing")
        await driven.shows("not applied: unknown is:nothing")
        await driven.hides("of 14 events match")
        await driven.press("escape")
        await driven.hides("not applied")
        assert isinstance(driven.focused, EventLog)


@pytest.mark.exhaustive
async def test_a_run_that_becomes_live_is_followed_too_and_one_that_ends_stays(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_tail(driven)
        await driven.comes("Tail of 3 runs · 3 live")
        driven.service.runs.insert(0, dict(run("ex_fresh", "running", created_at=noon.at(0)).raw))
        await driven.comes("Tail of 4 runs · 4 live", within_s=30)
        for known in driven.service.runs:
            known["status"] = "completed"
        await driven.pass_time(10)
        assert "Tail of 4 runs" in driven.text


@pytest.mark.exhaustive
async def test_a_run_that_ended_or_left_the_service_is_not_counted_as_live(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_tail(driven)
        await driven.comes("Tail of 3 runs · 3 live")
        gone, ended = (known for known in driven.service.runs if known["execution_id"] in (noon.LIVE, noon.HOVERING))
        driven.service.runs.remove(gone)
        await driven.comes("Tail of 3 runs · 2 live", within_s=30)
        ended["status"] = "completed"
        await driven.comes("Tail of 3 runs · 1 live", within_s=30)


async def test_without_a_live_run_the_screen_says_what_to_do(tmp_path: Path) -> None:
    service = noon.service(runs=[record for record in noon.runs() if record.is_final])
    async with console(service, tmp_path, size=NARROW, until="9911") as driven:
        await driven.reaches("No run is live.", "L")
        assert "L follows" in " ".join(driven.text.split())
        await driven.hides("enter open")


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["L", "asterisk"])
async def test_runs_too_short_to_be_seen_live_are_counted(key: str, tmp_path: Path) -> None:
    service = noon.service(runs=[record for record in noon.runs() if record.is_final])
    async with console(service, tmp_path, size=SIZE, until="9911") as driven:
        await driven.reaches("No run is live.", key)
        assert "began and ended" not in driven.text
        for number in range(2):
            service.runs.insert(0, dict(run(f"ex_{number}", "completed", created_at=noon.at(-number)).raw))
        await driven.comes("2 runs began and ended since 12:0", within_s=30)
        service.runs.insert(0, dict(run("ex_live", "running", created_at=noon.at(-2)).raw))
        await driven.comes(re.compile(r"(1 run · )?1 live, 2 ended unseen"), within_s=30)
        service.runs[0]["status"] = "completed"
        service.runs.insert(0, dict(run("ex_3", "completed", created_at=noon.at(-3)).raw))
        await driven.comes(re.compile(r"(1 run · 0 live|0 live, 1 ended), 3 ended unseen"), within_s=30)


@pytest.mark.exhaustive
async def test_old_runs_that_an_empty_list_is_given_are_not_counted(tmp_path: Path) -> None:
    service = ScriptedService(runs=[])
    async with console(service, tmp_path, size=SIZE, until="No runs yet") as driven:
        await driven.reaches("No run is live.", "L")
        service.runs.insert(0, dict(run("ex_old", "completed", created_at=noon.at(600)).raw))
        service.runs.insert(0, dict(run("ex_new", "completed", created_at=noon.at(-60)).raw))
        await driven.comes("1 run began and ended since 12:0", within_s=30)


@pytest.mark.exhaustive
async def test_more_live_runs_than_can_be_followed_are_reported(tmp_path: Path) -> None:
    many = [run(f"ex_{number:03}", "running", created_at=noon.at(number)) for number in range(MAX_FOLLOWED_RUNS + 3)]
    async with console(ScriptedService(runs=many), tmp_path, size=SIZE, until="ex_001") as driven:
        await driven.reaches("3 more are not followed", "L")
        assert len(driven.app.screen._events.run_ids) == MAX_FOLLOWED_RUNS  # type: ignore[attr-defined]


async def test_a_run_that_has_ended_makes_room_for_a_live_one_and_its_events_stay(tmp_path: Path) -> None:
    many = [run(f"ex_{number:03}", "running", created_at=noon.at(90 - number)) for number in range(MAX_FOLLOWED_RUNS)]
    events = {
        one: Growing([event(1, "accepted", execution_id=one, at=noon.at(9))])
        for one in (*(item.id for item in many), "ex_fresh")
    }

    class OfEach:
        def events(self, run_id: str, after: str | None) -> Any:
            return events[run_id].events(run_id, after)

    service = ScriptedService(runs=many, events=OfEach())
    async with console(service, tmp_path, size=SIZE, until="ex_049") as driven:
        await driven.reaches("Tail of 50 runs · 50 live", "L")
        await driven.comes("50 events", within_s=60)
        service.runs.insert(0, dict(run("ex_fresh", "running", created_at=noon.at(0)).raw))
        await driven.comes("1 more are not followed", within_s=30)
        end = event(2, "completed", execution_id="ex_000", at=noon.at(1))
        events["ex_000"].listed.append(dict(end.raw))
        next(known for known in service.runs if known["execution_id"] == "ex_000")["status"] = "completed"
        await driven.comes("Tail of 51 runs · 50 live", within_s=90)
        await driven.comes("52 events", within_s=30)
        assert "not followed" not in driven.text
        follows = driven.session.live.tails.follows
        assert follows("ex_fresh")
        assert not follows("ex_000")


@pytest.mark.exhaustive
async def test_the_command_line_leads_there(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("2")
        await driven.say("tail all")
        await driven.comes("Tail of 3 runs")


@pytest.mark.exhaustive
async def test_leaving_ends_the_reading(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_tail(driven)
        await driven.press("2")
        await driven.comes("Receipts hold neither")
        await driven.pass_time(2)
        before = len(driven.service.requests("GET", ".*/events"))
        await driven.pass_time(10)
        assert len(driven.service.requests("GET", ".*/events")) == before
