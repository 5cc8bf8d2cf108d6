"""Switching to another profile inside the console: by name, in a menu, away from a dead host, and in the same place."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.tui.app.header_info import build_header_info
from runwatch.tui.app.profile_menu import describe_profile
from runwatch.tui.screens.templates.templates import TemplatesScreen
from tests.support import resources
from tests.support.builders import run
from tests.support.scripted import ScriptedService
from tests.tui.console import Driven, console
from tests.tui.several import both, command, offering


def work_service() -> ScriptedService:
    return offering(resources.template(), runs=[run("ex_work")])


def home_service() -> ScriptedService:
    return offering(resources.template("pooled-open-model"), runs=[run("ex_home")])


async def come_home(driven: Driven) -> None:
    await driven.until(lambda: driven.app.profile_name == "home", "the profile home")
    await driven.shows("Switched to profile home")


async def test_a_profile_is_switched_to_by_its_name_and_the_view_stays(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        await command(driven, "filter has:template")
        await driven.press("S")
        await command(driven, "profile home")
        await come_home(driven)
        await driven.comes("pooled-open-model")
        screen = driven.app.screen
        assert isinstance(screen, TemplatesScreen)
        assert screen.filter_text == "has:template"
        assert "sort template ▼" in driven.text
        assert driven.text.startswith(" home")
        await command(driven, "profile work")
        await driven.comes("starter")
        assert driven.app.profile_name == "work"


async def test_a_profile_is_read_only_while_it_is_shown(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    async with both(tmp_path, work, home) as driven:

        async def heard_in_a_minute() -> tuple[int, int]:
            await driven.settle()
            before = len(work.heard), len(home.heard)
            await driven.pass_time(60)
            await driven.settle()
            return len(work.heard) - before[0], len(home.heard) - before[1]

        await command(driven, "profile home")
        await come_home(driven)
        left, shown = await heard_in_a_minute()
        assert (left, shown > 0) == (0, True)
        await command(driven, "across all")
        await driven.shows("starter", "pooled-open-model")
        assert min(await heard_in_a_minute()) > 0
        await command(driven, "across home")
        await driven.hides("starter")
        assert (await heard_in_a_minute())[0] == 0
        await command(driven, "runs")
        assert (await heard_in_a_minute())[0] == 0
        await command(driven, "profile work")
        await driven.shows("Switched to profile work")
        shown, left = await heard_in_a_minute()
        assert (shown > 0, left) == (True, 0)


async def test_the_menu_of_profiles_says_where_one_is_and_switches(tmp_path: Path) -> None:
    more = "production = true\nread_only = true\n"
    async with both(tmp_path, work_service(), home_service(), more=more) as driven:
        await driven.reaches("Switch to profile", "K")
        assert "off: you are here" in driven.text
        assert "PRODUCTION  read-only  http://" in driven.text
        await driven.press("down", "enter")
        await come_home(driven)
        assert driven.lines[0].startswith(" home  PRODUCTION  READ-ONLY")


async def test_a_profile_that_another_shell_adds_is_there(tmp_path: Path) -> None:
    async with console(home_service(), tmp_path) as driven:
        await driven.reaches("another profile   off: runwatch config set", "K")
        file = driven.app.launch.paths.settings_file
        file.write_text('[profiles.added]\nbase_url = "http://127.0.0.1:9"\n', "utf-8")
        await driven.press("escape")
        await driven.reaches(re.compile("added +http://127.0.0.1:9"), "K")


@pytest.mark.exhaustive
async def test_the_local_service_of_this_machine_is_switched_to_though_no_settings_name_it(tmp_path: Path) -> None:
    async with home_service() as local, console(work_service(), tmp_path) as driven:
        launch = driven.app.launch
        started: list[Path] = []

        def start_local(directory: Path) -> Any:
            started.append(directory)
            return SimpleNamespace(target=lambda: Target("local", local.base_url, Secret("rk_home"), "local service"))

        driven.app.launch = launch._replace(start_local=start_local)
        launch.paths.local_service_dir.mkdir(parents=True)
        await driven.reaches(re.compile("local +local service"), "K")
        await driven.press("down", "enter")
        await driven.shows("Switched to profile local")
        await driven.comes("ex_home")
        assert started == [launch.paths.local_service_dir]


def test_the_local_service_which_no_settings_name_says_what_it_is() -> None:
    console: Any = SimpleNamespace(
        loaded=SimpleNamespace(settings=SimpleNamespace(profiles={})), profiles=SimpleNamespace(failures={})
    )
    assert describe_profile(console, "local") == "local service"
    assert describe_profile(console, "environment") == ""


@pytest.mark.exhaustive
async def test_an_unknown_profile_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        await command(driven, "profile hmoe")
        await driven.shows("did you mean home?")
        assert driven.app.profile_name == "work"


async def test_a_console_whose_host_is_dead_is_switched_to_another_profile(tmp_path: Path) -> None:
    dead = 'default_profile = "dead"\n[profiles.dead]\nbase_url = "http://127.0.0.1:9"\nproduction = true\n'
    (tmp_path / "home.key").write_text("rk_home\n", "utf-8")
    home = home_service()
    async with home:
        settings = f'{dead}[profiles.home]\nbase_url = "{home.base_url}"\nkey_command = "cat {tmp_path}/home.key"\n'
        environment = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
        async with console(
            ScriptedService(), tmp_path, settings=settings, environment=environment, is_open=False
        ) as driven:
            await driven.shows("connecting")
            assert driven.lines[0].startswith(" dead  PRODUCTION")
            await command(driven, "profile home")
            await come_home(driven)
            await driven.comes("ex_home")
            await driven.pass_time(30.0)
            assert driven.app.profile_name == "home"
            assert driven.app.failure is None


async def test_production_is_a_word_at_every_width(tmp_path: Path) -> None:
    more = "production = true\n"
    async with both(tmp_path, work_service(), home_service(), size=(80, 24), more=more) as driven:
        await command(driven, "profile home")
        await come_home(driven)
        assert build_header_info(driven.app).is_production
        assert " PRODUCTION " in driven.lines[0]
        assert "read and write" in driven.lines[0]
