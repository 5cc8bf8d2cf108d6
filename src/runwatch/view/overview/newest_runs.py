"""The newest runs as lines that open them, with the columns of the list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runwatch.base.text import cell_width
from runwatch.view.overview.links import LinkedLine, LinkSpan, ViewLink, make_plain_span, pad_line
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.spec.resource import Column
from runwatch.view.table.rows import RecordRow, RowRenderer
from runwatch.view.text.format import RenderContext, short_id, without_seconds
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

_COLUMNS: Final = tuple(
    column for column in RUNS.columns if column.id in {"status", "reason", "model", "cost", "started", "took"}
)

_GAP: Final = 2

_LEAST: Final = {"reason": 10, "model": 8}
"""Cells that a text keeps in a narrow window."""

_USUAL: Final = {"reason": 24, "model": 16}
"""Cells that texts of other runs may need: ids are whole only beside those, so that they do not change all the time."""


def newest_run_lines(runs: Sequence[RunFacts], context: RenderContext, cells: int) -> list[LinkedLine]:
    """Return a line for each run: its id links to it, whole where all fit; texts are cut if the width is too small."""
    renderer = RowRenderer(RUNS, context)
    rows = [[RecordRow(renderer, run, run.id).cell(column) for column in _COLUMNS] for run in runs]
    widths = [max((cell_width(row[place].text) for row in rows), default=0) for place in range(len(_COLUMNS))]
    room = cells - sum(widths) - _GAP * len(widths)
    names = [line(run.id, None) for run in runs]
    usual = sum(max(0, _USUAL.get(column.id, 0) - width) for column, width in zip(_COLUMNS, widths, strict=True))
    if any(cell_width(name) > room - usual for name in names):
        names = [short_id(run.id, context.glyphs) for run in runs]
    name_cells, gap = max(map(cell_width, names), default=0), _GAP
    if name_cells > room:
        # As in the list of runs, whose columns are then closer too.
        rows, gap = [list(map(_shorten, _COLUMNS, row)) for row in rows], 1
        widths = [max(cell_width(row[place].text) for row in rows) for place in range(len(_COLUMNS))]
        room = cells - sum(widths) - gap * len(widths)
    over = name_cells - room
    for place in sorted(range(len(_COLUMNS)), key=lambda place: -widths[place]):
        spare = max(0, widths[place] - _LEAST.get(_COLUMNS[place].id, widths[place]))
        widths[place] -= min(spare, max(0, over))
        over -= spare
    between, mark = make_plain_span(" " * gap), context.glyphs.ellipsis
    lines: list[LinkedLine] = []
    for run, name, row in zip(runs, names, rows, strict=True):
        parts: list[LinkSpan] = []
        for column, cell, width in zip(_COLUMNS, row, widths, strict=True):
            parts += [pad_line(LinkSpan(cell.text, cell.role), width, column.align, mark), between]
            if column.id == "status":
                link = pad_line(LinkSpan(name, way=ViewLink("runs", record=run.id)), name_cells, mark=mark)
                parts += [link, between]
        lines.append(tuple(parts[:-1]))
    return lines


def _shorten(column: Column[RunFacts], cell: StyledText) -> StyledText:
    """Return a cell, of a time of another day without its seconds."""
    return cell._replace(text=without_seconds(cell.text)) if column.puts_newest_first else cell
