"""Failed and expired runs of the last hour: a line for each reason, a column for each provider. Ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.census import HOUR, Census
from runwatch.view.drawn import line
from runwatch.view.format import Context, count
from runwatch.view.glyphs import Role
from runwatch.view.spots import Spot, SpotLine, Way, padded, quiet, spot, wanted

LEAST_REASON: Final = 16
MOST_REASON: Final = 34
LEAST_COLUMN: Final = 6
MOST_COLUMN: Final = 22

_GAP: Final = 2
_NONE: Final = "none"
_UNKNOWN: Final = "unknown"
_ALL: Final = "all"
_HOUR: Final = "ended<1h"


@dataclass(frozen=True, slots=True)
class Reasons:
    """The table.

    Attributes:
        lines: The head and a line for each reason, those with most runs first; nothing where no run went wrong.
        left_out: How many providers have no column, because the window is too narrow for them.
    """

    lines: tuple[SpotLine, ...] = ()
    left_out: int = 0


def reasons(known: Census, context: Context, cells: int, *, has_receipts: bool = True) -> Reasons:
    """The table; the columns with most runs come first and stay longest.

    Args:
        known: The runs.
        context: Now, and the glyphs.
        cells: The room.
        has_receipts: Whether receipts are known: without them a run without a provider may have had one.
    """
    bad = [run for run in known.ended_within(HOUR, context.now) if run.is_bad]
    if not bad:
        return Reasons()
    rows = [reason for reason, _ in Counter(run.reason for run in bad).most_common()]
    providers = [provider for provider, _ in Counter(run.provider for run in bad).most_common()]
    mark = context.glyphs.ellipsis
    label = max(LEAST_REASON, min(MOST_REASON, max(cell_width(line(reason)) for reason in rows)))
    room = cells - label - _GAP - LEAST_COLUMN
    none = _NONE if has_receipts else _UNKNOWN
    columns: list[tuple[str | None, int]] = []
    for provider in providers:
        width = max(LEAST_COLUMN, min(MOST_COLUMN, cell_width(line(none if provider is None else provider))))
        room -= width + _GAP
        if room < 0:
            break
        columns.append((provider, width))
    numbers = Counter((run.reason, run.provider) for run in bad)
    head = [padded(quiet(none if provider is None else provider), width, "right", mark) for provider, width in columns]
    lines = [_row(padded(quiet("reason"), label), head, quiet(_ALL))]
    for reason in rows:
        terms = f"is:broken {wanted('reason', reason)}"
        whole = Way("runs", f"{terms} {_HOUR}")
        name = spot(f"{context.glyphs.unknown} not told" if reason is None else reason)
        parts = [
            padded(
                _number(numbers[reason, provider], Way("runs", f"{terms} {wanted('provider', provider)} {_HOUR}")),
                width,
                "right",
            )
            for provider, width in columns
        ]
        total = sum(numbers[reason, provider] for provider in providers)
        lines.append(_row(padded(name, label, mark=mark), parts, _number(total, whole)))
    return Reasons(tuple(lines), len(providers) - len(columns))


def _row(label: Spot, parts: list[Spot], total: Spot) -> SpotLine:
    gap = quiet(" " * _GAP)
    cells = [piece for part in [*parts, padded(total, LEAST_COLUMN, "right")] for piece in (gap, part)]
    return (label, *cells)


def _number(number: int, way: Way) -> Spot:
    """A number that leads to its runs; nought leads nowhere."""
    return spot(count(number), Role.BAD, way) if number else quiet(0)
