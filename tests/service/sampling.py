"""What tests of the sample organization have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runwatch.base.clock import Clock
from runwatch.base.network.service_file import SAMPLE_KEYS
from runwatch.service.access.authentication import new_key
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.database import ServiceDatabase
from runwatch.service.options import ServeOptions
from runwatch.service.sample import history
from runwatch.service.sample.run_kinds import HISTORY
from runwatch.service.tables import metadata
from runwatch.service.transaction import Transaction
from tests.service.conftest import Json, Local
from tests.support.clock import FakeClock
from tests.support.master_keys import MASTER_KEYS, master_keys

ORIGIN = "http://127.0.0.1:4321"

LEAST = sum(work.least for work in HISTORY) + 1
"""How many runs there are when every kind comes as often as it must and no more; the first run of all comes besides."""

_BY_CHANCE = {"key_hash", "key_prefix", "token_hash"}
"""Takes the place of API keys and tokens of private pages, which do not follow from the seed."""

Rows = dict[str, list[dict[str, Any]]]


async def make(data_dir: Path, *, runs: int = LEAST, seed: int = history.SEED, clock: Clock | None = None) -> Rows:
    """Make a past, and read every row of every table but for what is left to chance."""
    options = ServeOptions(data_dir=data_dir, master_keys=master_keys, json=True, sample=True)
    path = data_dir / "service.db"
    await history.make_history(
        SqliteFile(path), options, MASTER_KEYS, new_key(), clock or FakeClock(), ORIGIN, runs, seed
    )
    database = ServiceDatabase.open(path, clock or FakeClock())
    try:
        return await database.read(_all_rows)
    finally:
        database.close()


def _all_rows(transaction: Transaction) -> Rows:
    return {
        table.name: [
            {name: value for name, value in row.items() if name not in _BY_CHANCE}
            for row in transaction.list_all(table, {})
        ]
        for table in metadata.sorted_tables
    }


async def all_runs(local: Local) -> list[Json]:
    """Every run of the owner's organization, newest first."""
    found: list[Json] = []
    cursor: Json = {}
    while True:
        page = await local.get("/v1/executions", limit=100, **cursor)
        found += page["executions"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def told_keys(data_dir: Path) -> list[Json]:
    """The keys that the owner of the data directory gets."""
    return list(json.loads((data_dir / SAMPLE_KEYS).read_text("ascii"))["keys"])
