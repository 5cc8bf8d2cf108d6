"""Bell and notices, if enabled, for a run the user waits for; the bell for displayed errors too."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runwatch.records.run import Run
from runwatch.store.state.collection import CollectionDelta
from runwatch.tui.core.workers import start_worker
from runwatch.view.text.format import short_id, state_cell
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import SafeText, line, truncate

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console

BAD_ENDS: Final = frozenset({"failed", "expired"})
"""Final statuses that ring the bell. Not in the specification."""

NAMED: Final = 3
"""Runs that one notice names; it counts the others."""

NAME_CELLS: Final = 40
"""Cells of a run's name in a notice."""

NO_NAMES: Final[Mapping[str, str]] = {}

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

    def add_delta(self, delta: CollectionDelta) -> None:
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
        """Report ended runs that the user waits for; the new ones were not known as live."""
        session = self._console.session
        if session is None:
            return
        known = [run for run in ended if run.id not in new]
        pin_name = self._console.pin_name
        waited_for = [run for run in known if session.live.tails.follows(run.id) or pin_name(run.id) is not None]
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
        names = {run.id: name for run in waited_for if (name := pin_name(run.id))}
        notes = await session.notes.list_for(session.scope, Run.KIND)
        names |= {note.record_id: note.text for note in notes if note.purpose == "label"}
        glyphs = self._console.glyphs
        if self._console.settings.notice:
            # A notice in the bad role rings the bell itself.
            self._console.notify_user(ended_runs_text(waited_for, glyphs, names), Role.BAD if is_bad else Role.PLAIN)
        elif is_bad:
            self.ring()

        async def claimed_text() -> SafeText:
            own = await session.notes.claim_notices(session.scope, [run.id for run in waited_for])
            return line(ended_runs_text([run for run in waited_for if run.id in own], glyphs, names))

        await self._console.notify_desktop(claimed_text)


def ended_runs_text(ended: Sequence[Run], glyphs: Glyphs = UNICODE, names: Mapping[str, str] = NO_NAMES) -> str:
    """Describe ended runs: one with status and reason, several by count and the first few by name; none as "".

    The user's names of runs may be any text.
    """
    shown = [
        truncate(line(names[run.id]), NAME_CELLS, glyphs.ellipsis) if names.get(run.id) else short_id(run.id, glyphs)
        for run in ended[:NAMED]
    ]
    if len(ended) == 1:
        run = ended[0]
        # A cancelled run has its status as its reason too.
        why = f" {glyphs.dot} {line(run.reason)}" if run.reason and run.reason != run.status else ""
        return f"run {shown[0]} has ended: {state_cell(run.status, glyphs).text}{why}"
    counts: dict[str | None, int] = {}
    for run in ended:
        counts[run.status] = counts.get(run.status, 0) + 1
    ends = ", ".join(f"{number} {state_cell(status, glyphs).text}" for status, number in counts.items())
    more = f" and {len(ended) - NAMED} more" if len(ended) > NAMED else ""
    return f"{len(ended)} runs have ended: {ends} {glyphs.dot} {', '.join(shown)}{more}" if ended else ""
