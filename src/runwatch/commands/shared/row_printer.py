"""Print rows that are not records of the service, such as settings, checks and outcomes, in the same four formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runwatch.commands.cli.output import CommandOutput


def print_rows(output: CommandOutput, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> None:
    """Print rows with the same members.

    Args:
        rows: Rows of text, numbers, booleans or ``None``.
        columns: Columns of the table, the last one uncut; all members by default.
    """
    if output.form == "json":
        output.json(list(rows))
    elif output.form == "ndjson":
        for row in rows:
            output.json(row, indent=None)
    elif rows and output.form == "csv":
        from runwatch.records.record import Record
        from runwatch.view.export.text_output import csv_lines

        output.lines(csv_lines(Record, rows))
    elif rows:
        output.lines(_table(rows, columns or list(rows[0])))


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    from runwatch.base.text import cell_width, pad
    from runwatch.view.text.safe_text import line

    cells = [[line("" if row.get(name) is None else row[name]) for name in columns] for row in rows]
    widths = [max(cell_width(row[at]) for row in cells) for at in range(len(columns))]
    return ["  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
