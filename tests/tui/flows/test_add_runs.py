"""Ids are found in any pasted text and added, each with its result."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from runwatch.base.text import is_clean
from runwatch.tui.flows.runs.add_runs import AddRunsDialog, add_to_watch_list, open_add_runs
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.inputs.button import TextButton
from tests.support.builders import echo_receipt, problem, run
from tests.support.hostile import ALL_AT_ONCE
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, Driven, console


@pytest.fixture
def service() -> ScriptedService:
    """A list with one run, a run that the list does not have, and one that cannot be read now."""
    service = ScriptedService(runs=[run("ex_live01", "running")])
    service.say("GET", "/v1/executions/ex_other02", Said(200, run("ex_other02", "completed")))
    service.say("GET", "/v1/executions/ex_denied03", Said(403, problem("permission_denied")))
    return service


async def paste(driven: Driven, text: str) -> None:
    driven.app.post_message(events.Paste(text))
    await driven.pilot.pause()
    await driven.pilot.pause()


async def added(driven: Driven) -> list[str]:
    return sorted(watched.run_id for watched in await driven.session.watch_list.list(driven.session.scope))


def focus(driven: Driven) -> str:
    return type(driven.focused).__name__


async def test_each_id_of_a_paste_says_what_came_of_it(service: ScriptedService, tmp_path: Path) -> None:
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.press("a")
        await paste(driven, "please look at ex_other02, ex_nothing99\nand ex_denied03")
        assert "Add 3 runs" in driven.text
        await driven.reaches("1 of 3 found", "tab", "tab", "enter")
        rows = [" ".join(row.strip("┃ ").split()) for row in driven.lines]
        assert "ex_other02 ✓ completed added" in rows
        assert "ex_nothing99 not found, not added" in rows
        assert any(row.startswith("ex_denied03 not added: ") for row in rows)
        assert await added(driven) == ["ex_other02"]
        await driven.press("enter")
        assert isinstance(driven.app.screen, RunsScreen)
        assert driven.table.cursor_key == "ex_other02"


async def test_when_every_id_is_found_it_closes_and_leads_to_the_first(
    service: ScriptedService, tmp_path: Path
) -> None:
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.press("a")
        await paste(driven, "ex_other02 ex_live01")
        await driven.reaches("2 runs added", "f2")
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.until(lambda: driven.table.cursor_key == "ex_other02", "the first run to be chosen")


async def test_the_window_takes_what_is_typed_and_pasted_but_no_key(service: ScriptedService, tmp_path: Path) -> None:
    async with console(service, tmp_path) as driven:
        await driven.press("a")
        assert driven.app.screen.query_one("#add", TextButton).disabled
        await driven.type("some words ")
        await driven.shows("no run id in this text")
        await driven.press("f9")
        assert driven.app.screen.query_one(TextArea).text == "some words "
        await driven.press("ctrl+u")
        await driven.type("x")
        assert not driven.app.screen.query_one("#add", TextButton).disabled
        await driven.press("escape")
        await driven.press("a")
        assert focus(driven) == "_Paste"
        await driven.type("ex_1")
        await driven.press("tab")
        assert focus(driven) == "TextButton"
        await driven.press("shift+tab")
        assert focus(driven) == "_Paste"
        await driven.press("escape")
        assert isinstance(driven.app.screen, RunsScreen)
        assert await added(driven) == []
        await driven.press("a")
        await paste(driven, f"\x1b[31mex_other02\x1b[0m {ALL_AT_ONCE.text}")
        text = driven.app.screen.query_one(TextArea).text
        assert text.startswith("ex_other02 ")
        assert is_clean(text)
        await driven.press("escape")
        await driven.press("a")
        assert "ctrl+e editor" in driven.text
        await driven.reaches("No editor is set. Set VISUAL or EDITOR to a command.", "ctrl+e")
        await driven.press("escape")
        await driven.press("colon")
        await paste(driven, "open sk-ant-api03-canary-5f1e7c2b9d40")
        await driven.reaches("(a key, not shown): not added: looks like a key of a model provider", "enter")
        assert "canary" not in driven.text
        outcome = await add_to_watch_list(driven.session, "sk-ant-api03-canary-5f1e7c2b9d40")
        assert outcome.text == "not added: looks like a key of a model provider"
        assert await added(driven) == []


async def test_an_id_is_kept_when_nobody_could_say_whether_it_is_there(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_live01", "running")])
    service.say("GET", "/v1/executions/ex_later04", Said(503, problem("internal", status=503)))
    async with console(service, tmp_path, settings="retries = 0\n") as driven:
        outcome = await add_to_watch_list(driven.session, "ex_later04")
        assert not outcome.is_found
        assert outcome.text.startswith("added, not read yet: ")
        assert await added(driven) == ["ex_later04"]


async def test_without_a_service_there_is_nothing_to_add_to(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path, is_open=False) as driven:
        driven.app.session = None
        open_add_runs(driven.app.console_screen)
        await driven.pilot.pause()
        assert not isinstance(driven.app.screen, AddRunsDialog)


@pytest.mark.exhaustive
async def test_receipts_of_added_runs_are_listed_by_a_service_without_a_list_of_them(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_done05", "completed")], receipts=[echo_receipt("ex_done05")])
    service.say("GET", "/v1/receipts", Said(404, problem("not_found")))
    async with console(service, tmp_path, open_at="receipts") as driven:
        await driven.shows("a adds ids")
        await driven.press("a")
        await driven.type("ex_done05")
        await driven.reaches("1 run added", "tab", "tab", "enter")
        await driven.comes("▸ ✓ completed  ex_done05")
