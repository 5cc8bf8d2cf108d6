"""Read the headers of a response that name a time: ``Retry-After`` and ``Date``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

MAX_WAIT_S: Final = 366 * 24 * 3600
"""Upper bound of a wait, so that it stays a number of seconds a clock can add."""


def parse_retry_after(value: str | None, now: datetime) -> int | None:
    """Return the whole seconds to wait, up to :data:`MAX_WAIT_S`; ``None`` for a missing or invalid header.

    Args:
        value: The header: seconds or an HTTP date.
        now: The wall time, to which a date is compared.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:12]), MAX_WAIT_S)
    moment = parse_http_date(text)
    return None if moment is None else min(max(0, -int((now - moment).total_seconds() // 1)), MAX_WAIT_S)


def parse_http_date(value: str | None) -> datetime | None:
    """Return the time of an HTTP date, UTC if it names no zone; ``None`` for a missing or invalid one."""
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
