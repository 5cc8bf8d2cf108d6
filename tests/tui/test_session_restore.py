"""The console begins where it was left, where the settings want that."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.console_packets import CONSOLE_DRIVER, VIEW_VARIABLE
from runwatch.settings.view_state import ViewState, load_view_state, save_view_state
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.screens.settings.settings import SettingsScreen
from tests.support.builders import run
from tests.support.scripted import ScriptedService
from tests.tui.console import NARROW, console

RESTORE = "restore = true\n"


def service() -> ScriptedService:
    """Runs of two states."""
    return ScriptedService(runs=[run("ex_one"), run("ex_two", "running"), run("ex_three", "running")])


def session_file(home: Path) -> Path:
    return home / "runwatch-data" / "session.toml"


async def test_screen_filter_order_row_and_open_record_come_back(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path, settings=RESTORE, size=NARROW) as driven:
        screen = driven.app.screen
        assert isinstance(screen, RunsScreen)
        screen.filter_by("is:live")
        await driven.press("s")
        await driven.until(lambda: screen.table.select("ex_two"), "the row")
        await driven.press("enter")
        await driven.until(lambda: screen.has_class("-opened"), "the run to be open")
        left = screen.view_state("runs")
        driven.app.exit()
    assert load_view_state(session_file(tmp_path)) == left
    assert left == ViewState("runs", filter="is:live", sort=left.sort, selected="ex_two", is_open=True)
    async with console(told, tmp_path, settings=RESTORE, size=NARROW) as driven:
        again = driven.app.screen
        assert isinstance(again, RunsScreen)
        await driven.until(lambda: again.view_state("runs") == left, "the view as it was left")


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_moved", [False, True])
async def test_newer_runs_are_in_sight_unless_the_user_had_moved_to_another_run(tmp_path: Path, is_moved: bool) -> None:
    before = [run(f"ex_old{n}", "completed", created_at=f"2026-11-20T09:{59 - n}:00Z") for n in range(2)]
    async with console(ScriptedService(runs=before), tmp_path, settings=RESTORE, size=NARROW) as driven:
        await driven.shows("ex_old1")
        if is_moved:
            await driven.press("down")
        driven.app.exit()
    runs = [*before, *(run(f"ex_new{n}", "completed", created_at=f"2026-11-20T10:{59 - n}:00Z") for n in range(40))]
    async with console(ScriptedService(runs=runs), tmp_path, settings=RESTORE, size=NARROW) as driven:
        if is_moved:
            await driven.shows("newer above · g")
            assert driven.table.cursor_key == "ex_old1"
            await driven.press("g")
        await driven.shows("live first, newest first")
        assert (driven.table.cursor_key, driven.table.rows_above) == ("ex_new0", 0)


async def test_without_the_setting_nothing_is_kept_and_nothing_restored(tmp_path: Path) -> None:
    save_view_state(session_file(tmp_path), ViewState("settings"))
    kept = session_file(tmp_path).read_bytes()
    async with console(service(), tmp_path) as driven:
        assert isinstance(driven.app.screen, RunsScreen)
        driven.app.exit()
    assert session_file(tmp_path).read_bytes() == kept


async def test_a_browser_tab_opens_where_it_was_whatever_the_setting_and_leaves_the_others_alone(
    tmp_path: Path,
) -> None:
    save_view_state(session_file(tmp_path), ViewState("settings"))
    kept, tab = session_file(tmp_path).read_bytes(), tmp_path / "tab.toml"
    here = {"TEXTUAL_DRIVER": CONSOLE_DRIVER, VIEW_VARIABLE: str(tab)}
    for settings in ("", RESTORE):
        async with console(service(), tmp_path, settings=settings, environment=here) as driven:
            screen = driven.app.screen
            assert isinstance(screen, RunsScreen)
            screen.filter_by("is:live")
            driven.app.exit()
        assert session_file(tmp_path).read_bytes() == kept
        async with console(service(), tmp_path, settings=settings, environment=here, open_at="settings") as driven:
            again = driven.app.screen
            assert isinstance(again, RunsScreen)
            assert again.view_state("runs").filter == "is:live"
            # A console that is killed leaves no view.
            assert not tab.exists()
            driven.app.exit()
        tab.unlink()


@pytest.mark.exhaustive
async def test_a_screen_that_is_asked_for_goes_first(tmp_path: Path) -> None:
    save_view_state(session_file(tmp_path), ViewState("runs", filter="is:live"))
    async with console(service(), tmp_path, settings=RESTORE, open_at="settings") as driven:
        assert isinstance(driven.app.screen, SettingsScreen)


async def test_a_broken_file_is_ignored_with_a_notice(tmp_path: Path) -> None:
    session_file(tmp_path).parent.mkdir()
    session_file(tmp_path).write_text("screen = ", "utf-8")
    async with console(service(), tmp_path, settings=RESTORE) as driven:
        assert isinstance(driven.app.screen, RunsScreen)
        assert "The last session is not restored" in driven.text
        driven.app.exit()
    assert load_view_state(session_file(tmp_path)) is not None


@pytest.mark.exhaustive
async def test_a_screen_that_has_gone_is_reported_and_the_runs_are_shown(tmp_path: Path) -> None:
    save_view_state(session_file(tmp_path), ViewState("nowhere"))
    async with console(service(), tmp_path, settings=RESTORE) as driven:
        assert isinstance(driven.app.screen, RunsScreen)
        assert "There is no screen named nowhere." in driven.text


async def test_a_stored_filter_that_cannot_be_read_is_told_once_and_kept_until_it_is_replaced(tmp_path: Path) -> None:
    for screen, filter, replacement in (("runs", "age<5", "is:live"), ("tail", "at<5", "progress")):
        save_view_state(session_file(tmp_path), ViewState(screen, filter=filter))
        for is_corrected in (False, True):
            async with console(service(), tmp_path, settings=RESTORE) as driven:
                await driven.shows(f"stored filter {filter} is not applied: {filter[:-1]} needs an age such as 10m")
                assert "filter " not in driven.lines[1], "nothing is hidden"
                if is_corrected:
                    await driven.press("slash")
                    assert filter in driven.text, "it is there to be corrected"
                    await driven.press("escape", "slash")
                    await driven.type(replacement)
                    await driven.press("enter")
                    await driven.settle()
                driven.app.exit()
            kept = load_view_state(session_file(tmp_path))
            assert kept is not None
            assert kept.filter == (replacement if is_corrected else filter)


async def test_what_was_typed_into_the_form_is_not_kept(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings=RESTORE) as driven:
        await driven.press("plus")
        await driven.until(lambda: type(driven.app.screen).__name__ == "RunFormScreen", "the form")
        await driven.type("xyzzy")
        assert "xyzzy" in driven.text
        driven.app.exit()
    assert load_view_state(session_file(tmp_path)) is not None
    assert all(b"xyzzy" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
