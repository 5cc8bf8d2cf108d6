"""Journal of every request sent and every Problem received, for support staff to search.

It is bounded and holds no secret. It never blocks: noting adds to a queue, and entries that cannot be written, usually
because of a full disk, silently wait there until there is room or the process ends.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from runwatch.api.errors import UNSENT_ERRORS
from runwatch.api.operations import OPERATIONS
from runwatch.base.clock import format_iso
from runwatch.base.errors import DataError
from runwatch.base.json import loads
from runwatch.base.log import redact
from runwatch.records.problem import NOT_OFFERED_STATUS, Problem
from runwatch.records.receipt import Receipt
from runwatch.store.db.database import Database, Work
from runwatch.store.db.text_codec import decode_text, encode_text
from runwatch.store.repositories.id_search import match_ids, normalize_id

if TYPE_CHECKING:
    from runwatch.api.calls import RequestAttempt

MAX_REQUESTS: Final = 10_000
MAX_PROBLEMS: Final = 5_000
MAX_QUEUED: Final = 64
"""Entries queued in memory before they are written."""

READS_WAIT: Final = timedelta(seconds=5)
"""How long reads that succeeded may wait to be written together: each write costs a wait for the disk."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """One request attempt; a retry is a separate entry.

    Attributes:
        path: The path, percent-encoded.
        query: The query, percent-encoded.
        status: The HTTP status, or ``None`` without a response.
        attempt: The attempt's number within its call, from 1.
        error: Why there is no usable response, or ``None``.
        number: Its number in the journal, higher than that of every earlier request.
    """

    at: datetime
    profile: str
    origin: str
    operation: str
    method: str
    path: str
    query: str
    status: int | None
    elapsed_s: float
    attempt: int
    key: str | None
    sent_bytes: int
    received_bytes: int
    error: str | None
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class JournalProblem:
    """One Problem that was received.

    Attributes:
        at: When the request was sent.
        path: The path, percent-encoded.
        code: The error code, or an empty text.
        instance: The id that support staff quote; ``None`` for a synthetic Problem.
        attempt: The attempt's number within its call, from 1.
        raw: The Problem as received, known secrets redacted.
        number: Its number in the journal, higher than that of every earlier Problem.
    """

    at: datetime
    profile: str
    origin: str
    operation: str
    method: str
    path: str
    status: int | None
    code: str
    title: str | None
    detail: str | None
    instance: str | None
    key: str | None
    attempt: int
    raw: Mapping[str, Any] = field(repr=False)
    number: int = field(default=0, compare=False)


def _columns(kind: type[JournalRequest | JournalProblem]) -> tuple[str, ...]:
    """Return the columns of a table in the order of the fields; the number is the row's id."""
    return tuple(column.name for column in fields(kind) if column.name != "number")


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - names of ours


_REQUEST_COLUMNS: Final = _columns(JournalRequest)
_PROBLEM_COLUMNS: Final = _columns(JournalProblem)

REQUEST_ROWS: Final = f"SELECT {', '.join(_REQUEST_COLUMNS)}, id FROM request"  # noqa: S608 - names of ours
"""Selects rows for :func:`request_from_row`."""

PROBLEM_ROWS: Final = f"SELECT {', '.join(_PROBLEM_COLUMNS)}, id FROM problem"  # noqa: S608 - names of ours
"""Selects rows for :func:`problem_from_row`."""

_LATEST: Final = " WHERE (? IS NULL OR profile = ?) AND id > ? ORDER BY id DESC LIMIT ?"
_REQUESTS: Final = REQUEST_ROWS + _LATEST
_PROBLEMS: Final = PROBLEM_ROWS + _LATEST
_PROBLEM_OF_NUMBER: Final = PROBLEM_ROWS + " WHERE id = ?"
_COUNT_PROBLEMS: Final = "SELECT count(*) FROM problem"
_ADD_REQUEST: Final = _insert("request", _REQUEST_COLUMNS)
_ADD_PROBLEM: Final = _insert("problem", (*_PROBLEM_COLUMNS, "plain"))
_FORGET_REQUESTS: Final = "DELETE FROM request WHERE id <= (SELECT max(id) FROM request) - ?"
_FORGET_PROBLEMS: Final = "DELETE FROM problem WHERE id <= (SELECT max(id) FROM problem) - ?"


class JournalPosition(NamedTuple):
    """Position in the journal.

    Attributes:
        request: The number of the last request before it.
        problem: The number of the last Problem before it.
    """

    request: int = 0
    problem: int = 0


class JournalPage(NamedTuple):
    """Requests and Problems, read from the journal at the same time.

    Attributes:
        requests: The requests, newest first.
        problems: The Problems, newest first, including those of the requests.
        end: The position after both.
    """

    requests: list[JournalRequest]
    problems: list[JournalProblem]
    end: JournalPosition


class Journal:
    """Requests and Problems of all profiles."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: deque[RequestAttempt] = deque(maxlen=MAX_REQUESTS)

    def note(self, attempt: RequestAttempt) -> None:
        """Queue one request attempt. A Problem, or :data:`MAX_QUEUED` entries, start a write in the background."""
        self._queue.append(attempt)
        if attempt.problem is not None or len(self._queue) >= MAX_QUEUED:
            lines = _Lines(self._queue)
            self._database.write_soon(lines.write, failed=lines.put_back)

    async def flush(self) -> None:
        """Write the queued entries; those that cannot be written stay queued."""
        await self._flush_and(lambda _: True)

    async def _flush_and(self, work: Work[T]) -> T | None:
        """Write the queued entries, and run the work in the same transaction; ``None`` if nothing could be written, or
        nothing was queued.
        """
        if not self._queue:
            return None
        lines = _Lines(self._queue)

        def write(connection: sqlite3.Connection) -> T:
            lines.write(connection)
            return work(connection)

        try:
            return await self._database.write(write)
        except DataError as error:
            lines.put_back()
            _log.warning("journal lines cannot be written: %s", error)
            return None

    def is_due(self, now: datetime, *, waits: bool = True) -> bool:
        """Whether to write the queued entries now: failures and writes at once, other reads together if they wait."""
        if not self._queue or not waits:
            return bool(self._queue)
        is_old = not timedelta(0) <= now - self._queue[0].at < READS_WAIT
        return is_old or not all(map(_is_read, self._queue))

    async def close(self) -> None:
        """Write the queued entries, as the last step before the database is closed."""
        await self.flush()
        if self._queue:
            _log.warning("journal lines were lost: %d", len(self._queue))

    async def sent(
        self, *, profile: str | None = None, limit: int | None = 100, after: JournalPosition | None = None
    ) -> JournalPage:
        """Return the latest requests and Problems.

        Args:
            limit: Maximum of each; ``None`` for all.
        """
        start = after or JournalPosition()

        def work(connection: sqlite3.Connection) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
            return (
                _latest(connection, _REQUESTS, profile, limit, start.request),
                _latest(connection, _PROBLEMS, profile, limit, start.problem),
            )

        rows = await self.run_query(work)
        requests, problems = [request_from_row(row) for row in rows[0]], [problem_from_row(row) for row in rows[1]]
        end = JournalPosition(
            requests[0].number if requests else start.request, problems[0].number if problems else start.problem
        )
        return JournalPage(requests, problems, end)

    async def count_between(self, origin: str, since: datetime, until: datetime) -> int:
        """Write the queued entries, and return how many requests of all processes of this machine may have reached a
        service in a period.
        """

        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute(
                "SELECT count(*) FROM request WHERE at BETWEEN ? AND ? AND origin = ?"
                " AND coalesce(error, '') NOT IN (?, ?)",
                (format_iso(since), format_iso(until), origin, *UNSENT_ERRORS),
            )
            return int(row.fetchone()[0])

        count = await self._flush_and(work)
        return await self._database.read(work) if count is None else count

    async def problems(self, *, profile: str | None = None, limit: int | None = 100) -> list[JournalProblem]:
        """Return the latest Problems, newest first; without a limit all of them."""
        rows = await self.run_query(lambda connection: _latest(connection, _PROBLEMS, profile, limit))
        return [problem_from_row(row) for row in rows]

    async def find(self, text: str) -> list[JournalProblem]:
        """Return the Problems whose instance occurs in a text, whole or in part, newest first.

        Any six hexadecimal digits in a row match, in either case, with or without dashes, cut anywhere; the text may be
        a whole mail. A text that equals an instance finds it whatever its characters are.
        """
        await self.flush()

        def work(connection: sqlite3.Connection) -> list[JournalProblem]:
            rows = connection.execute("SELECT id, plain FROM problem ORDER BY id DESC").fetchall()
            found = match_ids(text, [decode_text(plain) for _, plain in rows])
            numbers = [rows[position][:1] for position in found]
            return [problem_from_row(connection.execute(_PROBLEM_OF_NUMBER, number).fetchone()) for number in numbers]

        return await self._database.read(work)

    async def count_problems(self) -> int:
        return await self.run_query(lambda connection: int(connection.execute(_COUNT_PROBLEMS).fetchone()[0]))

    async def run_query(self, work: Work[T]) -> T:
        """Run the caller's own queries after all queued entries are on disk."""
        await self.flush()
        return await self._database.read(work)


def _latest(
    connection: sqlite3.Connection, query: str, profile: str | None, limit: int | None, after: int = 0
) -> list[tuple[Any, ...]]:
    wanted = None if profile is None else encode_text(profile)
    # SQLite takes a negative limit for none.
    return connection.execute(query, (wanted, wanted, after, -1 if limit is None else limit)).fetchall()


class _Lines:
    """The queued entries of one transaction, which return to the queue if it fails."""

    def __init__(self, queue: deque[RequestAttempt]) -> None:
        self._queue = queue
        self._count = len(queue)
        self._taken: list[RequestAttempt] = []

    def write(self, connection: sqlite3.Connection) -> None:
        """Take and write the entries that were queued when this was made."""
        while self._queue and len(self._taken) < self._count:
            self._taken.append(self._queue.popleft())
        problems = [
            (attempt, attempt.problem)
            for attempt in self._taken
            if attempt.problem is not None and not _is_not_offered(attempt)
        ]
        connection.executemany(_ADD_REQUEST, map(_request_row, self._taken))
        connection.executemany(_ADD_PROBLEM, starmap(_problem_row, problems))
        connection.execute(_FORGET_REQUESTS, (MAX_REQUESTS,))
        connection.execute(_FORGET_PROBLEMS, (MAX_PROBLEMS,))

    def put_back(self) -> None:
        """Queue them again, before the entries added since."""
        self._queue.extendleft(reversed(self._taken))
        self._taken.clear()


def _clean(text: str | None) -> str | bytes | None:
    """Redact a text, because a service may repeat a key in an error, or a redirect in a path."""
    return None if text is None else encode_text(redact(text))


def _request_row(attempt: RequestAttempt) -> list[Any]:
    values = (getattr(attempt, name) for name in _REQUEST_COLUMNS[1:])
    return [format_iso(attempt.at), *(_clean(value) if isinstance(value, str) else value for value in values)]


def _is_read(attempt: RequestAttempt) -> bool:
    """Return whether a request only read something, and was answered."""
    return attempt.method == "GET" and attempt.status is not None and attempt.status < 400 and attempt.error is None


def _is_not_offered(attempt: RequestAttempt) -> bool:
    """Return whether a read met something the service does not offer, which is no Problem (manual: decisions, "Lists").

    A path with an id names a record, which may be missing; but the console looks for the receipt of every run, and a
    run need not have one. The paths of a service can begin with one of its own.
    """
    operation = OPERATIONS.get(attempt.operation)
    is_probe = operation is not None and (attempt.path.endswith(operation.path) or operation.record is Receipt)
    return attempt.method == "GET" and attempt.status in NOT_OFFERED_STATUS and is_probe


def _problem_row(attempt: RequestAttempt, problem: Problem) -> list[Any]:
    texts = problem.title, problem.detail, problem.instance, attempt.key
    plain = encode_text(normalize_id(redact(problem.instance or "")))
    first = _request_row(attempt)[: _PROBLEM_COLUMNS.index("status")]
    return [*first, attempt.status, problem.code, *map(_clean, texts), attempt.attempt, redact(problem.json()), plain]


def request_from_row(row: tuple[Any, ...]) -> JournalRequest:
    """Convert a row of :data:`REQUEST_ROWS`, whose columns follow the fields."""
    at, *rest = row
    return JournalRequest(datetime.fromisoformat(at), *map(_decode, rest))


def problem_from_row(row: tuple[Any, ...]) -> JournalProblem:
    """Convert a row of :data:`PROBLEM_ROWS`, whose columns follow the fields."""
    at, *rest, raw, number = row
    values = [*map(_decode, rest), loads(raw), number]
    return JournalProblem(datetime.fromisoformat(at), *values)


def _decode(value: Any) -> Any:
    return decode_text(value) if isinstance(value, bytes) else value
