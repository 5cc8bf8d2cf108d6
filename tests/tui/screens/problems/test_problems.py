"""Problems are found by any part of their id or by a whole mail, and quoted with one key."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from textual import events

from runwatch.api.calls import RequestAttempt
from runwatch.api.errors import ApiProblem
from runwatch.records.problem import Problem
from runwatch.settings.view_state import ViewState
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.tui.flows.runs.run_form import RunFormScreen
from runwatch.tui.screens.problems.problems import ProblemsScreen
from runwatch.tui.screens.problems.requests import RequestsScreen
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from tests.support.builders import account, problem, validation_problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import KEY, NARROW, Driven, console
from tests.tui.samples import NOON

INSTANCE = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
OTHER = "7c1e0d52-3b9a-4a55-8f00-1d2c3b4a5f69"
REFUSED = "e5a90c1d-77aa-4be1-8c43-90cc1f000042"


def service() -> ScriptedService:
    return ScriptedService(account=account())


def met(driven: Driven, problem: Problem, *, operation: str = "getExecutions", minutes: float = 0) -> None:
    """Have the console meet a problem, this many minutes ago."""
    submit = operation == "postExecutions"
    driven.session.journal.note(
        RequestAttempt(
            at=NOON - timedelta(minutes=minutes), operation=operation, method="POST" if submit else "GET",
            # A missing list is not a problem.
            path="/v1/executions/ex_1" if problem.status == 404 else "/v1/executions", query="",
            status=problem.status, elapsed_s=0.1, attempt=1,
            key="7c1e0d52-k" if submit else None, sent_bytes=0, received_bytes=0, error=None, problem=problem,
            profile="local", origin="http://127.0.0.1:1",
        )
    )  # fmt: skip


async def three(driven: Driven) -> None:
    """Meet three problems and go to them."""
    met(driven, problem("not_found", instance=INSTANCE), minutes=3)
    met(driven, problem("rate_limited", instance=OTHER), minutes=2)
    refused = validation_problem(policy__budget__max_cost_usd="Must be greater than 0.")
    met(driven, Problem({**refused.raw, "instance": REFUSED}), operation="postExecutions", minutes=1)
    await driven.reaches("Problems   3", "0")


async def paste(driven: Driven, text: str) -> None:
    driven.app.post_message(events.Paste(text))
    await driven.pilot.pause()


async def test_the_instance_is_first_and_a_submit_says_what_it_did(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=(200, 50)) as driven:
        await three(driven)
        panel = driven.app.screen.query_one(ProblemPanel)
        rows = [row.partition("┃│")[2].strip("│ ") for row in driven.lines if "┃│" in row]
        assert next(row for row in rows if row) == f"instance   {REFUSED}"
        assert "Nothing was accepted or charged." in driven.text
        assert "policy.budget.max_cost_usd" in driven.text
        await driven.press("down")
        await driven.until(lambda: panel.entry is not None and panel.entry.instance == OTHER, "the panel to follow")
        assert "effect" not in driven.text


@pytest.mark.parametrize(
    "part", ["0b1f6c", "1E-8A34", "8a344f0e", "c5c7e11", INSTANCE], ids=["begin", "capitals", "no dash", "end", "whole"]
)
async def test_six_characters_at_any_place_find_a_problem(tmp_path: Path, part: str) -> None:
    async with console(service(), tmp_path) as driven:
        await three(driven)
        await driven.press("slash")
        await driven.type(part)
        await driven.shows("1 found by its id", "Problems   1 ")
        assert INSTANCE in driven.text
        await driven.press("enter")
        assert driven.focused is driven.table
        assert "1 found by its id" in driven.lines[1]
        await driven.reaches("Problems   3", "escape")
        assert isinstance(driven.app.screen, ProblemsScreen)


MAIL = f'Hello,\nmy run was refused ( | "strange\nProblem: {INSTANCE.upper()}.\nBest regards, Ada\n'


async def test_a_mail_pasted_into_the_list_finds_what_it_names_and_a_text_without_an_id_says_so(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await three(driven)
        await paste(driven, MAIL)
        await driven.shows("Problems   1 ")
        assert INSTANCE in driven.text
        await paste(driven, "no id here\nat all")
        await driven.shows("has no id")
        assert "Problems   1 " in driven.text, "what was found stays"
        await driven.reaches("Problems   3", "escape")
        await driven.press("slash")
        await driven.type("ffffff")
        await driven.shows("0 found by its id", "No problem seen on this machine has an id")
        await driven.reaches("Problems   3", "escape")
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_nowhere")
        await driven.shows("Problems   4")


async def test_a_mail_pasted_into_the_filter_finds_what_it_names(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await three(driven)
        await driven.press("slash")
        await paste(driven, MAIL)
        await driven.shows("1 found by its id")
        assert "Hello, my run was refused" in driven.lines[-2]
        await driven.reaches("Problems   1 ", "enter")
        assert INSTANCE[-4:] in driven.text


@pytest.mark.exhaustive
async def test_problems_older_than_those_listed_are_found_too(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        met(driven, problem("not_found", instance=INSTANCE), minutes=900)
        for number in range(520):
            met(driven, problem("not_found"), minutes=800 - number)
        await driven.reaches("Problems   500 so far", "0")
        assert INSTANCE not in driven.text
        await driven.press("slash")
        await driven.type("8a34-4f0e")
        await driven.shows("1 found by its id")
        assert INSTANCE in driven.text


async def test_a_view_at_a_problem_older_than_those_listed_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runwatch.tui.sources.journal_source.MAX_JOURNAL_ROWS", 1)
    async with console(service(), tmp_path) as driven:
        met(driven, problem("not_found", instance=INSTANCE), minutes=2)
        met(driven, problem("rate_limited", instance=OTHER), minutes=1)
        await driven.app.go_to_view(ViewState("problems", selected=INSTANCE, is_open=True))
        await driven.shows("1 found by its id", "Problems › not_found")


@pytest.mark.exhaustive
async def test_a_filter_is_still_a_filter(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await three(driven)
        await driven.press("slash")
        await driven.type("is:submit")
        await driven.shows("1/3")
        await driven.reaches("/ find  esc clear filter", "enter")
        await driven.reaches("Problems   3", "escape")
        await driven.press("slash")
        await driven.type("instance:0b1f6c1e")
        await driven.shows("1/3")
        await driven.reaches("Problems   3", "escape")
        await driven.press("slash")
        await driven.type("greater than")
        await driven.shows("1/3")


async def test_the_instance_and_the_support_block_are_copied_and_the_route_is_named(tmp_path: Path) -> None:
    settings = 'clipboard = "osc52"\n'
    async with console(service(), tmp_path, settings=settings) as driven:
        written: list[str] = []
        driven.app._write_to_terminal = written.append  # type: ignore[method-assign, assignment]
        await three(driven)
        await driven.reaches(f"Copied {REFUSED} · instance by OSC 52", "y")
        await driven.reaches("Copied support block by OSC 52", "Y")
        assert len(written) == 2


@pytest.mark.exhaustive
async def test_the_menu_of_a_problem_says_what_its_keys_do_here(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await three(driven)
        await driven.reaches("Actions", "full_stop")
        await driven.shows("Copy the support block of this problem.", "Export a bundle about this problem")
        await driven.hides("Choose what to copy.")


async def test_an_answer_without_an_instance_says_that_there_is_none_to_copy(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        met(driven, Problem({"title": "The answer did not come from the API", "status": 502}))
        await driven.reaches("Problems   1 ", "0")
        await driven.reaches("No instance", "y")


async def test_v_shows_the_json_and_enter_does_a_next_step_that_the_console_can_do(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await three(driven)
        await driven.press("v")
        assert '"instance"' in driven.text
        await driven.press("v")
        assert '"instance"' not in driven.text
        await driven.press("down", "down", "enter")
        await driven.pilot.pause()
        assert "next step" not in driven.lines[-1]
        await driven.press("enter")
        assert isinstance(driven.app.screen, ProblemsScreen)
        assert "This line opens nothing." in driven.lines[-1]
        await driven.reaches("enter goes to the first", "escape", "g")
        await driven.press("enter")
        await driven.pilot.pause()
        await driven.opens(RunFormScreen, "enter")
        await driven.until(lambda: driven.focused is not None, "a field to have the focus")
        assert driven.focused is not None
        assert driven.focused.id == "field-max_cost_usd"


async def test_a_refused_action_is_in_the_journal_as_soon_as_the_dialog_says_so(tmp_path: Path) -> None:
    told = service()
    told.say("POST", "/v1/executions", Said(402, problem("insufficient_credit", instance=INSTANCE)))
    async with console(told, tmp_path) as driven:
        request = WriteRequest("postExecutions", {}, b"{}", "k-1")
        with pytest.raises(ApiProblem):
            await driven.session.send_write(request)
        with sqlite3.connect(tmp_path / "runwatch-data" / "console.db") as other:
            kept = other.execute("SELECT count(*) FROM problem WHERE instance = ?", (INSTANCE,)).fetchone()
        other.close()
        assert kept == (1,)


async def test_a_problem_leads_to_its_request_and_its_request_back_to_it(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_nowhere")
        await driven.shows("Problems   1 ", re.compile("request +GET /v1/executions/ex_nowhere"))
        await driven.press("enter")
        await driven.pilot.pause()
        assert driven.text.count("request    GET /v1/executions/ex_nowhere") == 1
        await driven.opens(RequestsScreen, "down", "enter")
        await driven.shows("received_bytes", "/v1/executions/ex_nowhere")
        await driven.until(lambda: driven.focused is not driven.table, "the request to be open")
        await driven.opens(ProblemsScreen, "G", "up", "enter")
        await driven.shows("Problems   1 ")


@pytest.mark.exhaustive
async def test_a_problem_leads_to_the_run_that_its_path_names(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        assert not re.search("run +ex_", driven.text), "a submit names no run yet"
        await driven.press("up")
        driven.session.journal.note(
            RequestAttempt(
                at=NOON, operation="getReceiptsByExecutionId", method="GET", path="/v1/receipts/ex_%C3%A4", query="",
                status=403, elapsed_s=0.1, attempt=1, key=None, sent_bytes=0, received_bytes=0, error=None,
                problem=problem("permission_denied"), profile="local", origin="http://127.0.0.1:1",
            )
        )  # fmt: skip
        await driven.reaches("permission_denied", "r")
        await driven.reaches(re.compile("run +ex_ä"), "g")


async def test_the_support_bundle_is_one_key_and_enter_away_and_holds_no_key(tmp_path: Path) -> None:
    page = "https://service.example/connect/source?intent=canary-intent-0123456789"
    async with console(service(), tmp_path, open_at="problems") as driven:
        met(driven, problem("not_found", instance=INSTANCE, detail=f"Open {page} and use {KEY}."))
        await driven.reaches("Problems   1 ", "r")
        await driven.reaches("support bundle", "e")
        await driven.reaches("written: support bundle", "enter")
        file = tmp_path / "runwatch-data" / "exports" / "problem-0b1f6c1e-20261121T120431Z.json"
        text = file.read_text("ascii")
        assert json.loads(text)["problem"]["instance"] == INSTANCE
        assert json.loads(text)["requests"][0]["path"] == "/v1/executions/ex_1"
        assert "canary-intent" not in text
        assert KEY not in text
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
