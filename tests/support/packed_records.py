"""Whether a record holds a decoded object of its own."""

from __future__ import annotations

from runwatch.records.record import Record


def is_packed(record: Record) -> bool:
    """Whether a record holds no decoded object of its own."""
    try:
        object.__getattribute__(record, "_raw")
    except AttributeError:
        return True
    return False
