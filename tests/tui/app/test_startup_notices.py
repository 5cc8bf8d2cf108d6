"""The console says where it is when nothing is configured, and what is wrong with the settings, and gets out of it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from runwatch.base.errors import LocalServiceError
from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings.local_service import LocalService
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.app.startup_notices import WELCOME_S
from runwatch.tui.screens.runs.runs import RunsScreen
from tests.store.stub import exchange
from tests.support.builders import account
from tests.support.clock import FakeClock
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import KEY, Driven, console, drive
from tests.tui.samples import NOON

STARTS = "a local one is starting"
USED = "a local one is used"


def service() -> ScriptedService:
    return ScriptedService(account=account())


@asynccontextmanager
async def unconfigured(
    service: ScriptedService, home: Path, *, go: threading.Event | None = None, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Driven]:
    """A console with nothing configured, whose local service is a scripted one that starts when it may."""

    def start(directory: Path) -> LocalService:
        assert directory == home / "data" / "local-service"
        if go is not None:
            go.wait(20)
        return LocalService(service.base_url, Secret(KEY), 1, socket)

    async with service:
        socket = await service.listen_locally(home / "service")
        paths = Paths(home / "settings.toml", home / "data")
        launch = LaunchOptions(paths, {}, SettingOptions(), start_local=start)
        clock = FakeClock(NOON, manual=True)
        async with drive(ConsoleApp(launch, clock=clock), service, clock, size=size) as driven:
            yield driven
            if go is not None:
                go.set()


async def test_the_console_is_there_at_once_while_the_local_service_starts(tmp_path: Path) -> None:
    go = threading.Event()
    async with unconfigured(service(), tmp_path, go=go) as driven:
        await driven.shows(STARTS)
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.shows("starting the local service", ":settings", "RUNWATCH_BASE_URL")
        go.set()
        await driven.shows(USED, "No runs yet.", "+ starts a test run, a adds one by its id.")


async def test_the_first_key_ends_the_welcome_and_does_what_it_does(tmp_path: Path) -> None:
    async with unconfigured(service(), tmp_path) as driven:
        await driven.shows(USED)
        await driven.reaches("No problems recorded", "0")
        assert USED not in driven.text
        await driven.reaches("No runs yet.", "1")
        assert USED not in driven.text


async def test_a_key_pressed_while_the_service_starts_ends_the_welcome_for_good(tmp_path: Path) -> None:
    go = threading.Event()
    async with unconfigured(service(), tmp_path, go=go) as driven:
        await driven.shows(STARTS)
        await driven.press("j")
        await driven.hides(STARTS)
        go.set()
        await driven.shows("No runs yet.")
        assert USED not in driven.text


async def test_the_welcome_goes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert WELCOME_S == 10
    monkeypatch.setattr("runwatch.tui.app.startup_notices.WELCOME_S", 0.05)
    async with unconfigured(service(), tmp_path) as driven:
        await driven.until(lambda: driven.app.session is not None, "the desk to open")
        await driven.hides(USED)


async def test_at_80_columns_the_welcome_fits_and_leaves_the_list_its_room(tmp_path: Path) -> None:
    async with unconfigured(service(), tmp_path, size=(80, 24)) as driven:
        await driven.shows(USED)
        first = next(number for number, row in enumerate(driven.lines) if USED in row)
        assert first == 20, "three lines above the hints"
        assert "RUNWATCH_API_KEY in the environment." in driven.lines[22]


async def test_a_local_service_that_cannot_start_is_reported_with_what_to_do(tmp_path: Path) -> None:
    def fail(_: Path) -> LocalService:
        raise LocalServiceError("The local service did not start", detail="It has ended.", hint="Look at its log.")

    paths = Paths(tmp_path / "settings.toml", tmp_path / "data")
    clock = FakeClock(NOON, manual=True)
    app = ConsoleApp(LaunchOptions(paths, {}, SettingOptions(), start_local=fail), clock=clock)
    async with drive(app, ScriptedService(), clock) as driven:
        await driven.shows("The local service did not start", "Look at its log.")
        assert "not connected" in driven.lines[0]
        assert driven.app.is_running
        await driven.press("comma", "greater_than_sign")
        await driven.reaches("The local service did not start: It has ended. Look at its log.", "down", "T")
        assert "looking" not in driven.text


async def test_a_profile_whose_key_is_refused_is_named_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[profiles.dead]\nbase_url = "http://127.0.0.1:9"\n')
    file.chmod(0o600)
    options = SettingOptions(profile="dead")
    launch = LaunchOptions(Paths(file, tmp_path / "data"), {"RUNWATCH_API_KEY": "abc"}, options)
    app = ConsoleApp(launch, clock=FakeClock(NOON, manual=True))
    async with app.run_test(size=(120, 36)) as pilot:
        driven = Driven(app, pilot, ScriptedService(), app.clock)  # type: ignore[arg-type]
        await driven.shows("RUNWATCH_API_KEY is set without an address")
        assert driven.lines[0].startswith(" dead ")


async def test_a_configured_service_gets_no_welcome(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.shows("No runs yet.")
        assert "No service is configured" not in driven.text


async def test_what_is_wrong_with_the_settings_stays_until_esc(tmp_path: Path) -> None:
    settings = 'time = "sometimes"\nretrys = 3\n'
    async with console(service(), tmp_path, settings=settings) as driven:
        await driven.shows("settings.toml:1: 'time' must be one of")
        assert "'retrys' is not a setting; did you mean" in " ".join(driven.text.split())
        await driven.reaches("No problems recorded", "0")
        assert "'retrys'" in driven.text, "it goes with every screen"
        await driven.press("1", "enter", "escape")
        await driven.press("escape")
        await driven.hides("'retrys'")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "sign"), [("slash", "9/9"), ("colon", "Go to Runs"), ("Y", "━ Copy")])
async def test_esc_leaves_what_is_in_front_before_it_hides_what_is_wrong(tmp_path: Path, key: str, sign: str) -> None:
    async with console(noon.service(), tmp_path, settings="retrys = 3\n") as driven:
        await driven.shows("'retrys'", "0c42")
        await driven.reaches(sign, key)
        await driven.press("escape")
        await driven.hides(sign)
        assert driven.app.warnings
        await driven.press("escape")
        await driven.hides("'retrys'")


async def test_own_commands_with_mistakes_are_one_line(tmp_path: Path) -> None:
    settings = '[commands.a]\nrun = "echo"\nkey = "f 6"\n[commands.b]\nrun = ["x"]\ntimeout_s = 0\n'
    async with console(service(), tmp_path, size=(80, 24), settings=settings) as driven:
        await driven.shows("2 own commands are not used; 'runwatch config validate' says why")
        assert "commands.a" not in driven.text


async def test_many_warnings_are_counted(tmp_path: Path) -> None:
    settings = "".join(f"unknown_{number} = 1\n" for number in range(9))
    async with console(service(), tmp_path, settings=settings) as driven:
        await driven.shows("6 more, which 'runwatch config validate' lists; esc hides this", "unknown_2")
        assert "unknown_3" not in driven.text


async def test_an_id_that_the_service_does_not_know_is_reported_with_its_instance_and_what_to_do(
    tmp_path: Path,
) -> None:
    async with console(service(), tmp_path, open_at="runs/ex_nowhere") as driven:
        await driven.shows("ex_nowhere: There is no such resource", "instance ", "Check the id")
        assert driven.app.is_running


@pytest.mark.parametrize("name", ["problems", "requests", "arms"])
async def test_an_id_that_a_list_does_not_have_is_reported(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The journal has more than the list shows.
    monkeypatch.setattr("runwatch.tui.sources.journal_source.MAX_JOURNAL_ROWS", 0)
    told = service()
    told.say("GET", "/v1/arms", Said(200, {"arms": [], "next_cursor": None}))
    async with console(told, tmp_path, open_at=f"{name}/nowhere") as driven:
        await driven.shows("nowhere: not found")


@pytest.mark.parametrize(
    ("seconds", "said"), [(600, "10 min behind the service"), (-600, "10 min ahead of the service"), (20, None)]
)
async def test_a_clock_that_differs_from_the_service_is_said_once(
    tmp_path: Path, seconds: int, said: str | None
) -> None:
    service = noon.service()
    theirs = format_datetime(NOON + timedelta(seconds=seconds), usegmt=True)
    service.say("GET", "/v1/account", Said(200, account(), headers=(("Date", theirs),)))
    async with console(service, tmp_path) as driven:
        await driven.pass_time(3)
        warned = [text for text in driven.app.warnings if "clock" in text]
        assert len(warned) == (said is not None)
        assert said is None or said in warned[0]


async def test_a_response_that_comes_after_a_suspend_says_nothing_of_the_clock(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        sent_at = driven.clock.now()
        # A machine that sleeps counts no elapsed time.
        driven.clock.advance(7200)
        answered_at = driven.clock.now()
        driven.app.request_attempted(exchange(at=sent_at, elapsed_s=1.0, served_at=answered_at, origin="http://other"))
        assert not [text for text in driven.app.warnings if "clock" in text]
