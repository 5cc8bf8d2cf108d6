"""What another process does with a shared database; run as ``python -m tests.store.worker JOB DATABASE …``.

Each job says ``ready`` and waits for a line, so that a test can let several begin at once; then it says what it has
done, a line each, only after it is on the disk.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import SCOPE, StubClient, exchange
from tests.support.builders import event

RUN = "ex_shared"
PAGE = 5


def say(line: object) -> None:
    print(line, flush=True)


async def append(database: Database, pages: int) -> None:
    """Append the run's first pages, each overlapping with the one before, and a journal line and a watched run each."""
    store, journal, watchlist = EventStore(database), Journal(database), WatchList(database)
    for page in range(pages):
        start = max(0, page * PAGE - 2)
        events = [event(number, event_id=f"e{number}") for number in range(start, (page + 1) * PAGE)]
        await store.append(SCOPE, RUN, events, after=f"e{start - 1}" if start else None)
        journal.note(exchange(page))
        await journal.flush()
        await watchlist.add(SCOPE, [f"ex_{page}"])
        say(page)


async def send(database: Database, key: str) -> None:
    """Send a write whose answer never comes."""

    class Silent(StubClient):
        async def request(self, *args: Any, **more: Any) -> Any:
            say("sending")
            await asyncio.Event().wait()

    await Outbox(database).deliver(
        Silent(), SCOPE, WriteRequest("postExecutions", {}, b'{"mode":"echo"}', key, "nightly")
    )


async def main(job: str, path: str, argument: str) -> None:
    say("ready")
    sys.stdin.readline()
    database = Database.open(Path(path))
    try:
        if job == "append":
            await append(database, int(argument))
        else:
            await send(database, argument)
    finally:
        database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
