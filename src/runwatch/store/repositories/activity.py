"""Search of the local data: activity in time ranges, and how often each error code came.

Activity is of three kinds: a request was sent, a Problem came back, or a run ended. The first two are in the journal;
the end of a run is in the stored events of followed runs or in the cached list of runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, NamedTuple

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.records.event import RunEvent
from runwatch.records.run import Run
from runwatch.store.db.text_codec import decode_text
from runwatch.store.repositories.journal import (
    PROBLEM_ROWS,
    REQUEST_ROWS,
    Journal,
    JournalProblem,
    JournalRequest,
    problem_from_row,
    request_from_row,
)

MAX_ENTRIES: Final = 1_000
"""Maximum requests, and maximum Problems, returned for a time range: those nearest to its middle."""

MAX_WORDS: Final = 20
"""Maximum words of a search text; each lengthens the search."""

_LAST_EVENTS: Final = 8
"""How many events at the end of a followed run are searched for its end."""

_PROBLEM_WORDS: Final = (
    "coalesce(code, '') || ' ' || coalesce(instance, '') || ' ' || plain || ' ' || method || ' ' || path || ' ' ||"
    " operation || ' ' || profile || ' ' || coalesce(key, '') || ' ' || coalesce(title, '') || ' ' ||"
    " coalesce(detail, '') || ' ' || coalesce(status, '')"
)
_REQUEST_WORDS: Final = (
    "method || ' ' || path || ' ' || query || ' ' || operation || ' ' || profile || ' ' || coalesce(key, '') || ' ' ||"
    " coalesce(error, '') || ' ' || coalesce(status, '')"
)

_CODES: Final = (
    "SELECT code, count(*), min(at), max(at), count(DISTINCT profile), count(DISTINCT path) FROM problem"
    " GROUP BY code ORDER BY count(*) DESC, max(at) DESC"
)
_CACHED_RUNS: Final = (
    "SELECT scope.profile, cached_record.text FROM cached_record JOIN scope ON scope.id = cached_record.scope"
    " WHERE cached_record.kind = ?"
)
_ENDED: Final = (
    "SELECT run.id, scope.profile, run.run_id FROM run JOIN scope ON scope.id = run.scope WHERE run.is_complete"
)
_LAST: Final = "SELECT text FROM event WHERE run = ? ORDER BY seq DESC LIMIT ?"

_AT: Final = attrgetter("at")

TimeRange = tuple[datetime, datetime]
"""First and last instant of a time range."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """End of a run, as seen on this machine.

    Attributes:
        profile: The profile through which it was seen.
        status: Its final state.
        raw: The run, or the event that ended it, as the service sent it.
    """

    at: datetime
    profile: str
    run_id: str
    status: str
    raw: Mapping[str, Any] = field(repr=False)


ActivityLine = JournalProblem | JournalRequest | RunEnd


@dataclass(frozen=True, slots=True)
class JournalExtent:
    """Amount and age of the searched data.

    Attributes:
        ends: Number of ended runs.
        since: Time of the oldest entry; ``None`` where there is no data.
        until: Time of the newest.
    """

    problems: int
    requests: int
    ends: int
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class ActivityResult:
    """Activity found in the time ranges.

    Attributes:
        lines: Requests, Problems and ends of runs, oldest first.
        kept: The extent of the searched data.
        neighbours: If nothing was found: the nearest of each kind before and after, oldest first.
    """

    lines: list[ActivityLine]
    kept: JournalExtent
    neighbours: list[ActivityLine]


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How often a Problem with one code came.

    Attributes:
        code: The code, empty where the response had none.
    """

    code: str
    count: int
    first: datetime
    last: datetime
    profiles: int
    paths: int


async def list_latest_problems(
    journal: Journal, profiles: Sequence[str] | None, limit: int | None
) -> list[JournalProblem]:
    """Return the latest Problems of several profiles together, newest first.

    Args:
        profiles: The profiles; ``None`` for all in the journal.
        limit: Maximum of all together; ``None`` for none.
    """
    if profiles is None:
        return await journal.problems(limit=limit)
    found = [line for profile in profiles for line in await journal.problems(profile=profile, limit=limit)]
    return sorted(found, key=lambda line: line.at, reverse=True)[:limit]


async def count_problem_codes(journal: Journal) -> list[CodeCount]:
    """Return every code among the stored Problems, the most frequent first."""

    def work(connection: sqlite3.Connection) -> list[CodeCount]:
        return [
            CodeCount(code, count, datetime.fromisoformat(first), datetime.fromisoformat(last), profiles, paths)
            for code, count, first, last, profiles, paths in connection.execute(_CODES)
        ]

    return await journal.run_query(work)


async def find_activity(journal: Journal, stretches: Sequence[TimeRange], text: str = "") -> ActivityResult:
    """Return the activity within time ranges, and the extent of the searched data.

    Args:
        stretches: Time ranges in order, which do not touch.
        text: Words that must all occur in a line: in code, instance, path, key, id, state and the like.
    """
    words = text.casefold().split()[:MAX_WORDS]

    def work(connection: sqlite3.Connection) -> ActivityResult:
        every = list(_ends(connection))
        ends = [end for end in every if _has(end, words)]
        found: list[ActivityLine] = [end for end in ends if any(since <= end.at <= until for since, until in stretches)]
        for stretch in stretches:
            found += _between(connection, _PROBLEMS, stretch, words)
            found += _between(connection, _REQUESTS, stretch, words)
        neighbours = [] if found or not stretches else _neighbours(connection, ends, stretches, words)
        return ActivityResult(sorted(found, key=_AT), _kept(connection, every), neighbours)

    return await journal.run_query(work)


_NEWEST: Final[tuple[str, tuple[str, ...]]] = ("at DESC, id DESC", ())
_OLDEST: Final[tuple[str, tuple[str, ...]]] = ("at, id", ())


class _Table(NamedTuple):
    """One of the journal's tables: its query, its searchable text, and the reader of a row."""

    rows: str
    words: str
    read: Callable[[tuple[Any, ...]], ActivityLine]


_PROBLEMS: Final = _Table(PROBLEM_ROWS, _PROBLEM_WORDS, problem_from_row)
_REQUESTS: Final = _Table(REQUEST_ROWS, _REQUEST_WORDS, request_from_row)


def _between(
    connection: sqlite3.Connection, table: _Table, stretch: TimeRange, words: Sequence[str]
) -> list[ActivityLine]:
    # Journal timestamps have milliseconds, and their text sorts by time.
    since, until = stretch
    middle = format_iso(since + (until - since) / 2)
    nearest = "abs(julianday(at) - julianday(?)), id DESC"
    bounds = (format_iso(since), format_iso(until))
    return _rows(connection, table, "at >= ? AND at <= ?", bounds, words, MAX_ENTRIES, order=(nearest, (middle,)))


def _rows(
    connection: sqlite3.Connection,
    table: _Table,
    condition: str,
    values: tuple[Any, ...],
    words: Sequence[str],
    limit: int,
    order: tuple[str, tuple[str, ...]] = _NEWEST,
) -> list[ActivityLine]:
    likes = "".join(f" AND ({table.words}) LIKE ? ESCAPE '\\'" for _ in words)
    statement = f"{table.rows} WHERE {condition}{likes} ORDER BY {order[0]} LIMIT ?"
    found = connection.execute(statement, (*values, *map(_like, words), *order[1], limit))
    return [table.read(row) for row in found]


def _like(word: str) -> str:
    # No searched column holds a lone surrogate, so its replacement finds nothing.
    word = word.encode("utf-8", "replace").decode()
    return "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def _neighbours(
    connection: sqlite3.Connection, ends: Sequence[RunEnd], stretches: Sequence[TimeRange], words: Sequence[str]
) -> list[ActivityLine]:
    before, behind = stretches[0][0], stretches[-1][1]
    found: list[ActivityLine] = []
    for table in (_PROBLEMS, _REQUESTS):
        found += _rows(connection, table, "at < ?", (format_iso(before),), words, 1)
        found += _rows(connection, table, "at > ?", (format_iso(behind),), words, 1, _OLDEST)
    found += sorted((end for end in ends if end.at < before), key=_AT)[-1:]
    found += sorted((end for end in ends if end.at > behind), key=_AT)[:1]
    return sorted(found, key=_AT)


def _kept(connection: sqlite3.Connection, ends: Sequence[RunEnd]) -> JournalExtent:
    problems, requests = (
        connection.execute(f"SELECT count(*), min(at), max(at) FROM {table}").fetchone()  # noqa: S608 - names of ours
        for table in ("problem", "request")
    )
    moments = [datetime.fromisoformat(at) for row in (problems, requests) for at in row[1:] if at]
    moments += [end.at for end in ends]
    return JournalExtent(problems[0], requests[0], len(ends), min(moments, default=None), max(moments, default=None))


def _ends(connection: sqlite3.Connection) -> Iterator[RunEnd]:
    """Yield the end of every run known to have ended; a cached run replaces the same run's events."""
    seen: set[tuple[str, str]] = set()
    for profile, text in connection.execute(_CACHED_RUNS, (Run.KIND,)):
        run = Run(loads(decode_text(text)))
        if run.is_final and run.completed_at is not None and run.id:
            seen.add((decode_text(profile), run.id))
            yield RunEnd(run.completed_at, decode_text(profile), run.id, run.status or "", run.raw)
    for number, profile, run_id in connection.execute(_ENDED).fetchall():
        if (decode_text(profile), decode_text(run_id)) in seen:
            continue
        for (text,) in connection.execute(_LAST, (number, _LAST_EVENTS)):
            event = RunEvent(loads(decode_text(text)))
            if event.ends_run and event.at is not None:
                yield RunEnd(event.at, decode_text(profile), decode_text(run_id), event.state or "", event.raw)
                break


def _has(end: RunEnd, words: Sequence[str]) -> bool:
    places = (end.run_id, end.status, end.profile, str(end.raw.get("reason") or ""), str(end.raw.get("mode") or ""))
    whole = " ".join(places).casefold()
    return all(word in whole for word in words)
