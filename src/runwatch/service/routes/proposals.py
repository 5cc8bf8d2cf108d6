"""Repair proposals (wire reference 2.8; what is ours stands in :mod:`runwatch.service.organization.proposals`)."""

from __future__ import annotations

from typing import Final

from runwatch.base.clock import iso
from runwatch.records.requests.proposals import ProposalRejection
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.http.paging import next_cursor, read_choice, read_paging
from runwatch.service.organization import proposals
from runwatch.service.transaction import Transaction

_PROPOSAL: Final = "/v1/proposals/{proposal_id}"


async def list_proposals(call: Call) -> Answer:
    """A page of proposals, newest first, without their changes and evidence."""
    paging = read_paging(call, "proposals")
    status = read_choice(call.query, "status", proposals.STATES)

    def read(transaction: Transaction) -> Answer:
        page = proposals.page(
            transaction,
            call.principal.tenant_id,
            status=status,
            arm_id=call.query.get("arm_id") or None,
            before=paging.before,
            limit=paging.limit + 1,
        )
        items = [proposals.short_form(row, iso(transaction.now)) for row in page[: paging.limit]]
        return answer_json({"proposals": items, "next_cursor": next_cursor(page, paging)})

    return await call.read(read)


async def read_proposal(call: Call) -> Answer:
    """One proposal; its change and the evidence too for those who may decide about it."""

    def read(transaction: Transaction) -> Answer:
        row = proposals.find(transaction, call.principal.tenant_id, call.ids["proposal_id"])
        return answer_json(proposals.visible_form(transaction, row, call.principal.role))

    return await call.read(read)


async def approve(call: Call) -> Answer:
    """Approve a pending proposal: the skill has the repaired text from now on."""
    return await _decide(call, "approved", None)


async def reject(call: Call) -> Answer:
    """Reject a pending proposal."""
    return await _decide(call, "rejected", read_as(ProposalRejection, call.content).reason)


async def _decide(call: Call, decision: str, reason: str | None) -> Answer:
    def effect(transaction: Transaction) -> Answer:
        row = proposals.decide(transaction, call.principal, call.ids["proposal_id"], decision, reason)
        return answer_json(proposals.visible_form(transaction, row, call.principal.role))

    return await call.write(effect)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/proposals", list_proposals),
    Endpoint("GET", _PROPOSAL, read_proposal),
    Endpoint("POST", f"{_PROPOSAL}/approve", approve),
    Endpoint("POST", f"{_PROPOSAL}/reject", reject),
)
