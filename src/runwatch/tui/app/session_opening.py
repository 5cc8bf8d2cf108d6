"""Finding the service from the settings and opening its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runwatch.base.errors import NotConfigured
from runwatch.base.network.service_target import Target
from runwatch.tui.app.startup_notices import welcome_text

if TYPE_CHECKING:
    from runwatch.settings.declarations import Settings
    from runwatch.settings.local_service import LocalService
    from runwatch.store.db.database import Database
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.core.rendering import StyledSpans


def import_session() -> None:
    """Import the client with its HTTP library and the database, which takes longer than a frame: for a thread."""
    import runwatch.store.session  # noqa: F401
    from runwatch.api.http.transport import import_library

    import_library()


async def resolve_startup_target(console: NavigatingApp, welcome: Callable[[Sequence[StyledSpans]], None]) -> Target:
    """Return the configured service; without one, the local service, started if necessary.

    Args:
        welcome: Shows above the hints which service this is.

    Raises:
        RunwatchError: The configured service is unusable, or the local service does not start.
    """

    def start_local(directory: Path) -> LocalService:
        console.startup_status = f"starting the local service{console.glyphs.ellipsis}"
        return console.launch.start_local(directory)

    try:
        return await asyncio.to_thread(console.resolver.target, start_local=start_local)
    except NotConfigured:
        welcome(welcome_text(is_running=False))
        service = await asyncio.to_thread(start_local, console.launch.paths.local_service_dir)
        welcome(welcome_text(is_running=True))
        return service.target()


async def open_service_session(
    console: NavigatingApp,
    target: Target,
    settings: Settings | None = None,
    *,
    database: Database | None = None,
) -> ServiceSession:
    """Open a session for a service; :meth:`ServiceSession.start` starts its pollers.

    Args:
        settings: Its settings, if they differ from the console's.
        database: The open database, if it is open already; it is closed with the session, and if that cannot be opened.

    Raises:
        RunwatchError: The local database cannot be opened.
    """
    console.startup_status = "connecting…"
    await asyncio.to_thread(import_session)
    from runwatch.store.live.poller import PollIntervals
    from runwatch.store.repositories.event_retention import RetentionPolicy
    from runwatch.store.session import ServiceSession, SessionOptions

    settings = settings or console.settings
    options = SessionOptions(
        clock=console.clock,
        read_only=settings.read_only,
        retries=settings.retries,
        intervals=PollIntervals(settings.refresh_runs_s, settings.refresh_lists_s, settings.refresh_tail_s),
        retention=RetentionPolicy.by(settings),
        tail_moved=console.tail_moved,
        request_attempted=console.request_attempted,
    )
    return await ServiceSession.open(target, console.launch.paths.database, console.store, options, database=database)
