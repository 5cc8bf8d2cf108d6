"""Problems: the one form of every failure, kept before it is sent (specification, Problem and Errors)."""

from __future__ import annotations

import logging
import uuid
from typing import Any, Final

from runwatch.base.clock import iso
from runwatch.base.json import dumps
from runwatch.base.log import redact
from runwatch.records.codes import CODES
from runwatch.records.problem import PROBLEM_BASE, PROBLEM_TYPE
from runwatch.service.access.auth import Principal
from runwatch.service.database import Database
from runwatch.service.http.answer import Answer, Refusal
from runwatch.service.tables import problems
from runwatch.service.transaction import Transaction

PROBLEMS_KEPT: Final = 100_000
"""How many Problems stay to be looked up; the oldest go first."""

_SWEEP_EVERY: Final = 1_000
_PATH_CHARACTERS: Final = 300

_log = logging.getLogger("runwatch.service.http.problems")


def problem_of(refusal: Refusal) -> dict[str, Any]:
    """The Problem body of a refusal, with an ``instance`` of its own and no member beyond the specification's."""
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


class Problems:
    """Turns refusals into answers and remembers each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def answer(
        self, refusal: Refusal, *, method: str = "", path: str = "", principal: Principal | None = None
    ) -> Answer:
        """The answer to a refused request, after its Problem was stored with its cause.

        A Problem that cannot be stored is still sent: the log has it then.
        """
        problem = problem_of(refusal)
        body = dumps(problem)
        cause = redact(refusal.cause) if refusal.cause else None

        def keep(transaction: Transaction) -> None:
            transaction.add(
                problems,
                instance=problem["instance"],
                at=iso(transaction.now),
                tenant_id=principal.tenant_id if principal else None,
                principal_id=principal.key_id if principal else None,
                method=method[:_PATH_CHARACTERS],
                path=redact(path)[:_PATH_CHARACTERS],
                code=refusal.code,
                body=body,
                cause=cause,
            )
            last = transaction.last_sequence(problems)
            if last % _SWEEP_EVERY == 0:
                transaction.remove(problems, {}, until=("sequence", last - PROBLEMS_KEPT))

        try:
            await self._database.write(keep)
        except Exception:
            _log.exception("problem %s (%s) is not stored; cause: %s", problem["instance"], refusal.code, cause)
        headers = refusal.headers
        if refusal.retry_after_s is not None:
            headers = (*headers, ("Retry-After", str(refusal.retry_after_s)))
        return Answer(refusal.status, body.encode("ascii"), PROBLEM_TYPE, headers)
