"""Exit codes (manual: decisions, "Command line")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.base.errors import DataError, LocalServiceError, RunwatchError, SettingsError, UsageError

SUCCESS: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
NO_ANSWER: Final = 3
NOT_PERMITTED: Final = 4
RATE_LIMITED: Final = 5
INTERRUPTED: Final = 130

INTERNAL_ERROR: Final = 1
"""An unexpected error; the message says that it is a bug."""

EXIT_BY_STATUS: Final[Mapping[str, int]] = {"failed": 10, "expired": 12, "cancelled": 11}
"""For ``--exit-status``; with several runs, the first match in this order applies."""


def exit_code(error: RunwatchError) -> int:
    if isinstance(error, (UsageError, SettingsError, DataError)):
        return USAGE
    if isinstance(error, LocalServiceError):
        return NO_ANSWER
    from runwatch.api.errors import (
        ApiProblem,
        InvalidRequestError,
        NoResponseError,
        RateLimitedError,
        ReadOnlyError,
        UnusableResponseError,
    )

    if isinstance(error, (ReadOnlyError, InvalidRequestError)):
        return USAGE
    if isinstance(error, RateLimitedError):
        return RATE_LIMITED
    if isinstance(error, (NoResponseError, UnusableResponseError)):
        return NO_ANSWER
    if isinstance(error, ApiProblem):
        return problem_exit_code(error.status, error.code)
    return REFUSED


def problem_exit_code(status: int, code: str) -> int:
    """Return the exit code of an error response.

    A 403 is "not permitted" unless its code gives a reason other than the key. A 408 is not a refusal: the outcome of
    the request is unknown.
    """
    from runwatch.records.error_codes import CODES

    if status == 429:
        return RATE_LIMITED
    if status >= 500 or status == 408 or status < 400:
        return NO_ANSWER
    if status == 401 or code in {"unauthenticated", "permission_denied"} or (status == 403 and code not in CODES):
        return NOT_PERMITTED
    return REFUSED


def status_exit_code(statuses: list[str | None]) -> int:
    """Return the exit code of ``--exit-status`` for the final states of the watched runs."""
    return next((code for status, code in EXIT_BY_STATUS.items() if status in statuses), SUCCESS)
