"""Repair proposals; see :mod:`runwatch.service.organization.proposals` for rules beyond the specification."""

from __future__ import annotations

from typing import Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.proposals import ProposalRejection
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.pagination import next_cursor, parse_page_parameters, read_choice
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.organization import proposals
from runwatch.service.transaction import Transaction

_PROPOSAL: Final = "/v1/proposals/{proposal_id}"


async def list_proposals(call: AuthenticatedRequest) -> ServiceResponse:
    """Return a page of proposals, newest first, without their changes and evidence."""
    paging = parse_page_parameters(call, "proposals")
    status = read_choice(call.query, "status", proposals.STATES)

    def read(transaction: Transaction) -> ServiceResponse:
        page = proposals.page(
            transaction,
            call.principal.tenant_id,
            status=status,
            arm_id=call.query.get("arm_id") or None,
            before=paging.before,
            limit=paging.limit + 1,
        )
        items = [proposals.short_form(row, format_iso(transaction.now)) for row in page[: paging.limit]]
        return make_json_response({"proposals": items, "next_cursor": next_cursor(page, paging)})

    return await call.read(read)


async def read_proposal(call: AuthenticatedRequest) -> ServiceResponse:
    """Return one proposal, with change and evidence if the caller may decide it."""

    def read(transaction: Transaction) -> ServiceResponse:
        row = proposals.find(transaction, call.principal.tenant_id, call.ids["proposal_id"])
        return make_json_response(proposals.visible_form(transaction, row, call.principal.role))

    return await call.read(read)


async def approve(call: AuthenticatedRequest) -> ServiceResponse:
    """Approve a pending proposal, which installs the repaired text in the skill."""
    return await _decide(call, "approved", None)


async def reject(call: AuthenticatedRequest) -> ServiceResponse:
    """Reject a pending proposal."""
    return await _decide(call, "rejected", parse_body(ProposalRejection, call.content).reason)


async def _decide(call: AuthenticatedRequest, decision: str, reason: str | None) -> ServiceResponse:
    def effect(transaction: Transaction) -> ServiceResponse:
        row = proposals.decide(transaction, call.principal, call.ids["proposal_id"], decision, reason)
        return make_json_response(proposals.visible_form(transaction, row, call.principal.role))

    return await call.write(effect)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/proposals", list_proposals),
    Endpoint("GET", _PROPOSAL, read_proposal),
    Endpoint("POST", f"{_PROPOSAL}/approve", approve),
    Endpoint("POST", f"{_PROPOSAL}/reject", reject),
)
