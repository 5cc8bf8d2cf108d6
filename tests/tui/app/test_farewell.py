"""Quitting names the runs that go on and the writes without an answer, on the terminal as it was before."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.api.errors import UnusableResponseError
from runwatch.api.operations import CANCEL
from runwatch.store.repositories.outbox import SendingWrite, WriteRequest
from runwatch.tui.app.farewell import MAX_NAMED_RUNS
from tests.support.builders import run
from tests.support.scripted import Said, ScriptedService, running_service
from tests.tui import noon
from tests.tui.console import KEY, console
from tests.tui.on_terminal import opened

SETTINGS = '[profiles.work]\nbase_url = "{base_url}"\nkey_command = "echo rk_test"\n'


async def test_watched_runs_that_are_live_are_named_with_the_command_that_follows_them(tmp_path: Path) -> None:
    others = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
    async with console(noon.service(), tmp_path, settings=SETTINGS, environment=others) as driven:
        await driven.shows("8f21")
        await driven.session.watch_list.add(driven.session.scope, [noon.DONE, noon.LIVE, "ex_unknown"])
    assert driven.app.farewell == (
        f"1 run of yours goes on at {driven.service.base_url}:\n"
        f"  {noon.LIVE}\n"
        f"Follow: runwatch runs watch --profile work {noon.LIVE}\n"
    )


async def test_a_few_runs_are_named_and_the_others_counted(tmp_path: Path) -> None:
    ids = [f"ex_{number}" for number in range(MAX_NAMED_RUNS + 2)]
    async with console(ScriptedService(runs=[run(each, "running") for each in ids]), tmp_path) as driven:
        await driven.shows("ex_1")
        await driven.session.watch_list.add(driven.session.scope, ids)
    assert driven.app.farewell.startswith(f"{len(ids)} runs of yours go on")
    assert "  and 2 more\n" in driven.app.farewell


async def test_writes_without_an_answer_are_counted_in_the_question_and_afterwards(tmp_path: Path) -> None:
    service = noon.service()
    service.say("POST", ".*/cancel", Said(200, b"{", content_type="application/json"))
    others = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
    async with console(service, tmp_path, settings=SETTINGS, environment=others, size=(120, 36)) as driven:
        await driven.shows("8f21")
        first, second = (WriteRequest(CANCEL, {"execution_id": noon.LIVE}, None, key) for key in ("one", "two"))
        with pytest.raises(UnusableResponseError):
            await driven.session.send_write(first)
        await driven.app.report_unconfirmed_writes()
        assert driven.session.sending == []
        driven.session.sending.append(SendingWrite(second, driven.clock.now()))
        left = "1 request is on its way; 2 are not sent yet; 1 request has an unknown outcome."
        more = [WriteRequest(CANCEL, {"execution_id": key}, None, key) for key in ("three", "four")]
        with driven.session.batch([second, *more]):
            await driven.reaches(f"ctrl+c again quits; {left}", "ctrl+c")
            await driven.reaches(f"q again quits; {left}", "q")
            await driven.press("j")
            await driven.hides("q again quits")
        driven.session.sending.clear()
        with pytest.raises(UnusableResponseError):
            await driven.session.send_write(second)
    assert driven.app.farewell == (
        "2 requests have an unknown outcome; O in the console retries them: runwatch --profile work\n"
    )


def test_they_are_reported_after_the_screen_is_left(tmp_path: Path) -> None:
    with running_service(noon.service(key=KEY)) as service, opened(tmp_path, service) as terminal:
        terminal.type("a", until="Add runs")
        terminal.paste(noon.LIVE)
        terminal.wait_for("Add 1 run")
        terminal.type("\t\t\r")
        terminal.wait_gone("Add 1 run")
        terminal.type(":quit\r")
        assert terminal.wait_exit() == 0
        assert not terminal.screen.is_alternate
        assert f"runwatch runs watch {noon.LIVE}" in terminal.screen.text
