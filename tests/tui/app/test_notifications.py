"""The bell rings for awaited runs and for errors, and only if the settings say so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from runwatch.base.clock import format_iso
from runwatch.store.repositories.pins import Pin, PinTarget
from runwatch.tui.app.console_app import ConsoleApp
from runwatch.tui.app.notifications import ended_runs_text
from runwatch.tui.screens.settings.settings import SettingsScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText
from tests.support.builders import run
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE = (120, 36)
ON = "bell = true\n"


class Ringing(ConsoleApp):
    """A console that counts in place of ringing."""

    rung = 0

    def __init__(self, *values: Any, **more: Any) -> None:
        super().__init__(*values, **more)
        self.told: list[str] = []

    async def notify_desktop(self, make_text: Callable[[], Awaitable[SafeText]]) -> None:
        if not self.app_focus:
            self.told.append(await make_text())

    def bell(self) -> None:
        self.rung += 1


def rung(driven: Driven) -> int:
    """How often the bell rang."""
    assert isinstance(driven.app, Ringing)
    return driven.app.rung


async def end(driven: Driven, run_id: str, status: str) -> None:
    """Have a run end, and let the console learn of it."""
    next(run for run in driven.service.runs if run["execution_id"] == run_id)["status"] = status
    await driven.pass_time(16)
    known = driven.app.store.get(driven.session.scope.profile, "run", run_id)
    assert known is not None
    assert known.record.raw["status"] == status
    # What rings has to look at the disk first.
    await driven.until(lambda: not any(work.group == "bell" for work in driven.app.workers), "the bell to be decided")


async def follow(driven: Driven, run_id: str) -> None:
    """Put the cursor on a run, and wait until it is followed."""
    await driven.select(run_id)
    await driven.until(lambda: driven.session.live.tails.follows(run_id), "the run to be followed")


@pytest.mark.parametrize("status", ["failed", "expired"])
async def test_it_rings_once_when_the_followed_run_ends_badly(tmp_path: Path, status: str) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=ON, app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        assert rung(driven) == 0, "runs that had failed before are no news"
        await end(driven, noon.LIVE, status)
        assert rung(driven) == 1
        await driven.pass_time(30)
        assert rung(driven) == 1


@pytest.mark.parametrize(
    ("run_id", "status"),
    [(noon.LIVE, "completed"), (noon.LIVE, "cancelled"), (noon.LIVE, "paused"), (noon.HOVERING, "failed")],
)
async def test_a_run_that_ends_well_or_goes_on_or_is_not_followed_is_quiet(
    tmp_path: Path, run_id: str, status: str
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=ON, app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        await end(driven, run_id, status)
        assert rung(driven) == 0


@pytest.mark.exhaustive
async def test_a_run_of_the_watch_list_rings_wherever_the_cursor_is(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=ON, app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        await driven.session.watch_list.add(driven.session.scope, [noon.HOVERING])
        await driven.press("2")
        await end(driven, noon.HOVERING, "expired")
        assert rung(driven) == 1


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that is said in the last line, which shows it for some seconds only."""
    told: list[str] = []
    say = ConsoleScreen.notify_user

    def note(screen: ConsoleScreen, notice: str, role: str = Role.PLAIN) -> None:
        told.append(notice)
        say(screen, notice, role)

    monkeypatch.setattr(ConsoleScreen, "notify_user", note)
    return told


@pytest.mark.parametrize(
    ("status", "sign"), [("completed", "✓"), ("failed", "✗"), ("expired", "◷"), ("cancelled", "⊘")]
)
async def test_a_notice_tells_of_every_end_that_the_user_waits_for(
    tmp_path: Path, said: list[str], status: str, sign: str
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="notice = true\n", app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        await end(driven, noon.LIVE, status)
        assert said == [f"run 8f21…9b7e has ended: {sign} {status}"]
        assert rung(driven) == 0, "the bell has a setting of its own"


@pytest.mark.exhaustive
async def test_notice_and_bell_together_ring_once_and_not_for_the_runs_of_others(
    tmp_path: Path, said: list[str]
) -> None:
    settings = f"notice = true\n{ON}"
    async with console(noon.service(), tmp_path, size=SIZE, settings=settings, app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        await end(driven, noon.HOVERING, "failed")
        assert said == []
        await end(driven, noon.LIVE, "failed")
        assert len(said) == 1
        assert rung(driven) == 1


async def test_the_desktop_is_told_while_the_window_has_no_focus(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, app_class=Ringing) as driven:
        assert isinstance(driven.app, Ringing)
        await follow(driven, noon.LIVE)
        driven.app.post_message(events.AppBlur())
        await driven.until(lambda: not driven.app.app_focus, "the window to lose the focus")
        await end(driven, noon.LIVE, "completed")
        assert driven.app.told == ["run 8f21…9b7e has ended: ✓ completed"]
        assert rung(driven) == 0


async def test_an_end_that_another_console_has_told_is_not_told_again(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, app_class=Ringing) as driven:
        assert isinstance(driven.app, Ringing)
        await follow(driven, noon.LIVE)
        assert await driven.session.notes.claim_notices(driven.session.scope, [noon.LIVE])
        driven.app.post_message(events.AppBlur())
        await driven.until(lambda: not driven.app.app_focus, "the window to lose the focus")
        await end(driven, noon.LIVE, "completed")
        assert driven.app.told == [""]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("label", "name"), [("nightly", "nightly"), ("", "the big one")])
async def test_a_notice_calls_a_run_by_its_label_or_the_name_of_its_pin(
    tmp_path: Path, said: list[str], label: str, name: str
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="notice = true\n", app_class=Ringing) as driven:
        session = driven.session
        await session.notes.write(session.scope, "run", noon.LIVE, "label", label)
        pin = Pin(PinTarget("record", "runs", (noon.LIVE,)), "the big one")
        await driven.app.open_pins().change(lambda pins: [*pins, pin])
        await end(driven, noon.LIVE, "completed")
        assert said == [f"run {name} has ended: ✓ completed"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_own", [True, False])
async def test_a_run_that_a_shell_submits_is_told_of_though_it_ends_between_two_reads(
    tmp_path: Path, said: list[str], is_own: bool
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="notice = true\n", app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        short = run("ex_short", "completed", created_at=format_iso(driven.app.clock.now()))
        if is_own:
            await driven.session.watch_list.add(driven.session.scope, [short.id], source="submitted")
        driven.service.runs.insert(0, dict(short.raw))
        await end(driven, short.id, "completed")
        assert said == (["run ex_short has ended: ✓ completed"] if is_own else [])
        await driven.pass_time(30)
        assert len(said) == is_own


def test_several_ends_are_one_notice() -> None:
    ended = [run("ex_1", "completed"), run("ex_2", "failed"), run("ex_3", "completed")]
    assert ended_runs_text(ended) == "3 runs have ended: 2 ✓ completed, 1 ✗ failed · ex_1, ex_2, ex_3"
    names = {"ex_2": "the \x1b[31mnightly run"}
    more = [*ended, run("ex_4", "failed"), run("ex_5", "failed")]
    assert ended_runs_text(more, names=names).endswith("3 ✗ failed · ex_1, the ␛[31mnightly run, ex_3 and 2 more")
    assert ended_runs_text([ended[1]], names=names) == "run the ␛[31mnightly run has ended: ✗ failed"
    assert ended_runs_text([run("ex_2", "failed", reason="x")]) == "run ex_2 has ended: ✗ failed · x"
    assert ended_runs_text([run("ex_2", "cancelled", reason="cancelled")]) == "run ex_2 has ended: ⊘ cancelled"


async def test_an_error_that_is_reported_rings_and_a_warning_does_not(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=ON, app_class=Ringing) as driven:
        screen = driven.app.console_screen
        screen.notify_user("just so")
        screen.notify_user("careful", Role.WARN)
        assert rung(driven) == 0
        screen.notify_user("it went wrong", Role.BAD)
        assert rung(driven) == 1


@pytest.mark.exhaustive
async def test_without_the_setting_nothing_rings(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, app_class=Ringing) as driven:
        await follow(driven, noon.LIVE)
        driven.app.console_screen.notify_user("it went wrong", Role.BAD)
        await end(driven, noon.LIVE, "failed")
        assert rung(driven) == 0


@pytest.mark.exhaustive
async def test_the_setting_holds_at_once(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, app_class=Ringing) as driven:
        await driven.opens(SettingsScreen, "comma")
        await driven.shows("bell")
        (tmp_path / "settings.toml").write_text(ON)
        (tmp_path / "settings.toml").chmod(0o600)
        await driven.press("r")
        await driven.until(lambda: driven.app.settings.bell, "the setting to hold")
        driven.app.console_screen.notify_user("it went wrong", Role.BAD)
        assert rung(driven) == 1
