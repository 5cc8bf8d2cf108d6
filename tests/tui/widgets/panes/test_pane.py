"""The frame says what is inside, in which state, and whether it has the focus."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.geometry import Region

from runwatch.tui.core.rendering import label_span
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.panes.pane import BorderText, Pane, TextForms
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from tests.tui.look import Stage, lines_of, running

EDGE = BorderText(line("Runs   14 of 212"), line("sort age"), line("updated 1s ago"), line("live 3"))


def stage(*, ascii: bool = False) -> Stage:
    """Two panes below each other, each with something that takes the focus."""
    return Stage(
        Pane(TextButton(line("one"), id="one"), edge=EDGE, id="upper"),
        Pane(TextButton(line("two"), id="two"), id="lower"),
        ascii=ascii,
    )


async def test_all_four_texts_stand_in_the_frame_and_the_focused_one_is_heavy() -> None:
    async with running(stage()) as (app, pilot):
        rows = lines_of(app)
        assert rows[0] == "┏━ Runs   14 of 212 " + "━" * 48 + " sort age ━┓"
        assert rows[9] == "┗━ updated 1s ago " + "━" * 52 + " live 3 ━┛"
        assert rows[10] == "╭" + "─" * 78 + "╮"
        await pilot.press("tab")
        rows = lines_of(app)
        assert rows[0] == "╭─ Runs   14 of 212 " + "─" * 48 + " sort age ─╮"
        assert rows[10] == "┏" + "━" * 78 + "┓"


@pytest.mark.parametrize(
    ("age", "counters", "shown"),
    [
        ("offline · data 1m old · since 12:03:33", "live 3 · failed 3 · cancelled 1 · done 2", "offline · data 1m old"),
        (
            "updated 1m ago · held 0:40", "live 3 · failed 3 · expired 1 · cancelled 1 · done 2",
            "updated 1m ago · held 0:40 ━━━━━━━━━━━━━━━ live 3 · failed 3 · expired 1 … ━┛",
        ),
        (
            "updated just now", "live 40 · failed 1,204 · expired 312 · cancelled 88 · done 3,412",
            "live 40 · failed 1,204 · expired 312 · cancelled 88 … ━┛",
        ),
    ],
)  # fmt: skip
async def test_a_lower_edge_loses_whole_parts_and_marks_lost_counts(age: str, counters: str, shown: str) -> None:
    app = Stage(Pane(TextButton(line("one")), edge=BorderText(age=line(age), counters=line(counters))))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        row = lines_of(app)[19]
        assert f" {shown}" in row
        assert row.count("…") == shown.count("…")


async def test_an_age_has_its_short_form_where_the_counters_need_the_room() -> None:
    edge = BorderText(
        age=TextForms((line("from the file; press 0"), line("from the file"))), counters=line("live 1 · done 2")
    )
    pane = Pane(TextButton(line("one")), edge=edge)
    shown = [
        "┗━ from the file; press 0 ━━ live 1 · done 2 ━┛",
        "┗━ from the file ━━━━━━━━━━ live 1 · done 2 ━┛",
    ]
    async with running(Stage(pane)) as (app, pilot):
        pane.styles.height = 3
        for row in shown:
            pane.styles.width = len(row)
            await pilot.pause()
            assert lines_of(app)[2].strip() == row


async def test_a_title_loses_whole_parts_and_keeps_the_short_one() -> None:
    edge = BorderText(
        TextForms(((label_span("ex_01M8…Q00Z  "), label_span("✓ completed")), line("✓ completed"))),
        TextForms((line("follow · poll 2s"), line("follow"))),
    )
    pane = Pane(TextButton(line("one")), edge=edge)
    shown = [
        "┏━ ex_01M8…Q00Z  ✓ completed ━━━━━━━━━━ follow · poll 2s ━┓",
        "┏━ ex_01M8…Q00Z  ✓ completed ━━━━━━ follow ━┓",
        "┏━ ✓ completed ━━ follow · poll 2s ━┓",
        "┏━ ✓ completed ━━━ follow ━┓",
    ]
    async with running(Stage(pane)) as (app, pilot):
        for row in shown:
            pane.styles.width = len(row)
            await pilot.pause()
            assert lines_of(app)[0].strip() == row


async def test_shorter_texts_stand_where_the_usual_ones_leave_too_little_room() -> None:
    edge = BorderText(
        title=line("Runs   109   2 marked"),
        state=TextForms((line("50 newer above · g  newest first"), line("50 newer above"), line(""))),
        age=line("PAUSED by P 7s ago"),
        counters=TextForms((line("live 2 · failed 21 · done 35"), line("● 2 · ✗ 21 · ✓ 35"))),
    )  # fmt: skip
    shown = {
        63: ("2 marked ━━ 50 newer above · g  newest first ━┓", "ago ━━━━━━━━━ live 2 · failed 21 · done 35 ━┛"),
        56: ("2 marked ━━━━━━━━━━━━━ 50 newer above ━┓", "ago ━━ live 2 · failed 21 · done 35 ━┛"),
        45: ("2 marked ━━ 50 newer above ━┓", "ago ━━ ● 2 · ✗ 21 · ✓ 35 ━┛"),
        44: ("2 marked ━━━━━━━━━━━━━━━━━━┓", "ago ━━━━━━ ● 2 · ✗ 21 … ━┛"),
    }
    pane = Pane(TextButton(line("one")), edge=edge)
    async with running(Stage(pane)) as (app, pilot):
        for width, ends in shown.items():
            pane.styles.width = width
            await pilot.pause()
            rows = [row.strip() for row in lines_of(app) if row[:1] in "┏┗"]
            assert [row.endswith(end) for row, end in zip(rows, ends, strict=True)] == [True, True], rows
        pane.show_pause(line("PAUSED"))
        for width, end in {71: "PAUSED  50 newer above · g  newest first ━┓", 44: "PAUSED ━┓"}.items():
            pane.styles.width = width
            await pilot.pause()
            assert lines_of(app)[0].strip().endswith(f" {end}")


async def test_the_frame_stays_heavy_while_the_focus_goes_from_one_widget_inside_to_another() -> None:
    left, right = TextButton(line("left")), TextButton(line("right"))
    async with running(Stage(Pane(left, right))) as (app, pilot):
        left.focus()
        await pilot.pause()
        pane = right.parent
        assert isinstance(pane, Pane)
        right.focus()
        await pilot.pause()
        # Each widget has its own queue: the left one's message comes last.
        pane.post_message(events.DescendantBlur(left))
        await pilot.pause()
        assert lines_of(app)[0] == "┏" + "━" * 78 + "┓"


async def test_an_age_that_grows_has_its_own_edge_drawn_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(stage()) as (app, pilot):
        pane = app.query_one("#upper", Pane)
        drawn: list[Region] = []
        own = pane.refresh

        def refresh(*regions: Region, **how: Any) -> Pane:
            drawn.extend(regions)
            return own(*regions, **how)

        monkeypatch.setattr(pane, "refresh", refresh)
        pane.set_border_text(title=EDGE.title, age=line("updated 2s ago"), counters=EDGE.counters)
        assert drawn == [Region(-1, 8, 80, 1)]
        pane.set_border_text(age=line("updated 3s ago"), state=line("sort run"))
        assert drawn[1:] == [Region(-1, -1, 80, 1), Region(-1, 8, 80, 1)]
        await pilot.pause()
        assert "sort run" in lines_of(app)[0]
        assert "updated 3s ago" in lines_of(app)[9]


async def test_texts_told_before_the_pane_is_there_need_no_later_resize(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pane, "on_resize", lambda pane, event: None)
    async with running(Stage(Pane(TextButton(line("one"))), Pane(TextButton(line("two")), edge=EDGE))) as (app, _):
        assert lines_of(app)[10].startswith("╭─ Runs   14 of 212 ─")


async def test_ascii_frames_say_the_focus_too() -> None:
    async with running(stage(ascii=True)) as (app, pilot):
        assert lines_of(app)[0] == "+= Runs   14 of 212 " + "=" * 48 + " sort age =+"
        assert lines_of(app)[9] == "+= updated 1s ago " + "=" * 52 + " live 3 =+"
        assert lines_of(app)[10] == "+" + "-" * 78 + "+"
        await pilot.press("tab")
        assert lines_of(app)[0] == "+- Runs   14 of 212 " + "-" * 48 + " sort age -+"
        assert [lines_of(app)[row] for row in (10, 19)] == ["+" + "=" * 78 + "+"] * 2
        assert all(row.isascii() for row in lines_of(app))


@pytest.mark.parametrize(
    ("edge", "row"),
    [
        (BorderText(title=line("only left")), "╭─ only left " + "─" * 66 + "╮"),
        (BorderText(state=line("only right")), "╭" + "─" * 65 + " only right ─╮"),
        (BorderText(line("x" * 100), line("state")), "╭─ " + "x" * 64 + "… ── state ─╮"),
        (BorderText(line("left"), line("x" * 100)), None),
        (BorderText(title=line("")), "╭" + "─" * 78 + "╮"),
        (BorderText(title=(label_span("a ", Role.BAD), line("[red]b"))), "╭─ a [red]b " + "─" * 67 + "╮"),
    ],
)
async def test_the_left_text_is_cut_before_the_right_one(edge: BorderText, row: str | None) -> None:
    async with running(Stage(Pane(edge=edge))) as (app, _):
        shown = lines_of(app)[0]
        assert len(shown) == 80
        if row is not None:
            assert shown == row


async def test_texts_change_one_by_one_and_follow_the_width() -> None:
    async with running(stage()) as (app, pilot):
        pane = app.query_one("#upper", Pane)
        pane.set_border_text(age=(label_span("updated 31s ago", Role.WARN),))
        await pilot.pause()
        assert lines_of(app)[9].startswith("┗━ updated 31s ago ━")
        assert lines_of(app)[0].startswith("┏━ Runs   14 of 212 ━")
        await pilot.resize_terminal(100, 20)
        assert lines_of(app)[0] == "┏━ Runs   14 of 212 " + "━" * 68 + " sort age ━┓"


async def test_a_click_on_the_frame_gives_the_focus_to_what_is_inside() -> None:
    async with running(stage()) as (app, pilot):
        await pilot.click("#lower", offset=(40, 0))
        await pilot.pause()
        assert app.focused is app.query_one("#two")
