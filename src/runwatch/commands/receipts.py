"""``receipts list|show|compare|export``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from runwatch.api.errors import ApiError
from runwatch.base.errors import UsageError
from runwatch.base.json import dumps
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.resources import read_named_list
from runwatch.commands.shared.export_file import check_not_existing, save_export
from runwatch.commands.shared.list_reader import build_query, read_list
from runwatch.commands.shared.record_printer import RecordPrinter, make_render_context, print_record
from runwatch.commands.shared.row_printer import print_rows
from runwatch.commands.shared.session import CommandSession, in_session, run_in_session
from runwatch.view.detail.record_diff import Difference, diff_records
from runwatch.view.export.file_formats import FILE_FORMATS, encode_for_file, format_from_name
from runwatch.view.export.file_formats import export_records as exported
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import money_exact, over_limit


def list_receipts(call: Invocation) -> int:
    """``receipts list``: print the receipts that the service lists."""
    return read_named_list(call, RECEIPTS)


@in_session
async def show(session: CommandSession) -> int:
    """``receipts show``: print the receipt of one run, with a note if it spent more than the run's limit."""
    receipt = await session.client.get_receipt(session.call.options.id)
    print_record(session, RECEIPTS, receipt)
    spent = receipt.known_spend_usd
    if spent and session.call.output.form == "table":
        # A receipt has no limits; without the run nothing is said about them.
        with contextlib.suppress(ApiError):
            run = await session.client.get_run(receipt.id)
            over = over_limit(spent, RunFacts(run).max_cost_usd.value)
            if over:
                session.call.output.warn(f"the run spent {money_exact(spent)}{over}")
    return 0


@in_session
async def compare(session: CommandSession) -> int:
    """``receipts compare``: print every value that differs between the receipts of two runs, by its path."""
    options, output = session.call.options, session.call.output
    left = await session.client.get_receipt(options.id)
    right = await session.client.get_receipt(options.other)
    differences = list(diff_records(left.raw, right.raw))
    rows = [_row(item) if output.form == "table" else item.raw for item in differences]
    if rows and output.form == "table":
        rows.insert(0, {"path": "", "left": left.id, "right": right.id})
    print_rows(output, rows, ("path", "left", "right"))
    if not rows:
        output.note("the receipts are the same")
    return 0


def _row(difference: Difference) -> Mapping[str, Any]:
    """Format a difference; a missing value is shown as such, unlike ``null``."""
    raw = difference.raw
    texts = {name: dumps(raw[name]) if name in raw else "(none)" for name in ("left", "right")}
    return {"path": difference.path, **texts}


def export(call: Invocation) -> int:
    """``receipts export``: write NDJSON to stdout, or a file in the format of its extension.

    Raises:
        UsageError: The file's extension is unknown.
    """
    name = call.options.output
    form = "ndjson" if name is None else format_from_name(name)
    if form is None:
        raise UsageError(f"'{name}' has no extension that names a format", hint=f"Use .{', .'.join(FILE_FORMATS)}.")
    check_not_existing(call, name)

    async def work(session: CommandSession) -> int:
        query = build_query(session, RECEIPTS)
        keep = RecordPrinter(call, session.settings, RECEIPTS).select
        values = await read_list(session, "getReceipts", query, keep)
        receipts = values.records
        if len(receipts) < len(values):
            call.output.warn(f"{len(values) - len(receipts)} items of the list are not records")
        pieces = exported(form, RECEIPTS, receipts, make_render_context(call, session.settings))
        if name is None:
            for piece in pieces:
                call.output.text(piece)
        else:
            save_export(call, name, (encode_for_file(piece) for piece in pieces))
            call.output.note(f"{len(receipts)} receipt{'s' * (len(receipts) != 1)}")
        return 0

    return run_in_session(call, work)
