"""Digest of a record as it was read, to tell whether it is still the one a decision was made on. Not in the
specification.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.records.record import Record

PREFIX: Final = "sha256:"


def compute_digest(record: Record) -> str:
    """Return ``sha256:`` and 64 hexadecimal characters over all members of a record.

    The order of members does not matter; numbers count with the digits as sent, so ``0.10`` is not ``0.1``.

    Raises:
        ValueError: The record is nested too deeply to encode.
    """
    try:
        text = dumps(_ordered(dict(record.raw)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return PREFIX + hashlib.sha256(text.encode("ascii")).hexdigest()


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
