"""Decision log for the compliance export: who decided what (manual: interface, "Evaluation summary and compliance
export").

An entry is written in the transaction of its decision, so neither exists without the other. An entry never changes.
"""

from __future__ import annotations

from typing import Literal

from runwatch.base.clock import format_iso
from runwatch.service.ids import new_id
from runwatch.service.tables import audit_table
from runwatch.service.transaction import Transaction

DecisionKind = Literal["proposal_decision", "execution_cancellation", "api_key_revocation", "registry_action"]
ResourceType = Literal["proposal", "execution", "api_key", "arm", "verifier"]


def record_decision(
    transaction: Transaction,
    tenant_id: str,
    kind: DecisionKind,
    action: str,
    resource_type: ResourceType,
    resource_id: str,
    acted_by: str | None,
) -> None:
    """Record one decision.

    Args:
        action: The decision in one word, such as ``approved``, ``cancelled`` or ``registered``.
        acted_by: Id of the key that decided; ``None`` for the service itself.
    """
    transaction.add(
        audit_table,
        decision_id=new_id("dec", transaction.now),
        tenant_id=tenant_id,
        kind=kind,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        acted_by=acted_by,
        at=format_iso(transaction.now),
    )
