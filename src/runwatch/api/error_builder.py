"""Errors of a failed call, with what the failure means for a write and what the user can do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from runwatch.api.errors import (
    ApiError,
    ApiProblem,
    CallFacts,
    NoResponseError,
    ServiceStoppedError,
    UnusableResponseError,
)
from runwatch.api.http.exchange import ConnectionLostError, HttpRequest, HttpResponse
from runwatch.api.operations import Operation
from runwatch.api.problem_parser import describe_body
from runwatch.api.write_outcome import proves_no_effect
from runwatch.base.network.service_target import Target
from runwatch.records.problem import Problem

_LOST: Final = {
    "refused": ("Nothing responds at this address", "Check the address, the port, and that the service is running."),
    "dns": ("The service's host name is not known", "Check the base URL and the network's name service."),
    "tls": ("There is no trusted connection to the service", "Check the base URL and the profile's ca_file."),
    "untrusted": (
        "The other end is not the service",
        "Nothing was sent. Check the address; end a local service with 'runwatch serve --stop' and start it again.",
    ),
    "timeout": ("The service did not respond in time", "Try again later."),
    "reset": ("The connection was lost before a response came", "Try again."),
    "cut": ("The answer broke off", "Try again."),
    "too_large": (
        "The response is larger than 64 MiB",
        "Request less: read one record by its id, or filter by what the service filters by, such as --since 1d.",
    ),
    "endless": (
        "The response did not end within 120 s",
        "Request less, for example with a limit or a filter. If it happens again, report it to the service's support.",
    ),
    "network": ("The network failed", "Check the network and the proxy settings."),
}
"""Title and next step for each kind of lost response."""

_NOT_RUNNING: Final = ("The local service is not running", "Start the console again, or use any command with --local.")
"""Title and usual next step for a refused connection to the local service, which both suggestions start."""

_RETRY: Final = (
    "It is not known whether the service did it. Retry with the same idempotency key and the same bytes; "
    "it is done once at most."
)
_LOOK: Final = (
    "It is not known whether the service did it, and the request had no idempotency key. Look before you retry."
)


class OperationCall(NamedTuple):
    operation: Operation
    request: HttpRequest


@dataclass(slots=True)
class AttemptHistory:
    """Summary of the attempts of a call so far.

    Attributes:
        attempts: The number of attempts, including the current one.
        in_doubt: Whether an earlier attempt may have taken effect.
        was_sent: Whether an earlier attempt may have reached the service.
    """

    attempts: int = 0
    in_doubt: bool = False
    was_sent: bool = False

    def add(self, failure: ApiError) -> None:
        """Record a failed attempt that another one follows."""
        self.in_doubt = not failure.outcome_known
        self.was_sent = failure.was_sent if isinstance(failure, NoResponseError) else True


def build_no_response(
    lost: ConnectionLostError, call: OperationCall, history: AttemptHistory, target: Target
) -> NoResponseError:
    """Build the error for a missing or incomplete response.

    A write is known to have had no effect only if the request never left on any attempt.
    """
    is_stopped = lost.kind == "refused" and target.socket is not None
    title, hint = _NOT_RUNNING if is_stopped else _LOST[lost.kind]
    hint = target.start_hint if is_stopped and target.start_hint else hint
    was_sent = lost.was_sent or history.was_sent
    outcome_known = not call.operation.mutates or not (lost.was_sent or history.in_doubt)
    parts = [target.place, lost.detail, f"{history.attempts} attempts" if history.attempts > 1 else ""]
    return (ServiceStoppedError if is_stopped else NoResponseError)(
        title,
        kind=lost.kind,
        was_sent=was_sent,
        **_facts(call, history, ", ".join(part for part in parts if part), hint, outcome_known=outcome_known),
    )


def build_unusable_response(
    reason: str, response: HttpResponse, call: OperationCall, history: AttemptHistory
) -> UnusableResponseError:
    """Build the error for a success that cannot be read. The service accepted the write, but its effect is unknown."""
    outcome_known = not call.operation.mutates
    quoted = "" if response.media_type == "application/json" else f" ({describe_body(response)})"
    return UnusableResponseError(
        "The response cannot be used",
        status=response.status,
        **_facts(call, history, f"{reason}{quoted}", "Check the base URL.", outcome_known=outcome_known),
    )


def build_api_problem(
    problem: Problem,
    status: int,
    call: OperationCall,
    history: AttemptHistory,
    *,
    is_synthetic: bool,
    wait_s: float | None,
) -> ApiProblem:
    """Build the error for an error response. The HTTP status wins over the one in the body; the detail shows both."""
    operation = call.operation
    outcome_known = not operation.mutates or proves_no_effect(
        operation,
        status,
        "" if is_synthetic else problem.code,
        in_doubt=history.in_doubt,
        is_problem=not is_synthetic and problem.conforms(status),
    )
    detail, hint = problem.detail, _next_step(status, wait_s, is_synthetic=is_synthetic)
    if problem.status is not None and problem.status != status:
        note = f"the body says status {problem.status}, HTTP says {status}"
        detail = f"{detail} ({note})" if detail else note
    return ApiProblem(
        (problem.title or "").removesuffix(".") or f"The service responded with status {status}",
        problem=problem,
        status=status,
        is_synthetic=is_synthetic,
        wait_s=wait_s,
        retryable=status >= 500 or status in {408, 429},
        **_facts(call, history, detail, hint, outcome_known=outcome_known),
    )


def _facts(
    call: OperationCall, history: AttemptHistory, detail: str | None, hint: str | None, *, outcome_known: bool
) -> CallFacts:
    """Return what every error says; an unknown outcome has to be settled before any other next step."""
    settle = _LOOK if call.request.key is None else _RETRY
    return CallFacts(
        operation=call.operation.id,
        attempts=history.attempts,
        outcome_known=outcome_known,
        key=call.request.key,
        detail=detail,
        hint=hint if outcome_known else settle,
    )


def _next_step(status: int, wait_s: float | None, *, is_synthetic: bool) -> str | None:
    if wait_s is not None:
        return f"Wait {wait_s:.0f} s, then try again."
    if status == 401:
        return "Check the key of this profile."
    if is_synthetic:
        return "Check the base URL and any proxy in between."
    if status >= 500:
        return "Try again later. If it still fails, quote the instance id to support."
    return None
