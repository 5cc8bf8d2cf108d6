"""Bell and notices, if enabled, for a run the user waits for; the bell for displayed errors too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runwatch.records.run import Run
from runwatch.store.state.collection import CollectionDelta
from runwatch.tui.core.workers import start_worker
from runwatch.view.text.format import short_id, state_label
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console

BAD_ENDS: Final = frozenset({"failed", "expired"})
"""Final statuses that ring the bell. Not in the specification."""

CLOCK_LEEWAY: Final = timedelta(hours=1)
"""How far the service's clock may be behind; older runs are not looked up on the watch list."""


class RunNotifier:
    """Reports ends of runs that are followed or pinned, or that were submitted or added on this machine.

    Runs that ended badly ring the bell; all of them show a notice, here and on the desktop. A run is reported once, and
    only if it was known as live before or was submitted since the console started, so that opening a list of old
    failures is quiet.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: set[str] = set()
        self._since = console.clock.now()

    def ring(self) -> None:
        """Ring the bell, if enabled."""
        if self._console.settings.bell:
            self._console.bell()

    def note(self, delta: CollectionDelta) -> None:
        """Process a change of the store, and report the ended runs the user waits for."""
        if delta.kind != Run.KIND:
            return
        ended = []
        new = set(delta.added)
        for run_id in (*delta.added, *delta.changed):
            run = self._console.store.find(delta.profile, Run, run_id)
            if run is None:
                continue
            if not run.is_final:
                self._live.add(run_id)
            elif run_id in self._live:
                self._live.discard(run_id)
                new.discard(run_id)
                ended.append(run)
            elif run_id in new and run.created_at is not None and run.created_at > self._since - CLOCK_LEEWAY:
                # It may have begun and ended between two reads.
                ended.append(run)
        settings = self._console.settings
        names_all = settings.notice or settings.desktop_notice != "off"
        named = [run for run in ended if names_all or (settings.bell and run.status in BAD_ENDS)]
        if named:
            start_worker(self._console, self._notify(named, new), "announcing runs that ended", group="bell")

    async def _notify(self, ended: Sequence[Run], new: Collection[str]) -> None:
        """Report ended runs that the user waits for.

        Args:
            new: Ids of those that were not known as live.
        """
        session = self._console.session
        if session is None:
            return
        known = [run for run in ended if run.id not in new]
        waited_for = [
            run for run in known if session.live.tails.follows(run.id) or self._console.has_pinned_run(run.id)
        ]
        if len(waited_for) < len(ended):
            # The watch list is on disk. Read it only now, because most runs belong to others.
            watched = {entry.run_id: entry for entry in await session.watch_list.list(session.scope)}
            own = {
                run_id
                for run_id, entry in watched.items()
                if run_id not in new or (entry.source == "submitted" and entry.added_at >= self._since)
            }
            waited_for = [run for run in ended if run in waited_for or run.id in own]
        if not waited_for:
            return
        is_bad = any(run.status in BAD_ENDS for run in waited_for)
        notice = ended_runs_text(waited_for, self._console.glyphs)
        await self._console.notify_desktop(line(notice))
        if self._console.settings.notice:
            # A notice in the bad role rings the bell itself.
            self._console.notify_user(notice, Role.BAD if is_bad else Role.PLAIN)
        elif is_bad:
            self.ring()


def ended_runs_text(ended: Sequence[Run], glyphs: Glyphs = UNICODE) -> str:
    """Describe ended runs: one with status and reason, several by count."""
    if len(ended) == 1:
        run = ended[0]
        why = f" {glyphs.dot} {line(run.reason)}" if run.reason else ""
        return f"run {short_id(run.id, glyphs)} has ended: {state_label(run.status, glyphs)}{why}"
    counts: dict[str | None, int] = {}
    for run in ended:
        counts[run.status] = counts.get(run.status, 0) + 1
    ends = ", ".join(f"{number} {state_label(status, glyphs)}" for status, number in counts.items())
    return f"{len(ended)} runs have ended: {ends}"
