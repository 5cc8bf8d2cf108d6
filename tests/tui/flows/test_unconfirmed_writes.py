"""A write without a response is reported, listed, retried or discarded, and settles itself where it can."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from runwatch.api.errors import ApiError
from runwatch.base.errors import DataError
from runwatch.store.repositories import outbox
from runwatch.store.repositories.outbox import UnconfirmedWrite, WriteRequest
from runwatch.tui.flows.runs.run_form import RunFormScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.shell.console_screen import AGE_REFRESH_S
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.menu import Menu
from runwatch.view.problems.explanations import OUTCOME_UNKNOWN
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE = (120, 36)
CANCEL = f"/v1/executions/{noon.LIVE}/cancel"
LOST = Said(503, problem("upstream_unavailable"))
TOLD = "Cancel a run: sent"


def service() -> ScriptedService:
    """A service that answers no cancel."""
    made = noon.service()
    made.say("POST", CANCEL, LOST)
    return made


async def kept(driven: Driven) -> list[UnconfirmedWrite]:
    return await driven.session.outbox.unconfirmed(driven.session.scope)


async def lose_a_cancel(driven: Driven) -> None:
    """Cancel a run, get no answer, and leave the dialog."""
    await driven.select(noon.LIVE)
    await driven.opens(ConfirmDialog, "X")
    await driven.press("tab", "enter")
    await driven.pass_time(5)
    await driven.shows("retries with the same key and body")
    await driven.opens(RunsScreen, "escape")


async def open_list(driven: Driven) -> None:
    """Show the kept writes."""
    await driven.press("O")
    await driven.until(lambda: len(driven.app.screen.query(Menu)) == 1, "the list of kept writes")


async def choose(driven: Driven, *keys: str) -> None:
    """Choose in the list, and wait for the dialog."""
    await driven.opens(ConfirmDialog, *keys, "enter")


async def test_a_retry_of_a_write_that_another_process_settled_sends_nothing(
    tmp_path: Path,
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        await open_list(driven)
        await choose(driven)
        for write in await kept(driven):
            await driven.session.outbox.discard(write)
        sent = len(driven.service.requests("POST", CANCEL))
        await driven.reaches("nothing was sent now: another console or command retried or discarded it", "tab", "enter")
        assert OUTCOME_UNKNOWN[:20] not in driven.text
        assert len(driven.service.requests("POST", CANCEL)) == sent


async def test_nothing_follows_a_retry_that_sent_nothing(tmp_path: Path) -> None:
    made = noon.service()
    made.say("POST", "/v1/account/top-up-intents", Said(503, problem("upstream_unavailable")))
    async with console(made, tmp_path, size=SIZE) as driven:
        lost = WriteRequest("postAccountTopUpIntents", {}, b'{"amount_usd":5}', "key", "")
        sending = asyncio.ensure_future(driven.session.send_write(lost))
        await driven.pass_time(5)
        with pytest.raises(ApiError):
            await sending
        await open_list(driven)
        await choose(driven)
        for write in await kept(driven):
            await driven.session.outbox.discard(write)
        await driven.reaches("nothing was sent now", "tab", "enter")
        await driven.opens(RunsScreen, "escape")


@pytest.mark.exhaustive
async def test_the_notice_of_a_write_goes_when_another_process_settles_it(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        await driven.shows(TOLD)
        for write in await kept(driven):
            await driven.session.outbox.discard(write)
        for _ in range(AGE_REFRESH_S):
            driven.app._second()
        await driven.hides(TOLD)


async def test_a_disk_that_fails_while_settled_writes_are_looked_for_is_not_said_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        tried: list[str] = []

        async def fail() -> list[UnconfirmedWrite]:
            tried.append("read")
            raise DataError("The disk fails")

        monkeypatch.setattr(driven.session, "unconfirmed_writes", fail)
        for _ in range(AGE_REFRESH_S):
            driven.app._second()
        await driven.until(lambda: bool(tried), "a read of the writes")
        await driven.pilot.pause()
        assert "The disk fails" not in driven.text
        assert TOLD in driven.text


async def test_writes_that_were_read_before_a_switch_are_not_those_of_the_new_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        session, is_switched = driven.session, asyncio.Event()
        await lose_a_cancel(driven)
        read = session.unconfirmed_writes

        async def read_slowly() -> list[UnconfirmedWrite]:
            found = await read()
            await is_switched.wait()
            return found

        monkeypatch.setattr(session, "unconfirmed_writes", read_slowly)
        driven.app.unconfirmed = ()
        reporting = asyncio.ensure_future(driven.app.report_unconfirmed_writes())
        await asyncio.sleep(0)
        driven.app.session = None
        is_switched.set()
        await reporting
        assert driven.app.unconfirmed == ()
        driven.app.session = session


async def test_an_unknown_outcome_stays_until_a_response_proves_what_happened(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        await driven.shows(
            re.compile(TOLD + r" at \d\d:\d\d:\d\d, outcome unknown; O or :outbox retries or discards it")
        )
        driven.service.say("POST", CANCEL, Said(401, problem("unauthenticated")))
        await open_list(driven)
        await choose(driven)
        await driven.reaches("outcome unknown:", "tab", "enter")
        await driven.reaches(TOLD, "escape")
        assert len(await kept(driven)) == 1
        driven.service.say("POST", CANCEL, Said(409, problem("invalid_state")))
        await open_list(driven)
        await choose(driven)
        await driven.reaches("the run has already ended", "tab", "enter")
        assert await kept(driven) == []
        await driven.press("enter")
        await driven.hides(TOLD)


@pytest.mark.exhaustive
async def test_the_next_session_tells_it_and_asks_again_with_the_same_key(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
    told.say("POST", CANCEL, Said(200, dict(noon.runs()[1].raw, status="cancelled")))
    async with console(told, tmp_path, size=SIZE) as driven:
        await driven.shows(TOLD)
        await open_list(driven)
        assert re.search(r"Retry: Cancel a run +0s ago · 8f21…9b7e", driven.text)
        assert "Discard: Cancel a run" in driven.text
        await choose(driven)
        assert "Retry it" in driven.text
        assert f"POST {CANCEL}" in driven.text
        assert driven.focused is not None
        assert driven.focused.id == "dialog-keep"
        await driven.reaches(re.compile("(Cancelled|Asked to cancel) run 8f21"), "tab", "enter")
        await driven.hides(TOLD)
        assert await kept(driven) == []
        sent = told.requests("POST", CANCEL)
        assert len(sent) == 4
        assert len({heard.head.header("idempotency-key") for heard in sent}) == 1
        await driven.press("enter")
        await driven.hides(TOLD)
        await driven.reaches("No unconfirmed writes.", "O")


async def test_a_submit_is_asked_again_with_its_bytes_and_leads_to_its_run(tmp_path: Path) -> None:
    service = noon.service()
    service.say("POST", "/v1/executions", LOST)
    async with console(service, tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await driven.type("Say hello.")
        await driven.review()
        await driven.press("tab", "enter")
        await driven.pass_time(5)
        await driven.shows("retries with the same key and body")
    service.runs.insert(0, dict(noon.runs()[0].raw, execution_id="ex_first"))
    service.say("POST", "/v1/executions", Said(200, service.runs[0]))
    async with console(service, tmp_path, size=SIZE) as driven:
        await driven.say("outbox")
        await driven.shows("Retry: Submit a run", "Say hello.")
        await choose(driven)
        assert '"objective": "Say hello."' in driven.text
        await driven.reaches("Started run ex_first", "tab", "enter")
        sent = service.requests("POST", "/v1/executions")
        assert len({(heard.body, heard.head.header("idempotency-key")) for heard in sent}) == 1
        (watched,) = await driven.session.watch_list.list(driven.session.scope)
        assert watched.run_id == "ex_first"
        await driven.press("enter")
        await driven.until(lambda: driven.table.cursor_key == "ex_first", "the cursor to stand on the run")


@pytest.mark.exhaustive
async def test_a_cancel_settles_itself_once_the_run_is_read_as_ended(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        await driven.shows(TOLD)
        driven.service.runs[1]["status"] = "completed"
        await driven.pass_time(16)
        await driven.reaches("No unconfirmed writes", "O")
        assert await kept(driven) == []
        await driven.hides(TOLD)
        assert len(driven.service.requests("POST")) == 3


@pytest.mark.exhaustive
async def test_a_kept_write_is_given_up_through_a_dialog_that_sends_nothing(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        before = len(driven.service.requests("POST"))
        await open_list(driven)
        await choose(driven, "down")
        assert "nothing is sent" in driven.text
        await driven.opens(RunsScreen, "enter")
        assert len(await kept(driven)) == 1
        await open_list(driven)
        await choose(driven, "down")
        await driven.reaches("forgotten here", "tab", "enter")
        assert await kept(driven) == []
        assert len(driven.service.requests("POST")) == before
        await driven.press("enter")
        await driven.hides(TOLD)


async def test_one_that_is_being_sent_is_not_discarded_and_an_old_one_is_not_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
        await open_list(driven)
        await choose(driven, "down")
        monkeypatch.setattr(driven.session.outbox, "_is_claimed", lambda number: True)
        await driven.reaches("This write is being sent right now", "tab", "enter")
        monkeypatch.undo()
        assert len(await kept(driven)) == 1
        await driven.press("escape")
        monkeypatch.setattr(outbox, "RETRY_WINDOW", timedelta(0))
        await open_list(driven)
        assert "off: too old: the service may have forgotten the key" in driven.text
        await driven.press("enter")
        assert isinstance(driven.app.screen, RunsScreen)
        await choose(driven, "down")


async def test_a_read_only_console_tells_it_and_sends_nothing(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path, size=SIZE) as driven:
        await lose_a_cancel(driven)
    async with console(told, tmp_path, size=SIZE, settings="read_only = true\n") as driven:
        await driven.shows(TOLD)
        await open_list(driven)
        assert "off: This profile is read-only" in driven.text


@pytest.mark.exhaustive
async def test_a_production_profile_wants_the_end_of_the_id_again(tmp_path: Path) -> None:
    settings = '[profiles.prod]\nbase_url = "{base_url}"\nproduction = true\n'
    unset = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
    async with console(service(), tmp_path, size=SIZE, settings=settings, environment=unset) as driven:
        await driven.select(noon.LIVE)
        await driven.opens(ConfirmDialog, "X")
        await driven.type(noon.LIVE[-6:])
        await driven.press("enter", "enter")
        await driven.pass_time(5)
        await driven.shows("retries with the same key and body")
        await driven.press("escape")
        await open_list(driven)
        await choose(driven)
        await driven.shows("type the last 6 characters of the id")
        await driven.type(noon.LIVE[-6:])
        await driven.press("enter")
        await driven.until(lambda: driven.app.screen.query_one("#dialog-confirm").has_focus, "the way to open")


@pytest.mark.exhaustive
async def test_several_kept_writes_are_reported_in_one_line(tmp_path: Path) -> None:
    told = service()
    told.say("POST", ".*/cancel", LOST)
    async with console(told, tmp_path, size=SIZE) as driven:
        await driven.opens(ConfirmDialog, "g", "space", "j", "space", "X")
        await driven.press("tab", "enter")
        await driven.pass_time(10)
        await driven.shows("2 unknown")
        await driven.reaches("2 writes, the oldest sent", "escape")
        await driven.shows("retries or discards them")
        await open_list(driven)
        assert driven.text.count("Retry: Cancel a run") == 2


async def lose_three_cancels(driven: Driven) -> None:
    await driven.opens(ConfirmDialog, "g", "space", "space", "space", "X")
    await driven.press("tab", "enter")
    await driven.pass_time(15)
    await driven.shows("3 unknown")
    await driven.reaches("3 writes, the oldest sent", "escape")


async def test_marked_writes_are_retried_together_each_with_its_own_key(tmp_path: Path) -> None:
    told = service()
    told.say("POST", ".*/cancel", LOST)
    async with console(told, tmp_path, size=SIZE) as driven:
        await lose_three_cancels(driven)
        before = {heard.head.path: heard.head.header("idempotency-key") for heard in told.requests("POST")}
        first, second, third = (write.request.path["execution_id"] for write in await kept(driven))
        told.say("POST", f".*/{first}/cancel", Said(200, dict(noon.runs()[1].raw, execution_id=first)))
        told.say("POST", f".*/{second}/cancel", Said(409, problem("idempotency_conflict")))
        await open_list(driven)
        await driven.shows("Retry all 3", "space marks")
        await driven.reaches("Retry the marked 1", "down", "down", "space")
        await driven.reaches("Retry the marked 2", "space")
        assert driven.text.count("■ Retry: Cancel a run") == 2
        await driven.reaches("Discard the marked 1", "up", "up", "space")
        await driven.reaches("Discard all 3", "up", "up", "up", "up", "space")
        told.heard.clear()
        await choose(driven, "g")
        await driven.shows("Retry 3 requests on", "each as it was sent, with its own key")
        await driven.press("tab", "enter")
        await driven.pass_time(5)
        await driven.shows("1 accepted, 1 refused, 1 unknown")
        sent = {heard.head.path: heard.head.header("idempotency-key") for heard in told.requests("POST")}
        assert sent == before
        await driven.opens(RunsScreen, "escape")
        assert [write.request.path["execution_id"] for write in await kept(driven)] == [third]


@pytest.mark.exhaustive
async def test_marked_writes_are_discarded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = service()
    told.say("POST", ".*/cancel", LOST)
    async with console(told, tmp_path, size=SIZE) as driven:
        await lose_three_cancels(driven)
        sent = len(told.requests("POST"))
        first, *others = await kept(driven)
        await open_list(driven)
        await choose(driven, "down")
        monkeypatch.setattr(driven.session.outbox, "_is_claimed", lambda number: number == first.id)
        await driven.reaches("2 forgotten here, 1 kept", "tab", "enter")
        assert driven.text.count("forgotten") == len(others) + 1
        assert "This write is being sent" in driven.text
        monkeypatch.undo()
        assert await kept(driven) == [first]
        assert len(told.requests("POST")) == sent


@pytest.mark.exhaustive
async def test_a_form_closes_with_an_unknown_outcome_and_the_next_one_warns_before_it_sends_anew(
    tmp_path: Path,
) -> None:
    service = noon.service()
    service.say("POST", "/v1/executions", LOST)
    async with console(service, tmp_path, size=SIZE) as driven:
        await driven.opens(RunFormScreen, "plus")
        await driven.type("Say hello.")
        await driven.review()
        assert "new request" not in driven.text
        await driven.press("tab", "enter")
        await driven.pass_time(5)
        await driven.shows("retries with the same key and body")
        await driven.opens(RunsScreen, "escape")
        await driven.shows("outcome unknown; O or :outbox retries or discards it")
        await driven.opens(RunFormScreen, "plus")
        warning = re.compile(r'Submit a run "Say hello\.", sent at \d\d:\d\d:\d\d:')
        await driven.shows(warning)
        assert "O or :outbox" not in driven.text, "here this key is text"
        await driven.review()
        await driven.shows(warning)
        await driven.opens(RunFormScreen, "escape")
        await driven.opens(RunsScreen, "escape")
        service.runs.insert(0, dict(noon.runs()[0].raw, execution_id="ex_first"))
        service.say("POST", "/v1/executions", Said(200, service.runs[0]))
        await open_list(driven)
        await choose(driven)
        assert "new request" not in driven.text
        await driven.opens(RunsScreen, "tab", "enter")
        assert not driven.app.run_drafts, "the draft is that of the run which is accepted"
        assert len({heard.head.header("idempotency-key") for heard in service.requests("POST", "/v1/executions")}) == 1
