"""Settings are changed in place, checked before they are written, and a profile's connection is tried for real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import Profile
from runwatch.settings.key_sources import store_key
from runwatch.settings.settings_file import load_settings_file
from runwatch.settings.theme_files import theme_directories, theme_names
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.screens.settings.settings import SettingsScreen
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from tests.support.builders import account, problem, run
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import KEY, WIDE, Driven, console

FILE = """# mine
theme = "runwatch-dark"  # the dark one

[profiles.work]
base_url = "https://api.example.com"
"""


def service() -> ScriptedService:
    return ScriptedService(runs=[run("ex_1")], account=account())


def text_of_file(home: Path) -> str:
    return (home / "settings.toml").read_text("utf-8")


async def go_to(driven: Driven, key: str) -> None:
    """Open the settings and put the cursor on a row."""
    if not isinstance(driven.app.screen, SettingsScreen):
        await driven.press("comma")
    screen = driven.app.screen
    assert isinstance(screen, SettingsScreen)
    await driven.until(lambda: screen.table.select(key), f"the row {key}")
    await driven.pilot.pause()


def focus(driven: Driven) -> str:
    return type(driven.focused).__name__


async def test_value_source_and_meaning_are_shown(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, settings=FILE) as driven:
        await go_to(driven, "theme")
        assert " ".join(next(row for row in driven.lines if "▸ theme" in row).strip("┃ ").split()) == (
            "▸ theme runwatch-dark file"
        )
        for text in ("The console's theme.", "settings.toml:2", "theme   --theme", "at once"):
            assert text in driven.text


@pytest.mark.exhaustive
async def test_a_theme_of_the_user_that_cannot_be_used_says_why_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "a-mine.toml").write_text('title = "Mine"\ndark = 7\n', "utf-8")
    async with console(service(), tmp_path, settings=FILE) as driven:
        await go_to(driven, "theme")
        screen = driven.app.screen
        assert isinstance(screen, SettingsScreen)
        await driven.until(lambda: all(screen.themes.values()), "the themes to be read")
        await driven.reaches("off: not usable", "enter", "home")
        assert driven.app.palette.name == "runwatch-dark"
        await driven.press("enter")
        assert text_of_file(tmp_path) == FILE


async def test_what_is_in_the_file_is_taken_out_after_a_question(tmp_path: Path) -> None:
    settings = f'{FILE}\n[filters]\nmine = "is:live"\n'
    async with console(service(), tmp_path, size=(80, 24), settings=settings) as driven:
        await go_to(driven, "filters.mine")
        await driven.shows("X remove")
        await driven.press("X", "enter")
        await driven.pilot.pause()
        assert "mine" in text_of_file(tmp_path)
        await driven.reaches("filters.mine removed from the file, holds at once", "X", "down", "enter")
        assert "mine =" not in text_of_file(tmp_path)
        await go_to(driven, "profiles.work.base_url")
        await driven.press("X", "down", "enter")
        # A notice that has no room leaves out when it holds.
        await driven.shows(re.compile(r"^ profiles.work.base_url removed from the file +: command", re.MULTILINE))
        assert ("screen.destroy", "remove") not in driven.app.screen.query_one(StatusBar)._hints
        await go_to(driven, "mouse")
        await driven.reaches("The file sets nothing here", "X")


async def test_what_does_not_fit_is_not_written_and_a_theme_is_tried_and_kept(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings=FILE) as driven:
        await go_to(driven, "+ filters")
        await driven.reaches(re.compile(r"NAME = FILTER\s+esc cancel"), "enter")
        assert "next part" not in driven.text
        await driven.type("mine=is:nothing")
        await driven.press("enter")
        assert focus(driven) == "LineInput"
        assert text_of_file(tmp_path) == FILE
        await driven.press("escape")
        await go_to(driven, "retries")
        await driven.press("enter", "backspace", "9", "9", "enter")
        assert "must be a whole number from 0 to 5" in driven.text
        assert focus(driven) == "LineInput"
        await driven.press("escape")
        assert text_of_file(tmp_path) == FILE
        await go_to(driven, "theme")
        await driven.press("enter")
        assert "Dark, high contrast" in driven.text
        seen = []
        for key in ("down", "down", "home"):
            await driven.press(key)
            seen.append(driven.app.palette.name)
        names = theme_names(theme_directories())
        dark = names.index("runwatch-dark")
        assert seen == [names[dark + 1], names[dark + 2], names[0]]
        await driven.press("escape")
        await driven.until(lambda: driven.app.palette.name == "runwatch-dark", "the theme as it was")
        assert text_of_file(tmp_path) == FILE
        assert driven.app.screen.query_one("#settings-table").has_focus
        await go_to(driven, "theme")
        await driven.reaches("theme written, holds at once", "enter", "down", "enter")
        assert driven.app.palette.name == "runwatch-light"
        assert text_of_file(tmp_path) == FILE.replace("runwatch-dark", "runwatch-light")
        driven.app.apply_theme("runwatch-contrast-dark")
        await go_to(driven, "theme")
        await driven.press("enter", "down", "escape")
        await driven.until(lambda: driven.app.palette.name == "runwatch-contrast-dark", "the theme as it was")


@pytest.mark.exhaustive
async def test_columns_of_a_list_hold_as_soon_as_it_is_opened_again(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await go_to(driven, "columns.runs")
        await driven.press("enter", "ctrl+u")
        await driven.type("stauts")
        await driven.press("enter")
        assert "did you mean status?" in driven.text
        await driven.press("ctrl+u")
        await driven.type("run status")
        await driven.reaches("columns.runs written, holds at once", "enter")
        assert load_settings_file(tmp_path / "settings.toml").settings.columns == {"runs": ["run", "status"]}
        await driven.opens(RunsScreen, "1")
        assert driven.table.column_ids == ("run", "status")


async def test_settings_are_found_and_changed_and_the_connection_is_tested(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await go_to(driven, "theme")
        screen = driven.app.screen
        assert isinstance(screen, SettingsScreen)
        await driven.press("slash")
        await driven.type("main id")
        await driven.shows(" found")
        await driven.press("enter")
        assert screen.row is not None
        assert not screen.row.is_heading
        assert screen.table.select("keys.screen.copy")
        assert not screen.table.select("theme")
        await driven.shows("find main id")
        await driven.press("escape")
        assert screen.table.select("theme")
        assert isinstance(driven.app.screen, SettingsScreen)
        await driven.until(lambda: "enter change" in driven.lines[-1] and "T test" not in driven.lines[-1], "its keys")
        seen = []
        for _ in range(5):
            await driven.press("greater_than_sign")
            seen.append(screen.table.cursor_key)
            if len(seen) == 1:
                assert "▸ Profiles" in driven.lines[4], "the heading is the first row"
        assert seen == ["part Profiles", "part Named filters", "part Columns", "part Keys", "part Keys"]
        await driven.press("less_than_sign", "less_than_sign")
        assert screen.table.cursor_key == "part Named filters"
        await go_to(driven, "glyphs")
        await driven.reaches("glyphs written, holds from the next start", "enter", "down", "enter")
        assert 'glyphs = "ascii"' in text_of_file(tmp_path)
        assert not driven.app.is_ascii
        await go_to(driven, "profile environment")
        before = len(driven.service.heard)
        await driven.reaches(f"answers for {account().tenant_id}", "T")
        assert [heard.head.path for heard in driven.service.heard[before:] if heard.head.path == "/v1/account"] == [
            "/v1/account"
        ]
        await go_to(driven, "keys.app.help")
        await driven.press("enter", *["backspace"] * len("? f1"), "q", "enter")
        assert "belongs to app.quit" in driven.text
        assert focus(driven) == "LineInput"
        await driven.press("backspace")
        await driven.type("ctrl+y")
        await driven.reaches("written, holds at once", "enter")
        await driven.press("ctrl+y")
        assert type(driven.app.screen).__name__ == "HelpScreen"


@pytest.mark.exhaustive
async def test_words_without_a_setting_and_the_last_part_say_so(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await go_to(driven, "theme")
        await driven.reaches("enter apply  esc clear", "slash")
        await driven.type("nosuch")
        await driven.press("enter")
        await driven.shows("No setting has nosuch in its key, value or description.", "esc shows all settings")
        await driven.press("escape", "G")
        await driven.reaches("This is the last part.", "greater_than_sign", "greater_than_sign")


@pytest.mark.exhaustive
async def test_an_empty_line_puts_the_default_back(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings="retries = 4\n") as driven:
        await go_to(driven, "retries")
        await driven.reaches("enter write  esc cancel", "enter")
        await driven.reaches("enter remove from the file  esc cancel", "backspace")
        await driven.reaches("retries removed from the file", "enter")
        assert "retries" not in text_of_file(tmp_path)


@pytest.mark.exhaustive
async def test_a_new_filter_can_be_used_at_once(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await go_to(driven, "+ filters")
        await driven.press("enter")
        await driven.type("mine=is:live")
        await driven.reaches("filters.mine written", "enter")
        await driven.say("mine")
        await driven.shows("filter :mine")


async def test_problems_of_the_file_stand_on_top_with_their_lines(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings='\nthme = "x"\n', open_at="settings") as driven:
        await driven.shows("1 problem in the file")
        assert "line 2" in driven.lines[4]
        assert "'thme' is not a setting" in driven.lines[4]


async def test_a_file_that_cannot_be_read_is_never_written_over(tmp_path: Path) -> None:
    broken = "theme = \n"
    async with console(service(), tmp_path, settings=broken) as driven:
        await go_to(driven, "mouse")
        await driven.reaches("The settings file is not changed", "enter", "down", "enter")
        assert text_of_file(tmp_path) == broken


@pytest.mark.exhaustive
async def test_a_profile_is_tested_with_its_own_key(tmp_path: Path) -> None:
    told = service()
    async with told, console(ScriptedService(), tmp_path) as driven:
        profile = Profile("eu", {"base_url": told.base_url})
        store_key(profile, Secret("own-key-of-eu"), Paths(tmp_path / "s", tmp_path / "runwatch-data").key_file)
        await go_to(driven, "+ profiles")
        await driven.press("enter")
        await driven.type(f"eu={told.base_url}")
        await driven.reaches("profiles.eu.base_url written", "enter")
        await go_to(driven, "profile eu")
        await driven.shows("key file")
        await driven.reaches("answers for", "T")
        assert {heard.head.header("authorization") for heard in told.heard} == {"Bearer own-key-of-eu"}
        assert "own-key-of-eu" not in driven.text


async def test_a_refused_connection_shows_the_problem_and_esc_leaves_it(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_1")])
    service.say("GET", "/v1/account", Said(401, problem("unauthenticated", instance="0b1f6c1e-8a34-4f0e")))
    async with console(service, tmp_path) as driven:
        await go_to(driven, "profile environment")
        await driven.reaches("0b1f6c1e-8a34-4f0e", "T")
        assert driven.app.screen.query_one(ProblemPanel).has_focus_within
        await driven.press("escape")
        assert isinstance(driven.app.screen, SettingsScreen)
        assert driven.app.screen.table.has_focus
        assert not driven.app.screen.query_one(ProblemPanel).display


@pytest.mark.exhaustive
async def test_a_profile_without_an_address_says_what_to_set(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings="[profiles.eu]\nproduction = true\n") as driven:
        await go_to(driven, "profile eu")
        await driven.reaches("has no usable base_url", "T")


async def test_no_key_is_ever_on_the_screen(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings=FILE, size=(200, 60)) as driven:
        await go_to(driven, "profile environment")
        assert "environment RUNWATCH_API_KEY" in driven.text
        assert KEY not in driven.text


@pytest.mark.exhaustive
async def test_esc_goes_back_one_level_at_a_time(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await go_to(driven, "retries")
        await driven.press("enter")
        assert focus(driven) == "LineInput"
        await driven.press("escape", "tab")
        assert focus(driven) == "DetailView"
        await driven.press("escape")
        assert isinstance(driven.app.screen, SettingsScreen)
        await driven.reaches("Nothing is left to close here; [ goes to the view before.", "escape")
        await driven.opens(RunsScreen, "left_square_bracket")
