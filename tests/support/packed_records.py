"""Which records hold their own decoded object."""

from __future__ import annotations

from runwatch.records.record import Record


def is_packed(record: Record) -> bool:
    """Whether a record holds no decoded object."""
    try:
        object.__getattribute__(record, "_raw")
    except AttributeError:
        return True
    return False
