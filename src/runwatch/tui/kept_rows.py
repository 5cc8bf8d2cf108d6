"""The rows of the long list that was left last, so that coming back to it makes nothing anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runwatch.view.table import Drawing, Row


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Rows that no screen shows.

    A row is taken again only where it is about the same object, so that it does no harm when the list has changed.

    Attributes:
        name: The list's name.
        drawing: What they are drawn with.
        rows: The rows.
    """

    name: str
    drawing: Drawing[Any]
    rows: list[Row[Any]] = field(repr=False)
