"""Several processes on one database, and processes that are killed in the middle of it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from runwatch.base.errors import UsageError
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import SCOPE, StubClient
from tests.store.worker import PAGE, RUN
from tests.support.builders import RUN_ID, event

ROOT = Path(__file__).parents[2]


class Worker:
    """A process at work on the database."""

    def __init__(self, job: str, path: Path, argument: object) -> None:
        command = [sys.executable, "-m", "tests.store.worker", job, str(path), str(argument)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[str] = self.process.stdin
        self.stdout: IO[str] = self.process.stdout
        assert self.line() == "ready"

    def go(self) -> None:
        self.stdin.write("go\n")
        self.stdin.flush()

    def line(self) -> str:
        return self.stdout.readline().rstrip("\n")

    def finish(self) -> int:
        self.stdout.read()
        return self.process.wait(60)

    def kill(self) -> list[str]:
        """Kill it with signal 9, and return its output so far."""
        self.process.kill()
        said = self.stdout.read().splitlines()
        self.process.wait(60)
        return said


@contextlib.contextmanager
def working(job: str, path: Path, argument: object, *, count: int = 1) -> Iterator[list[Worker]]:
    workers = [Worker(job, path, argument) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait(60)
            worker.stdin.close()
            worker.stdout.close()


async def test_processes_that_write_the_same_events_at_once_lose_and_double_nothing(database: Database) -> None:
    pages = 40
    with working("append", database.path, pages, count=3) as workers:
        for worker in workers:
            worker.go()
        store = EventStore(database)
        for page in range(pages):
            numbers = range(max(0, page * PAGE - 4), (page + 1) * PAGE)
            await store.append(SCOPE, RUN, [event(number, event_id=f"e{number}") for number in numbers])
        assert [worker.finish() for worker in workers] == [0, 0, 0]
    kept = await store.window(SCOPE, RUN, 0, 10_000)
    assert [item.id for item in kept] == [f"e{number}" for number in range(pages * PAGE)]
    assert await store.count(SCOPE, RUN) == pages * PAGE
    assert len((await Journal(database).sent(limit=10_000)).requests) == 3 * pages
    assert {watched.run_id for watched in await WatchList(database).list(SCOPE)} == {f"ex_{n}" for n in range(pages)}
    assert await database.faults() == []


async def test_a_process_that_is_killed_at_any_moment_loses_nothing_it_had_said(database_path: Path) -> None:
    done = 0
    for lines in (0, 1, 2, 3, 5, 8, 13, 21):
        with working("append", database_path, 100_000) as [worker]:
            worker.go()
            said = [worker.line() for _ in range(lines)]
            said += worker.kill()
        done = max([done, *(int(line) + 1 for line in said)])
        database = Database.open(database_path)
        try:
            assert await database.faults() == []
            kept = [item.id for item in await EventStore(database).window(SCOPE, RUN, 0, 10_000)]
            assert len(kept) >= done * PAGE
            assert kept == [f"e{number}" for number in range(len(kept))]
            if kept:
                assert await EventStore(database).cursor(SCOPE, RUN) in kept
        finally:
            database.close()
    assert done >= 21


async def test_a_write_of_a_dead_process_is_offered_and_of_a_living_one_is_not(database: Database) -> None:
    outbox, client = Outbox(database), StubClient()
    client.answers.append({"execution_id": RUN_ID, "status": "accepted"})
    with working("send", database.path, "key-1") as [worker]:
        worker.go()
        assert worker.line() == "sending"
        assert await outbox.unconfirmed(SCOPE) == []
        with pytest.raises(UsageError, match="being sent"):
            await outbox.deliver(client, SCOPE, WriteRequest("postExecutions", {}, b'{"mode":"echo"}', "key-1"))
        assert client.sent == []
        worker.kill()
    [kept] = await outbox.unconfirmed(SCOPE)
    assert (kept.is_offered, kept.reason) == (True, None)
    assert kept.request == WriteRequest("postExecutions", {}, b'{"mode":"echo"}', "key-1", "nightly")
    await outbox.retry(client, SCOPE, kept)
    assert [(sent.body, sent.key) for sent in client.sent] == [(b'{"mode":"echo"}', "key-1")]
    assert await outbox.unconfirmed(SCOPE) == []
