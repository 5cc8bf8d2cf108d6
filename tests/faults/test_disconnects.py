"""Followers and their way to a service break off at random moments: no event is lost, none comes twice, order is kept.

The client, the follower and the database are those of the console; connections break in the fault peer, the peer goes
away altogether for a while, and followers die with what they had in memory and begin again from their disk. With
``RUNWATCH_LONG=1`` it is 1,000,000 events and 1,000 disconnects and restarts, else a fiftieth of both.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.store.db.database import Database
from runwatch.store.live.stored_run_tail import follow_run
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from tests.end_to_end.fleet import UpClock
from tests.support.fault_mix import DISCONNECTS, LONG, draw
from tests.support.faults import FaultPeer, match
from tests.support.long_log import LongLog
from tests.support.scripted import ScriptedService

RUNS: Final = 100 if LONG else 10
AT_ONCE: Final = 10
"""How many runs are followed at any moment."""

EVENTS: Final = 10_000 if LONG else 2_000
"""Events of each run."""

TROUBLES: Final = 1_100 if LONG else 20
"""Disconnects, absences of the service and deaths of followers, in turns; a few disconnects meet nothing any more."""

LEAST: Final = 1_000 if LONG else 15
"""How many troubles have to meet something."""

PAGE: Final = 500 if LONG else 100
SCOPE: Final = Scope("work", "ten_01", "key_1")
EVENT_READS: Final = match("GET", ".*/events")


class Followers:
    """Followers of all runs, some at a time, in one database; their process may die and begin again.

    Attributes:
        clock: What they wait by.
        given: What the last follower of each run was given, from the run's first event on.
        seen: How many events were given for the first time.
    """

    def __init__(self, base_url: str, path: Path, log: LongLog) -> None:
        self.clock: Final = UpClock()
        self.given: dict[str, list[str]] = {run_id: [] for run_id in log.run_ids}
        self.seen = 0
        self._reached = dict.fromkeys(log.run_ids, 0)
        self._ended: set[str] = set()
        self._target = Target("work", base_url, Secret("rk_test"), key_source="test")
        self._path = path
        self._task: asyncio.Task[None] | None = None
        self._marks: list[tuple[int, asyncio.Event]] = []

    def start(self) -> None:
        self._task = asyncio.create_task(self._follow_all())

    async def die(self) -> None:
        """Stop at once; what was in memory is gone."""
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def end(self) -> None:
        """Wait until every run is followed to its end.

        Raises:
            ApiError: a follower gave up.
        """
        assert self._task is not None
        await self._task

    async def after(self, events: int) -> None:
        """Wait until this many events more were given, or all runs have ended."""
        assert self._task is not None
        mark = asyncio.Event()
        self._marks.append((self.seen + events, mark))
        waiting = asyncio.create_task(mark.wait())
        await asyncio.wait([waiting, self._task], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def _follow_all(self) -> None:
        database = Database.open(self._path)
        try:
            store, left = EventStore(database), [run_id for run_id in self.given if run_id not in self._ended]
            async with Client(self._target, clock=self.clock, retries=1) as client, asyncio.TaskGroup() as following:
                for crew in range(AT_ONCE):
                    following.create_task(self._follow_these(client, store, left[crew::AT_ONCE]))
        finally:
            database.close()

    async def _follow_these(self, client: Client, store: EventStore, run_ids: list[str]) -> None:
        for run_id in run_ids:
            while run_id not in self._ended:
                try:
                    await self._follow(client, store, run_id)
                except ApiError as error:
                    # The first read got no response; the user would try again.
                    if not error.retryable:
                        raise
                    await self.clock.up.wait()
                else:
                    self._ended.add(run_id)

    async def _follow(self, client: Client, store: EventStore, run_id: str) -> None:
        given = self.given[run_id] = []
        async for event in follow_run(
            client, SCOPE, store, run_id, clock=self.clock, patience_s=float("inf"), on_failure=lambda *_: None
        ):
            given.append(event.id)
            if len(given) > self._reached[run_id]:
                self._reached[run_id] += 1
                self._count()

    def _count(self) -> None:
        self.seen += 1
        for threshold, mark in self._marks:
            if self.seen >= threshold:
                mark.set()
        self._marks = [entry for entry in self._marks if not entry[1].is_set()]


@pytest.mark.exhaustive
# A follower that dies while it connects leaves its socket to the collector, as a process leaves it to the system.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("seed", [1])
async def test_no_event_is_lost_or_doubled_over_disconnects_and_restarts_on_either_side(
    tmp_path: Path, seed: int
) -> None:
    print(f"seed {seed}")
    chance, log, met = random.Random(seed), LongLog(RUNS, EVENTS, PAGE), Counter[str]()
    path = tmp_path / "console.db"
    async with ScriptedService(events=log) as service, FaultPeer(service.base_url) as peer:
        followers = Followers(peer.base_url, path, log)
        followers.start()
        for still, trouble in zip(range(TROUBLES, 0, -1), _shuffled_troubles(seed), strict=True):
            # More events than expected may come meanwhile: the rest is shared out again each time.
            await followers.after(chance.randint(1, max(1, 3 * (RUNS * EVENTS - followers.seen) // (2 * still))))
            met[trouble] += 1
            if trouble == "disconnect":
                peer.plan(EVENT_READS, draw(chance, DISCONNECTS))
            elif trouble == "service away":
                followers.clock.up.clear()
                await peer.refuse()
                await peer.listen()
                followers.clock.up.set()
            else:
                await followers.die()
                followers.start()
        await followers.end()
        assert {run_id: given == log.ids(run_id) for run_id, given in followers.given.items()} == dict.fromkeys(
            log.run_ids, True
        )
    gc.collect()
    _is_kept_once_in_order(path, log)
    met["disconnect"] -= peer.unspent
    assert met.total() >= LEAST
    print(f"{RUNS * EVENTS} events over {dict(met)}: 0 lost, 0 doubled, order kept")


def _shuffled_troubles(seed: int) -> list[str]:
    """Return every trouble of one run of the test: all kinds, in an order that only the seed decides."""
    kinds = ("disconnect", "disconnect", "service away", "follower dies")
    troubles = [kinds[number % len(kinds)] for number in range(TROUBLES)]
    random.Random(seed).shuffle(troubles)
    return troubles


def _is_kept_once_in_order(path: Path, log: LongLog) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for run_id in log.run_ids:
            rows = connection.execute(
                "SELECT seq, event_id FROM event JOIN run ON run.id = event.run WHERE run.run_id = ? ORDER BY seq",
                (run_id,),
            ).fetchall()
            assert [seq for seq, _ in rows] == list(range(log.count))
            assert [event_id for _, event_id in rows] == log.ids(run_id)
