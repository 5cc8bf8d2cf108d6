"""Details show every field, long ones on several rows, and lead to other records."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from runwatch.tui.core.messages import CopyRequested, PanelClosed
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.widgets.lists.detail_layout import DetailLayout, DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.drawer import Drawer
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.column_plot import PlotPlace
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.copied_text import copied_json
from runwatch.view.text.glyphs import UNICODE, Role
from runwatch.view.text.safe_text import block, json_block, line
from tests.tui import samples
from tests.tui.look import Stage, lines_of, running

LINKS = (DetailLink(line("run"), line("3fd2…9911"), ("run", "3fd2")),)


@asynccontextmanager
async def staged(
    width: int = 80, *, size: tuple[int, int] = (80, 20)
) -> AsyncIterator[tuple[Stage, DetailView, Pilot[None]]]:
    view = DetailView()
    pane = Pane(view)
    pane.styles.width = width
    async with running(Stage(pane), size) as (app, pilot):
        yield app, view, pilot


def field(label: str, text: str) -> DetailSection:
    return DetailSection(line(""), (DetailLine(line(label), block(text)),))


async def test_sections_fields_notes_and_links_are_drawn() -> None:
    async with staged(size=(80, 30)) as (app, view, pilot):
        view.show(samples.sections(), LINKS, head=[label_span("Receipts hold neither prompt nor output.")])
        view.blur()
        await pilot.pause()
        rows = [row.strip("│┃ ") for row in lines_of(app)[1:20]]
        assert rows[0] == "Receipts hold neither prompt nor output."
        assert rows[2:5] == ["Slice sl_1", "capability   text.summarize", "route        2 ranked, 1 fallback"]
        assert rows[8] == 'calls        "three"   not of the expected type'
        assert rows[10] == "Totals"
        assert rows[13].startswith("note        a value that is much longer")
        assert "a value that is much longer" in rows[14]
        assert "run         3fd2…9911   ›" in rows


async def test_what_precedes_all_sections_is_wrapped() -> None:
    async with staged(30, size=(80, 30)) as (app, view, pilot):
        view.show(samples.sections(), head=[label_span("Receipts hold neither prompt nor output.")])
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[1:4]]
        assert rows == ["Receipts hold neither", "prompt nor output.", ""]


async def test_values_are_below_their_label_where_there_is_no_room_beside_it() -> None:
    async with staged(30, size=(80, 30)) as (app, view, pilot):
        view.show([field("a_label_that_is_long", "a value of some length, which is wrapped")])
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[1:5]]
        assert rows == ["a_label_that_is_long", "  a value of some length,", "  which is wrapped", ""]


async def test_values_are_in_one_column_and_beside_a_long_label_only_where_all_have_room() -> None:
    async with staged(50, size=(80, 30)) as (app, view, pilot):
        label = "endpoint_policy.redirects_allowed"
        lines = DetailLine(line("short"), block("one")), DetailLine(line(label), block("false"))
        view.show([DetailSection(line(""), lines)])
        await pilot.pause()
        assert [row[3:].rstrip("┃ ") for row in lines_of(app)[1:4]] == [f"{'short':33}   one", f"{label}   false", ""]
        view.parent.styles.width = 80  # type: ignore[union-attr]
        long = DetailLine(line("text"), block("w " * 33 + "w"))
        view.show([DetailSection(line(""), (*lines, long))])
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[1:5]]
        assert rows == ["short   one", label, "        false", f"text    {long.text}"]


async def test_only_the_value_of_a_long_label_stands_below_it() -> None:
    async with staged(28, size=(80, 30)) as (app, view, pilot):
        lines = DetailLine(line("short"), block("one")), DetailLine(line("a.path.that_is_long"), block("two"))
        view.show([DetailSection(line(""), lines)], [DetailLink(line("run"), line("x"), "x")])
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[1:6]]
        assert rows == ["short   one", "a.path.that_is_long", "        two", "", "run     x   ›"]


async def test_an_id_that_fits_in_the_window_is_not_cut_in_two() -> None:
    async with staged(60) as (app, view, pilot):
        view.show([field("model_deployment_identifier", "mdep_01M5VMZYFEPAW1Z7VQ9D9K5KGW"), field("n" * 24, "m" * 31),
                   field("arm", f"{'a' * 33}  (receipt)")])  # fmt: skip
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[1:9]]
        assert rows[:2] == ["model_deployment_identifier", "  mdep_01M5VMZYFEPAW1Z7VQ9D9K5KGW"]
        assert rows[3:5] == ["n" * 24, f"  {'m' * 31}"]
        assert rows[6:] == ["arm", f"  {'a' * 33}  (receipt)"]
        entry = DetailLine(line("by"), block(f"it is made of {'a' * 29}"), target=("arm", "a"))
        longer = DetailLine(line("next"), block(f"run /{'p' * 50} {'b' * 29} again"))
        path = DetailLine(line("events"), block(f"/v1/executions/{'c' * 29}/events"))
        view.show([DetailSection(line(""), (DetailLine(line("l" * 18), block("one")), entry, longer, path))])
        view.parent.styles.width = 44  # type: ignore[union-attr]
        await pilot.pause()
        rows = [row[3:].rstrip("┃ ") for row in lines_of(app)[2:13]]
        assert rows[:3] == ["by", "  it is made of", f"  {'a' * 29}   ›"], "nor inside a sentence"
        assert f"  {'b' * 29} again" in rows[3:], "nor beside a longer word"
        assert [row for row in rows if row][-3:] == ["events", "  /v1/executions/", f"  {'c' * 29}/events"], (
            "nor in a path"
        )


async def test_the_sign_of_a_link_is_never_alone_on_a_line() -> None:
    async with staged(40, size=(80, 30)) as (app, view, pilot):
        entry = DetailLine(line("by"), line("cancelled a run  by kkkkkkkkkk"), target=("run", "ex_1"))
        view.show([DetailSection(line(""), (entry,))])
        await pilot.pause()
        (shown,) = [row for row in lines_of(app) if "›" in row]
        assert "k ›" in re.sub(" +", " ", shown)


async def test_enter_follows_a_link_and_nothing_else() -> None:
    async with staged(size=(80, 40)) as (app, view, pilot):
        view.show(samples.sections(), LINKS)
        await pilot.press("enter", "G", "enter")
        await pilot.pause()
        assert [message.link for message in app.told_of(DetailView.LinkOpened)] == [("run", "3fd2")]


async def test_the_cursor_knows_the_whole_value_it_is_on() -> None:
    async with staged(30, size=(80, 30)) as (_, view, pilot):
        assert view.value is None
        view.show([field("label", "a value of some length, which is wrapped")])
        await pilot.press("down", "down")
        assert view.value == "a value of some length, which is wrapped"


async def test_the_last_key_and_pages_end_on_the_first_row_of_a_wrapped_entry_that_is_in_sight() -> None:
    async with staged(30, size=(80, 24)) as (_, view, pilot):
        short = [field(f"field {number}", "a value") for number in range(20)]
        view.show([*short, field("label", "a value of some length, which is wrapped")])
        for keys in (["G"], ["g", "pagedown", "pagedown"]):
            await pilot.press(*keys)
            assert view.cursor == view.line_count() - 4
            assert view.rows_below == 0
        view.show([*short, field("label", "a long text " * 60)])
        await pilot.press("G")
        assert view.cursor == view.line_count() - 1, "its first row is out of sight"


async def test_the_cursor_stays_on_its_entry_in_another_width_and_when_entries_come_above_it() -> None:
    texts = [field(f"field {number}", f"{number} " + "words of a long text " * 8) for number in range(9)]
    async with staged(size=(160, 30)) as (app, view, pilot):
        view.show(texts)
        await pilot.press(*["down"] * 10)
        value, pane = view.value, app.query_one(Pane)
        assert value
        for width in (120, 40, 90):
            pane.styles.width = width
            await pilot.pause()
            assert (view.value, view.cursor > 0) == (value, True)
        view.show([field("new", "a"), *texts])
        assert view.value == value
        assert 0 <= view.cursor - view.scroll_y < view.rows_in_sight


async def test_a_hidden_view_has_room_for_what_it_will_show() -> None:
    async with staged() as (_, view, pilot):
        room = view.value_cells((line("label"),))
        view.display = False
        await pilot.pause()
        assert view.cells == 0
        assert view.value_cells((line("label"),)) == room


async def test_a_refresh_moves_nothing_and_another_record_starts_at_its_top() -> None:
    async with staged() as (_, view, pilot):
        view.show([field(f"field {number}", "value") for number in range(40)])
        await pilot.press("G")
        top, cursor = view.scroll_y, view.cursor
        view.show([field(f"field {number}", "another") for number in range(40)])
        await pilot.pause()
        assert (view.scroll_y, view.cursor) == (top, cursor)
        view.reset()
        await pilot.pause()
        assert (view.scroll_y, view.cursor) == (0, 0)
        view.show([])
        await pilot.press("enter", "G", "k")
        assert view.line_count() == 0


async def test_text_is_selected_with_the_mouse() -> None:
    async with staged() as (app, view, pilot):
        view.show([field("label", "first\nsecond line")])
        await pilot.pause()
        await pilot.mouse_down(view, offset=(10, 0))
        await pilot.hover(view, offset=(15, 1))
        await pilot.mouse_up(view, offset=(15, 1))
        await pilot.pause()
        assert app.screen.get_selected_text() == "first\n          second"


@pytest.mark.parametrize("text", ["word ", "word/ré"], ids=["words", "one word"])
async def test_a_megabyte_of_text_is_laid_out(text: str) -> None:
    async with staged() as (app, view, pilot):
        view.show([field("", text * 200_000)])
        await pilot.press("G")
        await pilot.pause()
        assert view.line_count() > 10_000
        assert "word" in lines_of(app)[18]


async def test_a_drawer_shows_json_and_copies_the_exact_text() -> None:
    async with running(Stage(drawer := Drawer()), (80, 24)) as (app, pilot):
        drawer.show(line("event ev_1"), json_block({"state": "[/]", "n": [1]}), copied_json({"state": "[/]"}))
        drawer.query_one(DetailView).focus()
        await pilot.press("y", "escape")
        await pilot.pause()
        rows = lines_of(app)
        assert rows[0].startswith("┏━ event ev_1 ━")
        assert rows[2].strip("┃ ") == '"state": "[/]",'
        assert [message.text for message in app.told_of(CopyRequested)] == ['{\n  "state": "[/]"\n}']
        assert len(app.told_of(PanelClosed)) == 1


async def test_a_drawer_is_as_high_as_its_text_up_to_half_of_the_window() -> None:
    async with running(Stage(drawer := Drawer()), (80, 24)) as (_, pilot):
        heights = []
        for members in (1, 7, 40):
            value = {f"member_{number}": number for number in range(members)}
            drawer.show(line("event"), json_block(value), copied_json(value))
            await pilot.pause()
            heights.append(drawer.region.height)
        assert heights == [8, 11, 12]


async def test_the_cursor_stays_on_what_leads_somewhere_when_lines_come_above_it() -> None:
    leads = DetailSection(
        line("Next"), (DetailLine(line("next"), line("run it"), target="there", does="enter runs it"),)
    )
    async with staged() as (app, view, pilot):
        view.go_to_target()
        view.show([field("one", "1"), leads])
        await pilot.pause()
        assert view.has_target
        assert any("run it   enter runs it" in row for row in lines_of(app))
        view.show([field("one", "1"), field("two", "2"), field("three", "3"), leads])
        await pilot.pause()
        assert view.has_target
        view.show([field("one", "1"), field("two", "2")])
        await pilot.pause()
        assert not view.has_target


def test_what_leads_somewhere_has_the_color_of_a_link_and_its_sign_or_words_for_what_enter_does() -> None:
    layout = DetailLayout(60, UNICODE, "›", lambda *_: False, lambda _: PlotPlace())
    lines = (
        DetailLine(line("repository"), line("o/widgets"), target="there", does="enter lists them"),
        DetailLine(line("status"), line("failed"), Role.BAD, target="there"),
        DetailLine(line("id"), line("1")),
    )
    drawn = [
        [(str(text).strip(), role) for text, role in row.pieces[1:]]
        for row in layout.rows([DetailSection(line(""), lines)], (), ())
    ]
    assert drawn == [
        [("o/widgets", ACCENT), ("enter lists them", Role.QUIET)],
        [("failed", Role.BAD), ("›", Role.QUIET)],
        [("1", Role.PLAIN)],
    ]


def rows_of(app: Stage) -> list[str]:
    """The text in the frame, without the cursor's place."""
    return [row[1:].rstrip("│┃ ") for row in lines_of(app)[1:-1]]


async def test_a_section_folds_under_its_heading_and_says_how_many_lines_it_hides() -> None:
    async with staged(size=(80, 24)) as (app, view, pilot):
        view.show(samples.sections())
        await pilot.press("down", "down", "space")
        rows = rows_of(app)
        assert rows[0].startswith("▸+Slice sl_1   ")
        assert rows[0].endswith(" lines hidden")
        assert rows[2].strip() == "Totals"
        await pilot.press("space", "G", "h", "h")
        rows = rows_of(app)
        assert rows[1].strip().startswith("capability")
        assert any(row.startswith("▸+Totals   ") for row in rows)


async def test_left_goes_to_the_head_then_folds_it_and_right_unfolds() -> None:
    async with staged(size=(80, 24)) as (app, view, pilot):
        view.show([DetailSection(line("Only"), (DetailLine(line("a"), line("1")), DetailLine(line("b"), line("2"))))])
        await pilot.press("G", "left")
        assert (view.cursor, view.line_count()) == (0, 3)
        await pilot.press("left")
        assert rows_of(app)[0] == "▸+Only   2 lines hidden"
        await pilot.press("left", "right")
        assert view.line_count() == 3
        assert rows_of(app)[0] == "▸ Only"
        await pilot.press("left", "enter")
        assert view.line_count() == 3, "enter unfolds what is folded"
        await pilot.press("enter")
        assert view.line_count() == 3, "and folds nothing"


async def test_all_sections_fold_at_once_and_unfold_again() -> None:
    async with staged(size=(80, 40)) as (app, view, pilot):
        view.show(samples.sections(), LINKS)
        before = view.line_count()
        await pilot.press("Z")
        assert [row.strip(" ▸+").partition("   ")[0] for row in rows_of(app) if "hidden" in row] == [
            "Slice sl_1",
            "Totals",
        ]
        assert "run         3fd2…9911   ›" in {row.strip() for row in rows_of(app)}, "ways to other records stay"
        await pilot.press("Z")
        assert view.line_count() == before


async def test_a_click_on_a_heading_folds_and_one_on_a_field_does_not() -> None:
    async with staged(size=(80, 40)) as (_, view, pilot):
        view.show(samples.sections())
        await pilot.pause()
        before = view.line_count()
        await pilot.click(view, offset=(6, 1))
        assert view.line_count() == before
        await pilot.click(view, offset=(6, 0))
        assert view.line_count() < before
        await pilot.pause(0.6)
        await pilot.click(view, offset=(6, 0))
        assert view.line_count() == before


async def test_what_a_search_has_found_is_not_folded() -> None:
    async with staged(size=(80, 24)) as (_, view, pilot):
        view.show(samples.sections())
        await pilot.press("Z")
        folded = view.line_count()
        view.show(samples.sections(), whole=True)
        assert view.line_count() > folded
        view.show(samples.sections())
        assert view.line_count() == folded


async def test_going_to_what_leads_somewhere_unfolds_it() -> None:
    leads = DetailSection(line("Next"), (DetailLine(line("next"), line("run it"), target="there"),))
    async with staged(size=(80, 24)) as (app, view, pilot):
        view.show([field("one", "1"), leads])
        await pilot.press("Z", "g")
        assert not any("run it" in row for row in rows_of(app))
        view.go_to_target()
        await pilot.pause()
        assert view.has_target


async def test_parts_fold_only_where_the_details_are_about_the_same() -> None:
    one, same, other = DetailView(about="runs"), DetailView(about="runs"), DetailView(about="receipts")
    async with running(Stage(one, same, other), (80, 40)) as (_, pilot):
        one.show(samples.sections())
        one.focus()
        await pilot.press("space")
        for view in (same, other):
            view.show(samples.sections())
        await pilot.pause()
        assert one.line_count() == same.line_count() < other.line_count()
