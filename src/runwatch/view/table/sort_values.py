"""Values by which rows are sorted."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from runwatch.view.text.safe_text import json_text

Comparable = tuple[int, Any]

MISSING: Final = -1
"""The type of a missing value, before those of :func:`make_comparable`."""

NUMBER: Final = 0
"""The type of a number."""


def make_comparable(value: object) -> Comparable:
    """Return a key by which any two values can be compared: numbers, then times, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return NUMBER, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return (MISSING, None) if value is None else (3, json_text(value))
