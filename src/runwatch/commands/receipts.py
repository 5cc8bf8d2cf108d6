"""``receipts list|show|compare|export``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.base.json import dumps
from runwatch.commands.call import Call
from runwatch.commands.listing import meets_options, query_of, read_list
from runwatch.commands.printing import Printer
from runwatch.commands.reports import save
from runwatch.commands.rows import print_rows
from runwatch.commands.session import Session, with_session
from runwatch.view.compare import Difference, differences
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


def compare(call: Call) -> int:
    """``receipts compare``: every value in which the receipts of two runs differ, by its path."""

    async def work(session: Session) -> int:
        left = await session.client.get_receipt(call.options.id)
        right = await session.client.get_receipt(call.options.other)
        found = list(differences(left.raw, right.raw))
        rows = [_row(one) for one in found] if call.output.form == "table" else [one.raw for one in found]
        if rows and call.output.form == "table":
            rows.insert(0, {"path": "", "left": left.id, "right": right.id})
        print_rows(call.output, rows, ("path", "left", "right"))
        if not rows:
            call.output.note("the receipts are the same")
        return 0

    return with_session(call, work)


def _row(difference: Difference) -> Mapping[str, Any]:
    """A difference for people: what a side does not have is told, and is not ``null``."""
    raw = difference.raw
    texts = {name: dumps(raw[name]) if name in raw else "(none)" for name in ("left", "right")}
    return {"path": difference.path, **texts}


def export(call: Call) -> int:
    """``receipts export``: one receipt a line, exactly as the service sent it, to stdout or into a file."""

    async def work(session: Session) -> int:
        query = query_of(call, RECEIPTS, session.settings.filters)
        values = meets_options(call, await read_list(session, "getReceipts", query))
        text = "".join(f"{dumps(value)}\n" for value in values)
        if call.options.output is None:
            call.output.text(text)
        else:
            save(call, call.options.output, text)
            call.output.note(f"{len(values)} receipts")
        return 0

    return with_session(call, work)
