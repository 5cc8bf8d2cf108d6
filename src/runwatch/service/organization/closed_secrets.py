"""Find the records whose secret no master key can open."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from runwatch.records.account import ClosedSecret
from runwatch.service.checks import bindings
from runwatch.service.tables import bindings_table, connections_table, webhooks_table
from runwatch.service.transaction import Transaction


def find_closed(
    handles: Collection[str], transaction: Transaction, tenant_id: str | None = None
) -> tuple[ClosedSecret, ...]:
    """Return the records that use a secret which cannot be opened.

    Args:
        tenant_id: Restricts the records to one organization; ``None`` for all.
    """
    return tuple(_closed(frozenset(handles), transaction, tenant_id)) if handles else ()


def _closed(handles: frozenset[str], transaction: Transaction, tenant_id: str | None) -> Iterator[ClosedSecret]:
    where: dict[str, Any] = {} if tenant_id is None else {"tenant_id": tenant_id}
    for row in transaction.list_all(connections_table, where):
        if row["secret_handle"] in handles:
            yield _record("source_connection", row["connection_id"], row["display_name"])
    for row in transaction.list_all(bindings_table, where):
        if bindings.find_secret_handle(transaction, row["subject_id"], transaction.now) in handles:
            yield _record(row["kind"], row["subject_id"])
    for row in transaction.list_all(webhooks_table, where):
        if row["secret_handle"] in handles:
            yield _record("webhook", row["webhook_id"])


def _record(resource_type: str, resource_id: str, display_name: str | None = None) -> ClosedSecret:
    raw = {"resource_type": resource_type, "resource_id": resource_id, "display_name": display_name}
    return ClosedSecret(raw)
