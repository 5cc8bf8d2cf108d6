"""A replay shows the run as it was, moves by event and by time, and leaves to the run as it is."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest
from textual.containers import Vertical

from runwatch.store.live.run_tails import TailUpdate
from runwatch.tui.screens.runs.replay import ReplayScreen, ReplayView, replay_view
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.sources.replay_source import ReplaySource
from runwatch.tui.widgets.lists.detail_view import text_section
from runwatch.view.text.safe_text import line
from tests.support.builders import echo_events, echo_receipt, run, verification_event
from tests.support.parts import verification_check
from tests.tui import noon
from tests.tui.app.test_file_opening import lines, opened
from tests.tui.console import Driven, console
from tests.tui.golden import check_golden
from tests.tui.look import Stage, running
from tests.tui.samples import NOON
from tests.tui.test_console_runs import Growing


async def on_replay(driven: Driven, run_id: str = noon.LIVE) -> None:
    await driven.shows("9b7e")
    await driven.select(run_id)
    await driven.press("m")
    await driven.comes("REPLAY")
    await driven.reaches("PAUSED", "home")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_a_paused_replay_shows_the_run_as_it_was(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=size) as driven:
        await on_replay(driven)
        # The run goes on until now, which the picture says.
        await driven.pass_time((NOON + timedelta(seconds=20) - driven.clock.now()).total_seconds())
        await driven.reaches("event 5 of 8", "right", "right", "right", "right")
        await driven.shows("rejected  0.31  attempt 1")
        await driven.shows("as it was, not as it is")
        check_golden(f"{size[0]}x{size[1]}/replay", driven.text)


@pytest.mark.exhaustive
async def test_the_newest_attempt_stays_in_sight_and_a_hint_names_the_key_for_the_rest(tmp_path: Path) -> None:
    here = {"execution_id": noon.LIVE}
    attempts = [
        verification_event(
            10 + number, at=noon.at(39 - 4 * number), verification_check=verification_check(attempt=number), **here
        )
        for number in range(1, 10)
    ]
    events = {noon.LIVE: [*noon.live_events()[:4], *attempts]}
    async with console(noon.service(events=events), tmp_path, size=(80, 24)) as driven:
        await on_replay(driven)
        await driven.hides("scroll")
        columns = {row.index("▕") for row in driven.text.splitlines() if "▕" in row}
        await driven.reaches("attempt 9", "end")
        assert "position" not in driven.text
        assert driven.text.count("▸") == 1, "of what scrolls by itself, no line is chosen"
        await driven.shows("pgup scroll up")
        await driven.reaches("position", "pageup", "pageup")
        await driven.shows("pgdn scroll down")
        columns |= {row.index("▕") for row in driven.text.splitlines() if "▕" in row}
        assert len(columns) == 1, "no column moves from one event to another"


async def test_rows_that_have_room_are_in_sight_before_they_are_laid_out() -> None:
    view = ReplayView()
    async with running(Stage(Vertical(view)), (80, 20)) as (_, pilot):
        await pilot.pause()
        view.show([text_section(*[line("a row")] * 15)])
        assert not view.is_cut
        view.show([text_section(*[line("a row")] * 16)])
        assert view.is_cut


async def test_a_replay_plays_at_its_speed_and_pauses(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        await on_replay(driven)
        await driven.shows("space play")
        await driven.reaches("plays 1×", "space")
        await driven.shows("space pause")
        await driven.pass_time(5)
        await driven.shows("event 4 of 8", re.compile(r"12:03:56 of 12:04:3\d"))
        await driven.reaches("plays 10×", "up", "up")
        await driven.pass_time(1)
        await driven.shows("event 6 of 8")
        await driven.reaches("PAUSED  10×", "space")
        (at,) = re.findall(r"REPLAY  (\S+) of", driven.text)
        await driven.pass_time(30)
        await driven.shows(f"REPLAY  {at} of")
        await driven.reaches("plays each event", "up", "up", "space")
        await driven.pass_time(2)
        await driven.shows("LIVE  each event")
        assert not [worker for worker in driven.app.workers if worker.group == "play" and worker.is_running]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("12:04:05", "12:04:05 of"), ("+15s", "12:04:06 of"), ("50%", r"12:04:1[12] of"), ("13:00", r"(12:04:3\d) of \1")],
)
async def test_a_time_is_found_and_what_is_none_stays_for_correction(typed: str, shown: str, tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, environment={"TZ": "UTC"}) as driven:
        await on_replay(driven)
        await driven.reaches("enter go  esc cancel", "s")
        await driven.press("escape", "t", "t")
        await driven.reaches("go to ", "s")
        await driven.type("soon")
        await driven.reaches("'soon' is not a time: 14:05:10, +30s, -1m or 50%", "enter")
        await driven.press(*["backspace"] * 4)
        await driven.type(typed)
        await driven.reaches(re.compile(shown), "enter")


@pytest.mark.exhaustive
async def test_esc_leaves_to_the_run_as_it_is_now(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        await on_replay(driven, noon.FALLBACK)
        before = re.findall("(?m)^┃ .(took|of the time|cost) ", driven.text)
        await driven.shows("right next event")
        await driven.reaches("END", "end")
        await driven.shows("✗ failed", "left previous event")
        await driven.hides("next event")
        assert before == re.findall("(?m)^┃ .(took|of the time|cost) ", driven.text) == ["took", "of the time", "cost"]
        await driven.opens(RunsScreen, "escape")
        await driven.hides("REPLAY")
        assert driven.table.cursor_key == noon.FALLBACK


@pytest.mark.exhaustive
async def test_events_that_come_meanwhile_are_added_and_the_position_stays(tmp_path: Path) -> None:
    growing = Growing(noon.live_events())
    async with console(noon.service(events=growing), tmp_path) as driven:
        await on_replay(driven)
        await driven.reaches("event 2 of 8", "right")
        growing.add(9)
        await driven.comes("event 2 of 9")
        assert isinstance(driven.app.screen, ReplayScreen)


@pytest.mark.exhaustive
async def test_news_during_a_read_is_read_after_it_and_moves_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, go_on, grow = list[str](), asyncio.Event(), ReplaySource.grow

    async def held(source: ReplaySource) -> bool:
        reads.append(source.run_id)
        await go_on.wait()
        return await grow(source)

    monkeypatch.setattr(ReplaySource, "grow", held)
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        await driven.select(noon.LIVE)
        await driven.press("m")
        await driven.until(lambda: bool(reads), "the first read")
        screen = driven.app.screen
        assert isinstance(screen, ReplayScreen)
        for count in (3, 8):
            screen.tail_moved(TailUpdate(noon.LIVE, count=count))
        await driven.shows("reading its events…")
        assert reads == [noon.LIVE]
        go_on.set()
        await driven.shows("REPLAY", "of 8")
        await driven.reaches("event 7 of 8", "end", "left")


@pytest.mark.exhaustive
async def test_a_replay_whose_events_are_being_loaded_has_not_caught_up(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        await on_replay(driven)
        assert driven.app.session is not None
        tails = driven.app.session.live.tails
        tails._update(noon.LIVE, has_more=True)
        await driven.reaches("loading…", "end")
        assert "LIVE" not in driven.text
        assert "END" not in driven.text
        tails._update(noon.LIVE, has_more=False)
        await driven.shows("LIVE  1×")


@pytest.mark.exhaustive
async def test_the_first_read_of_a_replay_does_not_wait_for_the_request_limit(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        for _ in range(60):
            driven.session.live.budget.note_sent()
        await driven.app.go_to_view(replay_view(noon.LIVE))
        await driven.shows("REPLAY", "of 8")


@pytest.mark.exhaustive
async def test_a_replay_that_has_caught_up_goes_on_with_the_run(tmp_path: Path) -> None:
    growing = Growing(noon.live_events())
    async with console(noon.service(events=growing), tmp_path) as driven:
        await on_replay(driven)
        await driven.reaches("LIVE  1×", "end")
        await driven.shows("space pause  left previous event")
        await driven.reaches("There is no next event yet.", "right")
        await driven.pass_time(60)
        await driven.shows(re.compile(r"REPLAY  12:05:\d\d of 12:05:.*took +1:\d\d", re.DOTALL))
        await driven.reaches(re.compile(r"PAUSED.*(1:\d\d) of \1", re.DOTALL), "space")
        await driven.pass_time(20)
        await driven.shows(re.compile(r"(12:05:\d\d) of (?!\1)"), "as it was, not as it is")
        await driven.reaches("LIVE  1×", "space")
        await driven.press("s")
        await driven.type("12:05:05")
        await driven.reaches(re.compile(r"12:05:05 of 12:0\d:.*1:14 of .*● running", re.DOTALL), "enter")
        await driven.shows("event 8 of 8")
        await driven.press("right")
        await driven.settle()
        await driven.shows("12:05:05 of 12:0", "event 8 of 8")
        await driven.reaches("LIVE  1×", "end")
        growing.add(9)
        await driven.comes("event 9 of 9", within_s=60)
        await driven.shows("LIVE  1×")
        growing.add(10, "completed")
        await driven.comes("END  1×", within_s=60)


async def test_without_a_run_the_screen_says_how_to_choose_one(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="replay") as driven:
        await driven.shows("m replays the run under the cursor")
        await driven.hides("copy run id")


async def test_a_run_in_a_file_is_replayed_without_a_service(tmp_path: Path) -> None:
    kept = [run("ex_1", "completed"), *echo_events("ex_1"), echo_receipt("ex_1")]
    async with opened(tmp_path, lines(kept)) as driven:
        await driven.shows("ex_1")
        await driven.reaches("REPLAY", "m")
        await driven.reaches("event 2 of 7", "home", "right")
        await driven.shows("● queued")
