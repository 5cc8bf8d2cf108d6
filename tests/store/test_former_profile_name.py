"""Data stored for a service of the environment under the profile name of 0.1.0 is found under today's name."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from runwatch.settings.declarations import ENVIRONMENT, FORMER_ENVIRONMENT, RENAMED_PROFILE
from runwatch.store.db.database import Database
from runwatch.store.db.schema import MIGRATIONS
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.outbox import Outbox
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import StubClient
from tests.support.builders import KEY_ID
from tests.support.clock import START, FakeClock

AT: Final = START.isoformat()


def _write_old_database(path: Path, *profiles: str) -> None:
    """Write a database of schema 3 with data of one account under each of the profile names."""
    path.parent.mkdir(mode=0o700)
    with sqlite3.connect(path) as old:
        for number, statements in enumerate(MIGRATIONS[:3]):
            for statement in statements:
                old.execute(statement)
            old.execute(f"PRAGMA user_version = {number + 1}")
        client = StubClient()
        for number, profile in enumerate(profiles, 1):
            old.execute("INSERT INTO scope VALUES (?, ?, 'ten_01', ?)", (number, profile, KEY_ID))
            old.execute("INSERT INTO note VALUES (?, 'run', 'ex_1', 'label', ?, ?)", (number, AT, f"of {profile}"))
            old.execute("INSERT INTO watch VALUES (?, 'ex_1', 'submitted', ?, NULL)", (number, AT))
            old.execute(
                "INSERT INTO outbox (scope, origin, operation, path, body, key, label, created_at)"
                " VALUES (?, ?, 'cancelExecution', '{}', x'7b7d', ?, 'Cancel ex_1', ?)",
                (number, client.target.origin, f"key of {profile}", AT),
            )
            for table in ("request", "problem"):
                more = {"request": ("query, elapsed_s, sent_bytes, received_bytes", "'', 0.1, 0, 0")}
                names, values = more.get(table, ("code, plain, raw", "'not_found', '', '{}'"))
                old.execute(
                    f"INSERT INTO {table} (at, profile, origin, operation, method, path, attempt, {names})"
                    f" VALUES (?, ?, 'https://x.example', 'getAccount', 'GET', '/v1/account', 1, {values})",
                    (AT, profile),
                )
    old.close()


async def _labels(database: Database, profile: str) -> list[str]:
    return [note.text for note in await LocalNotes(database).list_for(Scope(profile, "ten_01", KEY_ID), "run")]


async def _journal_profiles(database: Database) -> list[str]:
    query = "SELECT profile FROM (SELECT id, profile FROM request UNION ALL SELECT id + 100, profile FROM problem)"
    rows = await database.read(lambda connection: connection.execute(f"{query} ORDER BY id").fetchall())
    return [row[0] for row in rows]


async def test_notes_watch_list_writes_and_journal_of_the_environment_are_kept(
    database_path: Path, clock: FakeClock
) -> None:
    _write_old_database(database_path, FORMER_ENVIRONMENT, "work")
    database = Database.open(database_path)
    try:
        scope = Scope(ENVIRONMENT, "ten_01", KEY_ID)
        assert await _labels(database, ENVIRONMENT) == ["of unnamed"]
        assert await _labels(database, "work") == ["of work"]
        assert [entry.run_id for entry in await WatchList(database).list(scope)] == ["ex_1"]
        writes = {
            write.request.key: write.scope.profile for write in await Outbox(database, clock=clock).unconfirmed(scope)
        }
        assert writes == {"key of unnamed": ENVIRONMENT, "key of work": "work"}
        assert await _journal_profiles(database) == [ENVIRONMENT, "work"] * 2
        assert await database.faults() == []
    finally:
        database.close()


async def test_a_profile_of_the_user_with_todays_name_keeps_its_data_apart(
    database_path: Path, clock: FakeClock
) -> None:
    _write_old_database(database_path, ENVIRONMENT, FORMER_ENVIRONMENT)
    database = Database.open(database_path)
    try:
        assert await _labels(database, ENVIRONMENT) == ["of unnamed"]
        assert await _labels(database, RENAMED_PROFILE) == ["of environment"]
        assert await _journal_profiles(database) == [RENAMED_PROFILE, ENVIRONMENT] * 2
        scope = Scope(RENAMED_PROFILE, "ten_01", KEY_ID)
        writes = {write.request.key: write.scope for write in await Outbox(database, clock=clock).unconfirmed(scope)}
        assert writes["key of environment"] == scope
    finally:
        database.close()


async def test_two_profiles_that_would_get_one_name_lose_nothing(database_path: Path) -> None:
    _write_old_database(database_path, ENVIRONMENT, FORMER_ENVIRONMENT, RENAMED_PROFILE)
    database = Database.open(database_path)
    try:
        assert await _labels(database, RENAMED_PROFILE) == [f"of {RENAMED_PROFILE}"]
        texts = await database.read(lambda connection: connection.execute("SELECT text FROM note").fetchall())
        assert len(texts) == 3
    finally:
        database.close()
