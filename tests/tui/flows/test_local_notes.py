"""Labels and notes about runs: written in one line, kept on this machine, found again by a filter."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from textual import events

from runwatch.base.errors import DataError
from runwatch.records.run import Run
from runwatch.tui.flows.local_notes import NoteEditor
from runwatch.tui.screens.base import resource_screen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.lists.record_table import RecordTable
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE = (160, 40)


async def kept(driven: Driven) -> set[tuple[str, str, str]]:
    notes = await driven.session.notes.list_for(driven.session.scope, Run.KIND)
    return {(note.record_id, note.purpose, note.text) for note in notes}


async def edit(driven: Driven, run_id: str) -> None:
    """Open the editor about a run."""
    await driven.select(run_id)
    await driven.press("i")
    await driven.until(lambda: bool(driven.app.screen.query(NoteEditor)), "the editor to open")


async def write(driven: Driven, run_id: str, label: str, note: str = "") -> None:
    """Write a label and a note about a run, key by key."""
    await edit(driven, run_id)
    await driven.type(label)
    if note:
        await driven.press("tab")
        await driven.type(note)
    await driven.press("enter")
    await driven.until(lambda: not driven.app.screen.query(NoteEditor), "the editor to close")


async def test_a_label_and_a_note_are_written_with_enter_shown_and_sent_to_nobody(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await edit(driven, noon.LIVE)
        await driven.type("night")
        await driven.press("tab", "tab")
        await driven.type("ly")
        await driven.shows("label   nightly")
        await driven.press("escape")
        await driven.until(lambda: not driven.app.screen.query(NoteEditor), "the editor to close")
        assert await kept(driven) == set()
        assert "nightly" not in driven.text
        await write(driven, noon.LIVE, "nightly", "ask Kim")
        await driven.shows("nightly")
        assert await kept(driven) == {(noon.LIVE, "label", "nightly"), (noon.LIVE, "note", "ask Kim")}
        assert isinstance(driven.focused, RecordTable)
        await driven.reaches("ask Kim", "greater_than_sign")
        assert driven.service.requests("POST") == []


@pytest.mark.exhaustive
async def test_a_label_is_found_by_a_filter_and_changed_in_place(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await write(driven, noon.LIVE, "night")
        await driven.shows("night")
        await write(driven, noon.LIVE, "ly")
        await driven.shows("nightly")
        await driven.press("slash")
        await driven.type("label:nightly")
        await driven.shows("1 of 9")
        assert [row.key for row in driven.table.rows] == [noon.LIVE]


async def test_marked_runs_get_one_label_and_keep_their_notes(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await write(driven, noon.LIVE, "", "stays")
        await driven.until(lambda: driven.table.rows[1].subject.note == "stays", "the note")  # type: ignore[attr-defined]
        for chosen in (noon.LIVE, noon.QUEUED):
            await driven.select(chosen)
            await driven.press("space")
        await edit(driven, noon.QUEUED)
        await driven.type("bo")
        await driven.press("tab", "shift+tab")
        await driven.type("th")
        await driven.press("enter")
        await driven.shows("both")
        assert await kept(driven) == {
            (noon.LIVE, "label", "both"), (noon.QUEUED, "label", "both"), (noon.LIVE, "note", "stays"),
        }  # fmt: skip


async def test_backspace_undoes_labels_marks_and_filters_the_last_first(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.reaches("Nothing to undo", "backspace")
        await write(driven, noon.LIVE, "one")
        await write(driven, noon.LIVE, " two")
        await driven.shows("one two")
        await driven.press("space", "space", "slash")
        await driven.type("is:livex")
        await driven.press("backspace", "enter")
        await driven.until(lambda: len(driven.table.rows) == 3, "the filter")
        await driven.reaches("Undone: filter is:live; the filter is cleared again", "backspace")
        await driven.until(lambda: len(driven.table.rows) == 9, "all rows")
        assert driven.table.marks
        await driven.reaches("Undone: mark of run 90cc", "backspace")
        assert len(driven.table.marks) == 1
        await driven.reaches("Undone: mark of run 8f21", "backspace")
        assert not driven.table.marks
        await driven.reaches("Nothing to undo", "backspace", "backspace", "backspace")
        await driven.hides("one two")
        assert await kept(driven) == set()


async def test_undoing_leaves_what_another_console_wrote(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await write(driven, noon.LIVE, "mine")
        await elsewhere(driven, noon.LIVE, "theirs")
        await driven.reaches("label of 8f21…9b7e: 1 of 1 changed meanwhile and stay", "backspace")
        assert await kept(driven) == {(noon.LIVE, "label", "theirs")}


async def elsewhere(driven: Driven, run_id: str, label: str) -> None:
    """Another console on this machine writes a label."""
    await driven.session.notes.write(driven.session.scope, Run.KIND, run_id, "label", label)


async def test_what_another_console_writes_is_shown_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_screen, "NOTES_REFRESH_S", 0.05)
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await elsewhere(driven, noon.LIVE, "theirs")
        await driven.until(lambda: driven.table.rows[1].subject.label == "theirs", "the label")  # type: ignore[attr-defined]


@pytest.mark.exhaustive
async def test_a_database_that_cannot_be_read_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_screen, "NOTES_REFRESH_S", 0.01)
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        asked, said, say = 0, [], RunsScreen.notify_user

        async def gone(*_: object) -> None:
            nonlocal asked
            asked += 1
            raise DataError("the disk is gone")

        def hear(screen: RunsScreen, notice: str, role: str = "") -> None:
            said.append(notice)
            say(screen, notice, role)

        with monkeypatch.context() as patch:
            patch.setattr(RunsScreen, "notify_user", hear)
            patch.setattr(driven.session.notes, "list_for", gone)
            await driven.until(lambda: asked > 5, "it to be looked for again")
        assert said == ["reading notes: the disk is gone"]
        await elsewhere(driven, noon.LIVE, "theirs")
        await driven.shows("theirs")


@pytest.mark.exhaustive
async def test_what_was_not_changed_in_the_editor_is_not_written(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await edit(driven, noon.LIVE)
        await elsewhere(driven, noon.LIVE, "theirs")
        await driven.press("tab")
        await driven.type("ask Kim")
        await driven.reaches("kept on this machine", "enter")
        assert await kept(driven) == {(noon.LIVE, "label", "theirs"), (noon.LIVE, "note", "ask Kim")}


async def test_what_another_console_wrote_meanwhile_is_overwritten_text_by_text_after_a_question(
    tmp_path: Path,
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await edit(driven, noon.LIVE)
        await elsewhere(driven, noon.LIVE, "theirs")
        await driven.type("mine")
        await driven.press("tab")
        await driven.type("n1")
        await driven.reaches("another console wrote label 'theirs'; enter overwrites it", "enter")
        assert await kept(driven) == {(noon.LIVE, "label", "theirs"), (noon.LIVE, "note", "n1")}
        assert "mine" in driven.text, "what was typed is not lost"
        await driven.type("x")
        await driven.reaches("kept on this machine", "enter")
        await driven.until(lambda: not driven.app.screen.query(NoteEditor), "the editor to close")
        assert await kept(driven) == {(noon.LIVE, "label", "mine"), (noon.LIVE, "note", "n1x")}


@pytest.mark.exhaustive
async def test_of_marked_runs_those_that_another_console_labelled_are_asked_about(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        for chosen in (noon.LIVE, noon.QUEUED, noon.DONE):
            await driven.select(chosen)
            await driven.press("space")
        await driven.press("i")
        await driven.until(lambda: bool(driven.app.screen.query(NoteEditor)), "the editor to open")
        await elsewhere(driven, noon.LIVE, "alpha")
        await elsewhere(driven, noon.DONE, "beta")
        await driven.type("ours")
        await driven.reaches("3 runs: another console wrote label 'alpha' and 1 more; enter overwrites it", "enter")
        assert {text for _, _, text in await kept(driven)} == {"alpha", "beta", "ours"}
        await driven.reaches("kept on this machine", "enter")
        assert {text for _, _, text in await kept(driven)} == {"ours"}


async def test_what_cannot_be_written_stays_in_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await edit(driven, noon.LIVE)
        await driven.type("mine")

        async def full(*_: object, **__: object) -> None:
            raise DataError("No space is left for the console's data")

        with monkeypatch.context() as patch:
            patch.setattr(driven.session.notes, "write", full)
            await driven.reaches("not saved: No space is left for the console's data", "enter")
        await driven.reaches("kept on this machine", "enter")
        assert await kept(driven) == {(noon.LIVE, "label", "mine")}


async def test_what_was_typed_is_reported_when_it_was_not_written_and_the_screen_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await edit(driven, noon.LIVE)
        await driven.type("mine")
        write, begun, goes_on = driven.session.notes.write, asyncio.Event(), asyncio.Event()

        async def slow(*words: Any, **more: Any) -> str | None:
            begun.set()
            await goes_on.wait()
            return await write(*words, **more)

        with monkeypatch.context() as patch:
            patch.setattr(driven.session.notes, "write", slow)
            await driven.press("enter")
            await driven.until(begun.is_set, "the writing to begin")
            driven.app.action_go("receipts")
            await driven.until(lambda: driven.lines[1].startswith(" Receipts"), "the receipts")
        await elsewhere(driven, noon.LIVE, "theirs")
        goes_on.set()
        await driven.shows("another console wrote label 'theirs'; enter overwrites it; not saved: label 'mine'")
        assert await kept(driven) == {(noon.LIVE, "label", "theirs")}


@pytest.mark.exhaustive
async def test_a_second_text_right_behind_the_first_is_no_others(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.select(noon.LIVE)
        for key in ("i", "a", "enter", "i", "b", "enter"):
            driven.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await driven.until(lambda: any(re.search(r"\bab\b", row) for row in driven.lines), "the second text")
        await driven.until(lambda: not driven.app.screen.query(NoteEditor), "the editor to close")
        assert await kept(driven) == {(noon.LIVE, "label", "ab")}
