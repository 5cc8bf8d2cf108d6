"""``receipts list|show|compare|export``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.base.errors import UsageError
from runwatch.base.json import dumps
from runwatch.commands.call import Call
from runwatch.commands.export_file import check_free, save
from runwatch.commands.listing import meets_options, query_of, read_list
from runwatch.commands.printing import Printer, context_of
from runwatch.commands.resources import list_of
from runwatch.commands.rows import print_rows
from runwatch.commands.session import Session, with_session
from runwatch.records.receipt import Receipt
from runwatch.view.compare import Difference, differences
from runwatch.view.exports import FORMS, encoded, form_of
from runwatch.view.exports import export as exported
from runwatch.view.resources.receipts import RECEIPTS


def list_receipts(call: Call) -> int:
    """``receipts list``: every receipt that the service lists."""
    return list_of(call, RECEIPTS)


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
    """``receipts export``: NDJSON to stdout, or a file whose ending says how it is written.

    Raises:
        UsageError: the file's name ends in nothing that is known.
    """
    name = call.options.output
    form = "ndjson" if name is None else form_of(name)
    if form is None:
        raise UsageError(f"'{name}' has no ending that says how it is written", hint=f"Use .{', .'.join(FORMS)}.")
    check_free(call, name)

    async def work(session: Session) -> int:
        query = query_of(call, RECEIPTS, session.settings.filters)
        values = meets_options(call, await read_list(session, "getReceipts", query))
        receipts = [Receipt(value) for value in values if isinstance(value, dict)]
        if len(receipts) < len(values):
            call.output.warn(f"{len(values) - len(receipts)} items of the list are no records")
        pieces = exported(form, RECEIPTS, receipts, context_of(call, session.settings))
        if name is None:
            for piece in pieces:
                call.output.text(piece)
        else:
            save(call, name, (encoded(piece) for piece in pieces))
            call.output.note(f"{len(receipts)} receipts")
        return 0

    return with_session(call, work)
