"""Look up past Problems with their cause, for support staff on the service's machine (manual: decisions, "Truth").

Not in the specification. A cause may reveal what no caller should see, so only the key of ``service.json`` is accepted,
and only from this machine; users who can read the data directory have that key anyway. The lookup covers the Problems
of every organization, and those of callers without a key.
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.json import loads
from runwatch.service.access.roles import MANAGE
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.lists.pagination import read_since
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.tables import local_owner_table, problems_table
from runwatch.service.transaction import Row, Transaction, pick

MOST: Final = 1_000
"""Most Problems in one response; the newest are kept."""

MOST_INSTANCES: Final = 50


async def look_up(call: ServiceCall) -> ServiceResponse:
    """Return the Problems of some instances, or those from ``since`` to ``until``, newest first."""
    instances = tuple(part for part in call.query.get("instance", "").split(",") if part)
    if len(instances) > MOST_INSTANCES:
        raise make_validation_error(
            ("instance", f"Must be at most {MOST_INSTANCES} instances with commas between them.")
        )
    since, until = read_since(call.query), read_since(call.query, "until")
    if not call.is_here:
        raise RefusalError("permission_denied", "Problems are looked up on the machine of the service.")

    await call.context.problems.flush()

    def find_problems(transaction: Transaction) -> dict[str, Any]:
        if transaction.one(local_owner_table, {"api_key_id": call.principal.key_id}) is None:
            raise RefusalError("permission_denied", "Only the key of the data directory can read these problems.")
        where: dict[str, object] = {"instance": instances} if instances else {}
        found = transaction.newest(
            problems_table,
            where,
            since=None if since is None else ("at", since),
            until=None if until is None else ("at", _behind(until)),
            limit=MOST,
        )
        near = {} if found else _neighbours(transaction, since, until)
        return {"problems": [_lookup_json(row) for row in found], **_kept(transaction), **near}

    return make_json_response(await call.read(find_problems))


def _kept(transaction: Transaction) -> dict[str, Any]:
    oldest = transaction.oldest(problems_table, {}, limit=1)
    newest = transaction.newest(problems_table, {}, limit=1)
    return {
        "kept": transaction.count(problems_table, {}),
        "oldest_at": oldest[0]["at"] if oldest else None,
        "newest_at": newest[0]["at"] if newest else None,
    }


def _neighbours(transaction: Transaction, since: str | None, until: str | None) -> dict[str, Any]:
    """Return the nearest Problems before and after a time range."""
    before = transaction.newest(problems_table, {}, until=("at", since), limit=1) if since else ()
    after = transaction.oldest(problems_table, {}, since=("at", _behind(until)), limit=1) if until else ()
    return {
        "before": _lookup_json(before[0]) if before else None,
        "after": _lookup_json(after[0]) if after else None,
    }


def _behind(moment: str) -> str:
    """Return a text that sorts after a stored timestamp and before the next one, because ``until`` is inclusive."""
    return f"{moment[:-1]}~"


def _lookup_json(row: Row) -> dict[str, Any]:
    return {**pick(row, "instance at code method path principal_id cause"), "problem": loads(row["body"])}


ENDPOINTS: Final = (Endpoint("GET", "/v1/problem-lookups", look_up, permission=MANAGE),)
