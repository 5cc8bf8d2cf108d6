"""Whether a request is sent again, and after how long: pure, so that every case can be listed and tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RETRIES: Final = 2
"""How many more times a request is sent by default (specification, Limits)."""

FIRST_WAIT_S: Final = 0.5
"""The least wait before the first retry; each further one is at least twice the one before (specification, Errors)."""

JITTER: Final = 0.25
"""How much of a wait is added to it at most, by chance, so that many clients do not come back at once (DESIGN)."""

FINAL_LOSSES: Final = frozenset({"too_large", "untrusted"})
"""Kinds of loss that another attempt would only repeat: more came than this client takes, or the peer at the other end
is not the service."""


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Send it again after ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NoRetry:
    """Do not send it again."""


def decide_retry(
    method: str,
    *,
    keyed: bool,
    attempt: int,
    status: int | None = None,
    lost: str | None = None,
    retries: int = RETRIES,
    chance: float = 0.0,
) -> RetryAfter | NoRetry:
    """What follows an attempt (specification, Errors: retry rules; wire reference 1.6).

    A read (GET or HEAD) and a write with an idempotency key are sent again after a network failure or a 5XX. A write
    without a key never is, a 4XX never, a 429 never. A body that is shorter than its Content-Length is a network
    failure (``cut``); one that came whole and cannot be read is an answer, and asking again would bring it again.

    Args:
        method: The HTTP method.
        keyed: Whether the request carries an idempotency key that is not blank.
        attempt: Which attempt this was, counted from 1.
        status: The HTTP status that came, if one came.
        lost: The kind of loss, if no complete answer came.
        retries: How many more times a request may be sent.
        chance: A number from 0 to 1, for the jitter.
    """
    is_safe = keyed or method in {"GET", "HEAD"}
    is_passing = lost not in FINAL_LOSSES if lost is not None else status is not None and status >= 500
    if not is_safe or not is_passing or attempt > retries:
        return NoRetry()
    return RetryAfter(FIRST_WAIT_S * 2.0 ** (attempt - 1) * (1 + JITTER * chance))
