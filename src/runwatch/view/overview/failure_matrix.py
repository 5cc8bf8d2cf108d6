"""Failed and expired runs of the last hour: one line per reason, one column per provider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.overview.links import (
    LinkedLine,
    LinkSpan,
    ViewLink,
    build_equals_filter,
    make_link_span,
    make_plain_span,
    pad_line,
)
from runwatch.view.overview.run_counts import HOUR, RunCounts
from runwatch.view.text.format import RenderContext, grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

MIN_REASON_CELLS: Final = 16
MAX_REASON_CELLS: Final = 34
MIN_COLUMN_CELLS: Final = 6
MAX_COLUMN_CELLS: Final = 22

_GAP: Final = 2
_NONE: Final = "no provider"
_UNKNOWN: Final = "unknown"
_ALL: Final = "all"
_HOUR: Final = "ended<1h"


@dataclass(frozen=True, slots=True)
class FailureMatrix:
    """The heading and a line for each reason, most runs first; no lines if no run failed. ``left_out`` providers have
    no column because the window is too narrow.
    """

    head: LinkedLine = ()
    lines: tuple[LinkedLine, ...] = ()
    left_out: int = 0


def build_failure_matrix(
    known: RunCounts, context: RenderContext, cells: int, *, has_receipts: bool = True
) -> FailureMatrix:
    """Build the matrix. Columns with the most runs are dropped last; those shown are in order of their names, so that
    they keep their places while numbers change. Without receipts, a run without a provider may have had one.
    """
    bad = [run for run in known.ended_within(HOUR, context.now) if run.is_bad]
    if not bad:
        return FailureMatrix()
    rows = [reason for reason, _ in sorted(Counter(run.reason for run in bad).items(), key=_largest_first)]
    providers = [provider for provider, _ in sorted(Counter(run.provider for run in bad).items(), key=_largest_first)]
    mark = context.glyphs.ellipsis
    label = max(MIN_REASON_CELLS, min(MAX_REASON_CELLS, max(cell_width(line(reason)) for reason in rows)))
    room = cells - label - _GAP - MIN_COLUMN_CELLS
    none = _NONE if has_receipts else _UNKNOWN
    columns: list[tuple[str | None, int]] = []
    for provider in providers:
        width = max(MIN_COLUMN_CELLS, min(MAX_COLUMN_CELLS, cell_width(line(none if provider is None else provider))))
        room -= width + _GAP
        if room < 0:
            break
        columns.append((provider, width))
    columns.sort(key=lambda column: (column[0] is None, column[0]))
    numbers = Counter((run.reason, run.provider) for run in bad)
    names = [
        pad_line(make_plain_span(none if provider is None else provider), width, "right", mark)
        for provider, width in columns
    ]
    head = _row(pad_line(make_plain_span("reason"), label), names, make_plain_span(_ALL))
    lines: list[LinkedLine] = []
    for reason in rows:
        terms = f"is:broken {build_equals_filter('reason', reason)}"
        whole = ViewLink("runs", f"{terms} {_HOUR}")
        name = make_link_span(f"{context.glyphs.unknown} no reason given" if reason is None else reason)
        parts = [
            pad_line(
                _number(
                    numbers[reason, provider],
                    ViewLink("runs", f"{terms} {build_equals_filter('provider', provider)} {_HOUR}"),
                ),
                width,
                "right",
            )
            for provider, width in columns
        ]
        total = sum(numbers[reason, provider] for provider in providers)
        lines.append(_row(pad_line(name, label, mark=mark), parts, _number(total, whole)))
    return FailureMatrix(head, tuple(lines), len(providers) - len(columns))


def _largest_first(counted: tuple[str | None, int]) -> tuple[int, str]:
    name, number = counted
    return -number, name or ""


def _row(label: LinkSpan, parts: list[LinkSpan], total: LinkSpan) -> LinkedLine:
    gap = make_plain_span(" " * _GAP)
    cells = [piece for part in [*parts, pad_line(total, MIN_COLUMN_CELLS, "right")] for piece in (gap, part)]
    return (label, *cells)


def _number(number: int, way: ViewLink) -> LinkSpan:
    return make_link_span(grouped_number(number), Role.BAD, way) if number else make_plain_span(0)
