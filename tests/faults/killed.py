"""Processes that write to a database until they are killed: ``python -m tests.faults.killed console|service FILE``.

Each number that is read on standard input starts a process that goes on from there. It says its process id and the
database's pragmas first, and then each change that it was told is on the disk, a number a line; when it is gone, the
process that started it says so.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

from runwatch.base.clock import SystemClock
from runwatch.service.database import ServiceDatabase
from runwatch.service.tables import api_keys_table, tenants_table
from runwatch.service.transaction import Transaction
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from tests.support.builders import event

GONE: Final = "gone"
SCOPE: Final = Scope("work", "ten_01", "key_A1b2C3")
RUN: Final = "ex_killed"
AT_ONCE: Final = 8
"""How many changes of the service are under way at any moment."""

PRAGMAS: Final = ("journal_mode", "synchronous")


def say(*words: object) -> None:
    """One line for the test, which a kill cannot cut."""
    os.write(1, f"{' '.join(map(str, words))}\n".encode())


async def console(path: Path, number: int) -> None:
    """Events, a note and a watched run in turns, one change at a time."""
    database = Database.open(path)

    def pragmas(connection: sqlite3.Connection) -> list[object]:
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS]

    say(os.getpid(), *await database.read(pragmas))
    events, notes, watched = EventStore(database), LocalNotes(database), WatchList(database)
    while True:
        match number % 3:
            case 0:
                await events.append(SCOPE, RUN, [event(number, event_id=f"ev_{number}.{each}") for each in range(3)])
            case 1:
                await notes.write(SCOPE, "run", RUN, "note", str(number))
            case _:
                await watched.add(SCOPE, [f"ex_{number}"])
        say(number)
        number += 1


async def service(path: Path, number: int) -> None:
    """An organization with its key, both or neither, several at a time."""
    database = ServiceDatabase.open(path, SystemClock())

    def pragmas(transaction: Transaction) -> list[object]:
        return [transaction._connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in PRAGMAS]

    say(os.getpid(), *await database.write(pragmas))

    def add(name: str, transaction: Transaction) -> None:
        transaction.add(tenants_table, tenant_id=name, display_name=name, created_at="now")
        transaction.add(
            api_keys_table, api_key_id=name, tenant_id=name, key_hash=name, key_prefix="", role="owner",
            display_name="", status="active", created_at="now", revoked_at=None,
        )  # fmt: skip

    async def crew(number: int) -> None:
        while True:
            await database.write(partial(add, f"{number:08}"))
            say(number)
            number += AT_ONCE

    async with asyncio.TaskGroup() as crews:
        for first in range(AT_ONCE):
            crews.create_task(crew(number + first))


JOBS: Final[dict[str, Callable[[Path, int], Awaitable[None]]]] = {"console": console, "service": service}


def main(job: str, path: str) -> None:
    """Start a process for each number."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                asyncio.run(JOBS[job](Path(path), int(line)))  # type: ignore[arg-type]  # each is a coroutine
            finally:
                os._exit(1)
        os.waitpid(child, 0)
        say(GONE)


if __name__ == "__main__":
    main(*sys.argv[1:])
