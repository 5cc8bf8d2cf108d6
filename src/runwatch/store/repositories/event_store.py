"""Events of followed runs, on disk and not in memory; a screen holds a window of them.

Each event is stored once, with its exact JSON text, under a number that is dense in its run. So the count is the last
number plus one, any window is one index lookup, and a run with a million events opens at its end at once. Events and
the cursor of the next read move in one transaction: no event is lost or doubled by repeated pages, overlapping pages,
several processes, or kill -9 at any time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

from runwatch.base.clock import format_iso
from runwatch.base.errors import UsageError
from runwatch.base.json import dumps
from runwatch.records.event import RunEvent
from runwatch.store.db.database import Database
from runwatch.store.db.text_codec import decode_optional, decode_text, encode_optional, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row, find_scope_row

T = TypeVar("T")

MAX_SEARCH_CHARACTERS: Final = 1_000
RECENT: Final = 512
"""Events kept in memory as received, the newest of all runs; a list draws no more at once."""


class EventGap(NamedTuple):
    """A gap: a time without a response from the service. No event is lost; the events of that time were read
    afterwards.

    Attributes:
        began_at: Time of the last response before it.
        ended_at: Time of the first response after it.
        position: The number of the event after it.
    """

    began_at: datetime
    ended_at: datetime
    position: int


class AppendedEvents(NamedTuple):
    """What a page added to the store.

    Attributes:
        new: The events that were not stored before, in the service's order.
        length: The number of stored events of the run now.
    """

    new: list[RunEvent]
    length: int


class EventStore:
    """The events of all runs of all scopes. Events are numbered from 0 in each run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recent: OrderedDict[tuple[Scope, str, int], RunEvent] = OrderedDict()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the caller's own queries on the stored events; see :mod:`runwatch.store.repositories.event_sequence`."""
        return await self._database.read(work)

    async def append(
        self, scope: Scope, run_id: str, events: Sequence[RunEvent], *, after: str | None = None
    ) -> AppendedEvents:
        """Store the new events of a page, and move the cursor, in one transaction.

        An event whose id is already stored is dropped, because events never change (manual: decisions, "Truth"). An
        event without an id is identified by its content, the last event before it that has an id, and how often the
        same content came since. The event that ends the run marks the run as complete.

        Args:
            events: The page in the service's order.
            after: The event id after which the page was read; ``None`` for a page from the beginning.
        """
        if not events:
            return AppendedEvents([], await self.count(scope, run_id))
        appended = await self._database.write(lambda connection: _append(connection, scope, run_id, events, after))
        newest = appended.new[-RECENT:]
        for number, event in enumerate(newest, appended.length - len(newest)):
            self._recent[scope, run_id, number] = event
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        return appended

    def recent(self, scope: Scope, numbers: Iterable[tuple[str, int]]) -> list[RunEvent] | None:
        """Return events by run and number from memory, or ``None`` if not all of them are there."""
        events: list[RunEvent] = []
        for run_id, number in numbers:
            event = self._recent.get((scope, run_id, number))
            if event is None:
                return None
            events.append(event)
        return events

    async def cursor(self, scope: Scope, run_id: str) -> str | None:
        """Return the id of the last event applied, where the next read continues; ``None`` for a run without any."""

        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT cursor FROM run WHERE id = ?", (find_run_row(connection, scope, run_id),))
            return decode_optional((row.fetchone() or (None,))[0])

        return await self._database.read(work)

    async def count(self, scope: Scope, run_id: str) -> int:
        """Return the number of stored events of a run."""
        return await self._database.read(lambda connection: _count(connection, find_run_row(connection, scope, run_id)))

    async def window(self, scope: Scope, run_id: str, start: int, count: int) -> list[RunEvent]:
        """Return up to ``count`` events from number ``start`` on; a negative ``start`` counts from the end."""

        def work(connection: sqlite3.Connection) -> list[RunEvent]:
            run = find_run_row(connection, scope, run_id)
            first = start if start >= 0 else max(0, _count(connection, run) + start)
            rows = connection.execute(
                "SELECT text FROM event WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?", (run, first, count)
            )
            return [RunEvent.stored(decode_text(text)) for (text,) in rows.fetchall()]

        return await self._database.read(work)

    async def search(self, scope: Scope, run_id: str, text: str, start: int, stop: int) -> list[int]:
        """Return the numbers in ``[start, stop)`` of events whose JSON contains a text, in order.

        ASCII letters match in either case. A character that the JSON escapes is found too.

        Raises:
            UsageError: The text is longer than :data:`MAX_SEARCH_CHARACTERS`.
        """
        patterns = _patterns(text)

        def work(connection: sqlite3.Connection) -> list[int]:
            holds = " OR ".join(["text LIKE ? ESCAPE '\\'"] * len(patterns))
            query = f"SELECT seq FROM event WHERE run = ? AND seq >= ? AND seq < ? AND ({holds}) ORDER BY seq"  # noqa: S608
            run = find_run_row(connection, scope, run_id)
            return [int(seq) for (seq,) in connection.execute(query, (run, start, stop, *patterns))]

        return await self._database.read(work) if patterns else []

    async def is_complete(self, scope: Scope, run_id: str) -> bool:
        """Return whether the run has ended and all its events are stored."""

        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute(
                "SELECT is_complete FROM run WHERE id = ?", (find_run_row(connection, scope, run_id),)
            )
            return bool((row.fetchone() or (0,))[0])

        return await self._database.read(work)

    async def mark_complete(self, scope: Scope, run_id: str) -> None:
        """Record that no event will follow, for a run that has ended without its final event."""
        await self._database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE run SET is_complete = 1 WHERE id = ?", (_run_key(connection, scope, run_id),)
                ).rowcount
            )
        )

    async def prune(self, before: datetime) -> int:
        """Delete the events of complete runs whose last event is older than ``before``.

        Returns:
            How many runs were deleted. They can be followed again; the service still has their events.
        """

        def work(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "DELETE FROM run WHERE is_complete AND coalesce((SELECT at FROM event WHERE event.run = run.id"
                " ORDER BY seq DESC LIMIT 1), '') < ?",
                (format_iso(before),),
            ).rowcount

        self._recent.clear()
        return await self._database.write(work)

    async def note_gap(self, scope: Scope, run_id: str, began_at: datetime, ended_at: datetime) -> None:
        """Record a gap after the events stored so far."""

        def work(connection: sqlite3.Connection) -> None:
            run = _run_key(connection, scope, run_id)
            connection.execute(
                "INSERT OR IGNORE INTO gap (run, began_at, ended_at, seq) VALUES (?, ?, ?, ?)",
                (run, format_iso(began_at), format_iso(ended_at), _count(connection, run)),
            )

        await self._database.write(work)

    async def gaps(self, scope: Scope, run_id: str) -> list[EventGap]:
        """Return the gaps, oldest first. Those that overlap, as recorded by two consoles, are one."""

        def work(connection: sqlite3.Connection) -> list[EventGap]:
            rows = connection.execute(
                "SELECT began_at, ended_at, seq FROM gap WHERE run = ? ORDER BY began_at, ended_at",
                (find_run_row(connection, scope, run_id),),
            )
            return _join_gaps(
                EventGap(datetime.fromisoformat(began), datetime.fromisoformat(ended), seq)
                for began, ended, seq in rows
            )

        return await self._database.read(work)


def _join_gaps(gaps: Iterable[EventGap]) -> list[EventGap]:
    """Join gaps that overlap, given in order; the joined one is where the first of them was."""
    joined: list[EventGap] = []
    for gap in gaps:
        last = joined[-1] if joined else None
        if last is not None and gap.began_at < last.ended_at:
            ended, position = max(last.ended_at, gap.ended_at), min(last.position, gap.position)
            joined[-1] = EventGap(last.began_at, ended, position)
        else:
            joined.append(gap)
    return joined


def find_run_row(connection: sqlite3.Connection, scope: Scope, run_id: str) -> int | None:
    """Return the row of a run, or ``None`` if it has none; for use inside a read."""
    row = connection.execute(
        "SELECT id FROM run WHERE scope = ? AND run_id = ?", (find_scope_row(connection, scope), encode_text(run_id))
    ).fetchone()
    return None if row is None else int(row[0])


def _run_key(connection: sqlite3.Connection, scope: Scope, run_id: str) -> int:
    connection.execute(
        "INSERT INTO run (scope, run_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (ensure_scope_row(connection, scope), encode_text(run_id)),
    )
    run = find_run_row(connection, scope, run_id)
    assert run is not None
    return run


def _count(connection: sqlite3.Connection, run: int | None) -> int:
    last = connection.execute("SELECT max(seq) FROM event WHERE run = ?", (run,)).fetchone()[0]
    return 0 if last is None else int(last) + 1


def _append(
    connection: sqlite3.Connection, scope: Scope, run_id: str, events: Sequence[RunEvent], after: str | None
) -> AppendedEvents:
    run = _run_key(connection, scope, run_id)
    seq = _count(connection, run)
    new: list[RunEvent] = []
    rows: list[tuple[ColumnValue | bool, ...]] = []
    cursor: ColumnValue = None
    anchor: ColumnValue = encode_optional(_anchor(connection, run, events, after))
    digests: _EventDigests | None = None
    for event in events:
        event_id, *rest = event_row(event)
        has_id = event_id is not None
        if has_id:
            cursor = anchor = event_id
            digests = None
        else:
            digests = digests or _EventDigests(decode_optional(anchor))
            event_id = digests.next_key(event)
        rows.append((event_id, has_id, *rest))
    for event, row in zip(events, rows, strict=True):
        inserted = connection.execute(
            "INSERT INTO event (run, seq, event_id, has_id, at, type, slice_id, state, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, event_id) DO NOTHING",
            (run, seq, *row),
        ).rowcount
        if inserted:
            new.append(event)
            seq += 1
    connection.execute(
        "UPDATE run SET cursor = coalesce(?, cursor), is_complete = max(is_complete, ?) WHERE id = ?",
        (cursor, any(event.ends_run for event in events), run),
    )
    return AppendedEvents(new, seq)


class _EventDigests:
    """Keys for events without an id: the same event gets the same key whenever it is read again."""

    def __init__(self, anchor: str | None) -> None:
        self._anchor = anchor
        self._times: Counter[str] = Counter()

    def next_key(self, event: RunEvent) -> bytes:
        """Return the key of the next event without an id. It is bytes, so it never equals an id of the service."""
        content = dumps(event.raw)
        self._times[content] += 1
        return hashlib.sha256(json.dumps([self._anchor, self._times[content], content]).encode()).digest()


def _anchor(connection: sqlite3.Connection, run: int, events: Sequence[RunEvent], after: str | None) -> str | None:
    """Return the id of the last event with one before this page; the keys of the page's first events without an id use
    it.

    If the page overlaps with stored events, those decide, because a service may return more than requested. If the
    service does not know ``after``, it has returned events from the beginning.
    """
    if find_event_key(events[0]) is not None:
        return None
    first = next(filter(None, map(find_event_key, events)), None)
    overlap = _seq(connection, run, first)
    if overlap is None:
        return None if _seq(connection, run, after) is None else after
    row = connection.execute(
        "SELECT event_id FROM event WHERE run = ? AND seq < ? AND has_id ORDER BY seq DESC LIMIT 1", (run, overlap)
    ).fetchone()
    return None if row is None else decode_text(row[0])


def _seq(connection: sqlite3.Connection, run: int, event_id: str | None) -> int | None:
    row = connection.execute(
        "SELECT seq FROM event WHERE run = ? AND event_id = ?", (run, encode_optional(event_id))
    ).fetchone()
    return None if row is None else int(row[0])


def _patterns(text: str) -> list[str]:
    """Return LIKE patterns for the forms that a text can have in JSON: plain, and with escapes."""
    if len(text) > MAX_SEARCH_CHARACTERS:
        raise UsageError(f"A search takes at most {MAX_SEARCH_CHARACTERS} characters")
    forms = {text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]}
    # A NUL would end the pattern. JSON text holds neither a NUL nor a lone surrogate except as an escape.
    plain = [form for form in sorted(forms) if "\x00" not in form and isinstance(encode_text(form), str)]
    return [
        "%" + "".join("\\" + character if character in "\\%_" else character for character in form) + "%"
        for form in plain
    ]


ColumnValue = str | bytes | None
EventRow = tuple[ColumnValue, ColumnValue, ColumnValue, ColumnValue, ColumnValue, str | bytes]
"""Id, time, type, slice, state and exact text of an event. A member that is missing or not a text is ``None``."""


def find_event_key(event: RunEvent) -> str | None:
    """Return the event's id if it can be a key: a text, or an integer that a service sent instead."""
    value = event.raw.get("event_id")
    if isinstance(value, str):
        return value or None
    return (event.id or None) if type(value) is int else None


def event_row(event: RunEvent) -> EventRow:
    """Return the columns of an event; the id is that of :func:`find_event_key`."""
    get = event.raw.get
    text = event.text
    event_id, at, kind, slice_id, state = get("event_id"), get("at"), get("type"), get("slice_id"), get("state")
    if text is None or "\\" in text or not text.isascii():
        return (
            encode_optional(find_event_key(event)),
            encode_optional(at),
            encode_optional(kind),
            encode_optional(slice_id),
            encode_optional(state),
            encode_text(event.wire_text),
        )
    # Such a JSON text cannot hold a lone surrogate, so it needs no encoding.
    return (
        (event_id or None) if type(event_id) is str else find_event_key(event),
        at if type(at) is str else None,
        kind if type(kind) is str else None,
        slice_id if type(slice_id) is str else None,
        state if type(state) is str else None,
        text,
    )
