"""Bell and notice, where the settings want them: a run that somebody waits for has ended, or an error is shown."""

from __future__ import annotations

from collections.abc import Sequence
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
"""Final statuses that nobody wanted; ours."""


class RunNotifier:
    """Rings and tells of the runs that are followed, or were submitted or added here.

    The bell is for those that ended badly, the notice for all. A run is told of once, when it ends: it has to be known
    as live before, so that opening a list of old failures is quiet.

    Args:
        console: The app, whose settings say whether anything rings at all.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: set[str] = set()

    def ring(self) -> None:
        """Ring, if the settings want it."""
        if self._console.settings.bell:
            self._console.bell()

    def note(self, delta: CollectionDelta) -> None:
        """Take note of a change of the store, and find out whether somebody waits for what ended in it."""
        if delta.kind != Run.KIND:
            return
        ended = []
        for run_id in (*delta.added, *delta.changed):
            known = self._console.store.get(delta.profile, Run.KIND, run_id)
            if known is None or not isinstance(known.record, Run):
                continue
            if not known.record.is_final:
                self._live.add(run_id)
            elif run_id in self._live:
                self._live.discard(run_id)
                ended.append(known.record)
        settings = self._console.settings
        told = [run for run in ended if settings.notice or (settings.bell and run.status in BAD_ENDS)]
        if told:
            start_worker(self._console, self._tell(told), "telling of runs that ended", group="bell")

    async def _tell(self, ended: Sequence[Run]) -> None:
        session = self._console.session
        if session is None:
            return
        waited_for = [run for run in ended if session.live.tails.follows(run.id)]
        if len(waited_for) < len(ended):
            # The list is on the disk, and asked only now, because most runs are other people's.
            watched = {entry.run_id for entry in await session.watch_list.list(session.scope)}
            waited_for = [run for run in ended if run in waited_for or run.id in watched]
        if not waited_for:
            return
        is_bad = any(run.status in BAD_ENDS for run in waited_for)
        if self._console.settings.notice:
            # What is bad rings by itself.
            notice = ended_runs_text(waited_for, self._console.glyphs)
            self._console.notify_user(notice, Role.BAD if is_bad else Role.PLAIN)
        elif is_bad:
            self.ring()


def ended_runs_text(ended: Sequence[Run], glyphs: Glyphs = UNICODE) -> str:
    """What is said of runs that have just ended: of one which, how and why; of several how many ended how."""
    if len(ended) == 1:
        run = ended[0]
        why = f" {glyphs.dot} {line(run.reason)}" if run.reason else ""
        return f"run {short_id(run.id, glyphs)} has ended: {state_label(run.status, glyphs)}{why}"
    counts: dict[str | None, int] = {}
    for run in ended:
        counts[run.status] = counts.get(run.status, 0) + 1
    ends = ", ".join(f"{number} {state_label(status, glyphs)}" for status, number in counts.items())
    return f"{len(ended)} runs have ended: {ends}"
