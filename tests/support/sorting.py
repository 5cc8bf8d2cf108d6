"""Sorting in one go, for tests of what the console sorts in time slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runwatch.base.generators import run_to_end
from runwatch.view.spec.resource import ResourceSpec, SortKey
from runwatch.view.table.rows import RecordRow, filter_and_sort


def sort_rows(
    spec: ResourceSpec[Any], rows: Iterable[RecordRow[Any]], keys: Sequence[SortKey] | None = None
) -> list[RecordRow[Any]]:
    """Sort rows; see :func:`runwatch.view.table.rows.filter_and_sort`."""
    return run_to_end(filter_and_sort(spec, list(rows), keys))
