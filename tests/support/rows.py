"""Everything a row of a list draws at once."""

from __future__ import annotations

from typing import Any

from runwatch.view.table.rows import RecordRow
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText


def cells_of(row: RecordRow[Any]) -> dict[str, SafeText]:
    """Every cell by its column's id."""
    return {column.id: row.cell(column).text for column in row._drawing.spec.all_columns}


def roles_of(row: RecordRow[Any]) -> dict[str, Role]:
    """Every cell's colour role by its column's id."""
    return {column.id: row.cell(column).role for column in row._drawing.spec.all_columns}
