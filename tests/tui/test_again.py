"""A run is started from an earlier one, and what is typed into the form is kept whichever way it is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.base.json import encode_body, loads
from runwatch.tui.flows.runs.run_form import RunFormScreen
from runwatch.tui.screens.help import HelpScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.panes.menu import Menu
from runwatch.view.runs.run_facts import RunFacts
from tests.support.builders import request_body
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE = (120, 40)


def value(driven: Driven, field: str) -> str:
    return driven.app.screen.query_one(f"#field-{field}", LineInput).value


def facts(driven: Driven) -> RunFacts:
    """What is known of the run under the cursor."""
    screen = driven.app.screen
    assert isinstance(screen, RunsScreen)
    assert screen.row is not None
    known: RunFacts = screen.row.subject
    return known


async def form(driven: Driven) -> None:
    await driven.opens(RunFormScreen)


async def submit(driven: Driven) -> None:
    """Send what the form holds, and close the dialog."""
    await driven.review()
    await driven.opens(RunsScreen, "tab", "enter")


# Again.


@pytest.mark.exhaustive
async def test_a_run_is_started_like_one_whose_request_was_sent_from_here(tmp_path: Path) -> None:
    service = noon.service()
    sent = request_body(policy={"data_classes": ["sandbox"], "budget": {"max_cost_usd": 0.5, "max_runtime_s": 90}})
    async with console(service, tmp_path, size=SIZE) as driven:
        body = encode_body(sent)
        await driven.session.watch_list.add(driven.session.scope, [noon.TEST], source="submitted", request=body)
        await driven.reaches("41e0", "2", "1")
        await driven.select(noon.TEST)
        await driven.press("greater_than_sign", "A")
        await form(driven)
        await driven.shows("New run like 41e0…c2d4")
        assert "Not known" not in driven.text
        assert value(driven, "objective") == sent["task"]["objective"]
        assert value(driven, "max_cost_usd") == "0.5"
        await submit(driven)
        (heard,) = service.requests("POST", "/v1/executions")
        assert loads(heard.body) == sent
        screen = driven.app.screen
        assert isinstance(screen, RunsScreen)
        assert screen.run_detail.tab == "events"


async def test_what_is_not_known_of_the_earlier_run_is_said_and_nothing_of_it_is_invented(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.select(noon.LIVE)
        await driven.press("enter")
        await driven.until(lambda: isinstance(driven.focused, EventLog), "the tail to have the focus")
        await driven.press("A")
        await form(driven)
        await driven.shows("Not known of the earlier run: objective, output check,")
        assert value(driven, "mode") == "live"
        assert value(driven, "data_classes") == "public, tenant_internal"
        assert value(driven, "objective") == value(driven, "verifier_id") == value(driven, "arm_id") == ""
        await driven.opens(RunsScreen, "escape")


@pytest.mark.exhaustive
async def test_the_menu_and_the_palette_offer_it(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("full_stop")
        await driven.click_text("Run it again", times=2)
        await form(driven)
        await driven.opens(RunsScreen, "escape")
        await driven.press("colon")
        await driven.type("again")
        await driven.shows("view: again")
        await driven.press("enter")
        await form(driven)


@pytest.mark.exhaustive
async def test_the_settings_give_it_another_key(tmp_path: Path) -> None:
    settings = '[keys]\n"screen.again" = "x"\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=settings) as driven:
        await driven.press("full_stop")
        await driven.until(lambda: len(driven.app.screen.query(Menu)) == 1, "the menu")
        assert re.search(r"Run it again +x", driven.text)
        await driven.press("escape", "A")
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.press("x")
        await form(driven)


@pytest.mark.exhaustive
async def test_a_read_only_profile_does_not_offer_it_in_the_menu(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="read_only = true\n") as driven:
        await driven.reaches(re.compile("Run it again +off: this profile is read-only"), "full_stop")


async def test_without_a_run_there_is_nothing_to_start_again(tmp_path: Path) -> None:
    async with console(noon.service(runs=[]), tmp_path, size=SIZE) as driven:
        await driven.reaches("No run to start again.", "A")
        assert isinstance(driven.app.screen, RunsScreen)


# What was typed.


@pytest.mark.parametrize("keys", [["2", "1"], ["question_mark", "2", "1"], ["q"], ["escape"]], ids=" ".join)
async def test_what_was_typed_is_kept_on_every_way_out(tmp_path: Path, keys: list[str]) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("Half a thou")
        driven.app.screen.query_one("#leave").focus()
        await driven.opens(RunsScreen, *keys)
        await driven.press("plus")
        await form(driven)
        assert value(driven, "objective") == "Half a thou"


@pytest.mark.exhaustive
async def test_the_help_comes_and_goes_over_the_form(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("Half")
        driven.app.screen.query_one("#leave").focus()
        await driven.press("question_mark")
        assert isinstance(driven.app.screen, HelpScreen)
        await driven.press("escape")
        await form(driven)
        assert value(driven, "objective") == "Half"


@pytest.mark.exhaustive
async def test_after_a_submit_the_form_begins_anew(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("Say hello.")
        driven.app.screen.query_one("#field-max_cost_usd", LineInput).value = "0.7"
        await submit(driven)
        await driven.until(lambda: driven.table.cursor_key == "ex_scripted_10", "the cursor to stand on the new run")
        await driven.until(lambda: facts(driven).request is not None, "what was sent for it")
        await driven.reaches("New run like ex_…d_10", "A")
        assert value(driven, "objective") == "Say hello."
        await driven.press("escape", "plus")
        await form(driven)
        assert value(driven, "objective") == ""
        assert value(driven, "max_cost_usd") == "0.10"


@pytest.mark.exhaustive
async def test_a_look_at_an_earlier_run_in_the_form_leaves_what_was_typed(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("Mine.")
        await driven.opens(RunsScreen, "escape")
        await driven.reaches("New run like", "A")
        await driven.opens(RunsScreen, "escape")
        await driven.press("plus")
        await form(driven)
        assert value(driven, "objective") == "Mine."


async def test_what_was_typed_for_a_run_like_another_comes_back_for_that_run_alone(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.select(noon.LIVE)
        await driven.press("A")
        await form(driven)
        await driven.type("Mine.")
        await driven.opens(RunsScreen, "escape")
        await driven.press("plus")
        await form(driven)
        assert (value(driven, "objective"), value(driven, "mode")) == ("", "echo")
        assert "Kept from before" not in driven.text
        await driven.opens(RunsScreen, "escape")
        await driven.reaches("Kept from before", "A")
        assert "New run like 8f21…9b7e" in driven.text
        assert value(driven, "objective") == "Mine."
