"""Kinds of read failure. Separate from `changes` to keep that module out of the first paint's imports."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class FailureKind(StrEnum):
    """Why a read failed."""

    OFFLINE = "offline"
    NO_ANSWER = "no usable answer"
    RATE_LIMITED = "rate limited"
    NOT_AUTHORISED = "not authorised"
    NOT_OFFERED = "not offered"
    ERROR = "error"


PASSING_FAILURES: Final = frozenset({FailureKind.OFFLINE, FailureKind.NO_ANSWER, FailureKind.RATE_LIMITED})
"""Failures of the service as a whole, after which the same request is sent again."""
