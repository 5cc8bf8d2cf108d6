"""Where the events of one run are: in the database, or in the opened file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runwatch.records.event import RunEvent
from runwatch.store.repositories.event_sequence import MemorySequence, RunSequence
from runwatch.tui.sources.row_sources import FILE_PROFILE

if TYPE_CHECKING:
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.tui.shell.console import Console


def find_events(console: Console, run_id: str) -> EventSequence | None:
    """Return the events of a run; ``None`` without a session or a file."""
    if console.session is not None:
        return RunSequence(console.session.event_store, console.session.scope, run_id)
    if not console.has_file:
        return None
    events = console.records(RunEvent, FILE_PROFILE).values()
    return MemorySequence([event for event in events if event.execution_id == run_id])
