"""Lines of the overview for live and ended runs. Every number links to the list that it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from runwatch.records.spend import sum_amounts
from runwatch.records.states import QUEUED_STATES
from runwatch.view.detail.plots import draw_sparkline
from runwatch.view.overview.limits import LABEL, AccountLimits, compact_limit_lines
from runwatch.view.overview.links import (
    LinkedLine,
    LinkSpan,
    ViewLink,
    count_cells,
    join_lines,
    make_link_span,
    make_plain_span,
    pad_line,
)
from runwatch.view.overview.run_counts import HOUR, QUARTER, EndedRun, RunCounts
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import (
    RenderContext,
    counted,
    elapsed_clock,
    gauge,
    grouped_number,
    listed_amount,
    money,
    percent,
    short_id,
    usage_ratio,
    usage_role,
)
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.safe_text import SafeText, line

BUCKETS: Final = 12

_FEWER_BUCKETS: Final = (6, 4, 3)
"""Numbers of bars where there is no room for all."""

ENDS: Final = ("completed", "failed", "expired", "cancelled")

NUMBER: Final = 8

_NO_RUNS_READ: Final = "No runs have been read yet."

_HOUR_FILTER: Final = "ended<1h"
_QUARTER_FILTER: Final = "ended<15m"


def no_runs_text(context: RenderContext) -> SafeText:
    """Say that no runs were read: not yet, or none with an opened file."""
    return line("The file has no runs." if context.is_of_file else _NO_RUNS_READ)


# Live runs.


def live_lines(known: RunCounts | None, context: RenderContext, cells: int) -> list[LinkedLine]:
    """Return lines for the number of live and queued runs, the oldest one, and the spend of their caps.

    Before the first read, when a 0 would be wrong, ``known`` is ``None``.
    """
    if known is None:
        return [(make_plain_span(no_runs_text(context)),)]
    return [_live_counts(known, context), *_oldest(known, context), (), *_cost_lines(known, context, cells)]


def _live_counts(known: RunCounts, context: RenderContext) -> LinkedLine:
    waiting = sum(run.status in QUEUED_STATES for run in known.live)
    live, glyph = len(known.live), context.glyphs.live
    return (
        make_link_span(f"{glyph} {live} live", Role.LIVE if live else Role.QUIET, ViewLink("runs", "is:live")),
        make_plain_span("   "),
        make_link_span(
            f"{glyph} {waiting} queued",
            Role.LIVE if waiting else Role.QUIET,
            ViewLink("runs", " | ".join(f"status={word}" for word in QUEUED_STATES)),
        ),
    )


def _oldest(known: RunCounts, context: RenderContext) -> list[LinkedLine]:
    dated = [(run.run.created_at, run) for run in known.live if run.run.created_at is not None]
    if not dated:
        return [()]
    _, run = min(dated, key=lambda pair: pair[0])
    age = elapsed_clock(run.running_s(context.now, context.lost_at))
    return [
        (
            make_plain_span("oldest "),
            make_link_span(f"{age}  {short_id(run.id, context.glyphs)}", way=ViewLink("runs", record=run.id)),
        )
    ]


def _cost_lines(known: RunCounts, context: RenderContext, cells: int, bar_cells: int = 28) -> list[LinkedLine]:
    """Return a gauge for the runs with known cost and cap, and the number of runs left out."""
    charged = [run for run in known.live if not run.is_test]
    tests = len(known.live) - len(charged)
    if not known.live:
        return [(make_plain_span("no cost: nothing is live"),)]
    if not charged:
        return [
            (
                make_plain_span("cost now  "),
                make_link_span(_of_tests(tests), Role.TEST, ViewLink("runs", "is:live is:test")),
            )
        ]
    spent, allowed, unknown = _spent(charged)
    lacking = sum(run.unknown_calls for run in charged)
    lines: list[LinkedLine] = []
    part = usage_ratio(spent, allowed)
    way = ViewLink("runs", "is:live !is:test")
    if part is None:
        lines.append(
            (
                make_plain_span("cost now  "),
                make_link_span(context.glyphs.unknown, way=way),
                make_plain_span(" not reported by these runs"),
            )
        )
    else:
        is_estimated = any(run.is_estimated for run in charged)
        amount = listed_amount(spent, lacking, context.glyphs, is_estimated=is_estimated)
        cost = (make_plain_span("cost now  "), make_link_span(f"{amount} of {money(allowed)}", way=way))
        longer = (*cost, make_plain_span(" allowed"))
        lines.append(longer if count_cells(longer) <= cells else cost)
        width = max(5, min(bar_cells, cells - 8))
        bar = make_link_span(f"{gauge(part, width, context.glyphs)} {percent(part)}", usage_role(part), way)
        # An empty gauge would say that nothing is spent.
        lines += [(bar,)] if spent or not lacking else []
    more = [f"{unknown} without cost or cap" if unknown and part is not None else "", _of_tests(tests) if tests else ""]
    if any(more):
        lines.append((make_plain_span(f" {context.glyphs.dot} ".join(filter(None, more))),))
    return lines


def _of_tests(number: int) -> str:
    return f"{counted(number, 'test run')}, no cost"


def _spent(runs: Sequence[RunFacts]) -> tuple[Decimal, Decimal, int]:
    """Return the spend and the caps of the runs for which both are known, and the number of other runs."""
    pairs = [(run.known_cost_usd.value, run.max_cost_usd.value) for run in runs]
    known = [(cost, cap) for cost, cap in pairs if cost is not None and cap is not None]
    return (sum_amounts(cost for cost, _ in known), sum_amounts(cap for _, cap in known), len(runs) - len(known))


# Ended runs.


def ended_lines(known: RunCounts | None, context: RenderContext) -> list[LinkedLine]:
    """Return lines for how runs ended in the last 15 minutes and in the last hour, and when."""
    if known is None:
        return [(make_plain_span(no_runs_text(context)),)]
    quarter, hour = known.ended_within(QUARTER, context.now), known.ended_within(HOUR, context.now)
    lines: list[LinkedLine] = [
        (
            pad_line(make_plain_span("ended"), 13),
            pad_line(make_link_span("15 min", Role.QUIET, ViewLink("runs", _QUARTER_FILTER)), NUMBER, "right"),
            pad_line(make_link_span("hour", Role.QUIET, ViewLink("runs", _HOUR_FILTER)), NUMBER, "right"),
        )
    ]
    for status in ENDS:
        glyph, role = state_glyph(status, context.glyphs)
        numbers = (_ends(quarter, status, _QUARTER_FILTER, role), _ends(hour, status, _HOUR_FILTER, role))
        lines.append(
            (
                make_link_span(f"{glyph} ", role),
                pad_line(make_link_span(status, role), 11),
                *(pad_line(it, NUMBER, "right") for it in numbers),
            )
        )
    lines.append(_plot(hour, context))
    return lines


def _ends(runs: Sequence[EndedRun], status: str, span: str, role: Role) -> LinkSpan:
    number = sum(run.status == status for run in runs)
    return make_link_span(
        grouped_number(number), role if number else Role.QUIET, ViewLink("runs", f"status={status} {span}")
    )


def _plot(hour: Sequence[EndedRun], context: RenderContext, buckets: int = BUCKETS) -> LinkedLine:
    """Draw a bar for each of these equal parts of the hour, or the sign of failure if at least half of its runs failed
    or expired; then the smallest and the largest number of runs.
    """
    ended, bad = [0] * buckets, [0] * buckets
    for run in hour:
        # The service's clock may be ahead of the local one.
        bucket = buckets - 1 - max(0, int((context.now - run.at) / (HOUR / buckets)))
        ended[bucket] += 1
        bad[bucket] += run.is_bad
    bars = draw_sparkline(ended, buckets, context.glyphs)
    least, most = min(ended), max(ended)
    rate = grouped_number(most) if least == most else f"{grouped_number(least)} to {grouped_number(most)}"
    are_bad = [wrong and 2 * wrong >= number for number, wrong in zip(ended, bad, strict=True)]
    marks = (
        LinkSpan(line(context.glyphs.bad), Role.BAD) if is_bad else LinkSpan(line(bar))
        for bar, is_bad in zip(bars, are_bad, strict=True)
    )
    return (*marks, make_plain_span(f"  {rate} per {_minutes(buckets)} min"))


def _minutes(buckets: int) -> int:
    return int(HOUR / buckets / timedelta(minutes=1))


def bars_legend(context: RenderContext, note: str = "", buckets: int = 0) -> SafeText:
    """Say what the bars and the signs of failure between them are; a frame without room for all drops the last parts.

    Args:
        note: What comes first, see :func:`ended_note`.
        buckets: Number of bars, if no numbers beside them say it, as those of :func:`ended_lines` do.
    """
    bars = f"bars: ended per {_minutes(buckets)} min" if buckets else ""
    parts = (note, f"{context.glyphs.bad} half or more failed", bars)
    return line(f" {context.glyphs.dot} ".join(filter(None, parts)))


def ended_note(known: RunCounts, context: RenderContext, *, is_whole: bool, is_read: bool) -> str:
    """Describe why more runs may have ended in the last hour than are counted; empty if none can be missing."""
    if not is_read:
        return ""
    untimed = known.untimed_within(HOUR, context.now)
    if untimed:
        return f"{untimed} more have no end time"
    if is_whole or known.reaches_back(HOUR, context.now):
        return ""
    return f"of the newest {len(known.live) + len(known.ended)} runs"


# Narrow window: everything above in a few lines.


class CompactLines(NamedTuple):
    """What a narrow window shows in six lines, and how many bars :func:`bars_legend` explains; 0 without room for
    any.
    """

    lines: list[LinkedLine]
    buckets: int


def compact_lines(known: RunCounts | None, spending: AccountLimits, context: RenderContext, cells: int) -> CompactLines:
    """Return live runs, ended runs and limits in six lines."""
    if known is None:
        unread = (_label("runs"), make_plain_span(no_runs_text(context)))
        return CompactLines([unread, (), (), (), *compact_limit_lines(spending, context, cells)], buckets=0)
    oldest, *cost = [*_oldest(known, context), *_cost_lines(known, context, cells, 6)]
    lines = [
        (_label("live"), *_live_counts(known, context), *((make_plain_span("   "), *oldest) if oldest else ())),
        (_label(""), *join_lines(cost, make_plain_span("   "), cells - LABEL - 1)),
    ]
    ended, buckets = _compact_ends(known, context, cells - LABEL - 1)
    return CompactLines([*lines, *ended, *compact_limit_lines(spending, context, cells)], buckets)


def _compact_ends(known: RunCounts, context: RenderContext, cells: int) -> tuple[list[LinkedLine], int]:
    """Return lines for the last 15 minutes and the last hour, and how many bars there was room for.

    Without room for all bars, the space before numbers goes first, then that between them, then bars; a space stays
    between the bars and the frame.
    """
    spans = (("15 min", QUARTER, _QUARTER_FILTER), ("hour", HOUR, _HOUR_FILTER))
    hour = known.ended_within(HOUR, context.now)
    rows = [
        [_ends(known.ended_within(span, context.now), status, term, state_glyph(status, context.glyphs)[1])
         for status in ENDS]
        for _, span, term in spans
    ]  # fmt: skip
    digits = [max(len(number.text) for number in column) for column in zip(*rows, strict=True)]
    forms = [([max(digits)] * len(digits), 2, BUCKETS), (digits, 2, BUCKETS)]
    forms += [(digits, 1, buckets) for buckets in (BUCKETS, *_FEWER_BUCKETS, 0)]
    for widths, gap, buckets in forms:
        bars = _plot(hour, context, buckets)[:buckets] if buckets else ()
        between = make_plain_span(" " * gap)
        parts = [_compact_numbers(row, widths, context) for row in rows]
        parts[-1].append(bars)
        if sum(map(count_cells, parts[-1])) + gap * len(ENDS) < cells:
            break
    return [
        (_label(label), *join_lines(row, between, cells)) for (label, _, _), row in zip(spans, parts, strict=True)
    ], buckets


def _compact_numbers(numbers: Sequence[LinkSpan], widths: Sequence[int], context: RenderContext) -> list[LinkedLine]:
    return [
        (replace(number, text=line(f"{state_glyph(status, context.glyphs)[0]} {number.text:>{cells}} {status}")),)
        for status, number, cells in zip(ENDS, numbers, widths, strict=True)
    ]


def _label(text: str) -> LinkSpan:
    return make_plain_span(f"{text:<{LABEL}} ")
