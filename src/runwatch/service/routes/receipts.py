"""Receipts of final runs (manual: interface, "Receipts")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runwatch.records.states import FINAL_STATES
from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.lists.pagination import read_filters, read_since
from runwatch.service.http.lists.streamed_lists import PART_ROWS, stream_texts
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.tables import receipt_arms_table, receipts_table
from runwatch.service.transaction import Row, Transaction


async def list_receipts(call: ServiceCall) -> ServiceResponse:
    """Return all receipts, newest first; ``since`` applies to the time at which the run became final.

    The list has no pages, and so no ``next_cursor`` (manual: interface, "Paging").
    """
    since = read_since(call.query)
    where = read_filters(call, status=sorted(FINAL_STATES))
    arm_id = call.query.get("arm_id", "")

    def read_part(transaction: Transaction, edge: int | None) -> Sequence[Row]:
        return transaction.newest(
            receipts_table,
            where,
            since=None if since is None else ("completed_at", since),
            before=edge,
            within=(receipt_arms_table, "execution_id", {"arm_id": arm_id}) if arm_id else None,
            limit=PART_ROWS,
        )

    return await stream_texts(call, "receipts", read_part)


async def read_receipt(call: ServiceCall) -> ServiceResponse:
    where = {"tenant_id": call.tenant_id, "execution_id": call.ids["execution_id"]}
    row = await call.read(lambda transaction: transaction.one(receipts_table, where))
    if row is None:
        raise RefusalError("not_found", "There is no receipt with this id; a run has one when it is final.")
    return ServiceResponse(200, row["body"].encode("ascii"))


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/receipts", list_receipts),
    Endpoint("GET", "/v1/receipts/{execution_id}", read_receipt),
)
