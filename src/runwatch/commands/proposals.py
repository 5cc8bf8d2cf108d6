"""``proposals approve|reject``: the decisions on repaired skills (wire reference 2.8)."""

from __future__ import annotations

from typing import Any, Final

from runwatch.commands.call import Call
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import write, writing
from runwatch.records.proposal import Proposal
from runwatch.view.resources.organization import PROPOSALS

APPROVE: Final = "postProposalsByProposalIdApprove"
REJECT: Final = "postProposalsByProposalIdReject"


def approve(call: Call) -> int:
    """``proposals approve``: the repaired skill takes the place of the one before."""
    return _decide(call, APPROVE, "approve", None)


def reject(call: Call) -> int:
    """``proposals reject``: the skill stays as it is."""
    return _decide(call, REJECT, "reject", {} if call.options.reason is None else {"reason": call.options.reason})


def _decide(call: Call, operation: str, what: str, body: dict[str, Any] | None) -> int:
    proposal_id = call.options.id

    async def work(session: Session) -> int:
        path = {"proposal_id": proposal_id}
        value = await write(session, operation, f"{what} {proposal_id}", path=path, body=body)
        print_record(session, PROPOSALS, as_record(Proposal, value))
        return 0

    return writing(call, operation, work)
