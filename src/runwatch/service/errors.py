"""Refusals: how every part of the service ends a request that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runwatch.base.errors import DataError, RunwatchError, UsageError
from runwatch.base.shell_words import install_command
from runwatch.records.error_codes import CODES


class RefusalError(RunwatchError):
    """The request is refused and answered with a Problem of this code (manual: interface, "Problems and error codes").

    "Refuses with ``CODE``" in a docstring says that a function raises it.

    Args:
        code: One of :data:`runwatch.records.error_codes.CODES`, which gives the HTTP status and the title.
        detail: Explanation for this request. It is sent, so it must repeat nothing that a caller sent and no secret.
        errors: Fields and what is wrong with each; only for ``validation_failed``.
        retry_after_s: Seconds to wait; only for ``rate_limited`` and ``quota_exceeded``.
        cause: Internal cause; stored and never sent.

    Attributes:
        page: Makes what a browser is shown in place of the usual page of a Problem, such as the form with its errors.
    """

    page: Callable[[Any], Any] | None = None

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        errors: Sequence[tuple[str, str]] = (),
        retry_after_s: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        cause: str | None = None,
    ) -> None:
        super().__init__(CODES[code].title, detail=detail)
        self.code = code
        self.errors = tuple(errors)
        self.retry_after_s = retry_after_s
        self.headers = headers
        self.cause = cause

    @property
    def status(self) -> int:
        return CODES[self.code].status


class DatabaseUnreachableError(DataError):
    """The database is away, and may be back at the next try. A write that was being committed may have been kept."""


def make_validation_error(*errors: tuple[str, str], cause: str | None = None) -> RefusalError:
    """Build a ``validation_failed`` refusal that names fields and what is wrong with each."""
    count = "One field needs" if len(errors) == 1 else f"{len(errors)} fields need"
    return RefusalError("validation_failed", f"{count} attention.", errors=errors, cause=cause)


def make_package_error(error: ImportError) -> UsageError:
    return UsageError(
        "PostgreSQL needs a package that is not installed",
        detail=str(error),
        hint=f"Install it with: {install_command('team')}",
    )
