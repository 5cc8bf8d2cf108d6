"""Refusals: how every room of the service ends a request that it does not do."""

from __future__ import annotations

from collections.abc import Sequence

from runwatch.base.errors import RunwatchError
from runwatch.records.error_codes import CODES


class RefusalError(RunwatchError):
    """A request is not done. It is answered with a Problem of this code.

    Args:
        code: One of :data:`runwatch.records.error_codes.CODES`, which gives the HTTP status and the title.
        detail: What about this request; it is sent, so it repeats nothing that a caller sent or a secret holds.
        errors: Fields and what is wrong with each; only for ``validation_failed``.
        retry_after_s: Seconds to wait; only for ``rate_limited`` and ``quota_exceeded``.
        headers: Headers that belong to the answer.
        cause: What happened inside; it is stored and never sent.
    """

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
        """The HTTP status that goes with the code."""
        return CODES[self.code].status


def make_validation_error(*errors: tuple[str, str], cause: str | None = None) -> RefusalError:
    """A ``validation_failed`` refusal naming fields and what is wrong with each."""
    count = "One field needs" if len(errors) == 1 else f"{len(errors)} fields need"
    return RefusalError("validation_failed", f"{count} attention.", errors=errors, cause=cause)
