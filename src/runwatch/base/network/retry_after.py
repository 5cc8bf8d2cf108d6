"""Read the ``Retry-After`` header of a response."""

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
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(0, -int((now - moment).total_seconds() // 1)), MAX_WAIT_S)
