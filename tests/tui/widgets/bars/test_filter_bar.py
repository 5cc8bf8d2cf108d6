"""A filter works while it is typed, completes, complains in place, and always lets go of the keyboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from runwatch.tui.widgets.bars.filter_bar import FilterBar, make_filter_suggester
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.view.text.safe_text import SafeText, line
from tests.tui.look import Stage, lines_of, running

COMPLETE = make_filter_suggester(
    {"status": [line("failed"), line("running")], "run": [line("two words"), line("7")]}, ("live", "problem")
)


@asynccontextmanager
async def staged() -> AsyncIterator[tuple[Stage, FilterBar, Pilot[None]]]:
    """A filter bar and something else that takes the focus."""
    bar = FilterBar(COMPLETE)
    async with running(Stage(bar, TextButton(line("other"), id="other"))) as (app, pilot):
        yield app, bar, pilot


async def test_every_key_is_reported_at_once_and_enter_keeps() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("")
        await pilot.press("i", "s", "enter")
        await pilot.pause()
        assert [message.text for message in app.told_of(FilterBar.Changed)] == ["i", "is"]
        assert [message.text for message in app.told_of(FilterBar.Submitted)] == ["is"]


async def test_letters_go_into_the_filter_and_start_nothing_else() -> None:
    async with staged() as (_, bar, pilot):
        bar.edit("is:")
        await pilot.press("q", "X", "question_mark", "colon", "G")
        assert bar.text == "is:qX?:G"


async def test_esc_leaves_and_takes_the_filter_away() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("status:failed")
        await pilot.press("escape")
        await pilot.pause()
        assert bar.text == ""
        assert len(app.told_of(FilterBar.Cancelled)) == 1
        assert app.told_of(FilterBar.Changed) == []


async def test_tab_stays_in_the_input_without_a_completion() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("zzz")
        await pilot.press("tab")
        assert app.focused is bar.query_one("LineInput")
        assert bar.text == "zzz"


async def test_the_count_and_a_mistake_are_behind_the_text() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("is:live")
        bar.show_count(line("14/212"))
        await pilot.pause()
        assert lines_of(app)[0].split() == ["/", "is:live", "14/212"]
        bar.show_error(line("at character 4: [/] is no flag"))
        await pilot.pause()
        assert lines_of(app)[0].endswith("✗ at character 4: [/] is no flag")
        assert bar.query_one(LineInput).has_class("-invalid")
        bar.show_count(line("3/212"))
        await pilot.pause()
        assert not bar.query_one(LineInput).has_class("-invalid")
        assert str(bar.query_one("#filter-state", Static).content) == "3/212"


async def test_a_long_mistake_is_told_whole_below_the_text() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("is:what")
        bar.show_error(line("word " * 20 + "end"))
        await pilot.pause()
        assert lines_of(app)[0].split() == ["/", "is:what"]
        assert lines_of(app)[2].endswith("word end")
        bar.show_count(line("3/212"))
        await pilot.pause()
        assert lines_of(app)[0].split() == ["/", "is:what", "3/212"]


@pytest.mark.parametrize("key", ["right", "tab"])
async def test_a_completion_is_offered_and_taken_with_the_right_arrow_or_tab(key: str) -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("is:live ")
        await pilot.press("s", "t")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "is:live status:" in lines_of(app)[0]
        assert bar.text == "is:live st"
        await pilot.press(key)
        assert bar.text == "is:live status:"


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("st", "status:"), ("status:f", "status:failed"), ("status:failed", None), ("status=r", "status=running"),
        ("is:", "is:live"), ("is:p", "is:problem"), ("has:r", "has:run"), ("!st", "!status:"), ("a st", "a status:"),
        ("zzz", None), ("nofield:x", None), ("", None), ("a ", None), ("run:t", None), ("run:7", None), ("ha", "has:"),
    ],
)  # fmt: skip
def test_fields_values_and_flags_are_completed(typed: str, completed: str | None) -> None:
    assert COMPLETE(typed) == completed


async def test_pasted_lines_are_joined_and_made_visible() -> None:
    async with staged() as (app, bar, pilot):
        bar.edit("")
        app.screen.focused.post_message(events.Paste("  \x1b]52;c;eA==\x07ex_1\u202e\r\n\n second "))  # type: ignore[union-attr]
        await pilot.pause()
        assert bar.text == "␛]52;c;eA==␇ex_1\\u202e second"
        app.screen.focused.post_message(events.Paste("\n"))  # type: ignore[union-attr]
        await pilot.pause()
        assert bar.text == "␛]52;c;eA==␇ex_1\\u202e second"


async def test_the_cursor_stands_still() -> None:
    async with staged() as (_, bar, pilot):
        bar.edit("x")
        await pilot.pause()
        field = bar.query_one(LineInput)
        assert field._blink_timer is not None
        assert not field._blink_timer._active.is_set()


def test_only_the_values_of_the_field_that_is_typed_are_looked_for() -> None:
    class Looked(dict[str, list[SafeText]]):
        def get(self, name: str, default: Any = None) -> Any:
            names.append(name)
            return super().get(name, default)

    names: list[str] = []
    complete = make_filter_suggester(Looked(status=[line("failed")], run=[line("7")]), ("live",))
    assert [complete(text) for text in ("sta", "run:", "is:l", "has:st", "none:x")] == [
        "status:", "run:7", "is:live", "has:status", None,
    ]  # fmt: skip
    assert names == ["run", "none"]
