"""What is known of a receipt's run from elsewhere than the receipt, each fact with its source. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry
from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.run import Run
from runwatch.records.verifier import Verifier
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context, ago, duration, time_of_day
from runwatch.view.glyphs import Role
from runwatch.view.receipt_sums import Reconciliation, day_of
from runwatch.view.resources.common import when
from runwatch.view.resources.receipt_lines import check_id


def context_section(
    receipt: Receipt, run: Run | None, seen_at: datetime | None, compared: Reconciliation | Drawn, context: Context
) -> Section:
    """The section.

    Args:
        receipt: The receipt.
        run: Its run as it was read last; ``None`` where it is not known.
        seen_at: When this console read the receipt last.
        compared: All receipts against the usage report, or why there is no such comparison.
        context: What it is drawn with.
    """
    return Section(line("From elsewhere"), tuple(_lines(receipt, run, seen_at, compared, context)))


def with_ways(sections: Sequence[Section], receipt: Receipt) -> list[Section]:
    """The sections of a receipt with ways to what their lines name: the run, and each slice's saved model and check."""
    parts = iter(receipt.slices or ())
    return [
        replace(section, lines=tuple(_with_way(entry, ways) for entry in section.lines))
        if (ways := _ways(section, receipt, parts))
        else section
        for section in sections
    ]


def _ways(section: Section, receipt: Receipt, parts: Iterator[ReceiptSlice]) -> dict[str, tuple[str, str | None]]:
    """Where the lines of a section lead by their labels: the kind of the other record, and its id."""
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
        ways["checked by"] = (Verifier.KIND, check_id(part))
    return ways


def _with_way(entry: Line, ways: Mapping[str, tuple[str, str | None]]) -> Line:
    kind, id = ways.get(entry.label, ("", None))
    return replace(entry, target=(kind, id)) if id else entry


def _lines(
    receipt: Receipt, run: Run | None, seen_at: datetime | None, compared: Reconciliation | Drawn, context: Context
) -> Iterator[Line]:
    if run is not None:
        if receipt.created_at is None and run.created_at is not None:
            yield Line(line("created_at"), _moment(run.created_at, "the run", context))
        if receipt.completed_at is None and run.completed_at is not None:
            yield Line(line("completed_at"), _moment(run.completed_at, "the run", context))
        budget = run.policy.budget if run.policy is not None else None
        runtime = receipt.totals.runtime_s if receipt.totals is not None else None
        if budget is not None and budget.max_runtime_s is not None and runtime is not None:
            words = f"{duration(runtime)} of {duration(budget.max_runtime_s)}, the cap from the run"
            yield Line(line("runtime"), line(words))
    if seen_at is not None:
        yield Line(line("read"), line(f"{time_of_day(seen_at, context)}, by this console"))
    yield _usage(day_of(receipt), compared, context)


def _moment(at: datetime, source: str, context: Context) -> Drawn:
    shown = when(at, context)
    words = ago(at, context.now) if context.time == "relative" else shown
    return line(f"{words}, from {source}")


def _usage(day: str, compared: Reconciliation | Drawn, context: Context) -> Line:
    """The usage report of the day on which the receipt counts, against all receipts of that day."""
    if isinstance(compared, Drawn):
        return Line(line("usage"), compared, Role.QUIET)
    found = compared.day(day)
    if found is None:
        return Line(line("usage"), line(f"{day or 'a receipt without a date'} is not compared"), Role.QUIET)
    glyph = context.glyphs.good if found.agrees else context.glyphs.bad
    words = line(f"{glyph} {found.words}, of {day} (UTC), all receipts of that day")
    return Line(line("usage"), words, Role.GOOD if found.agrees else Role.WARN)
