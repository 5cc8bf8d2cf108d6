"""Whether and when to retry a request. Pure, so that every case can be listed and tested."""

from __future__ import annotations

from typing import Final

RETRIES: Final = 2
"""Default number of retries (manual: interface, "Limits")."""

FIRST_WAIT_S: Final = 0.5
"""Minimum wait before the first retry; each further wait at least doubles (manual: interface, "Retries")."""

JITTER: Final = 0.25
"""Largest random share added to a wait, so that many clients do not come back at once."""

FINAL_LOSSES: Final = frozenset({"too_large", "endless", "untrusted"})
"""Kinds of loss that a retry would only repeat: a body over the limit, a response without an end, or a peer that is not
the service.
"""


def find_retry_wait(
    method: str,
    *,
    keyed: bool,
    attempt: int,
    status: int | None = None,
    lost: str | None = None,
    retries: int = RETRIES,
    chance: float = 0.0,
) -> float | None:
    """Return the seconds from a failed attempt to the next, or ``None`` for no other (manual: interface, "Retries").

    A read (GET or HEAD) and a write with an idempotency key are retried after a network failure or a 5XX. A write
    without a key, a 4XX and a 429 are never retried. A body shorter than its Content-Length is a network failure
    (``cut``); a complete body that cannot be read is a response, and a retry would return it again.

    Args:
        keyed: Whether the request carries an idempotency key that is not blank.
        attempt: The number of the attempt, from 1.
        status: The HTTP status, if a response came.
        lost: The kind of loss, if no complete response came.
        retries: How many more times a request may be sent.
        chance: A number from 0 to 1, for the jitter.
    """
    is_safe = keyed or method in {"GET", "HEAD"}
    is_passing = lost not in FINAL_LOSSES if lost is not None else status is not None and status >= 500
    if not is_safe or not is_passing or attempt > retries:
        return None
    return FIRST_WAIT_S * 2.0 ** (attempt - 1) * (1 + JITTER * chance)
