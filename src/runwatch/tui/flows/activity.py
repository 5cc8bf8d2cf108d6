"""Opening the activity around a time, and exporting a problem with its activity as a support bundle."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from runwatch.base.clock import format_iso
from runwatch.settings.view_state import ViewState
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.view.problems.journal_entries import ProblemEntry

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.view.problems.activity import ActivityEntry

ACTIVITY_SCREEN: Final = "around"
_MOMENTS: Final = ("time", "completed_at", "last", "created_at", "at")
"""Attributes or fields with the time of a record, in order of preference."""


def open_activity_at_cursor(console: Console) -> None:
    """Open the activity around the time of the row at the cursor, or ask for a time."""
    moment = _moment_of(console)
    question = "" if moment is None else format_iso(moment)
    # Later, because a screen cannot wait for its own removal.
    console.call_later(console.go_to_view, ViewState(ACTIVITY_SCREEN, filter=question))


def export_bundle(screen: RecordScreen, entry: ProblemEntry) -> None:
    """Write a problem's support bundle to the export directory and show its path."""

    async def write() -> None:
        from runwatch.tui.flows.exports import write_export
        from runwatch.view.problems.support_bundle import build_bundle, build_bundle_name, encode_bundle

        console = screen.console
        near = await _near(console, entry)
        settings = [
            {"key": item.key, "value": item.value, "source": str(item.source)} for item in console.resolver.values()
        ]
        now = console.clock.now()
        content = build_bundle(entry, near, made_at=now, settings=settings)
        path = console.launch.paths.exports_dir / build_bundle_name(entry, now)
        write_export(screen, path, [encode_bundle(content)], "support bundle")

    start_worker(screen, write(), "support bundle", group="bundle", exclusive=True)


async def _near(console: Console, entry: ProblemEntry) -> list[ActivityEntry]:
    """Return the activity around a problem; empty for a file, which has no journal."""
    if console.session is None or entry.time is None:
        return []
    from runwatch.store.repositories.activity import find_activity as look
    from runwatch.view.problems.activity import merge_activity
    from runwatch.view.problems.time_query import TimeQuery

    around = TimeQuery((entry.time,))
    return merge_activity(around, await look(console.session.journal, around.windows))


def _moment_of(console: Console) -> datetime | None:
    screen = console.screen
    row = screen.row if isinstance(screen, RecordScreen) else None
    if row is None:
        return None
    for name in _MOMENTS:
        # The row of a run has no such attributes itself; the fields of its list do.
        for moment in (getattr(row.item, name, None), row.value(name)):
            if isinstance(moment, datetime):
                return moment
    return None
