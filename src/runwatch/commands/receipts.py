"""``receipts list|show``."""

from __future__ import annotations

from runwatch.commands.call import Call
from runwatch.commands.listing import meets_options, query_of, read_list
from runwatch.commands.printing import Printer
from runwatch.commands.session import Session, with_session
from runwatch.view.resources.receipts import RECEIPTS


def list_receipts(call: Call) -> int:
    """``receipts list``: every receipt that the service lists."""

    async def work(session: Session) -> int:
        printer = Printer(call, session.settings, RECEIPTS)
        query = query_of(call, RECEIPTS, session.settings.filters)
        printer.records(meets_options(call, await read_list(session, "getReceipts", query)))
        return 0

    return with_session(call, work)


def show(call: Call) -> int:
    """``receipts show``: the receipt of one run."""

    async def work(session: Session) -> int:
        receipt = await session.client.get_receipt(call.options.id)
        Printer(call, session.settings, RECEIPTS).record(receipt, receipt.raw)
        return 0

    return with_session(call, work)
