"""Usage in a period: totals, and charts by day, model, saved model and key.

Every line of a chart links to the list that it sums up. Money is decimal throughout. A day missing from a report is a
gap, because its usage is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.spend import sum_amounts
from runwatch.records.usage import ArmUsage, DayUsage, KeyUsage, Period, Usage, UsageTotals
from runwatch.settings.view_state import ViewState
from runwatch.view.detail.chart_sections import BarChart, ChartRow, WidthOf, bar_sections, largest_first
from runwatch.view.detail.column_plot import ColumnPlot, PlotDay, PlotGrouping, group_by_series
from runwatch.view.detail.sections import OTHER_MEMBERS, TYPE_MISMATCH, DetailLine, DetailSection, text_line
from runwatch.view.query.parser import MAX_FILTER_CHARACTERS, quote_value
from runwatch.view.receipts.charts import MANY_DAYS
from runwatch.view.text import json_paths
from runwatch.view.text.format import (
    RenderContext,
    counted,
    estimated,
    grouped_number,
    known_amount,
    money,
    money_exact,
    short_id,
    spent_amount,
    tell_apart,
    tokens,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import model_cell
from runwatch.view.text.safe_text import SafeText, block, json_text, line, plain_decimal
from runwatch.view.text.styled_text import StyledText

MAX_DAYS: Final = 400
"""A longer period is drawn without gaps between its days."""

_SERIES: Final = ("usage", "fee")
"""The parts of a day's spend."""

NO_DAYS: Final = "The answer has no days."
"""Shown if a report has no list of days, not even an empty one."""

NO_MODEL: Final = "not known here"
"""Shown for the model of a saved model that is not listed or has none."""


@dataclass(frozen=True, slots=True)
class NameLookup:
    """Records that a report refers to by id."""

    arms: Mapping[str, Arm] = field(default_factory=dict)
    keys: Mapping[str, ApiKey] = field(default_factory=dict)

    def arm(self, arm_id: str | None, context: RenderContext) -> SafeText:
        """Return the name of a saved model, or its id if the name is unknown."""
        return _name(self.arms, arm_id, context)

    def model(self, arm_id: str | None) -> str | None:
        known = self.arms.get(arm_id or "")
        return None if known is None else known.model_id

    def key(self, key_id: str | None, context: RenderContext) -> SafeText:
        """Return the name of an API key, or its id if the name is unknown."""
        return _name(self.keys, key_id, context)


def _name(records: Mapping[str, Arm] | Mapping[str, ApiKey], id: str | None, context: RenderContext) -> SafeText:
    known = records.get(id or "")
    return line(known.display_name) if known and known.display_name else short_id(id, context.glyphs)


def usage_sections(usage: Usage, names: NameLookup, room_of: WidthOf, context: RenderContext) -> list[DetailSection]:
    """Return the sections of a usage report, in any period in the same order: days, which may be many, come last."""
    period = usage.period or Period({})
    arms, keys = usage.by_arm or (), usage.by_key or ()
    arm_names = [names.arm(arm.arm_id, context) for arm in arms]
    arm_names = tell_apart(arm_names, [arm.arm_id for arm in arms], context.glyphs)
    arm_rows = [_arm(arm, name, period, context) for arm, name in zip(arms, arm_names, strict=True)]
    key_rows = [_key(key, name, context) for key, name in zip(keys, _key_names(keys, names, context), strict=True)]
    before_days, days = _days(usage, period, names, context)
    charts = [
        BarChart("Spend by model", largest_first(_by_model(arms, period, names, context))),
        BarChart("Spend by saved model", largest_first(arm_rows)),
        BarChart("Spend by API key", largest_first(key_rows)),
        days,
    ]
    drawn = bar_sections(charts, room_of, context)
    at_days = len(drawn) - bool(days.rows)
    return [
        _totals(usage, context), *drawn[:at_days], *before_days, *drawn[at_days:], *other_member_sections(usage),
    ]  # fmt: skip


def other_member_sections(record: Record) -> list[DetailSection]:
    """Return unknown members and those of a wrong type, so nothing is hidden."""
    lines = [DetailLine(line(name), block(json_text(value))) for name, value in record.unknown().items()]
    for path in record.flaws():
        value = json_paths.get_at(record.raw, json_paths.parse_path(path))
        text = "" if value is json_paths.MISSING else json_text(value)
        lines.append(text_line(path, text, Role.WARN, note=TYPE_MISMATCH))
    return [DetailSection(line(OTHER_MEMBERS), tuple(lines))] if lines else []


def build_receipts_view(period: Period, *, arm_ids: Sequence[str | None] = ()) -> ViewState | None:
    """Return the view of the receipts that a report of a period sums up; ``None`` if no filter can select them.

    A run counts on the day (UTC) on which it became final, as in the local service.

    Args:
        arm_ids: The saved models whose receipts are meant; empty for all receipts of the period.
    """
    terms = []
    first, last = _day(period.start), _day(period.end)
    if first is not None:
        terms.append(f"completed>={first}")
    if last is not None and last < date.max:
        terms.append(f"completed<{last + timedelta(days=1)}")
    if not all(arm_ids):
        return None
    alternatives = [[*terms, f"arm={quote_value(arm_id)}"] for arm_id in arm_ids if arm_id] or [terms]
    text = " | ".join(map(" ".join, alternatives))
    return ViewState("receipts", filter=text) if len(text) <= MAX_FILTER_CHARACTERS else None


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text[:10])
    except ValueError:
        return None


# Totals.


def _totals(usage: Usage, context: RenderContext) -> DetailSection:
    totals, period = usage.totals or UsageTotals({}), usage.period or Period({})
    start, end = (day or context.glyphs.unknown for day in (period.start, period.end))
    spend, role = _spend(totals, context)
    receipts = build_receipts_view(period)
    return DetailSection(
        line("Used"),
        (
            text_line("period", f"{start} to {end}, days in UTC"),
            DetailLine(line("runs"), grouped_number(totals.executions), target=receipts),
            DetailLine(line("spend"), spend, role, target=receipts),
            _tokens(totals, context),
            DetailLine(line("provider calls"), _calls(totals)),
        ),
    )


def _calls(totals: UsageTotals) -> SafeText:
    slices = "" if totals.slices is None else f" for {grouped_number(totals.slices)} slices"
    return line(f"{grouped_number(totals.calls)}{slices}")


def _tokens(totals: UsageTotals, context: RenderContext) -> DetailLine:
    lacking = totals.unknown_token_calls or 0
    known = tokens(totals.input_tokens, totals.output_tokens, context.glyphs, is_partial=bool(lacking))
    shown = line(str(known).removeprefix("tokens ") or context.glyphs.nothing)
    if not lacking:
        return DetailLine(line("tokens"), shown)
    return text_line("tokens", f"{shown}: {counted(lacking, 'call')} did not report any", Role.WARN)


def _spend(totals: UsageTotals, context: RenderContext) -> StyledText:
    text, role = _spend_text(totals, context)
    return StyledText(estimated(line(text), is_estimated=bool(totals.estimated_calls)), role)


def _spend_text(totals: UsageTotals, context: RenderContext) -> tuple[str, Role]:
    """Format usage and fee and their sum, and note if the service's own sum differs."""
    usage, fee, whole = totals.passthrough_usd, totals.platform_usd, totals.usd
    lacking = totals.unknown_calls
    if lacking and whole is not None:
        spent = spent_amount(whole, lacking, is_exact=True)
        return f"{spent}: the cost of {counted(lacking, 'call')} is not known", Role.WARN
    if usage is None or fee is None:
        return context.glyphs.unknown if whole is None else money_exact(whole), Role.PLAIN
    added = f"{plain_decimal(usage)} usage + {plain_decimal(fee)} fee = {money_exact(usage + fee)}"
    if whole is None or whole == usage + fee:
        return added, Role.PLAIN
    return f"{added}, but the service says {money_exact(whole)}", Role.WARN


# Charts.


def _days(
    usage: Usage, period: Period, names: NameLookup, context: RenderContext
) -> tuple[list[DetailSection], BarChart]:
    """Return the spend by day as bars, and what comes before them."""
    by_day = {day.date: day for day in usage.by_day or () if day.date}
    if not by_day:
        said = NO_DAYS if usage.by_day is None else "No run became final in this period."
        return [DetailSection(line("Spend by day"), (text_line("", said, Role.QUIET),))], BarChart("", ())
    # Without fees there is nothing to tell apart.
    is_stacked = any(parts[1] > 0 for day in by_day.values() if (parts := _parts(day)) is not None)
    plotted = [_one_day(by_day[day], context, is_stacked=is_stacked) for day in sorted(by_day, reverse=True)]
    listed = _every_day(period, sorted(by_day))
    if len(listed) < MANY_DAYS:
        return [], BarChart("Spend by day", plotted, _SERIES)
    plotted_days = {str(row.label): row for row in plotted}
    days = tuple(_plot_day(day, by_day.get(day), plotted_days.get(day)) for day in listed)
    groupings = (*_fee_grouping(listed, by_day), *_key_grouping(usage, listed, by_day, names, context))
    plot = DetailSection(line("Spend by day"), (), plot=ColumnPlot(days, groupings))
    return [plot], BarChart("Day by day", plotted, _SERIES)


def _every_day(period: Period, known: Sequence[str]) -> list[str]:
    """Return every day from the first of the period to the last known one; only the known days if the period has no
    start.
    """
    first, last = _day(period.start), _day(known[-1])
    if first is None or last is None or not 0 <= (last - first).days <= MAX_DAYS:
        return list(known)
    return sorted(
        {(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)} | {*known}
    )


def _one_day(day: DayUsage, context: RenderContext, *, is_stacked: bool) -> ChartRow:
    target = build_receipts_view(Period({"from": day.date, "to": day.date}))
    more = _counts((day.executions, "run"))
    parts = _parts(day) if is_stacked else None
    if parts is None:
        return ChartRow(line(day.date), day.usd, _usd(day, context), more, target)
    more = f"{more}, {' + '.join(map(money, parts))}".removeprefix(", ")
    return ChartRow(line(day.date), day.usd, _usd(day, context), more, target, parts=parts)


def _plot_day(name: str, day: DayUsage | None, row: ChartRow | None) -> PlotDay:
    if day is None or row is None:
        return PlotDay(name, None, line("not in the report"))
    value = known_amount(day.usd, day.unknown_calls)
    is_partial = day.usd is None or bool(day.unknown_calls)
    return PlotDay(name, value, line(f"{row.number}  {row.more}".rstrip()), row.target, is_partial)


def _fee_grouping(listed: Sequence[str], by_day: Mapping[str, DayUsage]) -> list[PlotGrouping]:
    parts = tuple((_parts(by_day[day]) if day in by_day else None) or () for day in listed)
    has_fees = any(fee > 0 for part in parts for fee in part[1:])
    return [PlotGrouping("fee", tuple(map(line, _SERIES)), parts)] if has_fees else []


def _key_grouping(
    usage: Usage, listed: Sequence[str], by_day: Mapping[str, DayUsage], names: NameLookup, context: RenderContext
) -> list[PlotGrouping]:
    """Return the grouping by API key, if there are several; a day whose keys do not add up to it is not divided."""
    found = []
    keys = usage.by_key or ()
    for key, name in zip(keys, _key_names(keys, names, context), strict=True):
        spent = {day.date: day.usd for day in key.by_day or ()}
        found.append((name, [spent.get(day) or Decimal(0) for day in listed]))

    def adds_up(number: int, own: Sequence[Decimal]) -> bool:
        day = by_day.get(listed[number])
        return day is not None and day.usd == sum_amounts(own)

    return group_by_series("key", found, adds_up)


def _parts(day: DayUsage) -> tuple[Decimal, Decimal] | None:
    """Return usage and fee of a day; ``None`` unless both are known and add up to its spend."""
    usage, fee = day.passthrough_usd, day.platform_usd
    if usage is None or fee is None or min(usage, fee) < 0 or day.usd != sum_amounts((usage, fee)):
        return None
    return usage, fee


def _by_model(arms: Sequence[ArmUsage], period: Period, names: NameLookup, context: RenderContext) -> list[ChartRow]:
    """Return spend by model; empty if no model is known.

    A link names the saved models, because a receipt names its model with a publisher, which a saved model may lack.
    """
    models = [names.model(arm.arm_id) or NO_MODEL for arm in arms]
    if all(model == NO_MODEL for model in models):
        return []
    found = []
    for model in dict.fromkeys(models):
        own = [arm for arm, its in zip(arms, models, strict=True) if its == model]
        usd = sum_amounts(arm.usd or Decimal(0) for arm in own)
        selected = sum(arm.selected_count or 0 for arm in own)
        target = build_receipts_view(period, arm_ids=[arm.arm_id for arm in own])
        lacking = sum(arm.unknown_calls or 0 for arm in own)
        amount = spent_amount(usd, lacking, is_estimated=any(arm.estimated_calls for arm in own))
        found.append(ChartRow(model_cell(model, context), usd, amount, _counts((selected, "selection")), target))
    return found


def _arm(one: ArmUsage, name: SafeText, period: Period, context: RenderContext) -> ChartRow:
    more = _counts((one.selected_count, "selection"), (one.fallback_count or None, "fallback"))
    target = build_receipts_view(period, arm_ids=[one.arm_id])
    return ChartRow(name, one.usd, _usd(one, context), more, target)


def _key_names(keys: Sequence[KeyUsage], names: NameLookup, context: RenderContext) -> list[SafeText]:
    shown = [names.key(key.api_key_id, context) for key in keys]
    return tell_apart(shown, [key.api_key_id for key in keys], context.glyphs)


def _key(one: KeyUsage, name: SafeText, context: RenderContext) -> ChartRow:
    target = (ApiKey.KIND, one.api_key_id) if one.api_key_id else None
    more = _counts((one.executions, "run"))
    return ChartRow(name, one.usd, _usd(one, context), more, target)


def _usd(part: ArmUsage | DayUsage | KeyUsage, context: RenderContext) -> SafeText:
    if part.usd is None:
        return line(context.glyphs.unknown)
    return spent_amount(part.usd, part.unknown_calls, is_estimated=bool(part.estimated_calls))


def _counts(*counts: tuple[int | None, str]) -> str:
    return ", ".join(counted(number, noun) for number, noun in counts if number is not None)
