"""Kinds of read failure. Separate from `changes` to keep that module out of the first paint's imports."""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """Why a read failed."""

    OFFLINE = "offline"
    NO_ANSWER = "no usable answer"
    RATE_LIMITED = "rate limited"
    NOT_AUTHORISED = "not authorised"
    NOT_OFFERED = "not offered"
    ERROR = "error"
