"""The overview in lines: what is live and what ended. Every number leads to the list that it counts. Ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from runwatch.records.spend import total
from runwatch.view.census import HOUR, QUARTER, Census, EndedRun
from runwatch.view.drawn import line
from runwatch.view.facts import RunFacts
from runwatch.view.format import (
    Context,
    clock,
    count,
    gauge,
    money,
    percent,
    seconds_since,
    share,
    share_role,
    short_id,
)
from runwatch.view.glyphs import Role, state_glyph
from runwatch.view.plot import spark
from runwatch.view.spending import LABEL, Spending, spending_in_short
from runwatch.view.spots import Spot, SpotLine, Way, in_a_row, padded, quiet, spot

BUCKET: Final = timedelta(minutes=5)
"""What one bar of the plot stands for."""

BUCKETS: Final = 12

ENDS: Final = ("completed", "failed", "expired", "cancelled")

WAITING: Final = ("queued", "accepted")
"""States of a live run that nobody works on yet."""

NUMBER: Final = 8
"""Cells of a column of numbers."""

_HOUR_FILTER: Final = "ended<1h"
_QUARTER_FILTER: Final = "ended<15m"


# Live now.


def live_lines(known: Census, context: Context, cells: int) -> list[SpotLine]:
    """How many runs are live and queued, the oldest, and what they have spent of what they may."""
    return [_live_counts(known, context), *_oldest(known, context), (), *_cost_lines(known, context, cells)]


def _live_counts(known: Census, context: Context) -> SpotLine:
    waiting = sum(run.status in WAITING for run in known.live)
    live, glyph = len(known.live), context.glyphs.live
    return (
        spot(f"{glyph} {live} live", Role.LIVE if live else Role.QUIET, Way("runs", "is:live")),
        quiet("   "),
        spot(
            f"{glyph} {waiting} queued",
            Role.LIVE if waiting else Role.QUIET,
            Way("runs", " | ".join(f"status={word}" for word in WAITING)),
        ),
    )


def _oldest(known: Census, context: Context) -> list[SpotLine]:
    dated = [(run.run.created_at, run) for run in known.live if run.run.created_at is not None]
    if not dated:
        return [()]
    created, run = min(dated, key=lambda pair: pair[0])
    age = clock(max(seconds_since(created, context.now), 0))
    return [(quiet("oldest "), spot(f"{age}  {short_id(run.id, context.glyphs)}", way=Way("runs", record=run.id)))]


def _cost_lines(known: Census, context: Context, cells: int) -> list[SpotLine]:
    """A gauge over the runs whose cost and cap are both known; how many are left out is said."""
    charged = [run for run in known.live if not run.is_test]
    tests = len(known.live) - len(charged)
    if not known.live:
        return [(quiet("no cost: nothing is live"),)]
    if not charged:
        return [(quiet("cost now  "), spot(_of_tests(tests), Role.TEST, Way("runs", "is:live is:test")))]
    spent, allowed, unknown = _spent(charged)
    lacking = sum(run.unknown_calls for run in charged)
    lines: list[SpotLine] = []
    part = share(spent, allowed)
    way = Way("runs", "is:live !is:test")
    if part is None:
        lines.append((quiet("cost now  "), spot(context.glyphs.unknown, way=way), quiet(" not told by these runs")))
    else:
        least = "at least " if lacking else ""
        amount = f"{least}{money(spent)} of {money(allowed)}"
        lines.append((quiet("cost now  "), spot(amount, way=way), quiet(" allowed")))
        width = max(5, min(28, cells - 8))
        lines.append((spot(f"{gauge(part, width, context.glyphs)} {percent(part)}", share_role(part), way),))
    more = [f"{unknown} without cost or cap" if unknown and part is not None else "", _of_tests(tests) if tests else ""]
    if any(more):
        lines.append((quiet(f" {context.glyphs.dot} ".join(filter(None, more))),))
    return lines


def _of_tests(number: int) -> str:
    return f"{number} test run{'s' * (number != 1)}, no cost"


def _spent(runs: Sequence[RunFacts]) -> tuple[Decimal, Decimal, int]:
    """What runs have spent and what they may spend, where both are known, and of how many that is not so."""
    pairs = [(run.known_cost_usd.value, run.max_cost_usd.value) for run in runs]
    known = [(cost, cap) for cost, cap in pairs if cost is not None and cap is not None]
    return (
        total(cost for cost, _ in known),
        total(cap for _, cap in known),
        len(runs) - len(known),
    )


# Ended.


def ended_lines(known: Census, context: Context) -> list[SpotLine]:
    """How runs ended in the last quarter of an hour and in the last hour, and when."""
    quarter, hour = known.ended_within(QUARTER, context.now), known.ended_within(HOUR, context.now)
    lines: list[SpotLine] = [
        (
            padded(quiet("ended"), 13),
            padded(spot("15 min", Role.QUIET, Way("runs", _QUARTER_FILTER)), NUMBER, "right"),
            padded(spot("hour", Role.QUIET, Way("runs", _HOUR_FILTER)), NUMBER, "right"),
        )
    ]
    for status in ENDS:
        glyph, role = state_glyph(status, context.glyphs)
        numbers = (_ends(quarter, status, _QUARTER_FILTER, role), _ends(hour, status, _HOUR_FILTER, role))
        lines.append(
            (spot(f"{glyph} ", role), padded(spot(status, role), 11), *(padded(it, NUMBER, "right") for it in numbers))
        )
    lines.append((*_plot(hour, context), quiet("  per 5 min")))
    return lines


def _ends(runs: Sequence[EndedRun], status: str, span: str, role: Role) -> Spot:
    number = sum(run.status == status for run in runs)
    return spot(count(number), role if number else Role.QUIET, Way("runs", f"status={status} {span}"))


def _plot(hour: Sequence[EndedRun], context: Context) -> SpotLine:
    """A bar for every five minutes of the hour, red where at least half of what ended in them went wrong."""
    ended, bad = [0] * BUCKETS, [0] * BUCKETS
    for run in hour:
        # The clock of the service may be ahead of ours.
        bucket = BUCKETS - 1 - max(0, int((context.now - run.at) / BUCKET))
        ended[bucket] += 1
        bad[bucket] += run.is_bad
    bars = spark(ended, BUCKETS, context.glyphs)
    roles = [
        Role.BAD if wrong and 2 * wrong >= number else Role.PLAIN for number, wrong in zip(ended, bad, strict=True)
    ]
    return tuple(Spot(line(bar), role) for bar, role in zip(bars, roles, strict=True))


def ended_note(known: Census, context: Context, *, is_whole: bool, is_read: bool) -> str:
    """Why more runs may have ended in the last hour than are counted; empty where none may.

    Args:
        known: The runs.
        context: Now.
        is_whole: Whether the list of runs is known to its end.
        is_read: Whether it was read at all.
    """
    if not is_read:
        return ""
    untimed = known.untimed_within(HOUR, context.now)
    if untimed:
        return f"{untimed} more tell no time of their end"
    if is_whole or known.reaches_back(HOUR, context.now):
        return ""
    return f"of the newest {len(known.live) + len(known.ended)} runs"


# In a narrow window: everything above in a few lines.


def short_lines(known: Census, spending: Spending, context: Context, cells: int) -> list[SpotLine]:
    """What is live, how runs ended, and what is left, in six lines."""
    oldest, *cost = [*_oldest(known, context), *_cost_lines(known, context, 14)]
    lines = [
        (_label("live"), *_live_counts(known, context), *((quiet("   "), *oldest) if oldest else ())),
        (_label(""), *in_a_row(cost, quiet("   "), cells - LABEL - 1)),
    ]
    for label, span, term in (("15 min", QUARTER, _QUARTER_FILTER), ("hour", HOUR, _HOUR_FILTER)):
        runs = known.ended_within(span, context.now)
        parts: list[SpotLine] = []
        for status in ENDS:
            glyph, role = state_glyph(status, context.glyphs)
            number = _ends(runs, status, term, role)
            parts.append((spot(f"{glyph} {number.text} {status}", number.role, number.way),))
        if span is HOUR:
            parts.append(_plot(runs, context))
        lines.append((_label(label), *in_a_row(parts, quiet("  "), cells - LABEL - 1)))
    return lines + spending_in_short(spending, context, cells)


def _label(text: str) -> Spot:
    return quiet(f"{text:<{LABEL}} ")
