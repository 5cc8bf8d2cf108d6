"""Labels and notes of the user: stored here, one of each kind per record, and moved out of the watch list."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from runwatch.store.db.database import Database
from runwatch.store.db.schema import MIGRATIONS
from runwatch.store.repositories.notes import NOTICE_KEPT, LocalNote, LocalNotes
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import SCOPE
from tests.support.clock import START, FakeClock
from tests.support.hostile import CORPUS


@pytest.fixture
def notes(database: Database, clock: FakeClock) -> LocalNotes:
    return LocalNotes(database, clock=clock)


async def test_a_text_takes_the_place_of_the_one_before(notes: LocalNotes, clock: FakeClock) -> None:
    await notes.write(SCOPE, "run", "ex_1", "label", "nightly")
    clock.advance(5)
    await notes.write(SCOPE, "run", "ex_1", "label", "weekly")
    await notes.write(SCOPE, "run", "ex_1", "note", "ask Kim")
    assert await notes.list_for(SCOPE, "run") == [
        LocalNote("ex_1", "label", clock.now(), "weekly"),
        LocalNote("ex_1", "note", clock.now(), "ask Kim"),
    ]


async def test_an_empty_text_takes_it_away(notes: LocalNotes) -> None:
    await notes.write(SCOPE, "run", "ex_1", "label", "nightly")
    await notes.write(SCOPE, "run", "ex_1", "label", "")
    await notes.write(SCOPE, "run", "ex_2", "label", "")
    assert await notes.list_for(SCOPE, "run") == []


async def test_what_was_not_seen_stays_and_is_reported(notes: LocalNotes) -> None:
    assert await notes.write(SCOPE, "run", "ex_1", "label", "theirs", seen="") is None
    assert await notes.write(SCOPE, "run", "ex_1", "label", "mine", seen="") == "theirs"
    assert [note.text for note in await notes.list_for(SCOPE, "run")] == ["theirs"]
    assert await notes.write(SCOPE, "run", "ex_1", "label", "", seen="other") == "theirs"
    assert await notes.write(SCOPE, "run", "ex_1", "label", "mine", seen="theirs") is None
    assert await notes.write(SCOPE, "run", "ex_1", "label", "", seen="mine") is None
    assert await notes.write(SCOPE, "run", "ex_1", "label", "late", seen="mine") == "", "it was taken away meanwhile"
    assert await notes.list_for(SCOPE, "run") == []


async def test_only_one_console_tells_of_an_end_and_it_is_no_note_of_the_run(
    database: Database, notes: LocalNotes, clock: FakeClock
) -> None:
    other = LocalNotes(database, clock=clock)
    assert await notes.claim_notices(SCOPE, ["ex_1", "ex_2"]) == {"ex_1", "ex_2"}
    assert await other.claim_notices(SCOPE, ["ex_2", "ex_3"]) == {"ex_3"}
    assert await notes.list_for(SCOPE, "run") == []
    clock.advance(NOTICE_KEPT.total_seconds() + 1)
    assert await other.claim_notices(SCOPE, []) == set()
    assert await database.read(lambda connection: connection.execute("SELECT count(*) FROM note").fetchone()) == (0,)


async def test_the_same_text_by_two_is_no_conflict(notes: LocalNotes, clock: FakeClock) -> None:
    await notes.write(SCOPE, "run", "ex_1", "label", "same")
    clock.advance(5)
    assert await notes.write(SCOPE, "run", "ex_1", "label", "same", seen="") is None
    assert [note.at for note in await notes.list_for(SCOPE, "run")] == [clock.now()]


async def test_kinds_and_scopes_share_nothing(notes: LocalNotes) -> None:
    await notes.write(SCOPE, "run", "ex_1", "label", "nightly")
    assert await notes.list_for(SCOPE, "receipt") == []
    assert await notes.list_for(Scope("other", SCOPE.service, SCOPE.principal), "run") == []


async def test_any_text_can_be_a_note(notes: LocalNotes) -> None:
    for hostile in filter(lambda entry: entry.text, CORPUS):
        await notes.write(SCOPE, hostile.name, hostile.text, "note", hostile.text)
        [note] = await notes.list_for(SCOPE, hostile.name)
        assert (note.record_id, note.text) == (hostile.text, hostile.text), hostile.name


async def test_labels_that_nobody_gave_are_left_behind_and_the_runs_of_the_watch_list_stay(database_path: Path) -> None:
    scope = Scope("work", "ten_01", "key_1")
    database_path.parent.mkdir(mode=0o700)
    with sqlite3.connect(database_path) as old:
        for number, statements in enumerate(MIGRATIONS[:2]):
            for statement in statements:
                old.execute(statement)
            old.execute(f"PRAGMA user_version = {number + 1}")
        at = START.isoformat()
        old.execute("INSERT INTO scope (id, profile, service, principal) VALUES (1, 'work', 'ten_01', 'key_1')")
        old.execute("INSERT INTO note VALUES (1, 'run', 'ex_1', 'label', ?, 'kept')", (at,))
        for run_id, label in (("ex_1", "older"), ("ex_2", "nightly"), ("ex_3", "")):
            old.execute(
                "INSERT INTO watch VALUES (1, ?, 'submitted', ?, ?, ?)", (run_id, at, label, b'{"mode":"echo"}')
            )
    old.close()
    database = Database.open(database_path)
    try:
        texts = {note.record_id: note.text for note in await LocalNotes(database).list_for(scope, "run")}
        assert texts == {"ex_1": "kept"}
        watched = await WatchList(database).list(scope)
        assert [entry.run_id for entry in watched] == ["ex_3", "ex_2", "ex_1"]
        assert all(entry.request == {"mode": "echo"} for entry in watched)
        assert await database.faults() == []
    finally:
        database.close()
