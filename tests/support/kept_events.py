"""What a console has kept of the events of runs."""

from __future__ import annotations

from pathlib import Path

from runwatch.store.db.database import Database


async def kept_events(path: Path) -> dict[str, list[str]]:
    """The ids of the kept events of each run, in the order in which they are shown.

    Args:
        path: The console's database.
    """
    database = Database.open(path)
    try:
        rows = await database.read(
            lambda connection: connection.execute(
                "SELECT run.run_id, event.event_id FROM event JOIN run ON run.id = event.run ORDER BY run.id, seq"
            ).fetchall()
        )
    finally:
        database.close()
    kept: dict[str, list[str]] = {}
    for run_id, event_id in rows:
        kept.setdefault(run_id, []).append(event_id)
    return kept
