"""Facts about a receipt's run from other sources, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry
from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.run import Run
from runwatch.records.verifier import Verifier
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.receipts.totals import UsageReconciliation, find_receipt_day
from runwatch.view.runs.check_results import customer_check_id
from runwatch.view.text.format import RenderContext, duration, over_limit, spent_amount, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import time_cell
from runwatch.view.text.safe_text import SafeText, line


def run_context_section(
    receipt: Receipt,
    run: Run | None,
    seen_at: datetime | None,
    compared: UsageReconciliation | SafeText,
    context: RenderContext,
) -> DetailSection:
    """Return the section. ``seen_at`` is when this console last read the receipt; a text in place of the comparison
    says why there is none.
    """
    return DetailSection(line("From elsewhere"), tuple(_lines(receipt, run, seen_at, compared, context)))


def add_links(sections: Sequence[DetailSection], receipt: Receipt) -> list[DetailSection]:
    """Add links to the sections of a receipt: to the run, and to each slice's saved model and check."""
    parts = iter(receipt.slices or ())
    return [
        replace(section, lines=tuple(_with_way(entry, ways) for entry in section.lines))
        if (ways := _ways(section, receipt, parts))
        else section
        for section in sections
    ]


def _ways(section: DetailSection, receipt: Receipt, parts: Iterator[ReceiptSlice]) -> dict[str, tuple[str, str | None]]:
    """Return the link targets of a section's lines by label: kind and id of the other record."""
    if section.title == "Receipt":
        return {"status": (Run.KIND, receipt.execution_id)}
    if not section.title.startswith("Slice "):
        return {}
    part = next(parts, None)
    option = part.route.selected if part is not None and part.route is not None else None
    ways: dict[str, tuple[str, str | None]] = {}
    if option is not None:
        ways |= {"selected": (Arm.KIND, option.arm_id), "requested": (CatalogEntry.KIND, option.model_deployment_id)}
    if part is not None:
        ways["checked by"] = (Verifier.KIND, customer_check_id(part))
    return ways


def _with_way(entry: DetailLine, ways: Mapping[str, tuple[str, str | None]]) -> DetailLine:
    kind, id = ways.get(entry.label, ("", None))
    return replace(entry, target=(kind, id)) if id else entry


def _lines(
    receipt: Receipt,
    run: Run | None,
    seen_at: datetime | None,
    compared: UsageReconciliation | SafeText,
    context: RenderContext,
) -> Iterator[DetailLine]:
    if run is not None:
        for name in ("created_at", "completed_at"):
            at = getattr(run, name)
            if getattr(receipt, name) is None and at is not None:
                yield text_line(name, f"{time_cell(at, context)}, from the run")
        budget = run.policy.budget if run.policy is not None else None
        runtime = receipt.totals.runtime_s if receipt.totals is not None else None
        spent = receipt.known_spend_usd
        over = over_limit(spent, None if budget is None else budget.max_cost_usd)
        if over:
            amount = spent_amount(spent, receipt.unknown_calls, is_exact=True)
            yield text_line("spend", f"{amount}{over}, the cap from the run", Role.WARN)
        if budget is not None and budget.max_runtime_s is not None and runtime is not None:
            words = f"{duration(runtime)} of {duration(budget.max_runtime_s)}, the cap from the run"
            yield text_line("runtime", words)
    if seen_at is not None:
        yield text_line("read", f"{time_of_day(seen_at, context)}, by this console")
    yield _usage(find_receipt_day(receipt), compared, context)


def _usage(day: str, compared: UsageReconciliation | SafeText, context: RenderContext) -> DetailLine:
    """Compare the usage report of the receipt's day with all receipts of that day."""
    if isinstance(compared, SafeText):
        return DetailLine(line("usage"), compared, Role.QUIET)
    found = compared.day(day)
    if found is None:
        return text_line("usage", f"{day or 'a receipt without a date'} is not compared", Role.QUIET)
    glyph = f"{context.glyphs.good} " if found.agrees else f"{context.glyphs.bad} " if found.differs else ""
    words = line(f"{glyph}{found.words}, of {day} (UTC), all receipts of that day")
    return DetailLine(line("usage"), words, found.role)
