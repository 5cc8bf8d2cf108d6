"""The lists of the last session, read beside the first paint without the client and its HTTP library."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from runwatch.base.errors import NotConfigured, RunwatchError
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run

if TYPE_CHECKING:
    from runwatch.base.network.service_target import Target
    from runwatch.settings.resolver import SettingsResolver
    from runwatch.store.db.database import Database
    from runwatch.store.repositories.scope import Scope

CACHED_KINDS: Final[tuple[type[Record], ...]] = (Run, Receipt)
"""Kinds whose lists are cached for the next session."""


class CachedList(NamedTuple):
    """One list of a profile, and when the service confirmed it."""

    profile: str
    kind: type[Record]
    records: Sequence[Record]
    seen_at: datetime | None


class CachedLists(NamedTuple):
    """The lists of a service, the scope that they are from, and the open database."""

    database: Database
    scope: Scope
    lists: tuple[CachedList, ...]


class LastSession(NamedTuple):
    """What is known of the service before it is called.

    Attributes:
        target: The service; ``None`` if that takes its start, or failed.
        failure: Why the service cannot be used.
        cached: Its lists; ``None`` without a usable database.
    """

    target: Target | None = None
    failure: RunwatchError | None = None
    cached: CachedLists | None = None


def read_last_session(resolver: SettingsResolver, file: Path) -> LastSession:
    """Resolve the service and read its lists, in a thread; no local service is looked for or started."""
    if not file.exists():
        return LastSession()

    def start_local(_: Path) -> NoReturn:
        raise NotConfigured("not started here")

    try:
        target = resolver.target(start_local=start_local)
    except NotConfigured:
        return LastSession()
    except RunwatchError as error:
        return LastSession(failure=error)
    try:
        return LastSession(target, cached=read_cached_lists(target, file))
    except RunwatchError:
        # It is opened again once the screen is drawn, which reports a failure.
        return LastSession(target)


def read_cached_lists(target: Target, file: Path) -> CachedLists:
    """Open the database and read the lists of a service.

    Raises:
        DataError: The database is not usable.
    """
    import sqlite3

    from runwatch.store.db.database import Database
    from runwatch.store.repositories.record_cache import load_cached_list
    from runwatch.store.repositories.scope import find_known_scope, stand_in_scope

    def read(connection: sqlite3.Connection) -> tuple[Scope, tuple[CachedList, ...]]:
        scope = find_known_scope(connection, target) or stand_in_scope(target)
        lists = ((kind, *load_cached_list(connection, scope, kind)) for kind in CACHED_KINDS)
        return scope, tuple(CachedList(target.profile, *each) for each in lists)

    database = Database.open(file)
    try:
        return CachedLists(database, *database.read_now(read))
    except BaseException:
        database.close()
        raise
