"""The key that submitted each run, for usage by key (manual: interface, "Usage")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from runwatch.service.tables import run_owners_table
from runwatch.service.transaction import Transaction

# SQLite limits the number of values in one statement.
_AT_ONCE: Final = 500


def record_owner(transaction: Transaction, execution_id: str, key_id: str) -> None:
    transaction.add(run_owners_table, execution_id=execution_id, api_key_id=key_id)


def find_owners(transaction: Transaction, execution_ids: Iterable[str]) -> dict[str, str]:
    """Return the submitting key of each run, of :data:`_AT_ONCE` at most; runs without a recorded key are left out."""
    rows = transaction.list_all(run_owners_table, {"execution_id": tuple(execution_ids)})
    return {row["execution_id"]: row["api_key_id"] for row in rows}


def with_owners(
    transaction: Transaction, receipts: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """Yield each decoded receipt with the key that submitted its run, or ``None`` if no key is recorded."""
    remaining = iter(receipts)
    while batch := list(islice(remaining, _AT_ONCE)):
        owners = find_owners(transaction, (receipt["execution_id"] for receipt in batch))
        yield from ((receipt, owners.get(receipt["execution_id"])) for receipt in batch)
