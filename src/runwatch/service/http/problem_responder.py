"""Problems: the form of every failure, stored before it is sent (manual: interface, "Problems and error codes")."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import Any, Final

from runwatch.base.clock import Clock, Timers, format_iso
from runwatch.base.json import dumps
from runwatch.base.log import redact
from runwatch.base.secrets.secret_patterns import remove_known_keys
from runwatch.records.error_codes import CODES
from runwatch.records.problem import PROBLEM_BASE, PROBLEM_TYPE
from runwatch.service.access.authentication import Principal
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import DatabaseUnreachableError, RefusalError
from runwatch.service.http.rate_limits import WINDOW_S, RateWindow
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.tables import problems_table
from runwatch.service.transaction import Transaction

MAX_PROBLEMS: Final = 100_000
"""Number of Problems kept for lookup; the oldest are dropped first."""

MAX_ANONYMOUS_PROBLEMS_PER_MINUTE: Final = 60
"""Problems of callers without a key stored per minute. Others are sent but not stored."""

STORE_AFTER_S: Final = 1.0
"""Seconds those wait for others, so that all of them need only one write."""

_SWEEP_EVERY: Final = 1_000
_PATH_CHARACTERS: Final = 300

_log = logging.getLogger("runwatch.service.http.problems")


def problem_json(refusal: RefusalError) -> dict[str, Any]:
    """Build the Problem body of a refusal, with its own ``instance`` and only members of the specification."""
    code = CODES[refusal.code]
    body: dict[str, Any] = {
        "type": f"{PROBLEM_BASE}{refusal.code}",
        "title": code.title,
        "status": code.status,
        "instance": str(uuid.uuid4()),
    }
    if refusal.detail:
        body["detail"] = refusal.detail
    if refusal.errors:
        body["errors"] = [{"field": field, "message": message} for field, message in refusal.errors]
    if refusal.retry_after_s is not None:
        body["retry_after_s"] = refusal.retry_after_s
    return body


class ProblemResponder:
    """Converts refusals to responses, and stores every Problem of a caller with a key and some of the others."""

    def __init__(self, database: ServiceDatabase, clock: Clock, timers: Timers) -> None:
        self._database = database
        self._clock = clock
        self._timers = timers
        self._window = RateWindow(MAX_ANONYMOUS_PROBLEMS_PER_MINUTE, WINDOW_S, clock)
        self._waiting: list[dict[str, object]] = []
        self._storing: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def respond(
        self, refusal: RefusalError, *, method: str = "", path: str = "", principal: Principal | None = None
    ) -> ServiceResponse:
        """Build the response to a refused request. With a principal, its Problem is first stored with its cause.

        Without one, it is stored soon after, together with others and up to :data:`MAX_ANONYMOUS_PROBLEMS_PER_MINUTE`,
        so that such a caller causes no immediate disk write. Nobody waits for a database that is away. A Problem that
        cannot be stored is still sent, and logged.
        """
        problem = problem_json(refusal)
        body = dumps(problem)
        row: dict[str, object] = {
            "instance": problem["instance"],
            "at": format_iso(self._clock.now()),
            "tenant_id": principal.tenant_id if principal else None,
            "principal_id": principal.key_id if principal else None,
            "method": remove_known_keys(method)[:_PATH_CHARACTERS],
            "path": remove_known_keys(redact(path))[:_PATH_CHARACTERS],
            "code": refusal.code,
            "body": body,
            "cause": redact(refusal.cause) if refusal.cause else None,
        }
        if principal is not None and refusal.code != "service_unavailable":
            await self._store([row])
        elif principal is not None or not self._window.wait_s():
            if principal is None:
                self._window.count()
            self._waiting.append(row)
            if self._timer is None:
                self._timer = self._timers.call_later(STORE_AFTER_S, self._store_soon)
        headers = refusal.headers
        if refusal.retry_after_s is not None:
            headers = (*headers, ("Retry-After", str(refusal.retry_after_s)))
        return ServiceResponse(refusal.status, body.encode("ascii"), PROBLEM_TYPE, headers)

    async def flush(self) -> None:
        """Write pending Problems and return once they are on disk."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        rows, self._waiting = self._waiting, []
        if rows:
            await self._store(rows)
        await asyncio.gather(*self._storing)

    def _store_soon(self) -> None:
        self._timer = None
        rows, self._waiting = self._waiting, []
        task = asyncio.ensure_future(self._store(rows))
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store(self, rows: Sequence[dict[str, object]]) -> None:
        def store(transaction: Transaction) -> None:
            for row in rows:
                transaction.add(problems_table, **row)
            last = transaction.newest(problems_table, {}, limit=1)[0]["sequence"]
            if (last - len(rows)) // _SWEEP_EVERY != last // _SWEEP_EVERY:
                transaction.remove(problems_table, {}, until=("sequence", last - MAX_PROBLEMS))

        try:
            await self._database.write(store)
        except DatabaseUnreachableError as error:
            for row in rows:
                _log.error("problem %s (%s) is not stored: %s", row["instance"], row["code"], error)
        except Exception:
            for row in rows:
                _log.exception("problem %s (%s) is not stored; cause: %s", row["instance"], row["code"], row["cause"])
