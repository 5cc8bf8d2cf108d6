"""Stored events as a sequence, numbered from 0: those of one run, or of several runs by time.

A screen that shows events uses only this: it reads windows, and has filters applied where the events are. For several
runs only the order and the times are in memory, sixteen bytes an event; the events themselves stay on disk.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final, Protocol

from runwatch.records.event import RunEvent
from runwatch.store.db.text_codec import decode_text
from runwatch.store.repositories.event_store import EventGap, EventStore, find_run_row
from runwatch.store.repositories.scope import Scope

EventPredicate = Callable[[RunEvent], bool]
"""Returns whether a filter keeps an event. Called in a thread, so it may use nothing but the event."""

_SEQ_BITS: Final = 40
_SEQ_MASK: Final = (1 << _SEQ_BITS) - 1


class EventSequence(Protocol):
    """Sequence of events. The number of an event changes only by the insertions that :meth:`grow` returns."""

    @property
    def length(self) -> int:
        """Number of events at the last :meth:`grow`."""

    @property
    def gaps(self) -> Sequence[EventGap]:
        """The gaps, oldest first; none for several runs, because a gap belongs to a single one."""
        return ()

    async def grow(self) -> Sequence[int]:
        """Add the events stored since the last call.

        Returns:
            The numbers of the new events that precede older ones, in order; an older event's number grows by one for
            each insertion up to it.
        """
        return ()

    async def window(self, start: int, count: int) -> list[RunEvent]: ...

    async def scan(self, start: int, stop: int, keep: EventPredicate) -> list[int]:
        """Return the numbers in ``[start, stop)`` whose events a filter keeps, in order."""

    async def holding(self, text: str, start: int, stop: int) -> list[int]:
        """Return the numbers in ``[start, stop)`` of events whose JSON contains a text, where the database is faster
        than :meth:`scan`.

        Raises:
            UsageError: The text is too long.
        """
        return []


class MemorySequence(EventSequence):
    """Events of one run that are all in memory, in their order, such as those of a file."""

    def __init__(self, events: Sequence[RunEvent]) -> None:
        self._events = events

    @property
    def length(self) -> int:
        return len(self._events)

    async def window(self, start: int, count: int) -> list[RunEvent]:
        return list(self._events[start : start + count])

    async def scan(self, start: int, stop: int, keep: EventPredicate) -> list[int]:
        return [number for number in range(start, min(stop, self.length)) if keep(self._events[number])]


class RunSequence(EventSequence):
    """The events of one run, in the service's order."""

    def __init__(self, event_store: EventStore, scope: Scope, run_id: str) -> None:
        self._event_store = event_store
        self._scope = scope
        self._run_id = run_id
        self._length = 0
        self._gaps: Sequence[EventGap] = ()

    @property
    def length(self) -> int:
        return self._length

    @property
    def gaps(self) -> Sequence[EventGap]:
        return self._gaps

    async def grow(self) -> Sequence[int]:
        length = await self._event_store.count(self._scope, self._run_id)
        self._gaps = await self._event_store.gaps(self._scope, self._run_id)
        self._length = length
        return ()

    async def window(self, start: int, count: int) -> list[RunEvent]:
        """Return up to ``count`` events from number ``start`` on; recent ones are not decoded again."""
        recent = self._event_store.recent(self._scope, ((self._run_id, start + index) for index in range(count)))
        return await self._event_store.window(self._scope, self._run_id, start, count) if recent is None else recent

    async def scan(self, start: int, stop: int, keep: EventPredicate) -> list[int]:

        def work(connection: sqlite3.Connection) -> list[int]:
            run = find_run_row(connection, self._scope, self._run_id)
            rows = connection.execute(
                "SELECT seq, text FROM event WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq", (run, start, stop)
            )
            return [int(seq) for seq, text in rows.fetchall() if keep(_event(text))]

        return await self._event_store.read(work)

    async def holding(self, text: str, start: int, stop: int) -> list[int]:
        return await self._event_store.search(self._scope, self._run_id, text, start, stop)


class MergedSequence(EventSequence):
    """The events of several runs by time, whenever they are stored.

    Within a run the service's order holds, whatever the timestamps say: an event never comes before its predecessor.
    Of events at the same time, the one stored first comes first. A run without any time so far goes to the end.
    """

    def __init__(self, event_store: EventStore, scope: Scope, run_ids: Sequence[str] = ()) -> None:
        self._event_store = event_store
        self._scope = scope
        self._run_ids = list(dict.fromkeys(run_ids))
        self._taken: dict[str, int] = dict.fromkeys(self._run_ids, 0)
        self._finished: set[str] = set()
        self._closed: set[str] = set()
        # One number for each event: the index of its run, then the event's number in that run.
        self._order: array[int] = array("Q")
        # The time of each event in days, as of julianday(), but never less than that of its predecessor in the run.
        self._moments: array[float] = array("d")
        self._latest: dict[str, float] = {}

    @property
    def run_ids(self) -> Sequence[str]:
        """The runs, in the order they were added."""
        return self._run_ids

    @property
    def length(self) -> int:
        return len(self._order)

    def add(self, run_id: str) -> None:
        """Include another run from the next :meth:`grow` on; a run already included stays as it is."""
        if run_id not in self._taken:
            self._run_ids.append(run_id)
            self._taken[run_id] = 0

    def finish(self, run_id: str) -> None:
        """Look for no more events of a run after the next :meth:`grow`; those it has stay."""
        self._finished.add(run_id)

    async def grow(self) -> Sequence[int]:
        """Insert the events stored since the last call where their times belong."""
        run_indexes = {run_id: index for index, run_id in enumerate(self._run_ids)}
        taken = {run_id: count for run_id, count in self._taken.items() if run_id not in self._closed}
        finished = self._finished.copy()
        newer = await self._event_store.read(lambda connection: self._newer(connection, taken))
        self._closed |= finished
        came: list[tuple[float, int]] = []
        for run_id, seq, moment in newer:
            # Concurrent calls read the same events; each event is added by only one of them.
            if seq == self._taken[run_id]:
                end = self._moments[-1] if self._moments else 0.0
                latest = self._latest.get(run_id)
                at = max(moment, latest or 0.0) if moment is not None else end if latest is None else latest
                self._taken[run_id], self._latest[run_id] = seq + 1, at
                came.append((at, run_indexes[run_id] << _SEQ_BITS | seq))
        came.sort(key=lambda event: event[0])
        return self._merge(came)

    def _merge(self, came: Sequence[tuple[float, int]]) -> list[int]:
        """Insert events in order of time; return the numbers of those that precede older ones.

        Only the events from the first insertion on are moved, which are few while runs are followed.
        """
        first = bisect_right(self._moments, came[0][0]) if came else len(self._moments)
        moments, codes = self._moments[first:], self._order[first:]
        del self._moments[first:], self._order[first:]
        inserted: list[int] = []
        old = 0
        for moment, code in came:
            upto = bisect_right(moments, moment, lo=old)
            self._moments.extend(moments[old:upto])
            self._order.extend(codes[old:upto])
            old = upto
            if old < len(moments):
                inserted.append(len(self._order))
            self._moments.append(moment)
            self._order.append(code)
        self._moments.extend(moments[old:])
        self._order.extend(codes[old:])
        return inserted

    def _newer(self, connection: sqlite3.Connection, taken: dict[str, int]) -> list[tuple[str, int, float | None]]:
        run_ids: dict[int, str] = {}
        for run_id in taken:
            run = find_run_row(connection, self._scope, run_id)
            if run is not None:
                run_ids[run] = run_id
        if not run_ids:
            return []
        wanted = [value for run, run_id in run_ids.items() for value in (run, taken[run_id])]
        values = ", ".join(["(?, ?)"] * len(run_ids))
        # julianday() reads every timestamp format that the interface allows, and returns NULL for other texts.
        query = (
            f"WITH wanted (run, least) AS (VALUES {values})"  # noqa: S608
            " SELECT run, seq, moment FROM (SELECT event.run AS run, event.seq AS seq,"
            " max(julianday(event.at)) OVER (PARTITION BY event.run ORDER BY event.seq) AS moment"
            " FROM wanted JOIN event ON event.run = wanted.run AND event.seq >= wanted.least)"
            " ORDER BY moment, run, seq"
        )
        return [(run_ids[run], int(seq), moment) for run, seq, moment in connection.execute(query, wanted)]

    async def window(self, start: int, count: int) -> list[RunEvent]:
        """Return up to ``count`` events from number ``start`` on; recent ones are not decoded again."""
        codes = self._order[start : start + count]
        numbers = ((self._run_ids[code >> _SEQ_BITS], code & _SEQ_MASK) for code in codes)
        recent = self._event_store.recent(self._scope, numbers)
        return (
            await self._event_store.read(lambda connection: self._events_of(connection, codes))
            if recent is None
            else recent
        )

    async def scan(self, start: int, stop: int, keep: EventPredicate) -> list[int]:
        codes = self._order[start:stop]

        def work(connection: sqlite3.Connection) -> list[int]:
            found = self._events_of(connection, codes)
            return [start + index for index, event in enumerate(found) if keep(event)]

        return await self._event_store.read(work)

    def _events_of(self, connection: sqlite3.Connection, codes: array[int]) -> list[RunEvent]:
        """Return the events with these numbers; one that was deleted meanwhile becomes an empty event.

        In a window the numbers of one run are close together, so one range for each run holds them.
        """
        texts: dict[int, str] = {}
        by_run = sorted(codes)
        for number, group in groupby(by_run, key=lambda code: code >> _SEQ_BITS):
            seqs = [code & _SEQ_MASK for code in group]
            run = find_run_row(connection, self._scope, self._run_ids[number])
            rows = connection.execute(
                "SELECT seq, text FROM event WHERE run = ? AND seq BETWEEN ? AND ?", (run, seqs[0], seqs[-1])
            )
            texts |= {number << _SEQ_BITS | int(seq): text for seq, text in rows}
        return [_event(texts[code]) if code in texts else RunEvent({}) for code in codes]


def _event(text: str) -> RunEvent:
    return RunEvent.stored(decode_text(text))
