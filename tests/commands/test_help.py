"""``runwatch help``: pages of the manual in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runwatch.view.manual import pages
from runwatch.view.manual.pages import TOPICS
from tests.commands.here import Here
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

COUNT_LINES = "import sys; print('paged', len(sys.stdin.read().splitlines()) > 50)"


def shown(home: Path, *words: str, pager: str) -> str:
    """What is on a terminal at the end of the command."""
    command = [sys.executable, "-m", "runwatch", "help", *words]
    with Terminal(command, env=clean_environment(home, {"PAGER": pager}), columns=80, rows=24) as terminal:
        assert terminal.wait_exit() == 0
        return terminal.screen.text


def test_without_a_topic_the_pages_are_listed(runwatch: Here) -> None:
    done = runwatch("help")
    assert [row.split()[0] for row in done.text.splitlines()] == list(TOPICS)
    assert "runwatch help TOPIC" in done.errors


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_printed_as_plain_text(runwatch: Here, topic: str) -> None:
    done = runwatch("help", topic)
    assert (done.code, done.errors) == (0, "")
    assert done.text.splitlines()[1].startswith("===")
    assert "](" not in done.text
    assert "\x1b" not in done.text


@pytest.mark.parametrize(
    ("typed", "told"),
    [("setings", "did you mean 'settings'?"), ("runs", "'runs' is a command: runwatch runs --help"), ("qqqq", "")],
)
def test_an_unknown_topic_is_answered_with_the_nearest_one(runwatch: Here, typed: str, told: str) -> None:
    done = runwatch("help", typed)
    assert (done.code, done.text) == (2, "")
    assert f"The manual has no page '{typed}'" in done.errors
    assert told in done.errors


def test_a_page_that_is_missing_is_named(runwatch: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "DIRECTORY", tmp_path)
    pages.page_blocks.cache_clear()
    done = runwatch("help", "keys", code=1)
    assert "The page 'keys' cannot be read" in done.errors


def test_on_a_terminal_the_page_goes_through_the_pager(tmp_path: Path) -> None:
    pager = tmp_path / "pager.py"
    pager.write_text(COUNT_LINES)
    assert "paged True" in shown(tmp_path, "keys", pager=f"{sys.executable} '{pager}'")


def test_the_pager_gets_none_of_our_variables(tmp_path: Path) -> None:
    assert "RUNWATCH_CONFIG" in clean_environment(tmp_path, {})
    pager = tmp_path / "pager.py"
    pager.write_text("import os, sys; sys.stdin.read(); print('ours:', [it for it in os.environ if 'RUNWATCH' in it])")
    assert "ours: []" in shown(tmp_path, "keys", pager=f"{sys.executable} '{pager}'")


@pytest.mark.parametrize("pager", ["", "no-such-pager", "'unfinished", "true"])
def test_a_pager_that_cannot_be_used_or_reads_nothing_does_no_harm(tmp_path: Path, pager: str) -> None:
    text = shown(tmp_path, "live-runs", pager=pager)
    assert ("for seven days" in text) is (pager != "true")


def test_the_list_needs_no_pager(tmp_path: Path) -> None:
    assert "operators" in shown(tmp_path, pager="false")
