"""GitHub connections as far as a private service supports them (manual: decisions, "Error responses").

The specification does not define the response of the start or anything after it. No GitHub App is installed here, so
the page opened by the start says so and lets the owner record the repository as connected, labelled unverified.
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id
from runwatch.service.tables import github_connections_table
from runwatch.service.transaction import Row, Transaction, pick

ENTRY: Final = "github"


def connection_json(row: Row) -> dict[str, Any]:
    connected = {"status": "connected", "verification": "unverified"}
    return {**pick(row, "connection_id repository"), **connected, "created_at": row["created_at"]}


def find(transaction: Transaction, tenant_id: str, repository: str) -> Row | None:
    """Return the recorded connection of a repository, or ``None``. Like GitHub, it ignores case."""
    for row in transaction.newest(github_connections_table, {"tenant_id": tenant_id}):
        if row["repository"].lower() == repository.lower():
            return row
    return None


def require(transaction: Transaction, tenant_id: str, repository: str) -> Row:
    """Return the recorded connection of a repository. Refuses with ``invalid_state`` if it is not connected."""
    connection = find(transaction, tenant_id, repository)
    if connection is None:
        raise RefusalError(
            "invalid_state", "The repository is not connected. Connect it with `runwatch github connect`."
        )
    return connection


def record(transaction: Transaction, tenant_id: str, repository: str, connected_by: str) -> Row:
    """Record a repository as connected; repeating it changes nothing."""
    known = find(transaction, tenant_id, repository)
    if known is not None:
        return known
    connection_id = new_id("ghc", transaction.now)
    transaction.add(
        github_connections_table,
        connection_id=connection_id,
        tenant_id=tenant_id,
        repository=repository,
        connected_by=connected_by,
    )
    return transaction.get(github_connections_table, {"connection_id": connection_id})
