"""Why a read gave nothing, in one word; kept apart because the first paint needs no more of a failure than this."""

from __future__ import annotations

from enum import StrEnum


class ReadInterruption(StrEnum):
    """Why a read gave nothing."""

    OFFLINE = "offline"
    RATE_LIMITED = "rate limited"
    NOT_AUTHORISED = "not authorised"
    NOT_OFFERED = "not offered"
    ERROR = "error"
