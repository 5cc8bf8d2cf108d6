"""Repair proposals; see :mod:`runwatch.service.organization.proposals` for rules beyond the specification."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.proposals import ProposalRejection
from runwatch.service.http.endpoints import Endpoint, shows, takes, writes
from runwatch.service.http.lists.pagination import parse_page_parameters, read_choice
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.organization import proposals
from runwatch.service.transaction import Transaction

_PROPOSAL: Final = "/v1/proposals/{proposal_id}"


def list_proposals(transaction: Transaction, call: ServiceCall) -> dict[str, object]:
    """Return a page of proposals, newest first, without their changes and evidence."""
    paging = parse_page_parameters(call, "proposals")
    status = read_choice(call.query, "status", proposals.STATES)
    rows = proposals.page(
        transaction,
        call.tenant_id,
        status=status,
        arm_id=call.query.get("arm_id") or None,
        before=paging.before,
        limit=paging.limit,
    )
    now = format_iso(transaction.now)
    return paging.page(
        "proposals", rows, lambda shown: [proposals.proposal_json(row, proposals.SHORT, now) for row in shown]
    )


def read_proposal(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return one proposal, with change and evidence if the caller may decide it."""
    row = proposals.find(transaction, call.tenant_id, call.ids["proposal_id"])
    return proposals.visible_json(transaction, row, call.principal.role)


def approve(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Approve a pending proposal, which installs the repaired text in the skill."""
    return _decide(transaction, call, "approved", None)


def reject(transaction: Transaction, call: ServiceCall, request: ProposalRejection) -> dict[str, Any]:
    return _decide(transaction, call, "rejected", request.reason)


def _decide(transaction: Transaction, call: ServiceCall, decision: str, reason: str | None) -> dict[str, Any]:
    row = proposals.decide(transaction, call.principal, call.ids["proposal_id"], decision, reason)
    return proposals.visible_json(transaction, row, call.principal.role)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/proposals", shows(list_proposals)),
    Endpoint("GET", _PROPOSAL, shows(read_proposal)),
    Endpoint("POST", f"{_PROPOSAL}/approve", writes(approve)),
    Endpoint("POST", f"{_PROPOSAL}/reject", takes(ProposalRejection, reject)),
)
