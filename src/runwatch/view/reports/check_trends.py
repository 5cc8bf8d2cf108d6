"""Daily results of output checks (manual: interface, "Evaluation summary and compliance export").

A technical failure is not a verdict: it is shown separately and not part of any pass rate. Customer checks, platform
baselines and test runs have different rules, so they are never added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from runwatch.records.evaluation import DayEvaluation, EvalSummary
from runwatch.records.verifier import Verifier
from runwatch.view.detail.chart_sections import ChartRow, WidthOf, bar_section, fit_labels
from runwatch.view.detail.plots import draw_sparkline
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.text.format import RenderContext, grouped_number, percent, short_id, tell_apart
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import fit, line, plain_decimal

CUSTOMER: Final = "customer"

ACTIVITY_TEXTS: Final[Mapping[str, str]] = {
    CUSTOMER: "live runs",
    "platform_baseline": "platform baseline",
    "platform_echo": "test runs",
}

SPARK_CELLS: Final = 30

_LINK_CELLS: Final = 4
"""Cells of the sign of a link."""

_GAP: Final = 2
"""Cells between the days and a pass rate."""


@dataclass(frozen=True, slots=True)
class CheckTrend:
    """The verdicts of one check in one activity, by day, earliest first; ``None`` if the summary names no check."""

    verifier_id: str | None
    activity: str
    days: tuple[DayEvaluation, ...]

    @property
    def total(self) -> int:
        return sum(day.total or 0 for day in self.days)

    @property
    def passed(self) -> int:
        """Number of positive verdicts."""
        return sum(day.passed or 0 for day in self.days)

    @property
    def failures(self) -> int:
        """Number of attempts without a verdict."""
        return sum(day.technical_failures or 0 for day in self.days)

    @property
    def attempts(self) -> int:
        return sum(day.attempted_checks or 0 for day in self.days)

    @property
    def pass_rate(self) -> Decimal | None:
        """The positive share of all verdicts; ``None`` without verdicts."""
        return Decimal(self.passed) / self.total if self.total > 0 else None


def build_trends(summary: EvalSummary, verifier_id: str | None = None) -> list[CheckTrend]:
    """Group the verdicts by check and activity, customer checks first."""
    groups: dict[tuple[str | None, str], list[DayEvaluation]] = {}
    for day in summary.pass_rate_trend or ():
        if verifier_id is None or day.verifier_id == verifier_id:
            groups.setdefault((day.verifier_id, day.activity or "unknown"), []).append(day)
    found = [
        CheckTrend(check, activity, tuple(sorted(days, key=lambda day: day.day or "")))
        for (check, activity), days in groups.items()
    ]
    return sorted(found, key=lambda one: (one.activity != CUSTOMER, one.activity, one.verifier_id or ""))


def trend_sections(
    summary: EvalSummary, verifier_id: str, room_of: WidthOf, context: RenderContext
) -> list[DetailSection]:
    """Return the trend of one check: its totals and its daily pass rate."""
    window = summary.window
    start, end = (None, None) if window is None else (window.start, window.end)
    words = f"{start} to {end}, days in UTC" if start and end else "everything that the service keeps"
    found = build_trends(summary, verifier_id)
    head = [text_line("window", words)]
    if not found:
        head.append(text_line("verdicts", "none in this window", Role.QUIET))
    shown = [DetailSection(line("Trend"), tuple(head))]
    for trend in found:
        shown.append(DetailSection(line(f"Verdicts on {_about(trend)}"), tuple(_sums(trend, context))))
        plotted = [_day(day, context) for day in reversed(trend.days)]
        shown += bar_section("Pass rate by day", plotted, room_of, context, largest=1)
    return shown


def overview_section(
    summary: EvalSummary, checks: Mapping[str, Verifier], room_of: WidthOf, context: RenderContext
) -> list[DetailSection]:
    """Return one line per check with its daily pass rate; an empty list if nothing was judged.

    A cell is the same day in every line, empty without a verdict; the last one is the latest day of all.
    """
    found = build_trends(summary)
    if not found:
        return []
    names = [line(_name(trend, checks, context)) for trend in found]
    names = tell_apart(names, [trend.verifier_id for trend in found], context.glyphs)
    by_day = [{_date(day): day.pass_rate for day in trend.days} for trend in found]
    last = max((day for days in by_day for day in days if day), default=None)
    first = min((day for days in by_day for day in days if day), default=None)
    longest = 0 if first is None or last is None else min(SPARK_CELLS, (last - first).days + 1)
    listed = [last - timedelta(days=back) for back in range(longest - 1, -1, -1)] if last else []
    rates = [trend.pass_rate for trend in found]
    # Rates and totals are each below each other.
    columns = (
        max((len(_percent(rate)) for rate in rates if rate is not None), default=0),
        max((len(grouped_number(trend.total)) for trend in found if trend.total), default=0),
    )
    words = [pass_rate_text(trend, columns) for trend in found]
    widest = max(map(len, words))
    labels, room = fit_labels(names, longest + _GAP + widest + _LINK_CELLS, room_of, context.glyphs)
    if room <= _GAP + widest + _LINK_CELLS:
        # There is no room for a day.
        labels, room = fit_labels(names, widest + _LINK_CELLS, room_of, context.glyphs)
    room -= _LINK_CELLS
    with_days = [pass_rate_text(trend, columns, has_days=True) for trend in found]
    if longest + _GAP + max(map(len, with_days)) <= room:
        words = with_days
    widest = max(map(len, words))
    cells = max(0, min(longest, room - _GAP - widest))
    lines = []
    for trend, days, label, text in zip(found, by_day, labels, words, strict=True):
        drawn = fit(draw_sparkline([days.get(day) for day in listed], cells, context.glyphs, largest=1), cells)
        target = (Verifier.KIND, trend.verifier_id) if trend.verifier_id in checks else None
        if target is not None:
            # Links are padded, so that their signs are aligned.
            text = text.ljust(min(widest, room))
        lines.append(DetailLine(label, line(f"{drawn}{' ' * _GAP}{text}" if cells else text, None), target=target))
    by_days = " by day" if cells else ""
    return [DetailSection(line(f"Output checks, pass rate{by_days}"), tuple(lines))]


def pass_rate_text(one: CheckTrend, columns: tuple[int, int] = (0, 0), *, has_days: bool = False) -> str:
    """Summarize a trend: ``78 % of 9, by day 60 % to 100 %, 1 could not run``, on demand with the days.

    Args:
        columns: Minimum widths of the rate and of the total.
    """
    rate = one.pass_rate
    words = (
        [] if rate is None else [f"{_percent(rate).rjust(columns[0])} of {grouped_number(one.total).rjust(columns[1])}"]
    )
    days = [day.pass_rate for day in one.days if day.pass_rate is not None]
    if has_days and days and min(days) != max(days):
        words.append(f"by day {_percent(min(days))} to {_percent(max(days))}")
    if one.failures:
        words.append(f"{grouped_number(one.failures)} could not run")
    return ", ".join(words) or "no verdict"


def _sums(one: CheckTrend, context: RenderContext) -> Sequence[DetailLine]:
    rate = one.pass_rate
    passed = (
        line(context.glyphs.nothing)
        if rate is None
        else line(f"{_percent(rate)}, {grouped_number(one.passed)} of {grouped_number(one.total)} verdicts")
    )
    tries = f"{grouped_number(one.failures)} of {grouped_number(one.attempts)} tries; they count in no pass rate"
    return (
        DetailLine(line("passed"), passed),
        text_line("technical failures", tries, Role.WARN if one.failures else Role.PLAIN),
    )


def _day(day: DayEvaluation, context: RenderContext) -> ChartRow:
    rate = day.pass_rate
    number = line(context.glyphs.nothing if rate is None else _percent(rate))
    parts = [f"{grouped_number(day.passed)} of {grouped_number(day.total)}"]
    if day.mean_quality_score is not None:
        parts.append(f"score {plain_decimal(day.mean_quality_score)}")
    if day.technical_failures:
        parts.append(f"{grouped_number(day.technical_failures)} could not run")
    role = Role.WARN if day.technical_failures else Role.PLAIN
    return ChartRow(line(day.day), rate, number, ", ".join(parts), role=role)


def _date(day: DayEvaluation) -> date | None:
    try:
        return None if day.day is None else date.fromisoformat(day.day[:10])
    except ValueError:
        return None


def _percent(rate: Decimal) -> str:
    """Format whole percent; unlike a limit, 100 % is written as a number."""
    return "100 %" if rate >= 1 else percent(max(rate, Decimal(0)))


def _about(one: CheckTrend) -> str:
    return ACTIVITY_TEXTS.get(one.activity, one.activity)


def _name(one: CheckTrend, checks: Mapping[str, Verifier], context: RenderContext) -> str:
    known = checks.get(one.verifier_id or "")
    name = known.display_name if known is not None else None
    shown = name or (short_id(one.verifier_id, context.glyphs) if one.verifier_id else "no check named")
    return shown if one.activity == CUSTOMER else f"{shown}, {_about(one)}"
