"""Everything a row of a list draws at once."""

from __future__ import annotations

from typing import Any

from runwatch.view.drawn import Drawn
from runwatch.view.glyphs import Role
from runwatch.view.table import Row


def cells_of(row: Row[Any]) -> dict[str, Drawn]:
    """Every cell by its column's id."""
    return {column.id: row.cell(column).text for column in row._drawing.spec.columns}


def roles_of(row: Row[Any]) -> dict[str, Role]:
    """Every cell's colour role by its column's id."""
    return {column.id: row.cell(column).role for column in row._drawing.spec.columns}
