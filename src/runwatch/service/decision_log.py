"""The decision log: who decided what, kept for the compliance export (wire reference 2.12).

An entry is written in the transaction of the decision, so there is neither a decision without its entry nor an entry
without its decision. An entry never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.service.ids import new_id
from runwatch.service.tables.organization import audit
from runwatch.service.transaction import Row, Transaction

KINDS: Final = ("proposal_decision", "execution_cancellation", "api_key_revocation", "registry_action")
"""Kinds of entries (wire reference 2.12)."""

RESOURCE_TYPES: Final = ("proposal", "execution", "api_key", "arm", "verifier")
"""Types of what is decided upon (wire reference 2.12)."""


def record_decision(
    transaction: Transaction,
    tenant_id: str,
    kind: str,
    action: str,
    resource_type: str,
    resource_id: str,
    acted_by: str | None,
) -> None:
    """Keep one decision.

    Args:
        transaction: The transaction of the decision itself.
        tenant_id: The organization that it is of.
        kind: One of :data:`KINDS`.
        action: What was decided, in one word such as ``approved``, ``cancelled`` or ``registered``.
        resource_type: One of :data:`RESOURCE_TYPES`.
        resource_id: The id of what was decided upon.
        acted_by: The id of the key that decided, ``None`` where the service did it by itself.
    """
    assert kind in KINDS, kind
    assert resource_type in RESOURCE_TYPES, resource_type
    transaction.add(
        audit,
        decision_id=new_id("dec", transaction.now),
        tenant_id=tenant_id,
        kind=kind,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        acted_by=acted_by,
        at=format_iso(transaction.now),
    )


def entries(transaction: Transaction, tenant_id: str, since: str, before: str) -> Sequence[Row]:
    """The decisions of an organization from ``since`` to before ``before``, oldest first.

    Args:
        transaction: Where they are read.
        tenant_id: The organization.
        since: The first moment, as moments are stored.
        before: The first moment that no longer counts.
    """
    return transaction.oldest(audit, {"tenant_id": tenant_id}, since=("at", since), until=("at", before))
