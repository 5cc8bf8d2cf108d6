"""What all requests of one service share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runwatch.base.clock import Clock
from runwatch.base.secret import Secret
from runwatch.service.auth import Keys, settle_owner
from runwatch.service.database import Database
from runwatch.service.engine import Engine
from runwatch.service.idempotency import Turns
from runwatch.service.limits import RateLimit
from runwatch.service.problems import Problems

DATABASE_FILE: Final = "service.db"


@dataclass(slots=True)
class Context:
    """One open service, without its sockets.

    Attributes:
        clock: Where time comes from.
        database: Everything that is kept.
        keys: Who may call.
        engine: What moves the runs.
        problems: What answers refusals.
        rate_limit: Requests a minute of one key.
        turns: Order among requests with the same idempotency key.
        last_request: When the last request came or was answered, on the monotonic clock.
    """

    clock: Clock
    database: Database
    keys: Keys
    engine: Engine
    problems: Problems
    rate_limit: RateLimit
    turns: Turns = field(default_factory=Turns)
    last_request: float = 0.0

    def touch(self) -> None:
        """Note that somebody is using the service."""
        self.last_request = self.clock.monotonic()

    async def close(self) -> None:
        """Stop the engine, finish the writes that wait, and close the database."""
        await self.engine.stop()
        await asyncio.to_thread(self.database.close)


async def open_context(
    data_dir: Path, offered_key: Secret, *, clock: Clock, rate_limit_rpm: int | None = None, pace: float = 1.0
) -> tuple[Context, Secret]:
    """Open the service of a data directory and drive its live runs on; answer it with the owner's key.

    The caller holds the directory's lock.

    Args:
        data_dir: Where the database is.
        offered_key: The owner's key as far as it is known; see :func:`runwatch.service.auth.settle_owner`.
        clock: Where time comes from.
        rate_limit_rpm: Requests a minute of one key, ``None`` for no limit.
        pace: What the waits of runs are multiplied with.

    Raises:
        DataError: the database is not usable.
    """
    database = await asyncio.to_thread(Database.open, data_dir / DATABASE_FILE, clock)
    try:
        key = await database.write(lambda transaction: settle_owner(transaction, offered_key))
        keys = await database.read(Keys.load)
        engine = Engine(database, clock, pace)
        context = Context(clock, database, keys, engine, Problems(database), RateLimit(rate_limit_rpm, clock))
        context.touch()
        await engine.resume()
    except BaseException:
        await asyncio.to_thread(database.close)
        raise
    return context, key
