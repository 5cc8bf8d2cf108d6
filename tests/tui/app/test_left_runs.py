"""Quitting names the runs that go on, on the terminal as it was before."""

from __future__ import annotations

from pathlib import Path

from runwatch.tui.app.left_runs import MAX_NAMED_RUNS
from tests.support.builders import run
from tests.support.scripted import ScriptedService, running_service
from tests.tui import noon
from tests.tui.console import KEY, console
from tests.tui.on_terminal import opened

SETTINGS = '[profiles.work]\nbase_url = "{base_url}"\nkey_command = "echo rk_test"\n'


async def test_watched_runs_that_are_live_are_named_with_the_command_that_follows_them(tmp_path: Path) -> None:
    others = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
    async with console(noon.service(), tmp_path, settings=SETTINGS, environment=others) as driven:
        await driven.shows("8f21")
        await driven.session.watch_list.add(driven.session.scope, [noon.DONE, noon.LIVE, "ex_unknown"])
    assert driven.app.left_runs == (
        f"1 run of yours goes on at {driven.service.base_url}:\n"
        f"  {noon.LIVE}\n"
        f"Follow: runwatch runs watch --profile work {noon.LIVE}\n"
    )


async def test_a_few_runs_are_named_and_the_others_counted(tmp_path: Path) -> None:
    ids = [f"ex_{number}" for number in range(MAX_NAMED_RUNS + 2)]
    async with console(ScriptedService(runs=[run(each, "running") for each in ids]), tmp_path) as driven:
        await driven.shows("ex_1")
        await driven.session.watch_list.add(driven.session.scope, ids)
    assert driven.app.left_runs.startswith(f"{len(ids)} runs of yours go on")
    assert "  and 2 more\n" in driven.app.left_runs


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
