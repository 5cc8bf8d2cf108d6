"""Review agents: arms of kind ``agent`` bound to one repository (manual: interface, "Review agents").

The specification does not define the agents' own protocol, so this service never gives an agent a job. It only tests
whether the agent's address responds and accepts the key entered for it. The address is called at registration without
a credential, and any response below 500 counts as reachable. The first run would show whether it accepts jobs.
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.agent import AgentRequest
from runwatch.records.requests.arm import AgentArmRequest, AgentLifecycle
from runwatch.service.access.authentication import Principal
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.checks import bindings
from runwatch.service.checks.probe import REFUSED_STATUSES, UNREACHABLE
from runwatch.service.errors import RefusalError
from runwatch.service.models import arms, github
from runwatch.service.outbound import OutboundClient, OutboundError
from runwatch.service.tables import arms_table
from runwatch.service.transaction import Row, Transaction

GRANT: Final = "tenant_internal"
"""Private data class granted to every review agent."""

PROTOCOL: Final = "async_job_v1"

TIMEOUT_S: Final = 10.0
"""Seconds an agent has to respond."""

_FIRST_SERVER_ERROR: Final = 500


def list_all(transaction: Transaction, tenant_id: str) -> list[Row]:
    """Return the review agents of an organization, newest first."""
    rows = transaction.newest(arms_table, {"tenant_id": tenant_id, "kind": "agent"})
    return [row for row in rows if row["repository"] is not None]


def find(transaction: Transaction, tenant_id: str, arm_id: str) -> Row:
    """Return a review agent of an organization.

    Refuses with ``not_found`` for an unknown id, one of another organization, or an arm that is no review agent.
    """
    row = arms.find(transaction, tenant_id, arm_id)
    if row["repository"] is None:
        raise RefusalError("not_found", "There is no review agent with this id.")
    return row


def find_status(transaction: Transaction, row: Row) -> tuple[str, str | None]:
    """Return status and reason of an agent: the response of its address, unless its key was stopped."""
    connection = bindings.load(transaction, row["arm_id"]).status
    if row["status"] != "disabled" and connection in {"revoked", "expired"}:
        return "degraded", f"connection_{connection}"
    return row["status"], row["status_reason"]


def agent_json(transaction: Transaction, row: Row) -> dict[str, Any]:
    """Build the JSON of an agent, with safe connection metadata only."""
    status, reason = find_status(transaction, row)
    return {
        "arm_id": row["arm_id"],
        "display_name": row["display_name"],
        "endpoint_url": row["endpoint"]["url"],
        "repository": row["repository"],
        "status": status,
        "status_reason": reason or "",
    }


def register(transaction: Transaction, principal: Principal, request: AgentRequest, report: dict[str, Any]) -> Row:
    """Store a new agent with the private data grant and its protocol's tag.

    Refuses with ``invalid_state`` when the repository is not connected.
    """
    connection = github.require(transaction, principal.tenant_id, request.repository)
    arm = AgentArmRequest(
        kind="agent",
        display_name=request.display_name,
        capability_tags=[PROTOCOL],
        data_class_grants=[GRANT],
        endpoint=request.endpoint,
        lifecycle=AgentLifecycle(long_running=True, max_runtime_s=request.max_runtime_s),
    )
    return arms.register(
        transaction,
        principal.tenant_id,
        arm,
        acted_by=principal.key_id,
        preflight=report,
        repository=connection["repository"],
    )


async def preflight(outbound: OutboundClient, url: str, reach: AddressPolicy) -> dict[str, Any]:
    """Call an address and return ``{reachable, reason_code, http_status, detail}``."""
    try:
        answer = await outbound.send("HEAD", url, reach=reach, timeout_s=TIMEOUT_S)
    except OutboundError as error:
        if error.kind == "response_too_large":
            return _report(reachable=True)
        return _report(reachable=False, reason_code=UNREACHABLE[error.kind].reason_code)
    if answer.status >= _FIRST_SERVER_ERROR:
        return _report(reachable=False, reason_code="endpoint_unreachable", http_status=answer.status)
    return _report(reachable=True, http_status=answer.status)


def _report(*, reachable: bool, reason_code: str | None = None, http_status: int | None = None) -> dict[str, Any]:
    detail = None
    if not reachable:
        detail = "The address answered with a server error." if http_status else "The address gave no answer."
    return {"reachable": reachable, "reason_code": reason_code, "http_status": http_status, "detail": detail}


async def try_key(outbound: OutboundClient, url: str, reach: AddressPolicy, key: Secret) -> str | None:
    """Call an agent's address with a key and return why the key fails, or ``None``.

    The call is a ``HEAD``, so it starts no job. It does not prove that the agent accepts the key for a job.
    """
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    try:
        answer = await outbound.send("HEAD", url, reach=reach, timeout_s=TIMEOUT_S, headers=headers)
    except OutboundError as error:
        return "network" if error.kind == "response_too_large" else error.failure_class
    if answer.status in REFUSED_STATUSES:
        return "authentication_failed"
    return "http_error" if answer.status >= _FIRST_SERVER_ERROR else None
