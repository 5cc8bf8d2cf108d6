"""What a replay of a run needs: its record, request and receipt, and its events from the disk or the opened file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.repositories.event_sequence import MemorySequence
from runwatch.tui.sources.events.event_sequences import find_events
from runwatch.tui.sources.row_sources import FILE_PROFILE
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.runs.run_replay import MAX_REPLAYED_EVENTS, RunReplay

if TYPE_CHECKING:
    from runwatch.records.event import RunEvent
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.tui.shell.console import Console

_BATCH_EVENTS: Final = 500
"""Events read and decoded before other work goes on."""


class ReplaySource:
    """The events of one run, all in memory up to the number that a replay takes, and what else is known of it."""

    def __init__(self, console: Console, run_id: str) -> None:
        self._console = console
        self.run_id: Final = run_id
        self.replay: Final = RunReplay(())
        self.is_cut = False
        self._request: SubmittedRequest | None = None
        self._events: EventSequence | None = None

    @property
    def facts(self) -> RunFacts | None:
        """The run as it is now; ``None`` if it is not known."""
        profile = FILE_PROFILE if self._console.has_file else self._console.profile_name
        run = self._console.store.find(profile, Run, self.run_id)
        if run is None and not self.replay.events:
            return None
        # Its events alone are enough for a replay.
        run = run or Run({"execution_id": self.run_id})
        return RunFacts(run, self._request, self._console.store.find(profile, Receipt, self.run_id))

    async def grow(self) -> bool:
        """Read the events stored since the last call, and return whether there were any.

        Raises:
            DataError: The database cannot be read.
        """
        if self._events is None:
            self._events = await self._open()
        if self._events is None:
            return False
        await self._events.grow()
        have = len(self.replay.events)
        wanted = min(self._events.length, MAX_REPLAYED_EVENTS)
        self.is_cut = self._events.length > wanted
        found: list[RunEvent] = []
        while have + len(found) < wanted:
            batch = await self._events.window(have + len(found), min(_BATCH_EVENTS, wanted - have - len(found)))
            if not batch:
                break
            for event in batch:
                # Decoded here, in steps; later all are looked at together.
                _ = event.at
            found += batch
            await asyncio.sleep(0)
        if found and have == len(self.replay.events):
            self.replay.extend(found)
        for _ in range(0, len(found), _BATCH_EVENTS):
            self.replay.extend_whole_trace(_BATCH_EVENTS)
            await asyncio.sleep(0)
        return bool(found)

    async def _open(self) -> EventSequence | None:
        session = self._console.session
        if session is not None:
            request = await session.watch_list.request_of(session.scope, self.run_id)
            self._request = None if request is None else SubmittedRequest(dict(request))
        return find_events(self._console, self.run_id)


class ReplayedEvents(MemorySequence):
    """The events of a replay up to its position, as a list of events shows them.

    Events after the position, which will be shown soon, can be read too.
    """

    def __init__(self, replay: RunReplay) -> None:
        super().__init__(replay.events)
        self._replay = replay

    @property
    def length(self) -> int:
        """Number of events up to the position."""
        return self._replay.count
