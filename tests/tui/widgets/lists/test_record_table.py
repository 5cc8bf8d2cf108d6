"""A table's cursor and marks belong to ids, and its window stays still when rows change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.pilot import Pilot

from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.spec.resource import Column
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText
from tests.tui import samples
from tests.tui.console import PATIENCE_S
from tests.tui.look import Stage, lines_of, running


@asynccontextmanager
async def staged(*, ascii: bool = False) -> AsyncIterator[tuple[Stage, RecordTable, Pilot[None]]]:
    table = RecordTable(samples.COLUMNS)
    async with running(Stage(Pane(table), ascii=ascii)) as (app, pilot):
        yield app, table, pilot


def columns(table: RecordTable) -> tuple[str, ...]:
    return table.shown_columns


def in_sight(app: Stage) -> list[str]:
    """The rows in the window, without the scroll bar."""
    return [row[:-2] for row in lines_of(app)[2:19]]


async def test_heads_rows_and_the_cursor_are_drawn() -> None:
    async with staged() as (app, table, pilot):
        table.sorted_by("age", descending=True)
        table.show(samples.runs())
        await pilot.pause()
        rows = lines_of(app)
        assert rows[1].split() == ["┃", "status", "run", "age", "▼", "cost", "/", "cap", "last", "model", "┃"]
        assert rows[2].startswith("┃ ▸ ● running    8f21…9b7e   0:42  ▕█░░░░▏ 0.014  check 2s   ember-7b")
        assert rows[5].startswith("┃   ✗ failed     5c9d…77aa")


async def test_the_ascii_set_draws_without_a_single_other_character() -> None:
    async with staged(ascii=True) as (app, table, pilot):
        table.sorted_by("age")
        table.show([samples.row(f"r{n}", ("* running", "live"), ("run", "plain"), ("1", "quiet")) for n in range(90)])
        await pilot.press("space", "G")
        await pilot.pause()
        shown = [row.replace("–", "-") for row in lines_of(app)]
        assert all(row.isascii() for row in shown)


@pytest.mark.parametrize(
    ("width", "shown"),
    [(25, "ex_0…TKS0"), (26, "ex_01…TKS0"), (40, "ex_01M8…TKS0"), (80, "ex_01M8…TKS0")],
)
async def test_an_id_in_a_narrow_column_loses_its_middle(width: int, shown: str) -> None:
    async with staged() as (app, table, pilot):
        pane = table.parent
        assert isinstance(pane, Pane)
        pane.styles.width = width
        table.show([samples.row("r1", ("● running", "live"), ("ex_01M8…TKS0", "plain"))])
        await pilot.pause()
        assert lines_of(app)[2].split()[4] == shown


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["ember-classic", "ember-small-2"], ["ember-c…", "ember-s…"]),
        (["meta-llama-70b-chat", "meta-llama-8xb-chat", "ember"], ["…0b-chat", "…xb-chat", "ember"]),
        (["meta-llama-3.1-405b", "meta-llama-3.1-70b"], ["meta…05b", "meta…70b"]),
        (["meta-llama-70b-instruct", "meta-llama-8bx-instruct"], ["meta-ll…", "meta-ll…"]),
    ],
)
async def test_a_name_is_cut_where_most_names_still_differ(names: list[str], shown: list[str]) -> None:
    model = samples.column("model", "model", min_cells=8, max_cells=30, elides_middle=True, keeps_difference=True)
    table = RecordTable((model,))
    async with running(Stage(Pane(table))) as (app, pilot):
        pane = table.parent
        assert isinstance(pane, Pane)
        pane.styles.width = 14
        table.show([samples.Row(name, {"model": StyledText(line(name))}) for name in names])
        await pilot.pause()
        assert [row.split()[-2] for row in lines_of(app)[2 : 2 + len(names)]] == shown


@pytest.mark.parametrize("kind", [{"align": "right"}, {"never_cut": True}])
async def test_a_number_or_a_time_is_shown_whole_or_not_at_all(kind: dict[str, Any]) -> None:
    table = RecordTable(
        (samples.column("status", "path", min_cells=8), samples.column("run", "count", hide_order=1, **kind))
    )
    async with running(Stage(Pane(table))) as (app, pilot):
        table.show([samples.row("r1", ("/v1/executions/ex_1", "plain"), ("1,234,567", "plain"))])
        for width in range(14, 60):
            table.parent.styles.width = width  # type: ignore[union-attr]
            await pilot.pause()
            assert ("1,234,567" in lines_of(app)[2]) == ("run" in columns(table)) == (width >= 35), width


async def test_a_time_of_another_day_loses_its_seconds_before_another_text_is_cut() -> None:
    table = RecordTable(
        (samples.column("status", "model", min_cells=8),
         samples.column("run", "created", min_cells=7, never_cut=True, puts_newest_first=True))
    )  # fmt: skip
    async with running(Stage(Pane(table))) as (app, pilot):
        rows = [("cedar-standard", "00:25:58"), ("river-pro", "11-29 23:58:53"), ("ember", "2025-12-31 00:00:07")]
        table.show([samples.row(name, (name, "plain"), (time, "plain")) for name, time in rows])
        shown = {}
        for width in (40, 39, 35):
            table.parent.styles.width = width  # type: ignore[union-attr]
            await pilot.pause()
            shown[width] = [row[4:].rstrip("┃ ") for row in lines_of(app)[2:5]]
        assert shown == {
            40: ["cedar-standard 00:25:58", "river-pro      11-29 23:58:53", "ember          2025-12-31 00:00:07"],
            39: ["cedar-standard  00:25:58", "river-pro       11-29 23:58:53", "ember           2025-12-31 00:00"],
            35: ["cedar-stand… 00:25:58", "river-pro    11-29 23:58:53", "ember        2025-12-31 00:00"],
        }


async def test_an_age_that_grows_moves_no_column() -> None:
    table = RecordTable(
        (samples.column("status", "time", never_cut=True, puts_newest_first=True),
         samples.column("run", "model"), samples.column("age", "path"))
    )  # fmt: skip
    async with running(Stage(Pane(table))) as (app, pilot):
        starts = []
        for age in ("9s ago", "10s ago"):
            table.show([samples.row("r1", (age, "plain"), ("river-pro", "plain"), ("/v1", "plain"))])
            table.measure_again()
            await pilot.pause()
            starts.append(lines_of(app)[2].index("river-pro"))
        assert starts[0] == starts[1]


async def test_a_number_that_is_scrolled_into_sight_is_whole_at_once() -> None:
    table = RecordTable((samples.column("status", "path", min_cells=8), samples.column("run", "count", align="right")))
    async with running(Stage(Pane(table))) as (app, pilot):
        path = "/v1/executions/ex_1/of_a_path_that_takes_all_the_room/that_the_window_has/x"
        rows = [samples.row(f"r{n}", (path, "plain"), ("7", "plain")) for n in range(200)]
        table.show([*rows, samples.row("last", (path, "plain"), ("1,234,567", "plain"))])
        await pilot.pause()
        table.scroll_end(animate=False)
        await pilot.pause()
        assert "1,234,567" in "".join(lines_of(app))


async def test_the_mark_of_the_order_leaves_before_the_word_of_the_head_is_cut() -> None:
    table = RecordTable((samples.column("status", "created", min_cells=4), samples.column("run", "run", min_cells=12)))
    async with running(Stage(Pane(table))) as (app, pilot):
        table.show([samples.row("r1", ("4s", "plain"), ("ex_01M8…TKS0", "plain"))])
        table.sorted_by("status")
        for width, head in ((28, "created ▲"), (27, "created"), (26, "created"), (25, "creat…")):
            table.parent.styles.width = width  # type: ignore[union-attr]
            await pilot.pause()
            assert lines_of(app)[1][4:].partition(" run")[0].rstrip() == head, width
        table.parent.styles.width = 60  # type: ignore[union-attr]
        table.sorted_by("status", is_own=True)
        await pilot.pause()
        assert lines_of(app)[1].split() == ["┃", "created", "run", "┃"], "the list's own order has none at any width"


async def test_widths_that_were_forgotten_may_be_smaller() -> None:
    table = RecordTable((samples.column("status", "age", never_cut=True), samples.column("run", "run")))
    async with running(Stage(Pane(table))) as (app, pilot):

        async def run_stands_at(age: str) -> int:
            table.show([samples.row("r1", (age, "plain"), ("ex_1", "plain"))])
            await pilot.pause()
            return lines_of(app)[2].index("ex_1")

        wide = await run_stands_at("2026-11-21 12:04:31")
        assert await run_stands_at("42s") == wide
        table.forget_widths()
        assert await run_stands_at("42s") == wide - len("2026-11-21 12:04:31") + 4


async def test_narrow_windows_leave_columns_out_and_sideways_brings_them_in() -> None:
    async with staged() as (app, table, pilot):
        table.show(samples.runs())
        await pilot.pause()
        assert columns(table) == ("status", "run", "age", "cost", "last", "model")
        table.parent.styles.width = 50  # type: ignore[union-attr]
        await pilot.pause()
        assert columns(table) == ("status", "run", "age", "last")
        assert lines_of(app)[1].endswith("age  last         › ┃"), "a sign says that columns are hidden"
        seen = []
        for key in ("right", "l", "l", "l"):
            await pilot.press(key)
            seen.append((columns(table), "‹" in lines_of(app)[1], "›" in lines_of(app)[1]))
        assert seen[:3] == [
            (("status", "run", "cost"), True, True),
            (("status", "run", "last"), True, True),
            (("status", "run", "last", "model"), True, False),
        ]
        assert lines_of(app)[1].split()[1:4] == ["status", "run", "‹last"]
        await pilot.pause()
        assert seen[3] == seen[2]
        assert [one.step for one in app.told_of(RecordTable.SideReached)] == [1]
        await pilot.press("left", "h")
        assert columns(table) == ("status", "run", "cost"), "each undoes one step"
        for sign, shown in (("‹", ("status", "run", "age", "last")), ("›", ("status", "run", "cost"))):
            await pilot.click(table, offset=(lines_of(app)[1].index(sign) - table.region.x, 0))
            assert columns(table) == shown, "so does a click on a sign"
        await pilot.press("h", "W")
        assert columns(table) == ("status", "run", "age", "cost")
        assert "› ┃" in lines_of(app)[1]


@pytest.mark.parametrize(
    ("pressed", "row"),
    [
        (["down", "j"], 2), (["G"], 99), (["end", "k", "up"], 97), (["G", "g"], 0), (["pagedown"], 16),
        (["ctrl+d", "ctrl+d", "ctrl+u"], 16), (["G", "pageup", "home"], 0), (["k"], 0),
    ],
)  # fmt: skip
async def test_keys_move_the_cursor(pressed: list[str], row: int) -> None:
    async with staged() as (_, table, pilot):
        table.show(samples.many(100))
        await pilot.press(*pressed)
        assert table.cursor == row
        assert table.cursor_key == f"r{row}"
        assert 0 <= row - table.scroll_y < table.rows_in_sight


async def test_a_page_moves_the_window_too_and_the_cursor_keeps_its_row() -> None:
    async with staged() as (_, table, pilot):
        table.show(samples.many(40))
        await pilot.press("down", "pagedown")
        assert (table.cursor, table.scroll_y) == (17, 16)
        await pilot.press("pagedown")
        assert (table.cursor, table.scroll_y) == (33, 40 - table.rows_in_sight)
        await pilot.press("pageup", "pageup")
        assert (table.cursor, table.scroll_y) == (1, 0)


async def test_moving_and_opening_are_reported() -> None:
    async with staged() as (app, table, pilot):
        table.show(samples.many(3))
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [message.row_id for message in app.told_of(RecordTable.RowHighlighted)] == ["r0", "r1"]
        assert [message.row_id for message in app.told_of(RecordTable.RowOpened)] == ["r1"]


async def test_an_empty_table_says_its_note_and_opens_nothing() -> None:
    async with staged() as (app, table, pilot):
        table.empty_text = [line("No runs yet."), line("[red]+ starts one")]
        await pilot.press("enter", "down", "space", "V", "G")
        assert lines_of(app)[3].startswith("┃  No runs yet.")
        assert lines_of(app)[4].startswith("┃  [red]+ starts one")
        assert app.told == []
        table.show(samples.many(1))
        table.show([])
        await pilot.pause()
        assert [message.row_id for message in app.told_of(RecordTable.RowHighlighted)] == ["r0", None]
        assert table.cursor_row is None


async def test_a_note_is_wrapped_to_the_width_of_the_moment() -> None:
    async with staged() as (app, table, pilot):
        said = line("No output checks yet." + " runwatch verifiers register registers one." * 3)
        table.empty_text = [said]
        for columns in (100, 80, 160):
            await pilot.resize_terminal(columns, 24)
            await pilot.pause()
            shown = " ".join(row.strip(" ┃") for row in lines_of(app)[3 : 3 + table.empty_row_count])
            assert shown == said
            assert table.empty_row_count == {100: 2, 80: 3, 160: 1}[columns]


async def at(pilot: Pilot[None], table: RecordTable, count: int, *pressed: str) -> list[samples.Row]:
    """Show rows and move there."""
    rows = samples.many(count)
    table.show(rows)
    await pilot.press(*pressed)
    await pilot.pause()
    return rows


async def test_the_cursor_stays_on_its_id_when_the_order_changes() -> None:
    async with staged() as (app, table, pilot):
        rows = await at(pilot, table, 1000, "G", "k", "k")
        app.told.clear()
        offset = table.cursor - table.scroll_y
        table.show(rows[::-1])
        await pilot.pause()
        assert (table.cursor_key, table.cursor) == ("r997", 2)
        assert app.told_of(RecordTable.RowHighlighted) == []
        table.show(rows)
        await pilot.pause()
        assert table.cursor == 997
        assert table.cursor - table.scroll_y in {2, offset}


async def test_rows_that_come_in_above_move_nothing_that_is_in_sight() -> None:
    async with staged() as (app, table, pilot):
        rows = await at(pilot, table, 200, *["pagedown"] * 3)
        before = in_sight(app)
        table.show([*(samples.Row(f"new{n}") for n in range(7)), *rows])
        await pilot.pause()
        assert in_sight(app) == before
        assert table.cursor == 55


def newer(count: int) -> list[samples.Row]:
    return [samples.Row(f"new{n}") for n in range(count)]


@pytest.mark.parametrize(
    ("pressed", "stays_on"),
    [([], None), (["down", "up"], None), (["pagedown", "g"], None), (["down"], "r1"), (["space", "up", "space"], "r1")],
)
@pytest.mark.parametrize("count", [1, 30])
async def test_the_cursor_stays_at_the_top_or_on_its_row(pressed: list[str], stays_on: str | None, count: int) -> None:
    async with staged() as (_, table, pilot):
        rows = await at(pilot, table, 200, *pressed)
        table.show([*newer(count), *rows])
        await pilot.pause()
        assert table.follows_top is (stays_on is None)
        assert table.cursor_key == (stays_on or "new0")
        # A list at its top stays there while its cursor is in sight.
        assert table.rows_above == (0 if stays_on is None or count == 1 else count)


@pytest.mark.parametrize("how", ["select", "click", "leave"])
async def test_a_first_row_that_was_selected_clicked_or_opened_keeps_the_cursor(how: str) -> None:
    async with staged() as (_, table, pilot):
        rows = await at(pilot, table, 200)
        if how == "select":
            table.select("r0")
        elif how == "click":
            await pilot.click(RecordTable, offset=(5, 1))
        else:
            table.leave_top()
        table.show([*newer(30), *rows])
        await pilot.pause()
        assert (table.cursor_key, table.rows_above) == ("r0", 30)


async def test_rows_in_sight_stay_when_the_cursor_is_elsewhere() -> None:
    async with staged() as (app, table, pilot):
        rows = await at(pilot, table, 200)
        table.scroll_to(y=100, animate=False)
        await pilot.pause()
        before = in_sight(app)
        table.show([*(samples.Row(f"new{n}") for n in range(7)), *rows])
        await pilot.pause()
        assert in_sight(app) == before


async def test_the_cursor_goes_to_the_row_that_took_its_place() -> None:
    async with staged() as (app, table, pilot):
        rows = await at(pilot, table, 10, "down", "down")
        table.show([row for row in rows if row.key != "r2"])
        assert table.cursor_key == "r3"
        table.show(rows[:2])
        assert table.cursor_key == "r1"
        await pilot.pause()
        assert [message.row_id for message in app.told_of(RecordTable.RowHighlighted)][-2:] == ["r3", "r1"]


async def test_a_row_is_selected_by_its_id() -> None:
    async with staged() as (_, table, pilot):
        await at(pilot, table, 500)
        assert table.select("r400")
        assert table.cursor_key == "r400"
        assert 0 <= 400 - table.scroll_y < table.rows_in_sight
        assert not table.select("gone")
        assert table.cursor_key == "r400"


async def test_marks_are_ids_that_outlive_filters() -> None:
    async with staged() as (app, table, pilot):
        rows = await at(pilot, table, 10, "space", "space", "j", "j", "V")
        assert table.marks == {"r0", "r1", "r2", "r3", "r4"}
        assert lines_of(app)[2].startswith("┃■  ")
        table.show(rows[4:])
        assert table.marks == {"r0", "r1", "r2", "r3", "r4"}
        await pilot.press("g", "space")
        assert table.marks == {"r0", "r1", "r2", "r3"}
        table.mark([])
        assert table.marks == frozenset()


async def test_old_rows_are_drawn_quietly() -> None:
    async with staged() as (_, table, pilot):
        table.show(samples.runs())
        table.is_stale = True
        await pilot.pause()
        shown = table.render_line(4)
        colours = {segment.style.color for segment in shown if segment.text.strip() and segment.style}
        assert colours == {table.piece(line("x"), "quiet", table.rich_style).style.color}  # type: ignore[union-attr]


async def test_clicks_select_open_and_sort() -> None:
    async with staged() as (app, table, pilot):
        table.show(samples.runs())
        await pilot.pause()
        await pilot.click(table, offset=(10, 3))
        assert table.cursor == 2
        assert app.told_of(RecordTable.RowOpened) == []
        await pilot.click(table, offset=(10, 5), times=2)
        await pilot.pause()
        assert [message.row_id for message in app.told_of(RecordTable.RowOpened)] == [samples.runs()[4].key]
        await pilot.click(table, offset=(17, 0))
        table.sorted_by("run")
        await pilot.click(table, offset=(17, 0))
        await pilot.click(table, offset=(10, 15))
        await pilot.pause()
        asked = [(message.column_id, message.reverse) for message in app.told_of(RecordTable.SortRequested)]
        assert asked == [("run", False), ("run", True)]
        assert table.cursor == 4


async def test_keys_ask_for_another_order() -> None:
    async with staged() as (app, table, pilot):
        table.show(samples.runs())
        await pilot.press("S", "s")
        table.sorted_by("model")
        await pilot.press("s", "S")
        table.has_own_order = True
        await pilot.press("s")
        await pilot.pause()
        table.parent.styles.width = 50  # type: ignore[union-attr]
        await pilot.pause()
        assert columns(table) == ("status", "run", "age", "last")
        for sorted_by in ("age", "last", "cost"):
            table.sorted_by(sorted_by)
            await pilot.press("s")
        table.sorted_by("age", is_own=True)
        await pilot.press("s")
        await pilot.pause()
        asked = [(message.column_id, message.reverse) for message in app.told_of(RecordTable.SortRequested)]
        assert asked == [
            ("status", False), ("status", False), ("model", True), ("", False),
            ("last", False), ("", False), ("last", False), ("status", False),
        ]  # fmt: skip


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    async with staged() as (_, table, pilot):
        await at(pilot, table, 100)
        table.action_scroll_down()
        for _ in range(5):
            table._scroll_down_for_pointer(animate=False)
        await pilot.pause()
        assert table.scroll_y > 5
        assert table.cursor == 0
        await pilot.press("down")
        assert (table.cursor, table.scroll_y) == (1, 1)


async def test_tab_leaves_the_table() -> None:
    first, second = RecordTable(samples.COLUMNS, id="a"), RecordTable(samples.COLUMNS, id="b")
    async with running(Stage(Pane(first), Pane(second)), (80, 30)) as (app, pilot):
        assert app.focused is first
        await pilot.press("tab")
        assert app.focused is second
        await pilot.press("tab")
        assert app.focused is first


async def test_a_hundred_thousand_rows_are_asked_only_for_what_is_in_sight() -> None:
    class Counted(samples.Row):
        asked = 0

        def cell(self, column: Column[Any]) -> StyledText:
            Counted.asked += 1
            return super().cell(column)

    async with staged() as (_, table, pilot):
        table.show([Counted(f"r{n}") for n in range(100_000)])
        await pilot.press("G")
        await pilot.pause()
        assert table.cursor == 99_999
        assert Counted.asked < 5_000


class Drawing(RecordTable):
    """A table that says which rows it has drawn."""

    def __init__(self) -> None:
        super().__init__(samples.COLUMNS)
        self.drawn: list[int] = []

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        self.drawn.append(index)
        return super().draw_line(index, part, width, style)

    async def has_drawn(self, pilot: Pilot[None]) -> None:
        """Wait for the next frame, however late it comes on a busy machine."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.drawn:
                await pilot.pause()
        await pilot.pause()


async def test_a_key_draws_the_row_it_leaves_and_the_row_it_reaches_and_no_other() -> None:
    table = Drawing()
    async with running(Stage(Pane(table)), draws_frames=True) as (app, pilot):
        table.show(samples.many(100))
        await table.has_drawn(pilot)
        table.drawn.clear()
        await pilot.press("down")
        await table.has_drawn(pilot)
        assert set(table.drawn) == {0, 1}
        assert in_sight(app)[1].startswith("┃ ▸ ")
        assert in_sight(app)[0].startswith("┃   ")


async def test_scrolling_by_a_row_draws_the_row_that_comes_and_those_under_the_cursor() -> None:
    table = Drawing()
    async with running(Stage(Pane(table)), draws_frames=True) as (_, pilot):
        table.show(samples.many(100))
        last = table.rows_in_sight - 1
        table.move_cursor(last)
        await table.has_drawn(pilot)
        table.drawn.clear()
        await pilot.press("down")
        await table.has_drawn(pilot)
        assert table.scroll_y == 1
        assert set(table.drawn) == {last, last + 1}


async def test_the_same_rows_with_other_cells_are_drawn_anew_where_they_differ() -> None:
    table = Drawing()
    async with running(Stage(Pane(table)), draws_frames=True) as (app, pilot):
        rows = samples.many(100)
        table.show(rows)
        await table.has_drawn(pilot)
        table.drawn.clear()
        rows[2].cells["age"] = StyledText(line("9h"))
        table.show(rows)
        await table.has_drawn(pilot)
        assert set(table.drawn) == {2}
        assert "9h" in in_sight(app)[2]


async def test_a_note_that_is_said_again_draws_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged() as (_, table, pilot):
        table.empty_text = [line("nothing here")]
        await pilot.pause()
        asked: list[object] = []
        monkeypatch.setattr(table, "refresh", lambda *regions, **_: asked.append(regions))
        table.empty_text = [line("nothing here")]
        assert not asked
        table.empty_text = [line("something else")]
        assert asked


async def test_one_changed_row_has_one_row_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged() as (_, table, pilot):
        rows = samples.many(100)
        table.show(rows)
        await pilot.pause()
        asked: list[object] = []
        monkeypatch.setattr(table, "refresh", lambda *regions, **_: asked.extend(regions))
        rows[2].cells["age"] = StyledText(line("9h"))
        table.show(rows)
        assert asked == [Region(0, 2 + table.HEAD_ROWS, table.size.width, 1)]


async def test_a_value_after_a_word_stays_whole_in_a_narrow_column() -> None:
    columns = (samples.column("status", "status"), samples.column("run", "last", max_cells=8, keeps_last_words=True))
    table = RecordTable(columns)
    async with running(Stage(Pane(table))) as (app, pilot):
        table.show([samples.row("r1", ("running", "live"), ("started 12m ago", "quiet"))])
        await pilot.pause()
        assert lines_of(app)[2].split()[2:6] == ["running", "12m", "ago", "┃"]


async def test_rows_are_measured_once_though_others_come_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged() as (_, table, pilot):
        rows = [samples.row(f"r{n}", ("● running", "live"), ("run", "plain")) for n in range(90)]
        table.show(rows)
        await pilot.pause()
        read: set[str] = set()
        cell = samples.Row.cell

        def note(row: samples.Row, column: Column[Any]) -> StyledText:
            read.add(row.key)
            return cell(row, column)

        monkeypatch.setattr(samples.Row, "cell", note)
        table.show([samples.row("new", ("● running", "live"), ("run", "plain")), *rows])
        assert "new" in read
        assert "r89" not in read
