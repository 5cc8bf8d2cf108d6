"""From settings to an open desk: which service it is, and the store, client and live reading that belong to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import NotConfigured
from runwatch.base.target import Target
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.tui.screens.welcome import welcome_words

if TYPE_CHECKING:
    from runwatch.settings.local import LocalService
    from runwatch.settings.model import Settings
    from runwatch.store.desk import Desk
    from runwatch.tui.draw import Pieces
    from runwatch.tui.navigation import NavigatingApp

CACHED: Final = (Run, Receipt)
"""Kinds whose lists are kept for the next session."""


async def find_target(console: NavigatingApp, welcome: Callable[[Sequence[Pieces]], None]) -> Target:
    """The configured service; with nothing configured, the local one, which is started when it does not run.

    Args:
        console: The console.
        welcome: Says above the hints which service this is.

    Raises:
        RunwatchError: the settings name none that can be used, or the local service does not start.
    """

    def start_local(directory: Path) -> LocalService:
        console.opening_words = f"starting the local service{console.glyphs.ellipsis}"
        return console.opening.start_local(directory)

    try:
        return await asyncio.to_thread(console.resolver.target, start_local=start_local)
    except NotConfigured:
        welcome(welcome_words(is_running=False))
        service = await asyncio.to_thread(start_local, console.opening.paths.local_service_dir)
        welcome(welcome_words(is_running=True))
        return service.target()


async def open_desk(console: NavigatingApp, target: Target, settings: Settings | None = None) -> Desk:
    """A desk for a service; :meth:`Desk.start` begins its work.

    Args:
        console: The console.
        target: The service.
        settings: What holds for it, where that is not what holds for the console.

    Raises:
        RunwatchError: what is kept on this machine cannot be opened.
    """
    console.opening_words = "connecting…"
    # Importing the client and the database takes longer than a frame, so that it happens beside the loop.
    await asyncio.to_thread(__import__, "runwatch.store.desk")
    from runwatch.store.desk import Desk, Listeners
    from runwatch.store.live import Refresh
    from runwatch.store.room import Keeping

    settings = settings or console.settings
    return await Desk.open(
        target,
        console.opening.paths.database,
        console.store,
        clock=console.clock,
        read_only=settings.read_only,
        retries=settings.retries,
        refresh=Refresh(settings.refresh_runs_s, settings.refresh_lists_s, settings.refresh_tail_s),
        keeping=Keeping.by(settings),
        listeners=Listeners(console.tail_moved, console.exchanged),
    )
