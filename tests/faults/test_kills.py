"""Both databases under kill -9, again and again: each opens afterwards, sound, with everything that was acknowledged.

With ``RUNWATCH_LONG=1`` it is 500 kills of each, else 25. A kill takes nothing from the system's memory; what a power
cut leaves is what SQLite promises of these pragmas.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.faults.killed import AT_ONCE, GONE
from tests.support.fault_mix import LONG

ROOT: Final = Path(__file__).resolve().parents[2]
KILLS: Final = 500 if LONG else 25
SEED: Final = 6
MOST: Final = 40
"""The most changes that are acknowledged between two kills."""

TURNS: Final = 100_000
"""Turns of a loop that take about as long as a change."""

WAL_AND_FULL: Final = ["wal", "2"]


class Nursery:
    """What starts the processes that are killed."""

    def __init__(self, job: str, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.killed", job, str(path)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def live_and_die(self, first: int, changes: int, turns: int) -> list[int]:
        """Start a process at a number, kill it after this many changes, and return all changes it reported as stored.

        Args:
            first: The number of its first change.
            changes: How many changes it says are kept before it is killed.
            turns: How many turns of a loop the kill comes later, and so at another place of the next change.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{first}\n")
        self._process.stdin.flush()
        pid, *pragmas = self._process.stdout.readline().split()
        try:
            assert pragmas == WAL_AND_FULL
            kept = [int(self._process.stdout.readline()) for _ in range(changes)]
            for _ in range(turns):
                pass
        finally:
            os.kill(int(pid), signal.SIGKILL)
        while (line := self._process.stdout.readline().strip()) != GONE:
            kept.append(int(line))
        return kept

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def nursery(job: str, path: Path) -> Iterator[Nursery]:
    made = Nursery(job, path)
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as the next process finds it; it must be sound."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        yield connection


def console_state(connection: sqlite3.Connection) -> tuple[list[str], list[str], list[str]]:
    """Events, notes and watched runs, in the order they were written."""
    queries = (
        "SELECT event_id FROM event ORDER BY seq",
        "SELECT text FROM note",
        "SELECT run_id FROM watch ORDER BY CAST(substr(run_id, 4) AS INTEGER)",
    )
    events, notes, watched = ([text for (text,) in connection.execute(query)] for query in queries)
    return events, notes, watched


def expected(changes: int) -> tuple[list[str], list[str], list[str]]:
    """What this many changes, from the first on, leave."""
    numbers = range(changes)
    return (
        [f"ev_{number}.{each}" for number in numbers if number % 3 == 0 for each in range(3)],
        [str(number) for number in numbers if number % 3 == 1][-1:],
        [f"ex_{number}" for number in numbers if number % 3 == 2],
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [SEED])
def test_the_consoles_database_lacks_at_most_the_change_that_was_not_acknowledged(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    chance, path, acknowledged, unasked = random.Random(seed), tmp_path / "data" / "console.db", 0, 0
    with nursery("console", path) as console:
        for _ in range(KILLS):
            said = console.live_and_die(acknowledged, chance.randrange(MOST), chance.randrange(TURNS))
            assert said == list(range(acknowledged, acknowledged + len(said)))
            acknowledged += len(said)
            with opened(path) as connection:
                state = console_state(connection)
            if state == expected(acknowledged + 1):
                # On the disk, and killed before it could say so.
                acknowledged, unasked = acknowledged + 1, unasked + 1
            assert state == expected(acknowledged)
    print(f"{KILLS} kills, {acknowledged} changes: 0 lost, {unasked} kept that were not yet acknowledged")


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [SEED])
def test_the_services_database_has_every_acknowledged_write_whole(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    chance, path, unasked = random.Random(seed), tmp_path / "data" / "service.db", 0
    acknowledged: set[int] = set()
    with nursery("service", path) as service:
        first = 0
        for _ in range(KILLS):
            said = service.live_and_die(first, chance.randrange(MOST), chance.randrange(TURNS))
            assert len(set(said)) == len(said)
            acknowledged.update(said)
            with opened(path) as connection:
                found, keys = (
                    {int(name) for (name,) in connection.execute(f"SELECT tenant_id FROM {table}")}
                    for table in ("tenants", "api_keys")
                )
            assert found == keys, "a write is whole or not there"
            assert acknowledged <= found
            more = found - acknowledged
            assert len(more) <= AT_ONCE
            acknowledged, unasked, first = found, unasked + len(more), max(found, default=-1) + 1
    print(f"{KILLS} kills, {len(acknowledged)} writes: 0 lost, {unasked} kept that were not yet acknowledged")
