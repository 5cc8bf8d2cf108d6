"""What a verb that calls the service works with: settings, target, database and client, opened and closed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NamedTuple

from runwatch.api.errors import ReadOnlyRefused
from runwatch.api.operations import OPERATIONS
from runwatch.base.log import start_log
from runwatch.base.target import Target
from runwatch.commands.call import Call
from runwatch.commands.pace import PacedClient
from runwatch.settings.file import Loaded, load
from runwatch.settings.model import Settings
from runwatch.settings.resolve import Options, Resolver
from runwatch.store.database import Database
from runwatch.store.events import EventStore
from runwatch.store.identity import Scope, identify
from runwatch.store.journal import Journal
from runwatch.store.notes import Notes
from runwatch.store.outbox import Outbox
from runwatch.store.room import Keeping, make_room
from runwatch.store.watchlist import WatchList


class Session:
    """An open session with one service. Made by :func:`open_session`.

    Attributes:
        call: The call of the command line.
        settings: The settings that hold.
        client: Calls the service.
        events: Events kept on this machine.
        outbox: Writes that must not be forgotten.
        watch_list: Runs submitted or added here.
        notes: What people wrote about records on this machine.
    """

    def __init__(self, call: Call, settings: Settings, client: PacedClient, database: Database) -> None:
        self.call: Final = call
        self.settings: Final = settings
        self.client: Final = client
        self.events: Final = EventStore(database)
        self.outbox: Final = Outbox(database, clock=call.clock)
        self.watch_list: Final = WatchList(database, clock=call.clock)
        self.notes: Final = Notes(database, clock=call.clock)
        self._database = database
        self._scope: Scope | None = None

    async def scope(self) -> Scope:
        """Whose data is read and kept; the account is read for it once for each key.

        Raises:
            DataError: the database is not usable.
        """
        if self._scope is None:
            self._scope = await identify(self.client, self._database)
        return self._scope

    async def forget_old_events(self) -> None:
        """Delete the kept events of runs that ended longer ago, or are more, than the settings say.

        Raises:
            DataError: the database is not usable.
        """
        await make_room(self._database, Keeping.by(self.settings), self.call.clock.now())


def load_settings(call: Call) -> Loaded:
    """The settings file; what is wrong with it goes to stderr and stops nothing."""
    loaded = load(call.paths.settings_file, clock=call.clock)
    for problem in loaded.problems:
        call.output.warn(str(problem))
    return loaded


def resolver(call: Call, loaded: Loaded) -> Resolver:
    """What decides which value of a setting wins for this call."""
    given = call.options
    options = Options(
        profile=given.profile,
        base_url=given.base_url,
        local=bool(given.local),
        read_only=bool(given.read_only),
    )
    return Resolver(options, call.environment, loaded, call.paths)


class Choice(NamedTuple):
    """What flags, environment and settings file choose.

    Attributes:
        target: The service to call.
        settings: The settings that hold.
    """

    target: Target
    settings: Settings

    def check_may_write(self, operation: str) -> None:
        """Refuse a write before anybody is asked about it.

        Raises:
            ReadOnlyRefused: these settings are read-only.
        """
        if self.settings.read_only:
            raise ReadOnlyRefused(operation=operation, what=OPERATIONS[operation].title)


def choose(call: Call) -> Choice:
    """The service to call; with ``--local`` the local service is started when it does not run.

    Raises:
        NotConfigured: nothing says which service to call.
        SettingsError: a setting or a key source is not usable.
        UsageError: flags contradict each other.
        LocalServiceError: ``--local`` was given and the local service cannot be used.
    """
    chosen = resolver(call, load_settings(call))
    settings = chosen.settings()
    return Choice(chosen.target(), settings)


@asynccontextmanager
async def open_session(call: Call, target: Target, settings: Settings) -> AsyncIterator[Session]:
    """Open everything for one service, and close it in order: client, journal, database.

    Raises:
        DataError: the database is not usable.
    """
    start_log(call.paths.log_file, settings.log_level)
    async with AsyncExitStack() as stack:
        database = Database.open(call.paths.database)
        stack.callback(database.close)
        journal = Journal(database)
        stack.push_async_callback(journal.close)
        client = PacedClient(
            target,
            clock=call.clock,
            read_only=settings.read_only,
            retries=settings.retries,
            observe=journal.note,
        )
        await stack.enter_async_context(client)
        yield Session(call, settings, client, database)


@asynccontextmanager
async def open_journal(call: Call) -> AsyncIterator[Journal]:
    """Open what this machine remembers of problems and requests, without any service.

    Raises:
        DataError: the database is not usable.
    """
    database = Database.open(call.paths.database)
    try:
        yield Journal(database)
    finally:
        database.close()


def with_session(call: Call, work: Callable[[Session], Awaitable[int]], choice: Choice | None = None) -> int:
    """Do the work of a verb in a session and answer its exit code.

    Args:
        call: The call of the command line.
        work: What to do.
        choice: The service, where it was chosen already.
    """
    target, settings = choice or choose(call)

    async def run() -> int:
        async with open_session(call, target, settings) as session:
            return await work(session)

    return asyncio.run(run())
