"""Sorting in one go, for tests of what the console sorts in time slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runwatch.base.generators import run_to_end
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table import rows as table


def sort_rows(
    spec: ResourceSpec[Any], rows: Iterable[table.RecordRow[Any]], keys: Sequence[SortKey] | None = None
) -> list[table.RecordRow[Any]]:
    """Sort rows; see :func:`runwatch.view.table.rows.sort_rows`."""
    return run_to_end(table.sort_rows(spec, list(rows), keys))
