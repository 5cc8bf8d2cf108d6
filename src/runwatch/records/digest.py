"""The digest of a record as it was read: what a decision was made on, and whether it is still the same; ours."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.records.record import Record

PREFIX: Final = "sha256:"


def compute_digest(record: Record) -> str:
    """``sha256:`` and 64 hexadecimal characters over everything that a record says.

    The order of an object's members makes no difference; numbers count with the digits they were sent with, so that
    ``0.10`` is not ``0.1``.

    Raises:
        ValueError: the record nests too deeply to be written.
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
