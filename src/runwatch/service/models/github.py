"""GitHub connections as far as a private service supports them (manual: decisions, "Error responses").

The specification does not define the response of the start or anything after it. No GitHub App is installed here, so
the page opened by the start says so and lets the owner record the repository as connected, labelled unverified.
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service.ids import new_id
from runwatch.service.tables.review import github_connections
from runwatch.service.transaction import Row, Transaction

ENTRY: Final = "github"


def connection_json(row: Row) -> dict[str, Any]:
    """Build the JSON of a recorded connection."""
    return {
        "connection_id": row["connection_id"],
        "repository": row["repository"],
        "status": "connected",
        "verification": "unverified",
        "created_at": row["created_at"],
    }


def find(transaction: Transaction, tenant_id: str, repository: str) -> Row | None:
    """Return the recorded connection of a repository, or ``None``. Like GitHub, it ignores case."""
    for row in transaction.newest(github_connections, {"tenant_id": tenant_id}):
        if row["repository"].lower() == repository.lower():
            return row
    return None


def record(transaction: Transaction, tenant_id: str, repository: str, connected_by: str) -> Row:
    """Record a repository as connected; repeating it changes nothing."""
    known = find(transaction, tenant_id, repository)
    if known is not None:
        return known
    connection_id = new_id("ghc", transaction.now)
    transaction.add(
        github_connections,
        connection_id=connection_id,
        tenant_id=tenant_id,
        repository=repository,
        connected_by=connected_by,
        created_at=format_iso(transaction.now),
    )
    row = transaction.one(github_connections, {"connection_id": connection_id})
    assert row is not None
    return row
