"""What all requests of one service share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from runwatch.base.clock import Clock
from runwatch.base.secret import Secret
from runwatch.service.auth import Keys, settle_owner
from runwatch.service.database import Database
from runwatch.service.engine import Engine
from runwatch.service.idempotency import Turns
from runwatch.service.limits import RateLimit
from runwatch.service.options import ServeOptions
from runwatch.service.outbound import Outbound
from runwatch.service.problems import Problems
from runwatch.service.vault import Vault

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
        vault: Secrets of providers, checks, agents and webhooks.
        outbound: Calls to other servers.
        options: How the service was started.
        origin: Scheme, host and port under which callers of this machine find it.
        turns: Order among requests with the same idempotency key.
        last_request: When the last request came or was answered, on the monotonic clock.
    """

    clock: Clock
    database: Database
    keys: Keys
    engine: Engine
    problems: Problems
    rate_limit: RateLimit
    vault: Vault
    outbound: Outbound
    options: ServeOptions
    origin: str
    turns: Turns = field(default_factory=Turns)
    last_request: float = 0.0

    def touch(self) -> None:
        """Note that somebody is using the service."""
        self.last_request = self.clock.monotonic()

    async def close(self) -> None:
        """Stop the engine, end the calls to other servers, finish the writes that wait, and close the database."""
        await self.engine.stop()
        await self.outbound.close()
        await asyncio.to_thread(self.database.close)


async def open_context(
    options: ServeOptions, offered_key: Secret, *, clock: Clock, origin: str
) -> tuple[Context, Secret]:
    """Open the service of a data directory and drive its live runs on; answer it with the owner's key.

    The caller holds the directory's lock.

    Args:
        options: How the service is started.
        offered_key: The owner's key as far as it is known; see :func:`runwatch.service.auth.settle_owner`.
        clock: Where time comes from.
        origin: Scheme, host and port under which callers of this machine find the service.

    Raises:
        DataError: the database is not usable.
    """
    database = await asyncio.to_thread(Database.open, options.data_dir / DATABASE_FILE, clock)
    outbound = Outbound()
    try:
        key = await database.write(lambda transaction: settle_owner(transaction, offered_key))
        context = Context(
            clock=clock,
            database=database,
            keys=await database.read(Keys.load),
            engine=Engine(database, clock, options.pace),
            problems=Problems(database),
            rate_limit=RateLimit(options.rate_limit_rpm, clock),
            vault=Vault(options.data_dir),
            outbound=outbound,
            options=options,
            origin=origin,
        )
        context.touch()
        await context.engine.resume()
    except BaseException:
        await outbound.close()
        await asyncio.to_thread(database.close)
        raise
    return context, key
