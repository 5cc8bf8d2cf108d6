"""Errors of service calls; :mod:`runwatch.base.errors` draws the tree.

Every error says whether the outcome of the call is known. A call that changes nothing always has a known outcome; for
writes see :mod:`runwatch.api.write_outcome`. No error holds a service key or a header.
"""

from __future__ import annotations

from typing import Final, TypedDict, Unpack

from runwatch.api.retry_policy import FINAL_LOSSES
from runwatch.base.errors import RunwatchError
from runwatch.records.problem import Problem

UNSENT_ERRORS: Final = ("refused", "dns")
"""Kinds of failure of a request that certainly did not reach the service."""

CUT_ERROR: Final = "cut"
"""Kind of failure of a request whose answer broke off after its status."""

UNUSABLE_ERROR: Final = "unusable"
"""Kind of failure of a request whose answer is complete and cannot be read."""

TOO_LARGE_ERROR: Final = "too_large"
"""Kind of failure of a request that the service answered, with more than is read."""


class CallFacts(TypedDict):
    """Keyword arguments of :class:`ApiError`, which its subclasses pass on."""

    operation: str
    attempts: int
    outcome_known: bool
    key: str | None
    detail: str | None
    hint: str | None


class ApiError(RunwatchError):
    """A call of the service failed.

    Args:
        attempts: How many times the request was tried; 0 when nothing was sent.
        outcome_known: False when a write may or may not have taken effect. A retry with the same idempotency key and
            the same bytes settles it.
        key: The ``Idempotency-Key`` of the request.
    """

    def __init__(
        self,
        title: str,
        *,
        operation: str,
        attempts: int = 0,
        outcome_known: bool = True,
        key: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        support_id: str | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(title, detail=detail, hint=hint, support_id=support_id, retryable=retryable)
        self.operation = operation
        self.attempts = attempts
        self.outcome_known = outcome_known
        self.key = key


class ReadOnlyError(ApiError):
    """The operation mutates and the client is read-only; nothing was sent."""

    def __init__(self, *, operation: str, what: str, key: str | None = None) -> None:
        super().__init__(
            "This client is read-only",
            operation=operation,
            key=key,
            detail=f"{what} would change data; nothing was sent",
            hint="Use a profile that is not read-only, or omit --read-only.",
        )


class InvalidRequestError(ApiError):
    """The request breaks a rule of the interface; nothing was sent.

    Attributes:
        errors: One ``{"field": …, "message": …}`` for each failure, in the form of a ``validation_failed`` Problem.
    """

    def __init__(self, *, operation: str, errors: list[dict[str, str]], key: str | None = None) -> None:
        super().__init__(
            "The request is not valid",
            operation=operation,
            key=key,
            detail="; ".join(f"{error['field']}: {error['message']}" for error in errors),
            hint="Nothing was sent. Correct the named fields and try again.",
        )
        self.errors = errors


class RateLimitedError(ApiError):
    """An earlier 429 holds this call back; nothing was sent."""

    def __init__(
        self,
        *,
        operation: str,
        seconds: float,
        key: str | None = None,
        support_id: str | None = None,
    ) -> None:
        super().__init__(
            "The service asked to wait",
            operation=operation,
            key=key,
            detail=f"another {seconds:.0f} s",
            hint="Nothing was sent. Try again when the wait is over.",
            support_id=support_id,
            retryable=True,
        )
        self.seconds = seconds


class NoResponseError(ApiError):
    """No complete response came over the network.

    Attributes:
        kind: ``refused``, ``timeout``, ``reset``, ``cut``, ``tls``, ``dns``, ``untrusted``, ``too_large``,
            ``endless`` or ``network``.
        was_sent: Whether any attempt may have reached the service.
    """

    def __init__(self, title: str, *, kind: str, was_sent: bool, **facts: Unpack[CallFacts]) -> None:
        super().__init__(title, retryable=kind not in FINAL_LOSSES, **facts)
        self.kind = kind
        self.was_sent = was_sent


class ServiceStoppedError(NoResponseError):
    """The local service is not running, and no retry starts it."""


class UnusableResponseError(ApiError):
    """A successful response cannot be read as the expected record."""

    def __init__(self, title: str, *, status: int, **facts: Unpack[CallFacts]) -> None:
        super().__init__(title, **facts)
        self.status = status


class ApiProblem(ApiError):
    """The service returned a Problem, or another error body.

    Attributes:
        problem: The Problem as received, or a synthetic one made by this client.
        status: The HTTP status; it wins over the one in the body.
        code: The error code; an empty text where the Problem's type names none.
        is_synthetic: Whether this client made the Problem. A synthetic Problem has no ``instance``.
        wait_s: Seconds that a 429 asks to wait; ``None`` for any other status.
    """

    def __init__(
        self,
        title: str,
        *,
        problem: Problem,
        status: int,
        is_synthetic: bool,
        wait_s: float | None,
        retryable: bool,
        **facts: Unpack[CallFacts],
    ) -> None:
        super().__init__(title, support_id=problem.instance, retryable=retryable, **facts)
        self.problem = problem
        self.status = status
        self.code = problem.code
        self.is_synthetic = is_synthetic
        self.wait_s = wait_s
