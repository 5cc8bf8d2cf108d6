"""Reports over a period: usage, evaluation, compliance (manual: interface, "Usage"; manual: interface, "Evaluation
summary and compliance export").

They are computed on request, on a reader of the database. A report never holds more than a part of its period's
receipts in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from functools import partial
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps, loads
from runwatch.service.execution import run_owners
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.lists.streamed_lists import PART_ROWS, stream_parts
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models.arm_json import arms_json
from runwatch.service.organization import eval_summary, proposals, usage
from runwatch.service.organization.period import ServicePeriod, read_period, read_window
from runwatch.service.tables import api_keys_table, arms_table, audit_table, receipts_table
from runwatch.service.transaction import Row, Transaction, pick

EXPORT_VERSION: Final = "aud2.v1"


def read_usage(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return the usage of the organization's final runs of a period: in total, by arm, by day and by key.

    The present names of arms, of their connections and of keys are not in the specification.
    """
    period = read_period(call.query, transaction.now)
    report = usage.report(run_owners.with_owners(transaction, _receipts(transaction, call.tenant_id, period)))
    arm_ids = tuple(entry["arm_id"] for entry in report["by_arm"])
    known = {
        arm["arm_id"]: arm for arm in arms_json(transaction, transaction.list_all(arms_table, {"arm_id": arm_ids}))
    }
    for entry in report["by_arm"]:
        arm = known.get(entry["arm_id"], {})
        entry |= {name: arm[name] for name in ("display_name", "connection_name") if arm.get(name)}
    key_ids = tuple(entry["api_key_id"] for entry in report["by_key"])
    keys = {row["api_key_id"]: row for row in transaction.list_all(api_keys_table, {"api_key_id": key_ids})}
    for entry in report["by_key"]:
        if entry["api_key_id"] in keys:
            entry["display_name"] = keys[entry["api_key_id"]]["display_name"]
    return {"period": period.to_json(), **report}


def read_eval_summary(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return check verdicts and proposed repairs; all of them without ``from`` and ``to``."""
    tenant_id, window = call.tenant_id, read_window(call.query)
    repairs = proposals.within(transaction, tenant_id, window.since, window.before)
    return {
        "window": window.to_json(),
        "pass_rate_trend": eval_summary.trend(_receipts(transaction, tenant_id, window)),
        "repair_history": [
            proposals.proposal_json(row, proposals.HISTORY, format_iso(transaction.now)) for row in repairs
        ],
    }


async def read_compliance_export(call: ServiceCall) -> ServiceResponse:
    """Return receipts, usage and decisions of a period, with a digest.

    ``receipts_ndjson`` holds the receipts verbatim as issued, oldest first, each followed by a line feed. The
    specification does not define what the digest covers; here it is the SHA-256 of that text in UTF-8, in hexadecimal
    digits. A decision on a proposal shows the proposal as the caller's role may read it, which is how this service
    reads the policy ``role_scoped_d8b``.
    """
    period = read_period(call.query, call.context.clock.now())
    opening = {
        "schema_version": EXPORT_VERSION,
        "period": period.to_json(),
        "content_policy": {"receipts": "content_free", "proposals": "role_scoped_d8b"},
    }
    return await stream_parts(f'{dumps(opening)[:-1]},"receipts_ndjson":"'.encode("ascii"), _export(call, period))


async def _export(call: ServiceCall, period: ServicePeriod) -> AsyncGenerator[bytes, None]:
    """Yield an export from the text of its receipts onward, in parts."""
    principal = call.principal
    digest, sums = hashlib.sha256(), usage.Sums()

    def read_part(transaction: Transaction, after: int) -> tuple[bytes, int | None]:
        rows = _part(transaction, principal.tenant_id, period, after)
        text = "".join(f"{row['body']}\n" for row in rows)
        digest.update(text.encode("ascii"))
        for row in rows:
            sums.add(loads(row["body"]))
        return dumps(text)[1:-1].encode("ascii"), rows[-1]["sequence"] if rows else None

    def read_ending(transaction: Transaction) -> bytes:
        mine, since, until = {"tenant_id": principal.tenant_id}, ("at", period.since), ("at", period.before)
        log = transaction.oldest(audit_table, mine, since=since, until=until)
        ending = {
            "usage_totals": sums.to_json(),
            "decision_log": [_decision(transaction, row, principal.role) for row in log],
            "attestation": {"algorithm": "sha256", "digest": digest.hexdigest()},
        }
        return f'",{dumps(ending)[1:]}'.encode("ascii")

    edge: int | None = 0
    while edge is not None:
        text, edge = await call.read(partial(read_part, after=edge))
        yield text
    yield await call.read(read_ending)


def _receipts(transaction: Transaction, tenant_id: str, period: ServicePeriod) -> Iterator[dict[str, Any]]:
    """Yield the decoded receipts of runs that became final in a period, oldest first."""
    after = 0
    while rows := _part(transaction, tenant_id, period, after):
        yield from (loads(row["body"]) for row in rows)
        after = rows[-1]["sequence"]


def _part(transaction: Transaction, tenant_id: str, period: ServicePeriod, after: int) -> Sequence[Row]:
    """Return the next receipts of a period after this sequence number."""
    since, until = ("completed_at", period.since), ("completed_at", period.before)
    return transaction.oldest(
        receipts_table, {"tenant_id": tenant_id}, after=after, since=since, until=until, limit=PART_ROWS
    )


def _decision(transaction: Transaction, row: Row, role: str) -> dict[str, Any]:
    decision = {
        **pick(row, "decision_id kind action"),
        "resource": {"type": row["resource_type"], "id": row["resource_id"]},
        "acted_by": row["acted_by"],
        "at": row["at"],
    }
    if row["resource_type"] == "proposal":
        proposal = proposals.find(transaction, row["tenant_id"], row["resource_id"])
        decision["proposal"] = proposals.visible_json(transaction, proposal, role)
    return decision


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/usage", shows(read_usage)),
    Endpoint("GET", "/v1/eval-summary", shows(read_eval_summary)),
    Endpoint("GET", "/v1/compliance-export", read_compliance_export),
)
