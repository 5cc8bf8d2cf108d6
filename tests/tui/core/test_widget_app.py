"""The app around widgets: themes, the guard of small windows, background work, actions by id."""

from __future__ import annotations

import asyncio

import pytest
from textual import on
from textual.app import App
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from runwatch.base.errors import UsageError
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import CopyRequested, HintClicked, WorkerFailed
from runwatch.tui.core.themes import PLAIN, load_theme, theme_directories
from runwatch.tui.core.too_small import TooSmallScreen
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.core.workers import start_worker
from runwatch.tui.terminal.terminal_app import INTERRUPTED, TerminalApp
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.text.safe_text import line
from tests.tui import samples
from tests.tui.look import Stage, running, text_of

DARK = load_theme("runwatch-dark", theme_directories())
LIGHT = load_theme("runwatch-light", theme_directories())


def guarded(app: Stage) -> bool:
    """Whether the message about the window's size is in front."""
    return isinstance(app.screen, TooSmallScreen)


async def test_another_theme_is_drawn_at_once() -> None:
    table = RecordTable(samples.COLUMNS)
    async with running(Stage(Pane(table), palette=DARK)) as (app, pilot):
        table.show(samples.runs())
        await pilot.pause()
        for palette in (DARK, LIGHT, PLAIN):
            app.apply_palette(palette)
            await pilot.pause()
            expected = None if palette is PLAIN else palette.text["live"]
            live = next(segment.style for segment in table.render_line(2) if "queued" in segment.text)
            assert live is not None
            assert (live.color.name if live.color and expected else None) == expected


async def test_no_color_takes_every_colour_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(Stage(Pane(RecordTable(samples.COLUMNS)), palette=DARK)) as (app, pilot):
        app.query_one(RecordTable).show(samples.runs())
        app.apply_palette(LIGHT)
        await pilot.pause()
        assert app.palette is PLAIN
        for strip in app.screen._compositor.render_strips():
            for segment in strip:
                style = segment.style
                assert style is None or style.color is None or style.color.is_default
                assert style is None or style.bgcolor is None or style.bgcolor.is_default


async def test_a_window_that_is_too_small_says_so_and_takes_no_key() -> None:
    pressed: list[str] = []

    class Pressed(Stage):
        @on(TextButton.Pressed)
        def note(self) -> None:
            pressed.append("x")

    app = Pressed(TextButton(line("button")))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("enter")
        await pilot.resize_terminal(79, 20)
        await pilot.pause()
        assert guarded(app)
        assert "window too small, need 80x20" in text_of(app)
        assert "now 79x20" in text_of(app)
        await pilot.press("enter", "space")
        await pilot.resize_terminal(80, 19)
        await pilot.pause()
        assert "now 80x19" in text_of(app)
        await pilot.resize_terminal(80, 20)
        await pilot.pause()
        assert not guarded(app)
        assert pressed == ["x"]
        await pilot.press("enter")
        assert pressed == ["x", "x"]


async def test_a_program_that_starts_in_a_small_window_says_so() -> None:
    async with running(Stage(TextButton(line("button"))), (40, 10)) as (app, pilot):
        assert guarded(app)
        await pilot.press("q")
    assert app.return_code == 0


async def test_failed_work_is_told_to_the_screen_and_ends_nothing() -> None:
    async with running(Stage()) as (app, pilot):

        async def fail(error: Exception) -> None:
            raise error

        start_worker(app, fail(UsageError("No such run")), "opening")
        start_worker(app, fail(ValueError("odd")), "reading")
        await app.workers.wait_for_complete()
        await pilot.pause()
        told = {message.name: str(message.error) for message in app.told_of(WorkerFailed)}
        assert told == {"opening": "No such run", "reading": "odd"}


async def test_work_of_a_screen_that_loses_its_parts_has_failed_in_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A screen goes after its parts: in between, what looks for one of them has no one to tell that it found none."""

    class Last(Static):
        async def on_unmount(self) -> None:
            await goes.wait()
            first_is_gone.set()
            await has_looked.wait()
            begun.append(start_worker(leaving, begin_anew(), "beginning anew"))
            await asyncio.sleep(0)

    class Gone(Static):
        def on_unmount(self) -> None:
            goes.set()

    async def look() -> None:
        try:
            await first_is_gone.wait()
            while leaving.query("#gone"):
                await asyncio.sleep(0)
            leaving.query_one("#gone")
        finally:
            has_looked.set()

    async def begin_anew() -> None:
        done.append("anew")

    goes, first_is_gone, has_looked = asyncio.Event(), asyncio.Event(), asyncio.Event()
    begun: list[Worker[None]] = []
    done: list[str] = []
    async with running(Stage()) as (app, pilot):
        leaving = Screen[None]()
        await app.push_screen(leaving)
        await leaving.mount(Gone(id="gone"), Last())
        work = start_worker(leaving, look(), "looking")
        await pilot.pause()
        await app.pop_screen()
        assert work.state is WorkerState.SUCCESS
        await pilot.pause()
        assert [each.is_cancelled for each in begun] == [True]
        assert done == []
        assert app.told_of(WorkerFailed) == []
        assert caplog.records == []


async def test_exclusive_work_ends_what_went_before_in_its_group() -> None:
    app = Stage()
    async with app.run_test(size=(80, 20)):
        done: list[str] = []

        async def work(name: str, wait: asyncio.Event) -> None:
            await wait.wait()
            done.append(name)

        never, now = asyncio.Event(), asyncio.Event()
        first = start_worker(app, work("first", never), "first", group="read", exclusive=True)
        now.set()
        second = start_worker(app, work("second", now), "second", group="read", exclusive=True)
        await second.wait()
        assert done == ["second"]
        assert first.is_cancelled


async def test_a_hint_does_what_its_key_does() -> None:
    class Copying(Stage):
        BINDINGS = make_bindings("screen.copy")
        copied = 0

        def action_copy(self) -> None:
            self.copied += 1

    app = Copying(TextButton(line("button")))
    async with app.run_test(size=(80, 20)) as pilot:
        app.post_message(HintClicked("screen.copy"))
        app.post_message(HintClicked("screen.raw"))
        await pilot.pause()
        assert app.copied == 1
        assert not await app.run_key_action("screen.raw")


async def test_a_hint_does_what_it_says_while_letters_go_into_an_input() -> None:
    class Typing(Stage):
        BINDINGS = make_bindings("app.help")
        helped = 0

        def action_help(self) -> None:
            self.helped += 1

    typed = LineInput()
    app = Typing(typed)
    async with app.run_test(size=(80, 20)) as pilot:
        typed.focus()
        await pilot.press("question_mark")
        assert (typed.value, app.helped) == ("?", 0)
        assert await app.run_key_action("app.help")
        assert app.helped == 1
        assert not await app.run_key_action("screen.raw")


async def test_what_inputs_and_the_mouse_copy_takes_the_common_way() -> None:
    async with running(Stage()) as (app, pilot):
        app.copy_to_clipboard("some\ntext")
        app.copy_to_clipboard("")
        await pilot.pause()
        assert [(message.text, message.several_lines) for message in app.told_of(CopyRequested)] == [
            ("some\ntext", True)
        ]


async def test_the_first_reason_to_end_stands() -> None:
    async with running(Stage()) as (app, pilot):
        await pilot.press("ctrl+c")
        app.exit(return_code=0)
    assert app.return_code == INTERRUPTED


async def test_ascii_changes_the_scroll_bar_and_unicode_changes_it_back() -> None:
    Stage(ascii=True)
    assert ScrollBar.renderer.VERTICAL_BARS == [" "]
    Stage()
    assert ScrollBar.renderer is ScrollBarRender


async def test_a_widget_outside_the_kit_is_told_so() -> None:
    class Plain(App[None]):
        pass

    app = Plain()
    async with app.run_test() as pilot:
        await app.mount(label := Static())
        with pytest.raises(TypeError, match="needs an app of the kit"):
            get_app(label)
        await pilot.pause()


def test_no_animation_and_no_command_palette_of_the_framework() -> None:
    app = TerminalApp()
    assert app.animation_level == "none"
    assert not app.use_command_palette
