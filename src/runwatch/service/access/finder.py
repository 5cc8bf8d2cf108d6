"""Find rows of one organization by their id."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Table

from runwatch.service.errors import RefusalError
from runwatch.service.transaction import Row, Transaction


def finder(table: Table, id_column: str, what: str) -> Callable[[Transaction, str, str], Row]:
    """Make the function that returns the row of an organization's id and an id of the table.

    It refuses with ``not_found`` an unknown id and one of another organization.
    """

    def find(transaction: Transaction, tenant_id: str, row_id: str) -> Row:
        row = transaction.one(table, {id_column: row_id, "tenant_id": tenant_id})
        if row is None:
            raise RefusalError("not_found", f"There is no {what} with this id.")
        return row

    return find
