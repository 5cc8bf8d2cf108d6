"""The wall shows many runs at once, the one in trouble largest, and counts those that do not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.tui.app.commands import list_commands
from runwatch.tui.screens.runs.run_wall import RunWallScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.panes.run_tile import RunTile
from tests.support.builders import event, run
from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console
from tests.tui.golden import check_golden


def busy(count: int = 9) -> ScriptedService:
    """So many live runs with events, and a test that adds to them."""
    runs = [run(f"ex_{number:03}", "running", created_at=noon.at(30 + number)) for number in range(count)]
    events = {one.id: [event(n, "progress", execution_id=one.id, at=noon.at(9 - n)) for n in range(3)] for one in runs}
    return ScriptedService(runs=runs, events=events)


async def on_wall(driven: Driven) -> RunWallScreen:
    await driven.opens(RunWallScreen, "asterisk")
    screen = driven.app.screen
    assert isinstance(screen, RunWallScreen)
    return screen


def tiles(driven: Driven) -> list[RunTile]:
    return [tile for tile in driven.app.screen.query(RunTile) if tile.display]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_live_runs_are_side_by_side(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=size, until="9b7e") as driven:
        screen = await on_wall(driven)
        for _ in range(6):
            await driven.pass_time(1)
        every = {noon.LIVE: 8, noon.QUEUED: 3, noon.HOVERING: 3}
        await driven.until(lambda: {key: len(listed) for key, listed in screen._events.items()} == every, "all events")
        await driven.shows("◷ waits 3m", "◷ silent 3m")
        check_golden(f"{size[0]}x{size[1]}/wall", driven.text)


async def test_eight_tails_fit_a_usual_window_and_the_run_in_trouble_gets_the_largest_tile(tmp_path: Path) -> None:
    service = busy()
    async with console(service, tmp_path, size=(120, 36), until="ex_001") as driven:
        assert [one.name for one in list_commands(driven.app) if one.name.endswith("wall")] == ["wall"]
        await driven.say("wall")
        await driven.opens(RunWallScreen)
        await driven.opens(RunsScreen, "escape")
        await on_wall(driven)
        for _ in range(20):
            await driven.pass_time(1)
        assert len(tiles(driven)) == 9
        assert driven.text.count("progress") == 27
        assert "pgdn" not in driven.lines[-1]
        await driven.press("right", "down")
        focused = driven.app.screen._focused_run  # type: ignore[attr-defined]
        service.runs[5]["status"] = "failed"
        service.runs[5]["reason"] = "fallback_exhausted"
        await driven.comes("✗ fallback_exhausted", within_s=30)
        first = tiles(driven)[0]
        assert first.run_id == "ex_005"
        assert first.size.width > 1.5 * tiles(driven)[1].size.width
        # The focus stays on its run, wherever that goes.
        assert driven.app.screen._focused_run == focused  # type: ignore[attr-defined]


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_forty_live_runs_in_the_list_and_on_the_wall(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(busy(40), tmp_path, size=size, until="ex_001") as driven:
        await driven.pass_time(2)
        await driven.settle()
        check_golden(f"{size[0]}x{size[1]}/forty-runs", "\n".join(driven.lines[1:]))
        await on_wall(driven)
        for _ in range(12):
            await driven.pass_time(1)
        await driven.until(lambda: driven.text.count("progress") == 3 * len(tiles(driven)), "the events of each tile")
        check_golden(f"{size[0]}x{size[1]}/forty-wall", "\n".join(driven.lines[1:]))


async def test_a_narrow_tile_names_slices_by_the_ends_of_their_ids_and_a_whole_saved_model(tmp_path: Path) -> None:
    runs = [run(f"ex_{number:03}", "running", created_at=noon.at(30 + number)) for number in range(3)]
    called = {"state": "progress", "reason": "fallback", "arm_id": "arm_01M8GPMZ17J4T8"}
    slices = {
        one.id: [{}, {"slice_id": f"sl_01M8GPMZ173{one.id[-1]}"}, {"slice_id": f"sl_01M8GPMZ173{one.id[-1]}", **called}]
        for one in runs
    }
    events = {
        run_id: [event(n, execution_id=run_id, at=noon.at(9 - n), **part) for n, part in enumerate(parts)]
        for run_id, parts in slices.items()
    }
    service = ScriptedService(runs=runs, events=events)
    async with console(service, tmp_path, size=(80, 24), until="ex_001") as driven:
        await on_wall(driven)
        await driven.comes("12:04:23  lifecycle  …1730  running")
        await driven.shows("…1730  progress · fallback → arm_…J4T8")
        await driven.shows("12:04:22       running", "12:04:23 …1731 running", "…1731 fallback → arm_…J4T8")


@pytest.mark.exhaustive
async def test_a_small_window_shows_fewer_and_the_others_are_a_page_away(tmp_path: Path) -> None:
    async with console(busy(8), tmp_path, size=(80, 24), until="ex_001") as driven:
        await on_wall(driven)
        await driven.shows("1-5 of 8: 8 live", "pgdn more runs")
        assert "pgup" not in driven.lines[-1]
        follows = driven.session.live.tails.follows
        assert follows("ex_000")
        assert not follows("ex_007")
        await driven.reaches("6-8 of 8: 8 live", "pagedown")
        await driven.comes("ex_007")
        assert max(tile.region.bottom for tile in tiles(driven)) == driven.app.size.height - 1, "no row is empty"
        assert "pgup previous runs" in driven.lines[-1]
        assert "pgdn" not in driven.lines[-1]
        assert follows("ex_007")
        assert not follows("ex_000")
        await driven.press("down")
        await driven.settle()
        order, there = [tile.run_id for tile in tiles(driven)], tiles(driven)[1].run_id
        await driven.opens(RunsScreen, "enter")
        await driven.until(lambda: driven.app.screen.has_class("-opened"), "the run")
        await driven.opens(RunWallScreen, "escape")
        await driven.comes("6-8 of 8: 8 live")
        await driven.until(lambda: [tile.run_id for tile in tiles(driven)] == order, "the same tiles")
        await driven.until(lambda: driven.app.screen._focused_run == there, "the same run")  # type: ignore[attr-defined]
        await driven.reaches("1-5 of 8: 8 live", "pageup")


@pytest.mark.parametrize("behind_s", [0, 300, -300])
async def test_a_run_that_ended_leaves_the_wall_of_live_runs_after_a_minute(tmp_path: Path, behind_s: int) -> None:
    # Whatever the clock of the service says.
    service = busy(2)
    async with console(service, tmp_path, until="ex_001") as driven:
        screen = await on_wall(driven)
        service.runs[1] |= {"status": "failed", "completed_at": noon.at(behind_s)}
        await driven.comes("✗ failed", within_s=30)
        for _ in range(30):
            await driven.pass_time(1)
        assert screen._run_ids == ["ex_000", "ex_001"]
        await driven.comes(re.compile(r"live runs\W+1 live(?!,)"), within_s=90)
        assert screen._run_ids == ["ex_000"]
        assert not driven.session.live.tails.follows("ex_001")


async def test_a_paused_wall_stays_as_it_is_until_it_goes_on(tmp_path: Path) -> None:
    service = busy(2)
    async with console(service, tmp_path) as driven:
        await driven.shows("ex_001")
        screen = await on_wall(driven)
        for _ in range(6):
            await driven.pass_time(1)
        await driven.until(lambda: driven.text.count("progress") == 6, "the events of both")
        await driven.reaches("PAUSED by P  2 live", "P")
        assert "P resume" in driven.lines[-1]
        service.runs[1] |= {"status": "failed", "completed_at": noon.at(0)}
        for _ in range(30):
            await driven.pass_time(1)
        await driven.until(lambda: screen._facts("ex_001").is_final, "the end to be known")
        assert "✗ failed" not in driven.text
        await driven.press("P")
        await driven.shows("✗ failed")
        assert "PAUSED" not in driven.text


@pytest.mark.exhaustive
async def test_esc_from_a_run_of_the_wall_shows_the_same_runs_again(tmp_path: Path) -> None:
    service = busy(2)
    async with console(service, tmp_path, until="ex_001") as driven:
        await on_wall(driven)
        service.runs[1] |= {"status": "failed", "completed_at": noon.at(0)}
        await driven.comes("✗ failed", within_s=30)
        await driven.opens(RunsScreen, "enter")
        await driven.until(lambda: driven.app.screen.has_class("-opened"), "the run")
        await driven.press("escape")
        await driven.comes(re.compile(r"live runs\W+1 live, 1 ended\b"))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("status", "words"), [("queued", "no event yet"), ("running", "reading its events…")])
async def test_a_run_at_work_is_never_said_to_have_no_event(status: str, words: str, tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_1", status, created_at=noon.at(5))], events={"ex_1": []})
    async with console(service, tmp_path, until="ex_1") as driven:
        await on_wall(driven)
        await driven.until(lambda: driven.session.live.tails.last_update("ex_1").answered_at is not None, "an answer")
        await driven.pass_time(2)
        await driven.shows(words)


async def test_the_frame_of_a_tile_names_a_cost_and_no_test_run(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        for chosen in (noon.LIVE, noon.TEST):
            await driven.select(chosen)
            await driven.press("space")
        await on_wall(driven)
        await driven.comes("cost 0.0142", within_s=30)
        await driven.shows("· test run")
        assert "cost test run" not in driven.text


async def test_marked_runs_alone_are_shown_and_enter_opens_one(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        for chosen in (noon.LIVE, noon.FALLBACK):
            await driven.select(chosen)
            await driven.press("space")
        screen = await on_wall(driven)
        # What its events say puts the live run first.
        await driven.comes("1 retry", within_s=30)
        assert [tile.run_id for tile in tiles(driven)] == [noon.LIVE, noon.FALLBACK]
        await driven.until(lambda: screen._focused_run != "", "a focus")
        await driven.press("up")
        await driven.until(lambda: screen._focused_run == noon.LIVE, "the first tile")
        await driven.press("down")
        await driven.until(lambda: screen._focused_run == noon.FALLBACK, "the second tile")
        await driven.opens(RunsScreen, "enter")
        await driven.until(lambda: driven.table.cursor_key == noon.FALLBACK, "the run")
        await driven.opens(RunWallScreen, "escape")
        await driven.comes("1 retry", within_s=30)
        assert [tile.run_id for tile in tiles(driven)] == [noon.LIVE, noon.FALLBACK]
        await driven.until(lambda: tiles(driven)[1].has_focus_within, "the tile that was left")
        assert not driven.session.live.tails.follows(noon.DONE)


@pytest.mark.exhaustive
async def test_without_a_live_run_the_wall_says_what_to_do(tmp_path: Path) -> None:
    async with console(noon.service(runs=[record for record in noon.runs() if record.is_final]), tmp_path) as driven:
        await driven.shows("3fd2")
        await on_wall(driven)
        await driven.shows("No run is live.")
        await driven.hides("enter open")


@pytest.mark.exhaustive
async def test_esc_on_the_first_view_goes_to_runs(tmp_path: Path) -> None:
    async with console(busy(), tmp_path, open_at="wall") as driven:
        await driven.shows("ex_001")
        await driven.opens(RunsScreen, "escape")
