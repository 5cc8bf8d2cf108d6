"""A list of events follows its end until the user scrolls away, and then counts new events."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import pytest
from textual._compositor import Compositor, ReflowResult
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widget import Widget

from runwatch.tui.widgets.lists import event_log as module
from runwatch.tui.widgets.lists.event_log import PREFETCH_LINES, EventLog
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.resources.event_filter import EventFilter, parse_event_filter
from runwatch.view.runs.event_lines import EventLine
from runwatch.view.text.safe_text import line
from tests.tui import samples
from tests.tui.look import Stage, lines_of, running


def events(count: int, start: int = 0) -> Iterable[EventLine]:
    """This many lines, each with its number."""
    return (samples.event(number, f"line {number}") for number in range(start, start + count))


@asynccontextmanager
async def staged(
    count: int, *, following: bool = True, size: tuple[int, int] = (80, 20)
) -> AsyncIterator[tuple[Stage, EventLog, samples.Lines, Pilot[None]]]:
    source = samples.Lines(events(count))
    log = EventLog(source, following=following)
    async with running(Stage(Pane(log)), size) as (app, pilot):
        yield app, log, source, pilot


def follows(log: EventLog) -> bool:
    """Whether it follows its end right now."""
    return log.following


def shown(app: Stage) -> list[int]:
    """The numbers of the lines in sight."""
    return [int(found[1]) for row in lines_of(app) if (found := re.search(r"line (\d+)", row))]


async def test_a_line_has_its_time_kind_slice_and_summary_and_a_gap_is_a_rule() -> None:
    async with running(Stage(Pane(EventLog(samples.tail())))) as (app, _):
        rows = lines_of(app)
        assert rows[1].startswith("┃  12:03:51  lifecycle          accepted ")
        assert rows[5].startswith("┃  12:04:02  check     sl_1     ✗ rejected  0.31  attempt 1 ")
        assert rows[7].startswith("┃  ┄┄┄┄ no answer 12:04:10 – 12:04:18, nothing lost ┄┄┄┄ ")
        assert rows[9].startswith("┃▸ 12:04:31  recorded  sl_1     your check accepted the output  0.86 ")


async def test_what_events_of_another_day_say_is_below_that_of_today() -> None:
    source = samples.Lines([samples.event(1)._replace(time=line("11-20 12:04:31")), samples.event(2)])
    async with running(Stage(Pane(EventLog(source)))) as (app, _):
        assert [row.index("lifecycle sl_1     running") for row in lines_of(app)[1:3]] == [19, 19]


async def test_a_narrow_pane_tells_events_apart_by_the_end_of_their_slice_and_by_what_they_do_not_say() -> None:
    pane = Pane(EventLog(samples.tail()))
    shown = {
        56: ("lifecycle          running", "check     sl_1     ✗ rejected  0.31  att…"),
        46: ("      running", "sl_1  check ✗ rejected  0.31…"),
        36: ("      running", "sl_1  check ✗ reject…"),
        28: ("running", "✗ rejected…"),
    }
    async with running(Stage(pane)) as (app, pilot):
        for width, (run, check) in shown.items():
            pane.styles.width = width
            await pilot.pause()
            rows = [row.rstrip("┃ ") for row in lines_of(app)]
            assert (rows[3], rows[5]) == (f"┃  12:03:52  {run}", f"┃  12:04:02  {check}")


async def test_a_wrapped_line_has_room_for_a_whole_id_before_kind_and_slice_have_their_columns() -> None:
    run_id = "ex_01HXE000000000000000000000"
    log = EventLog(samples.Lines([samples.event(1, f"running after {run_id}")]))
    pane = Pane(log)
    async with running(Stage(pane)) as (app, pilot):
        log.action_toggle_wrap()
        for width in (54, 64):
            pane.styles.width = width
            await pilot.pause()
            assert any(run_id in row for row in lines_of(app)), width
            assert ("lifecycle" in lines_of(app)[1]) == (width == 64)


async def test_it_starts_at_the_end_and_follows_it() -> None:
    async with staged(100) as (app, log, source, pilot):
        assert shown(app) == list(range(82, 100))
        source.lines += events(50, 100)
        log.update_count()
        await pilot.pause()
        assert shown(app) == list(range(132, 150))
        assert (log.cursor, log.new_lines) == (149, 0)


async def test_a_list_that_does_not_follow_starts_at_its_top() -> None:
    async with staged(100, following=False) as (app, log, _, _):
        assert shown(app) == list(range(18))
        assert log.cursor == 0


@pytest.mark.parametrize("pressed", ["k", "up", "pageup", "g", "ctrl+u"])
async def test_moving_up_leaves_following_and_what_comes_in_is_counted(pressed: str) -> None:
    async with staged(100) as (app, log, source, pilot):
        await pilot.press(pressed)
        before = shown(app)
        source.lines += events(28, 100)
        log.update_count()
        await pilot.pause()
        assert not follows(log)
        assert log.new_lines == 28
        assert shown(app) == before
        await pilot.press("G")
        assert follows(log)
        assert log.new_lines == 0
        assert shown(app)[-1] == 127
        assert [message.following for message in app.told_of(EventLog.FollowChanged)] == [False, True]


async def test_scrolling_up_leaves_following_and_back_to_the_end_follows_again() -> None:
    async with staged(100) as (_, log, source, pilot):
        log._scroll_up_for_pointer(animate=False)
        await pilot.pause()
        assert not follows(log)
        assert log.scroll_y <= log.cursor < log.scroll_y + log.rows_in_sight
        source.lines += events(1, 100)
        log.update_count()
        for _ in range(3):
            log._scroll_down_for_pointer(animate=False)
        await pilot.pause()
        assert follows(log)
        assert log.cursor == 100


async def test_f_stops_following_where_it_is_and_takes_it_up_again() -> None:
    async with staged(100) as (app, log, source, pilot):
        await pilot.press("f")
        source.lines += events(5, 100)
        log.update_count()
        await pilot.pause()
        assert (log.following, log.new_lines, shown(app)[-1]) == (False, 5, 99)
        await pilot.press("f")
        await pilot.pause()
        assert (log.following, log.new_lines, shown(app)[-1]) == (True, 0, 104)


async def test_a_step_past_the_last_line_follows() -> None:
    async with staged(100) as (_, log, _, pilot):
        await pilot.press("k", "j")
        assert not follows(log)
        await pilot.press("j")
        assert follows(log)


async def test_resizing_keeps_the_end_in_sight_and_does_not_leave_following() -> None:
    async with staged(100, size=(80, 30)) as (app, log, _, pilot):
        for height in (20, 40, 24):
            await pilot.resize_terminal(80, height)
            await pilot.pause()
            assert shown(app)[-1] == 99
            assert follows(log)


async def test_a_new_size_without_a_resize_event_keeps_the_end_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged(100) as (app, log, _, pilot):
        with monkeypatch.context() as lost:
            # As when something scrolls between a change of the layout and the layout itself.
            lost.setattr(Compositor, "reflow", _without_changes)
            log.parent.styles.height = 10  # type: ignore[union-attr]
            await pilot.pause()
            await pilot.pause()
        assert shown(app) == list(range(92, 100))


def _without_changes(
    compositor: Compositor, parent: Widget, size: Size, reflow: Callable[..., ReflowResult] = Compositor.reflow
) -> ReflowResult:
    reflow(compositor, parent, size)
    return ReflowResult(set(), set(), set())


async def test_the_end_of_a_hundred_thousand_events_is_shown_by_asking_for_a_window() -> None:
    source = samples.Lines(events(1))
    source.lines *= 99_999
    source.lines += events(1, 99_999)
    log = EventLog(source)
    async with running(Stage(Pane(log))) as (app, _):
        assert shown(app)[-1] == 99_999
        assert sum(count for _, count in source.asked) < 1_000


async def test_lines_that_are_not_at_hand_are_drawn_when_they_come() -> None:
    async with staged(100) as (app, log, source, pilot):
        held = source.lines[:]
        source.lines[:] = [None] * 100
        log.update_count()
        await pilot.pause()
        assert shown(app) == []
        assert all(row[3] == "…" for row in lines_of(app)[1:19])
        source.lines[:] = held
        log.refresh_lines_of(0, 10)
        await pilot.pause()
        assert shown(app) == []
        log.refresh_lines_of(82, 18)
        await pilot.pause()
        assert shown(app) == list(range(82, 100))


async def test_another_source_starts_anew() -> None:
    async with staged(100) as (app, log, _, pilot):
        await pilot.press("g")
        log.show(samples.Lines(events(30, 500)), following=True)
        await pilot.pause()
        assert shown(app)[-1] == 529
        log.show(samples.Lines(), following=False)
        await pilot.press("enter", "k", "j", "G", "w", "n")
        assert shown(app) == []
        assert app.told_of(EventLog.LineOpened) == []


async def test_opening_is_reported() -> None:
    async with staged(100) as (app, log, _, pilot):
        app.told.clear()
        await pilot.press("k", "k", "enter")
        await pilot.click(log, offset=(5, 2), times=2)
        await pilot.pause()
        assert [message.index for message in app.told_of(EventLog.LineOpened)] == [97, 84]


def found(word: str) -> EventFilter:
    wanted = parse_event_filter(word)
    assert wanted is not None
    return wanted


def marked(log: EventLog, row: int) -> list[str]:
    """What stands out in a row."""
    return [part.text for part in log.render_line(row) if part.style and part.style.bold and part.text.strip()]


async def test_matches_stand_out_wherever_a_line_shows_them() -> None:
    async with staged(100) as (_, log, _, pilot):
        for word, expected in {"line": ["line"], "CYCLE": ["cycle"], "sl_1 | 82": ["sl_1", "82"], "12:": []}.items():
            log.highlighter = found(word)
            await pilot.pause()
            assert marked(log, 0) == expected
        assert "line 82" in log.render_line(0).text


@pytest.mark.parametrize(
    ("width", "summary", "filtered", "shown"),
    [
        (80, "running", "because", '  running · in JSON: "reason":"because of 0"}'),
        (80, "running", "running because", '  running · in JSON: "reason":"because of 0"}'),
        (80, "running", "running | because", "  running"),
        (80, "running", "/caus./", '  running · in JSON: "reason":"because of 0"}'),
        (60, "word " * 20, "because", "  word wor… · JSON …because…"),
        (60, "word " * 20 + "last one", "last", "  word wor…rd word last one"),
        (44, "running", "because", "running · JSON because…"),
        (36, "word " * 20, "because", "word… · because"),
    ],
)
async def test_a_match_that_a_line_does_not_show_is_said_behind_it(
    width: int, summary: str, filtered: str, shown: str
) -> None:
    pane = Pane(log := EventLog(samples.Lines([samples.event(0, summary)])))
    async with running(Stage(pane)) as (app, pilot):
        pane.styles.width = width
        log.highlighter = found(filtered)
        await pilot.pause()
        row = lines_of(app)[1].rstrip("┃ ")
        assert row.endswith(shown), row
        assert marked(log, 0)
        copied = log.copied_text(0, 0, None)
        assert copied.startswith("12:00:00 ")
        assert summary in copied


async def test_wrapped_events_have_such_a_match_on_a_row_of_its_own() -> None:
    async with running(Stage(Pane(log := EventLog(samples.Lines(events(2)))))) as (app, pilot):
        log.highlighter = found("because")
        await pilot.press("w")
        rows = [row.strip("┃▸ ") for row in lines_of(app)[1:5]]
        assert rows[1::2] == [f'in JSON: "reason":"because of {number}"}}' for number in range(2)]
        assert [marked(log, row) for row in (1, 3)] == [["because"], ["because"]]


async def test_long_lines_are_cut_shifted_or_wrapped() -> None:
    long = " ".join(f"word{number}" for number in range(40))
    source = samples.Lines([samples.event(0, "line 0"), samples.event(1, long), samples.event(2, "line 2")])
    async with running(Stage(Pane(log := EventLog(source, following=False)))) as (app, pilot):
        assert lines_of(app)[2].rstrip(" ┃").endswith("…")
        await pilot.press("right", "l")
        assert "word0" not in lines_of(app)[2]
        assert "12:00:01" in lines_of(app)[2]
        assert re.search(r"…\S* word3 ", lines_of(app)[2]), "a mark says that the line begins before"
        await pilot.press(*"l" * 50)
        assert re.search("….* word39 ┃", lines_of(app)[2]), "not farther than the end of the longest line"
        log.show(source, following=False)
        await pilot.pause()
        assert "word0" in lines_of(app)[2], "other lines begin at the left"
        await pilot.press("right", "left", "h", "w")
        rows = lines_of(app)
        assert [int(word) for row in rows[2:9] for word in re.findall(r"word(\d+)", row)] == list(range(40))
        assert "line 2" in rows[9]


async def test_lines_that_are_not_cut_do_not_move_sideways() -> None:
    async with running(Stage(Pane(EventLog(samples.tail())))) as (app, pilot):
        before = lines_of(app)
        await pilot.press("l")
        assert lines_of(app) == before


@pytest.mark.exhaustive
async def test_wrapped_lines_keep_their_end_in_sight_and_can_all_be_reached() -> None:
    lines = [samples.event(number, f"line {number} " + "x" * 30 * (number % 7)) for number in range(60)]
    async with running(Stage(Pane(log := EventLog(samples.Lines(lines))))) as (app, pilot):
        await pilot.press("w")
        await pilot.pause()
        assert shown(app)[-1] == 59
        assert follows(log)
        seen = set(shown(app))
        while log.cursor:
            await pilot.press("k")
            assert log.cursor in shown(app)
            seen |= set(shown(app))
        assert seen == set(range(60))
        await pilot.press("G")
        assert shown(app)[-1] == 59
        assert follows(log)


async def test_tab_leaves_the_list() -> None:
    first, second = EventLog(samples.tail(), id="a"), EventLog(samples.tail(), id="b")
    async with running(Stage(Pane(first), Pane(second)), (80, 30)) as (app, pilot):
        await pilot.press("tab")
        assert app.focused is second


@pytest.mark.parametrize(("edge", "step"), [(-1, 1), (0, -1)])
async def test_only_lines_that_come_in_sight_are_asked_for(edge: int, step: int) -> None:
    async with staged(1_000, following=False) as (app, log, source, pilot):
        log.action_move_to(500)
        await pilot.pause()
        log.move_cursor(shown(app)[edge])
        source.asked.clear()
        log.action_move(step)
        await pilot.pause()
        assert shown(app)[edge] == log.cursor
        assert [asked for asked in source.asked if abs(asked[0] - log.cursor) < PREFETCH_LINES] == [(log.cursor, 1)]


async def test_lines_near_those_in_sight_are_asked_for_before_the_user_scrolls_to_them() -> None:
    async with staged(1_000, following=False) as (app, log, source, pilot):
        source.asked.clear()
        log.action_move_to(500)
        await pilot.pause()
        first, last = shown(app)[0], shown(app)[-1]
        assert (first - PREFETCH_LINES, 1) in source.asked
        assert (last + 1 + PREFETCH_LINES, 1) in source.asked


async def test_lines_that_were_drawn_long_ago_are_not_held_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_LINES", 100)
    async with staged(1_000, following=False) as (app, log, _, pilot):
        for _ in range(10):
            log.action_move_page(1)
            await pilot.pause()
            assert shown(app)[0] == log.cursor
        assert 0 < len(log._cached) <= 100
