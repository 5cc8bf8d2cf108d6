"""The dialog starts on the harmless button, does nothing by accident, and shows the result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from runwatch.tui.core.messages import CopyRequested
from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogText
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import block, line
from tests.tui import samples
from tests.tui.look import Stage, lines_of, running, text_of


async def opened(app: Stage, pilot: Pilot[None], order: DialogText) -> ConfirmDialog:
    dialog = ConfirmDialog(order, app, samples.header(), app.sent)
    await app.push_screen(dialog)
    await pilot.pause()
    return dialog


def state(dialog: ConfirmDialog) -> str:
    """How far a dialog is right now."""
    return dialog.state


def focused(app: Stage) -> str:
    return "" if app.focused is None else str(app.focused.id)


async def test_the_whole_dialog() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        await opened(app, pilot, samples.cancel_six())
        rows = [row.strip("┃ ") for row in lines_of(app) if row.strip("┃ ")]
        assert rows.pop(0).startswith("local  read and write")
        assert rows[0].startswith("┏━ Cancel 6 runs on prod-eu ━")
        assert rows[0].endswith("━ prod-eu  write ━┓")
        assert rows[1].startswith("Cancels 6 live runs. A provider call already under way is not reversed;")
        assert rows[3] == "POST /v1/executions/{id}/cancel   6 × one key each   within 42 requests left this minute"
        assert rows[4].split() == ["8f21…9b7e", "●", "running", "0:42", "waiting"]
        assert rows[10] == "production profile: type the number of runs ▸"
        assert rows[11] == "Keep them running      Cancel 6 runs"
        assert rows[12].startswith("┗━ data is 2s old ━")
        assert rows[12].endswith("━ tab moves  f9 sends  esc closes ━┛")


async def test_the_records_take_as_many_rows_as_there_are() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, samples.cancel_six())
        assert dialog.query_one("#dialog-rows").size.height == 6
        rows = [row.strip("┃ ") for row in lines_of(app)]
        last = max(number for number, row in enumerate(rows) if row.endswith("waiting"))
        assert rows[last + 1] == ""
        assert rows[last + 2].startswith("production profile")


async def test_a_dialog_stays_where_its_first_frame_was() -> None:
    app = Stage()
    places: list[int] = []
    async with app.run_test(size=(100, 30)) as pilot:
        dialog = ConfirmDialog(samples.start_one(), app, samples.header(), app.sent)
        dialog.screen_layout_refresh_signal.subscribe(app, lambda shown: places.append(shown.query_one(Pane).region.y))
        await app.push_screen(dialog)
        await pilot.pause()
        assert places
        assert set(places) == {dialog.query_one(Pane).region.y}


async def test_the_key_has_a_line_of_its_own() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        await opened(app, pilot, samples.start_one())
        rows = [row.strip("┃ ") for row in lines_of(app)]
        request = rows.index("POST /v1/executions")
        assert rows[request + 1] == f"idempotency key {samples.start_one().key}"


@pytest.mark.parametrize("is_destructive", [False, True])
async def test_only_a_button_that_ends_or_deletes_something_is_red(*, is_destructive: bool) -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, replace(samples.start_one(), is_destructive=is_destructive))
        drawn = to_content(line("  Start the run  "), Role.BAD if is_destructive else Role.PLAIN)
        assert dialog.query_one("#dialog-confirm", TextButton).render() == drawn


async def test_enter_on_the_first_button_leaves_and_changes_nothing() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        await opened(app, pilot, samples.start_one())
        assert focused(app) == "dialog-keep"
        await pilot.press("enter")
        await pilot.pause()
        assert [type(message) for message in app.told] == [ConfirmDialog.Closed]
        assert app.sent.times == 0
        assert not isinstance(app.screen, ConfirmDialog)


@pytest.mark.parametrize("key", ["X", "y", "q", "d", "space", "1", "r", "colon"])
async def test_no_single_key_confirms(key: str) -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        await opened(app, pilot, samples.start_one())
        await pilot.press(key)
        await pilot.pause()
        assert app.sent.times == 0


async def test_tab_reaches_everything_and_the_second_button_confirms() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, samples.start_one())
        await pilot.press("tab")
        assert focused(app) == "dialog-confirm"
        await pilot.press("tab")
        assert focused(app) == "dialog-body"
        await pilot.press("tab", "tab", "enter")
        await pilot.pause()
        assert app.sent.times == 1
        assert state(dialog) == "sending"
        assert "sending, waiting for the response" in text_of(app)
        assert focused(app) == "dialog-keep"
        assert "[ Close, it continues ]" in text_of(app)


async def test_nothing_is_sent_twice() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        await opened(app, pilot, samples.start_one())
        await pilot.press("tab", "enter", "shift+tab", "tab", "tab", "r")
        await pilot.pause()
        assert app.sent.times == 1


async def test_one_key_sends_from_anywhere_once_the_button_would() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, samples.cancel_six())
        await pilot.press("f9")
        assert state(dialog) == "asking"
        await pilot.press("6", "f9", "f9")
        await pilot.pause()
        assert app.sent.times == 1
        assert "f9 sends" not in text_of(app)


async def test_a_dialog_in_which_nothing_is_left_to_do_only_closes() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        order = samples.cancel_six()
        order = replace(order, make_updated=lambda: replace(order, sentence=line("All have ended."), is_over=True))
        dialog = await opened(app, pilot, order)
        dialog.show_header(samples.header())
        await pilot.pause()
        rows = [row.strip("┃ ") for row in lines_of(app) if row.strip("┃ ")]
        assert rows[2] == "All have ended."
        assert rows[3].split() == ["8f21…9b7e", "●", "running", "0:42"]
        assert (rows[-2], focused(app)) == ("[ Close ]", "dialog-keep")
        assert rows[-1].endswith("━ tab moves  y copies  esc closes ━┛")


async def test_a_production_profile_asks_for_the_right_words_first() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, samples.cancel_six())
        field = dialog.query_one(LineInput)
        assert app.focused is field
        for refused in (["f9"], ["enter"], ["tab", "tab", "enter"]):
            await pilot.press(*refused)
            assert "nothing was sent: first type the number of runs" in text_of(app)
            assert app.focused is field
        await pilot.press("5", "enter")
        assert "nothing was sent: the text differs from the number of runs" in text_of(app)
        await pilot.press("backspace", "6")
        assert "nothing was sent" not in text_of(app)
        assert app.sent.times == 0
        await pilot.press("enter")
        await pilot.pause()
        assert focused(app) == "dialog-confirm"
        assert "y copies" in text_of(app)
        assert app.sent.times == 0
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent.times == 1


async def confirmed(app: Stage, pilot: Pilot[None], order: DialogText) -> ConfirmDialog:
    dialog = await opened(app, pilot, order)
    await pilot.click("#dialog-confirm")
    await pilot.pause()
    assert state(dialog) == "sending"
    return dialog


async def test_each_row_carries_its_own_outcome() -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        order = replace(samples.cancel_six(), typed=None)
        dialog = await confirmed(app, pilot, order)
        outcomes: list[Any] = [line("✓ cancelled"), label_span("already final"), label_span("✗ not_found", Role.BAD)]
        for row, outcome in zip(order.rows, outcomes, strict=False):
            dialog.show_outcome(row.key, outcome if not isinstance(outcome, tuple) else (outcome,))
        dialog.finish(label_span("1 cancelled, 1 already final, 1 refused", Role.WARN)[0])
        await pilot.pause()
        said = [row.strip("┃ ").split("   ")[-1].strip() for row in lines_of(app) if "0:42" in row]
        assert said[:4] == ["✓ cancelled", "already final", "✗ not_found", "waiting"]
        assert "1 cancelled, 1 already final, 1 refused" in text_of(app)
        assert state(dialog) == "done"
        await pilot.press("enter")
        await pilot.pause()
        assert app.told_of(ConfirmDialog.Closed)


async def test_a_refusal_shows_the_problem_and_its_instance_can_be_copied() -> None:
    async with running(Stage(), (80, 24)) as (app, pilot):
        dialog = await confirmed(app, pilot, samples.start_one())
        dialog.show_refusal(samples.refused(), next_step=line("Correct the fields."))
        await pilot.pause()
        assert state(dialog) == "refused"
        assert "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11" in text_of(app)
        assert "Correct the fields." in text_of(app)
        assert "esc closes" in text_of(app)
        assert "esc back" not in text_of(app), "one frame names the key"
        assert "[ Close ]" in text_of(app)
        # From the button that has the focus, and from the problem.
        await pilot.press("y", "tab", "y", "shift+tab", "Y")
        await pilot.pause()
        instance, again, support = (message.text for message in app.told_of(CopyRequested))
        assert instance == again == "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
        assert instance in support
        dialog.show_notice(line("copied by tmux"))
        await pilot.pause()
        assert "━ copied by tmux ━" in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, ConfirmDialog)


@pytest.mark.parametrize(
    ("order", "made", "copied"),
    [
        (samples.start_one(), "", "7c1e9f30-0000-4000-8000-000000000000"),
        (samples.start_one(), "ex_new", "ex_new"),
        (replace(samples.start_one(), record_id="ex_1"), "", "ex_1"),
        (replace(samples.cancel_six(), typed=None), "", "'8f21…9b7e'"),
    ],
)
async def test_the_id_that_matters_most_can_be_copied(order: DialogText, made: str, copied: str) -> None:
    async with running(Stage(), (100, 30)) as (app, pilot):
        dialog = await opened(app, pilot, order)
        dialog.offer_id(made)
        await pilot.press("y")
        await pilot.pause()
        assert [message.text for message in app.told_of(CopyRequested)] == [copied]


@pytest.mark.parametrize("width", [80, 60])
async def test_a_value_longer_than_its_row_goes_on_below_its_beginning(width: int) -> None:
    words = "It is shown only once and not stored. Copy it before you close this, as there is no other way to see it."
    async with running(Stage(), (width, 24)) as (app, pilot):
        dialog = await confirmed(app, pilot, samples.start_one())
        dialog.finish((label_span("done"), label_span("   ex_1"), block("\n"), label_span("next   "), line(words)))
        await pilot.pause()
        rows = str(app.screen.query_one("#dialog-state", Static).content).split("\n")
        assert rows[0] == "done   ex_1"
        assert [row[:7] for row in rows[1:]] == ["next   ", *[" " * 7] * (len(rows) - 2)]
        assert " ".join(row[7:] for row in rows[1:]) == words


@pytest.mark.parametrize("way", ["key", "button"])
async def test_an_unknown_outcome_can_be_asked_again_with_the_same_key(way: str) -> None:
    async with running(Stage(), (80, 24)) as (app, pilot):
        dialog = await confirmed(app, pilot, samples.start_one())
        dialog.show_unknown_outcome(line("the connection was cut"))
        await pilot.pause()
        assert state(dialog) == "unknown"
        said = " ".join(str(app.screen.query_one("#dialog-state", Static).content).split())
        assert said == "outcome unknown: the connection was cut; r retries with the same key and body"
        await (pilot.press("r") if way == "key" else pilot.click("#dialog-again"))
        await pilot.pause()
        assert app.sent.times == 2
        assert state(dialog) == "sending"
        dialog.finish(line("started ex_1"))
        await pilot.press("r")
        await pilot.pause()
        assert app.sent.times == 2


async def test_a_dialog_covers_the_screen_and_its_keys() -> None:
    pressed: list[str] = []

    class App(Stage):
        BINDINGS = [("z", "note", "note")]

        def action_note(self) -> None:
            pressed.append("z")

    app = App()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z")
        await opened(app, pilot, samples.start_one())
        await pilot.press("z")
        assert pressed == ["z"]
        assert app.screen.styles.background.a == 1


async def test_a_refusal_longer_than_the_window_can_be_read_to_its_end() -> None:
    async with running(Stage(), (80, 24)) as (app, pilot):
        dialog = await confirmed(app, pilot, samples.start_one())
        step = line(" ".join(f"word{number}" for number in range(80)), None)
        dialog.show_refusal(samples.refused(), next_step=step)
        await pilot.pause()
        assert "more rows below" in text_of(app)
        assert dialog.query_one(Pane).max_scroll_y == 0, "only rows of the problem are hidden"
        await pilot.press("tab", "G")
        await pilot.pause()
        assert "word79" in text_of(app)
        assert "more rows below" not in text_of(app)


@pytest.mark.parametrize(("rows", "least"), [(24, 9), (30, 15), (50, 35)])
async def test_a_body_takes_the_rows_that_the_window_has(rows: int, least: int) -> None:
    app = Stage()
    body = block("\n".join(f"member{number}" for number in range(60)))
    async with app.run_test(size=(100, rows)) as pilot:
        dialog = await opened(app, pilot, replace(samples.cancel_six(), rows=(), typed=None, body=body))
        shown = [row for row in lines_of(app) if "member" in row]
        assert len(shown) >= least, text_of(app)
        assert "[ Keep them running ]" in text_of(app)
        assert dialog.query_one("#dialog-body").size.height <= rows - 12


async def test_a_body_longer_than_its_window_says_how_many_rows_follow_also_below_a_warning() -> None:
    body = block("\n".join(f"row {number}" for number in range(40)))
    order = replace(samples.start_one(), body=body, warning=line("This was sent before. " * 6, None))
    async with running(Stage(), (80, 24)) as (app, pilot):
        dialog = await opened(app, pilot, order)
        await pilot.pause()
        assert "more rows below" in text_of(app)
        assert "[ Do not start" in text_of(app)
        assert dialog.query_one(Pane).max_scroll_y == 0, "nothing is hidden but rows of the body"
        dialog.query_one("#dialog-body").focus()
        await pilot.press("G")
        await pilot.pause()
        assert "row 39" in text_of(app)
        assert "more rows below" not in text_of(app)
