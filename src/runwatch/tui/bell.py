"""The terminal's bell, where the settings want it: a run that somebody waits for ended badly, or an error is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runwatch.records.run import Run
from runwatch.store.state import Delta
from runwatch.tui.work import start_work

if TYPE_CHECKING:
    from runwatch.tui.app import ConsoleApp

BAD_ENDS: Final = frozenset({"failed", "expired"})
"""Final statuses that nobody wanted; ours."""


class Bell:
    """Rings for the runs that are followed, or were submitted or added here.

    A run rings once, when it ends: it has to be known as live before, so that opening a list of old failures is quiet.

    Args:
        console: The app, whose settings say whether anything rings at all.
    """

    def __init__(self, console: ConsoleApp) -> None:
        self._console = console
        self._live: set[str] = set()

    def ring(self) -> None:
        """Ring, if the settings want it."""
        if self._console.settings.bell:
            self._console.bell()

    def note(self, delta: Delta) -> None:
        """Take note of a change of the store, and find out whether somebody waits for what ended badly in it."""
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
                if known.record.status in BAD_ENDS:
                    ended.append(run_id)
        if ended and self._console.settings.bell:
            start_work(self._console, self._ring_for(ended), "ringing the bell", group="bell")

    async def _ring_for(self, ended: list[str]) -> None:
        desk = self._console.desk
        if desk is None:
            return
        waited_for = {run_id for run_id in ended if desk.live.follows(run_id)}
        if not waited_for:
            # The list is on the disk, and asked only now, because most runs end well or are other people's.
            waited_for = {watched.run_id for watched in await desk.watch_list.list(desk.scope)} & set(ended)
        if waited_for:
            self.ring()
