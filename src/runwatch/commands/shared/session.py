"""The command session: everything that a command opens for one service: settings, target, database and client."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, TypeVar

from runwatch.api.client import Client
from runwatch.base.errors import NotConfigured
from runwatch.base.log import start_log
from runwatch.base.network.service_target import Target
from runwatch.commands.cli.invocation import Invocation
from runwatch.settings.declarations import COMMANDS, LOCAL, Settings
from runwatch.settings.resolver import SettingOptions, SettingsResolver
from runwatch.settings.settings_file import LoadedSettings, load_settings_file
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_retention import RetentionPolicy, prune_events
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.outbox import Outbox
from runwatch.store.repositories.scope import Scope, read_scope
from runwatch.store.repositories.watch_list import WatchList

T = TypeVar("T")


class CommandSession:
    """An open session with one service. Made by :func:`open_session`."""

    def __init__(self, call: Invocation, settings: Settings, client: Client, database: Database) -> None:
        self.call: Final = call
        self.settings: Final = settings
        self.client: Final = client
        self.event_store: Final = EventStore(database)
        self.outbox: Final = Outbox(database, clock=call.clock)
        self.watch_list: Final = WatchList(database, clock=call.clock)
        self.notes: Final = LocalNotes(database, clock=call.clock)
        self._database = database
        self._scope: Scope | None = None

    async def scope(self) -> Scope:
        """Return the scope of local data. The account is read once per key to find it."""
        if self._scope is None:
            self._scope = await read_scope(self.client, self._database)
        return self._scope

    async def forget_old_events(self) -> None:
        """Delete stored events of runs beyond the age and number in the settings."""
        await prune_events(self._database, RetentionPolicy.by(self.settings), self.call.clock.now())


def load_settings(call: Invocation, *, with_commands: bool = False) -> LoadedSettings:
    """Load the settings file. Problems are printed on stderr and are not fatal.

    Args:
        with_commands: Whether those of own commands, which only the console runs, are printed too.
    """
    loaded = load_settings_file(call.paths.settings_file, clock=call.clock)
    for problem in loaded.problems:
        if with_commands or problem.key.partition(".")[0] != COMMANDS:
            call.output.warn(str(problem))
    return loaded


def make_resolver(call: Invocation, loaded: LoadedSettings) -> SettingsResolver:
    return SettingsResolver(SettingOptions.by(call.options), call.environment, loaded, call.paths)


class ServiceChoice(NamedTuple):
    """The service chosen by options, environment and settings file."""

    target: Target
    settings: Settings


def choose_service(call: Invocation) -> ServiceChoice:
    """Return the service to call; with ``--local``, start the local service if needed.

    Raises:
        RunwatchError: As for :meth:`~runwatch.settings.resolver.SettingsResolver.target`.
    """
    chosen = make_resolver(call, load_settings(call))
    settings = chosen.settings()
    target = chosen.target()
    call.profile = target.profile
    return ServiceChoice(target, settings)


def find_console_service(call: Invocation) -> str:
    """Return the profile that a console with these options uses; a local service is neither looked for nor started.

    Raises:
        RunwatchError: As for :func:`choose_service`, where a service is configured.
    """

    def start_local(_: Path) -> NoReturn:
        raise NotConfigured("not started here")

    try:
        return make_resolver(call, load_settings(call)).target(start_local=start_local).profile
    except NotConfigured:
        return LOCAL


@asynccontextmanager
async def open_session(call: Invocation, target: Target, settings: Settings) -> AsyncIterator[CommandSession]:
    """Open everything for one service, and close it in order: client, journal, database."""
    start_log(call.paths.log_file, settings.log_level)
    async with AsyncExitStack() as stack:
        database = Database.open(call.paths.database)
        stack.callback(database.close)
        journal = Journal(database)
        stack.push_async_callback(journal.close)
        client = Client(
            target,
            clock=call.clock,
            read_only=settings.read_only,
            retries=settings.retries,
            observe=journal.note,
        )
        await stack.enter_async_context(client)
        yield CommandSession(call, settings, client, database)


@asynccontextmanager
async def open_journal(call: Invocation) -> AsyncIterator[Journal]:
    """Open the local journal of problems and requests, without a service."""
    database = Database.open(call.paths.database)
    try:
        yield Journal(database)
    finally:
        database.close()


def run_in_session(
    call: Invocation, work: Callable[[CommandSession], Awaitable[T]], choice: ServiceChoice | None = None
) -> T:
    """Run work of a command in a session and return its result, usually the exit code."""
    target, settings = choice or choose_service(call)

    async def run() -> T:
        async with open_session(call, target, settings) as session:
            return await work(session)

    return asyncio.run(run())


def in_session(work: Callable[[CommandSession], Awaitable[int]]) -> Callable[[Invocation], int]:
    """Make the handler of a command that does all of its work in a session."""
    return functools.wraps(work)(lambda call: run_in_session(call, work))
