"""The help begins with what works where one was, and finds the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.tui.core.key_bindings import KEY_ACTIONS
from runwatch.tui.screens.help import HelpScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.view.manual import pages
from tests.support.builders import echo_events, run
from tests.support.scripted import ScriptedService
from tests.tui.console import NARROW, Driven, console


def service() -> ScriptedService:
    return ScriptedService(runs=[run("ex_1", "completed")], events={"ex_1": echo_events("ex_1")})


def headings(driven: Driven) -> list[str]:
    return [str(part.title) for part in driven.app.screen.query_one("#help-text", DetailView)._sections]


def focus(driven: Driven) -> str:
    return type(driven.focused).__name__


async def test_the_keys_of_the_pane_come_first_then_its_screen_then_everywhere(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        assert focus(driven) == "RecordTable"
        await driven.press("question_mark")
        assert headings(driven)[:3] == ["In a list", "On this screen", "Everywhere"]
        assert "In a list of events" in headings(driven)[3:]
        assert (
            len({row.index(text) for row in driven.lines for text in ("Open this row.", "Filter the") if text in row})
            == 1
        )
        await driven.press("escape", "enter")
        assert focus(driven) == "EventLog"
        await driven.press("question_mark")
        assert headings(driven)[:3] == ["In a list of events", "On this screen", "Everywhere"]


async def test_the_parts_of_the_help_and_the_pages_of_the_manual(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("question_mark")
        view = driven.app.screen.query_one("#help-text", DetailView)
        named = [entry.note for part in view._sections for entry in part.lines]
        assert sorted(named) == sorted(action.id for action in KEY_ACTIONS)
        await driven.press("escape")
        await driven.press("question_mark", "greater_than_sign")
        assert headings(driven) == [
            "Columns of Runs", "Columns that the settings can show", "States for the filter",
        ]  # fmt: skip
        assert "why  " in driven.text
        await driven.press("greater_than_sign")
        assert headings(driven) == [
            "Symbols, and their ASCII forms", "Filters, for every list and for events",
            "States of a pane, in the lower left of its frame", "States of a pane, above it",
            "Files, version and memory",
        ]  # fmt: skip
        await driven.press("greater_than_sign")
        assert headings(driven) == ["How the service works"]
        await driven.click_text("Keys")
        assert headings(driven)[0] == "In a list"
        await driven.press("escape")
        depth = len(driven.app.screen_stack)
        await driven.opens(RunsScreen, "question_mark", "2", "1")
        assert len(driven.app.screen_stack) == depth
        await driven.press("question_mark", "less_than_sign")
        assert manual_shows(driven) == "Pages of the manual"
        await driven.press("enter")
        assert manual_shows(driven) == "For operators"
        assert "operators" in driven.text
        await driven.press("escape", "down", "enter")
        assert manual_shows(driven) == "For reviewers"
        await driven.press("escape", "enter")
        assert manual_shows(driven) == "For reviewers"
        await driven.press("escape")
        assert manual_shows(driven) == "Pages of the manual"
        await driven.press("escape")
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.press("question_mark", "less_than_sign", "enter")
        view = driven.app.screen.query_one("#help-text", DetailView)
        wide = view.line_count()
        await driven.pilot.resize_terminal(80, 24)
        await driven.settle()
        assert view.line_count() > wide


async def test_a_page_of_the_manual_is_opened_by_its_name(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path) as driven:
        await driven.say("help webhooks")
        await driven.shows("Help › webhooks")


async def test_keys_of_the_settings_are_the_ones_that_are_shown(tmp_path: Path) -> None:
    settings = '[keys]\n"screen.copy" = "ctrl+y"\n'
    async with console(service(), tmp_path, settings=settings) as driven:
        await driven.press("question_mark", "slash")
        await driven.type("main id")
        assert "ctrl+y   Copy the main id." in driven.text


@pytest.mark.exhaustive
async def test_sentences_name_the_keys_of_the_settings_too(tmp_path: Path) -> None:
    settings = '[keys]\n"screen.add" = "f8"\n"screen.refresh" = "f9"\n'
    async with console(service(), tmp_path, settings=settings) as driven:
        await driven.press("question_mark", "slash")
        await driven.type("also from pasted text")
        assert "f8 adds ids, also from pasted text." in driven.text
        await driven.press("escape", "slash")
        await driven.type("does not respond")
        assert "f9" in driven.text


async def test_the_search_looks_through_every_part_and_opens_places_of_the_manual(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("question_mark", "slash")
        await driven.type("429")
        assert headings(driven)[:2] == ["States of a pane, in the lower left of its frame", "How the service works"]
        assert "operators: When the service does not respond" in headings(driven)
        assert " found" in driven.text
        await driven.press("enter")
        assert isinstance(driven.focused, DetailView)
        await driven.press("escape")
        assert headings(driven)[0] == "In a list"
        assert isinstance(driven.app.screen, HelpScreen)
        await driven.press("escape")
        await driven.press("question_mark", "slash")
        await driven.type("desktop_notice")
        assert re.search("1 line contains desktop_notice|[2-9] lines contain desktop_notice", driven.text)
        await driven.press("escape", "escape")
        await driven.press("question_mark", "slash")
        await driven.type("xyzzy")
        assert "Nothing here contains xyzzy." in driven.text
        await driven.press("escape")
        assert headings(driven)[0] == "In a list"
        await driven.press("escape")
        await driven.press("question_mark", "slash")
        await driven.type("stop the service, then copy")
        assert headings(driven) == ["local-service: Backup"]
        await driven.press("enter", "down", "enter")
        assert manual_shows(driven) == "Local service"
        view = driven.app.screen.query_one("#help-text", DetailView)
        assert "stop the service, then copy" in str(view.value).casefold().replace("\n", " ")
        await driven.press("escape")
        assert manual_shows(driven) == "Pages of the manual"


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 36)])
async def test_found_paragraphs_have_the_rows_of_their_text_and_no_other(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=size) as driven:
        await driven.press("question_mark", "slash")
        await driven.type("verdict")
        view = driven.app.screen.query_one("#help-text", DetailView)
        for part in (part for part in view._sections if ": " in part.title):
            for entry in part.lines:
                rows = sum(row.entry is entry for row in view._rows)
                assert rows == len(entry.text.splitlines()), entry.text


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["escape", "q", "question_mark"])
async def test_it_is_left_to_where_one_was(key: str, tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        before = driven.app.screen
        await driven.press("question_mark")
        assert isinstance(driven.app.screen, HelpScreen)
        await driven.press(key)
        assert driven.app.screen is before
        assert isinstance(driven.focused, RecordTable)


def manual_shows(driven: Driven) -> str:
    """The first heading of the manual's tab."""
    return headings(driven)[0]


@pytest.mark.exhaustive
async def test_a_manual_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "DIRECTORY", tmp_path / "nowhere")
    pages.page_blocks.cache_clear()
    async with console(service(), tmp_path) as driven:
        await driven.press("question_mark", "less_than_sign", "enter")
        assert "The manual cannot be read: No such file or directory." in driven.text
        await driven.press("escape")
        assert manual_shows(driven) == "Pages of the manual"
