"""From settings to an open session: which service it is, and the store, client and live reading that belong to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import NotConfigured
from runwatch.base.network.service_target import Target
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.tui.app.startup_notices import welcome_text

if TYPE_CHECKING:
    from runwatch.settings.declarations import Settings
    from runwatch.settings.local_service import LocalService
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.core.rendering import StyledSpans

CACHED_KINDS: Final = (Run, Receipt)
"""Kinds whose lists are kept for the next session."""


async def resolve_startup_target(console: NavigatingApp, welcome: Callable[[Sequence[StyledSpans]], None]) -> Target:
    """The configured service; with nothing configured, the local one, which is started when it does not run.

    Args:
        console: The console.
        welcome: Says above the hints which service this is.

    Raises:
        RunwatchError: the settings name none that can be used, or the local service does not start.
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
    console: NavigatingApp, target: Target, settings: Settings | None = None
) -> ServiceSession:
    """A session for a service; :meth:`ServiceSession.start` begins its work.

    Args:
        console: The console.
        target: The service.
        settings: What holds for it, where that is not what holds for the console.

    Raises:
        RunwatchError: what is kept on this machine cannot be opened.
    """
    console.startup_status = "connecting…"
    # Importing the client and the database takes longer than a frame, so that it happens beside the loop.
    await asyncio.to_thread(__import__, "runwatch.store.session")
    from runwatch.store.live.poller import PollIntervals
    from runwatch.store.repositories.event_retention import RetentionPolicy
    from runwatch.store.session import ServiceSession, SessionListeners

    settings = settings or console.settings
    return await ServiceSession.open(
        target,
        console.launch.paths.database,
        console.store,
        clock=console.clock,
        read_only=settings.read_only,
        retries=settings.retries,
        refresh=PollIntervals(settings.refresh_runs_s, settings.refresh_lists_s, settings.refresh_tail_s),
        keeping=RetentionPolicy.by(settings),
        listeners=SessionListeners(console.tail_moved, console.exchanged),
    )
