"""Sections with the totals of receipts: by day, by model, and compared with the usage report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from runwatch.view.detail.chart_sections import BarChart, ChartRow, WidthOf, bar_sections
from runwatch.view.detail.column_plot import ColumnPlot, PlotDay, PlotGrouping, group_by_series
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.query.parser import build_field_filter
from runwatch.view.receipts.totals import (
    FEE,
    NO_CALL,
    NO_DAY,
    NO_MODEL,
    ReceiptTotals,
    SpendSum,
    UsageReconciliation,
    day_filter,
    format_amount,
)
from runwatch.view.text.format import RenderContext, counted, estimated, grouped_number, known_amount, spent_amount
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

MAX_LINES: Final = 40
"""Maximum number of days or models with a line of their own; the others share one line."""

MANY_DAYS: Final = 8
"""From this number of days on, they are also drawn as columns, because their lines do not fit a window."""

MAX_COLUMNS: Final = 400
"""Maximum number of columns in a chart; no terminal is wider."""

DIFFERING: Final = 10
"""Maximum number of differing days that are named."""


def spend_sections(
    sums: ReceiptTotals,
    compared: UsageReconciliation | SafeText,
    room_of: WidthOf,
    context: RenderContext,
    *,
    is_whole: bool,
) -> list[DetailSection]:
    """Return the sections. ``compared`` is the comparison of all receipts with the usage report, or why there is
    none.
    """
    plotted, days = _days(sums)
    drawn = bar_sections([days, _models(sums)], room_of, context)
    return [_sums(sums, context, is_whole=is_whole), *plotted, *drawn, _usage(compared, context)]


def _sums(sums: ReceiptTotals, context: RenderContext, *, is_whole: bool) -> DetailSection:
    least = "" if is_whole and sums.is_exact else "at least "
    total = estimated(
        line(f"{least}{format_amount(sums.total.usd)} USD in {counted(sums.total.count, 'receipt')}"),
        is_estimated=bool(sums.total.estimated_calls),
    )
    fee_least = "" if is_whole and not sums.without_cost else "at least "
    usage = estimated(line(f"{least}{format_amount(sums.usage)} USD"), is_estimated=bool(sums.total.estimated_calls))
    lines = [
        DetailLine(line("spend"), total),
        text_line("usage", f"{usage} + {fee_least}{format_amount(sums.fees)} USD in fees"),
    ]
    if sums.tests:
        lines.append(text_line("test runs", f"{grouped_number(sums.tests)} of them, at no charge", Role.TEST))
    if sums.without_cost:
        lines.append(text_line("not stated", f"{counted(sums.without_cost, 'receipt')} without a cost", Role.WARN))
    if sums.partial:
        calls = counted(sums.total.unknown_calls, "call")
        what = f"{counted(sums.partial, 'receipt')} with {calls} of unknown cost"
        lines.append(text_line("unknown", what, Role.WARN))
    if not is_whole:
        lines.append(text_line("end", "not proven: more may follow", Role.WARN))
    return DetailSection(line("Receipts shown"), tuple(lines))


def _days(sums: ReceiptTotals) -> tuple[list[DetailSection], BarChart]:
    """Return the spend by day as bars, and what comes before them."""
    if not sums.days:
        return [], BarChart("", ())
    names = sorted((name for name in sums.days if name != NO_DAY), reverse=True)
    shown = [_day(name, sums.days[name]) for name in names[:MAX_LINES]]
    shown += _rest([sums.days[name] for name in names[MAX_LINES:]], "earlier days")
    if NO_DAY in sums.days:
        shown.append(_plotted("no date", sums.days[NO_DAY]))
    title = "Spend by day (UTC), on which runs became final"
    if len(names) < MANY_DAYS:
        return [], BarChart(title, shown)
    days = tuple(_calendar(sums.days, names[-1], names[0]))
    listed = [day.name for day in days]
    groupings = (*_grouping("model", sums.day_models, listed), *_grouping("status", sums.day_statuses, listed))
    plotted = DetailSection(line(title), (), plot=ColumnPlot(days, groupings))
    return [plotted], BarChart("Day by day", shown)


def _grouping(name: str, days: Mapping[str, Mapping[str, Decimal]], listed: Sequence[str]) -> list[PlotGrouping]:
    parts = dict.fromkeys(part for day in listed for part in days.get(day, ()))
    none: Mapping[str, Decimal] = {}
    named = [(line(part, 60), [days.get(day, none).get(part, Decimal(0)) for day in listed]) for part in parts]
    return group_by_series(name, named, lambda _, own: any(own))


def _calendar(days: Mapping[str, SpendSum], first: str, last: str) -> Iterator[PlotDay]:
    """Yield every day of a period, limited to the last :data:`MAX_COLUMNS`; a gap if no run became final."""
    end = date.fromisoformat(last)
    count = min((end - date.fromisoformat(first)).days + 1, MAX_COLUMNS)
    for back in range(count - 1, -1, -1):
        name = (end - timedelta(days=back)).isoformat()
        if name in days:
            row, found = _day(name, days[name]), days[name]
            value = known_amount(found.usd, found.unknown_calls)
            yield PlotDay(name, value, line(f"{row.number}  {row.more}"), row.target, bool(found.unknown_calls))
        else:
            yield PlotDay(name, None, line("no receipt"))


def _day(name: str, found: SpendSum) -> ChartRow:
    return _plotted(name, found, day_filter(name))


def _models(sums: ReceiptTotals) -> BarChart:
    names = sorted(sums.models, key=lambda name: (-sums.models[name].usd, name))
    shown = [_model(name, sums.models[name]) for name in names[:MAX_LINES]]
    shown += _rest([sums.models[name] for name in names[MAX_LINES:]], "other models")
    return BarChart("Spend by model", shown)


def _model(name: str, found: SpendSum) -> ChartRow:
    if name == FEE:
        return _plotted(name, found, role=Role.QUIET)
    return _plotted(name, found, "" if name in {NO_MODEL, NO_CALL} else build_field_filter("model", name))


def _rest(found: list[SpendSum], label: str) -> list[ChartRow]:
    whole = SpendSum()
    for spend in found:
        whole.merge(spend)
    return [_plotted(f"{len(found)} {label}", whole, role=Role.QUIET)] if found else []


def _plotted(label: str, found: SpendSum, filter: str = "", role: Role = Role.PLAIN) -> ChartRow:
    number = spent_amount(found.usd, found.unknown_calls, is_estimated=bool(found.estimated_calls))
    return ChartRow(line(label, 60), found.usd, number, counted(found.count, "receipt"), filter or None, role)


def _usage(compared: UsageReconciliation | SafeText, context: RenderContext) -> DetailSection:
    title = line("Against the usage report")
    if isinstance(compared, SafeText):
        return DetailSection(title, (DetailLine(line(""), compared, Role.QUIET),))
    lines = [
        text_line("period", f"{compared.first} to {compared.last}, days in UTC; all receipts"),
        DetailLine(line("in all"), compared.whole.words, compared.whole.role),
    ]
    differing = compared.differing
    lines += [DetailLine(line(day.day), day.words, Role.WARN) for day in differing[:DIFFERING]]
    if len(differing) > DIFFERING:
        lines.append(text_line("", f"and {len(differing) - DIFFERING} more days differ", Role.WARN))
    return DetailSection(title, tuple(lines))
