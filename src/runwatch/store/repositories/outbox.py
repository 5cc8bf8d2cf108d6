"""Outbox: writes are stored before the first byte is sent, and deleted when the outcome is known.

A write without a response may or may not have taken effect. A retry with the same key and the same bytes settles it
(manual: interface, "Idempotency"), so exactly these are stored. After a crash they are offered again, to the same
service and principal only, for :data:`RETRY_WINDOW`; later the service may have forgotten the key, and a retry would
start a second run (manual: decisions, "Outbox").

A write is in progress exactly as long as its lock file is locked. The system releases the lock when a process dies, so
a claim never outlives its owner, and no process sends a write that another one is sending. Locks are taken and checked
only inside a write transaction, so that two processes never race.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runwatch.api.errors import ApiError, ApiProblem, UnusableResponseError
from runwatch.api.operations import OPERATIONS, SUBMIT
from runwatch.api.request_builder import refuse_secrets
from runwatch.api.write_outcome import is_settled_cancel, proves_no_effect
from runwatch.base.clock import Clock, SystemClock, format_iso
from runwatch.base.errors import DataError, UsageError, WriteInProgressError, WriteSettledError
from runwatch.base.files import FileLock
from runwatch.store.db.database import Database, Work
from runwatch.store.db.text_codec import decode_optional, decode_text, encode_text
from runwatch.store.repositories.scope import Scope, ensure_scope_row
from runwatch.store.repositories.watch_list import add_watched_run

if TYPE_CHECKING:
    from runwatch.api.calls import CallResult
    from runwatch.api.client import Client

RETRY_WINDOW: Final = timedelta(hours=12)
"""How long an unconfirmed write may be retried: half of the time that a service is known to remember a key."""

_RETRY_HINT: Final = (
    "It is not known whether the service did it. The request is kept: O or :outbox in the console, `runwatch`, retries"
    " it with the same key; it is done once at most."
)

_WRITES: Final = (
    "SELECT outbox.id, profile, service, principal, origin, operation, path, body, key, label, created_at, reason"
    " FROM outbox JOIN scope ON scope.id = outbox.scope"
)
_OF_NUMBER: Final = _WRITES + " WHERE outbox.id = ?"
_OF_KEY: Final = _WRITES + " WHERE scope.id = ? AND operation = ? AND path = ? AND key = ?"
_OF_PRINCIPAL: Final = _WRITES + " WHERE service = ? AND principal = ? ORDER BY outbox.id"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A write to send.

    Attributes:
        label: Description for the list of unconfirmed writes.
    """

    operation: str
    path: Mapping[str, str]
    body: bytes | None = field(repr=False)
    key: str
    label: str = ""


class SendingWrite(NamedTuple):
    """A write whose response this process waits for, and when it was sent."""

    request: WriteRequest
    sent_at: datetime


class UnconfirmedWrite(NamedTuple):
    """A stored write whose outcome is not known: it is being sent for the first time, or no response settled it yet.

    Attributes:
        id: Its number on this machine.
        request: What was sent, byte for byte.
        origin: Where it was sent.
        created_at: When it was stored, just before it was first sent.
        reason: The title of the last error, or ``None`` when the process ended before one came.
        is_offered: Whether it may be retried; otherwise the user can only look for its effect in the list.
    """

    id: int
    request: WriteRequest
    scope: Scope
    origin: str
    created_at: datetime
    reason: str | None
    is_offered: bool


class Outbox:
    """The writes of all scopes."""

    def __init__(self, database: Database, *, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    async def deliver(self, client: Client, scope: Scope, request: WriteRequest) -> CallResult:
        """Store a write, send it, and delete it once its outcome is known.

        An accepted submit names its run, which is added to the watch list with its request. A write already stored,
        with the same key and bytes, is retried as :meth:`retry` does.

        Raises:
            ApiError: It failed. With ``outcome_known`` false it stays stored, and a retry with ``key`` settles it.
            UsageError: The key is blank, or belongs to an unconfirmed write that has other bytes, is too old or in
                progress.
            InvalidRequestError: It holds a misplaced secret; nothing was stored or sent.
            DataError: It cannot be stored; nothing was sent.
        """
        # Before it is on disk; the client looks again, because other requests do not come this way.
        refuse_secrets(request.operation, request.path, request.body, request.key)
        with ExitStack() as claim:
            origin, now = client.target.origin, self._clock.now()
            write, is_new = await self._database.write(
                lambda connection: self._store(connection, scope, request, origin, now, claim)
            )
            return await self._send(client, write, is_new=is_new)

    async def unconfirmed(self, scope: Scope) -> list[UnconfirmedWrite]:
        """Return the unconfirmed writes of the same service and principal that are not in progress, oldest first."""

        def work(connection: sqlite3.Connection) -> list[UnconfirmedWrite]:
            writes = self._select(connection, _OF_PRINCIPAL, encode_text(scope.service), encode_text(scope.principal))
            return [item for item in writes if not self._is_claimed(item.id)]

        # A write transaction, because it checks the locks.
        return await self._database.write(work)

    async def retry(self, client: Client, scope: Scope, write: UnconfirmedWrite) -> CallResult:
        """Retry with the same key and the same bytes.

        Raises:
            ApiError: It failed. ``outcome_known`` is true only if the response proves that no attempt took effect, or
                that the run to cancel has ended.
            UsageError: It belongs to another service or principal, is too old, settled, or in progress.
            DataError: The database is not usable; nothing was sent.
        """
        with ExitStack() as claim:
            again = await self._database.write(lambda connection: self._claim_again(connection, scope, write.id, claim))
            return await self._send(client, again, is_new=False)

    async def discard(self, write: UnconfirmedWrite) -> None:
        """Forget an unconfirmed write without learning its outcome.

        Raises:
            UsageError: It is in progress.
            DataError: The database cannot be written.
        """

        def work(connection: sqlite3.Connection) -> None:
            if self._is_claimed(write.id):
                raise _being_sent(write.request.key)
            self._delete(connection, write.id)

        await self._database.write(work)

    async def _send(self, client: Client, write: UnconfirmedWrite, *, is_new: bool) -> CallResult:
        request = write.request
        try:
            result = await client.request(request.operation, path=request.path, body=request.body, key=request.key)
            if request.operation == SUBMIT and _run_id(result.value) is None:
                raise _without_run(result, request)
        except ApiError as error:
            error.key = request.key
            # An error of this attempt does not undo the effect of an earlier one.
            error.outcome_known = error.outcome_known and (is_new or _settles(error))
            if error.outcome_known:
                await self._note(lambda connection: self._delete(connection, write.id))
            else:
                if request.operation != SUBMIT:
                    # A command prints the line that resends a submit; no other write has one.
                    error.hint = _RETRY_HINT
                reason = encode_text(error.title)
                await self._note(
                    lambda connection: connection.execute(
                        "UPDATE outbox SET reason = ? WHERE id = ?", (reason, write.id)
                    )
                )
            raise
        await self._note(lambda connection: self._accept(connection, write, result.value))
        return result

    async def _note(self, work: Work[object]) -> None:
        """Record an outcome even if the task is being cancelled, because only this task has it."""
        await asyncio.shield(self._write_down(work))

    async def _write_down(self, work: Work[object]) -> None:
        # If this fails the write stays stored and is retried later, which the key makes harmless.
        try:
            await self._database.write(work)
        except DataError:
            _log.exception("the outcome of a write could not be noted")

    def _store(
        self,
        connection: sqlite3.Connection,
        scope: Scope,
        request: WriteRequest,
        origin: str,
        now: datetime,
        claim: ExitStack,
    ) -> tuple[UnconfirmedWrite, bool]:
        if not request.key.strip():
            raise UsageError("The idempotency key is blank", hint="Without a key a write cannot be retried. Give one.")
        scope_row, path = ensure_scope_row(connection, scope), json.dumps(dict(request.path), sort_keys=True)
        found = self._select(connection, _OF_KEY, scope_row, request.operation, path, encode_text(request.key))
        if found and found[0].request.body != request.body:
            raise UsageError(
                "The idempotency key is taken",
                detail=f"{request.key} was sent with another body, and the outcome of that is not known",
                hint="Retry with the first body to learn its outcome, or use a new key for the new body.",
            )
        if found:
            return self._claim_again(connection, scope, found[0].id, claim), False
        cursor = connection.execute(
            "INSERT INTO outbox (scope, origin, operation, path, body, key, label, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                scope_row,
                origin,
                request.operation,
                path,
                request.body,
                encode_text(request.key),
                encode_text(request.label),
                format_iso(now),
            ),
        )
        assert cursor.lastrowid is not None
        self._claim(cursor.lastrowid, request.key, claim)
        return self._select(connection, _OF_NUMBER, cursor.lastrowid)[0], True

    def _claim_again(
        self, connection: sqlite3.Connection, scope: Scope, number: int, claim: ExitStack
    ) -> UnconfirmedWrite:
        found = self._select(connection, _OF_NUMBER, number)
        if not found:
            raise WriteSettledError(
                "This write is settled",
                detail="another console or command retried or discarded it",
                hint="Read the list.",
            )
        write = found[0]
        if (write.scope.service, write.scope.principal) != (scope.service, scope.principal):
            raise UsageError(
                "This write belongs to another service or key",
                detail=f"it was sent to {write.origin} under the profile {write.scope.profile}",
                hint="Retry with that profile.",
            )
        if not write.is_offered:
            raise UsageError(
                "This write is too old to be sent again",
                detail=f"the service may have forgotten the key {write.request.key}, and would do it a second time",
                hint="Look in the list whether it took effect, and send a new one if it did not.",
            )
        self._claim(number, write.request.key, claim)
        return write

    def _select(self, connection: sqlite3.Connection, query: str, *values: object) -> list[UnconfirmedWrite]:
        return [self._write_from_row(row) for row in connection.execute(query, values)]

    def _write_from_row(self, row: tuple[Any, ...]) -> UnconfirmedWrite:
        number, profile, service, principal, origin, operation, path, body, key, label, created_at, reason = row
        request = WriteRequest(operation, json.loads(path), body, decode_text(key), decode_text(label))
        scope = Scope(decode_text(profile), decode_text(service), decode_text(principal))
        created = datetime.fromisoformat(created_at)
        # A clock set back by more than the window proves nothing either.
        is_offered = abs(self._clock.now() - created) < RETRY_WINDOW
        return UnconfirmedWrite(number, request, scope, origin, created, decode_optional(reason), is_offered)

    def _accept(self, connection: sqlite3.Connection, write: UnconfirmedWrite, value: object) -> None:
        self._delete(connection, write.id)
        run_id = _run_id(value)
        if write.request.operation == SUBMIT and run_id is not None:
            scope, now = ensure_scope_row(connection, write.scope), self._clock.now()
            add_watched_run(connection, scope, run_id, source="submitted", request=write.request.body, at=now)

    def _delete(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute("DELETE FROM outbox WHERE id = ?", (number,))
        # Numbers are never reused, so this file is not locked again.
        self._lock_path(number).unlink(missing_ok=True)

    def _claim(self, number: int, key: str, claim: ExitStack) -> None:
        lock = FileLock(self._lock_path(number))
        if not lock.acquire(wait=False):
            raise _being_sent(key)
        claim.callback(lock.release)

    def _is_claimed(self, number: int) -> bool:
        lock = FileLock(self._lock_path(number))
        is_free = lock.acquire(wait=False)
        lock.release()
        return not is_free

    def _lock_path(self, number: int) -> Path:
        return self._database.path.parent / "outbox" / f"{number}.lock"


def _run_id(value: object) -> str | None:
    run_id = value.get("execution_id") if isinstance(value, dict) else None
    return run_id if isinstance(run_id, str) and run_id else None


def _without_run(result: CallResult, request: WriteRequest) -> UnusableResponseError:
    return UnusableResponseError(
        "The answer names no run",
        status=result.response.status,
        operation=request.operation,
        attempts=result.attempts,
        outcome_known=False,
        key=request.key,
        detail="the submit was accepted, and the answer has no execution_id",
        hint="Retry with the same key and bytes, or look for the run in the list.",
    )


def _settles(error: ApiError) -> bool:
    """Return whether an error makes a retry pointless, even if an earlier attempt of the same write took effect."""
    if not isinstance(error, ApiProblem):
        return False
    return is_settled_cancel(error.operation, error) or proves_no_effect(
        OPERATIONS[error.operation], error.status, error.code, in_doubt=True
    )


def _being_sent(key: str) -> WriteInProgressError:
    return WriteInProgressError(
        "This write is being sent right now",
        detail=f"another task or another runwatch process is at it (key {key})",
        hint="Whether it takes effect is not known yet: wait for its answer there.",
    )
