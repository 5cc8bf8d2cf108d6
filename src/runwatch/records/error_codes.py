"""Error codes and reasons (manual: interface, "Problems and error codes"; manual: interface, "Reasons")."""

from __future__ import annotations

from typing import Final, NamedTuple


class Code(NamedTuple):
    """Properties of an error code.

    Attributes:
        title: The title that the local service gives it.
        refuses_run: Whether it proves that a submit accepted no run.
    """

    status: int
    title: str
    refuses_run: bool = False


CODES: Final[dict[str, Code]] = {
    "unauthenticated": Code(401, "The API key is missing or not valid."),
    "permission_denied": Code(403, "This API key may not do that."),
    "validation_failed": Code(400, "The request is not valid.", refuses_run=True),
    "not_found": Code(404, "There is no such resource.", refuses_run=True),
    "idempotency_conflict": Code(409, "The idempotency key was used with another request body."),
    "invalid_state": Code(409, "The resource's state does not allow that.", refuses_run=True),
    "insufficient_credit": Code(402, "The balance does not cover the request.", refuses_run=True),
    "credit_wallet_frozen": Code(403, "The wallet is frozen.", refuses_run=True),
    "echo_mode_mismatch": Code(400, "A test run cannot use that.", refuses_run=True),
    "data_class_not_available": Code(403, "No option is granted that data class.", refuses_run=True),
    "quota_exceeded": Code(429, "The quota is used up.", refuses_run=True),
    "rate_limited": Code(429, "Too many requests."),
    "upstream_unavailable": Code(502, "A provider could not be reached."),
    # Not in the specification, which has no codes for these.
    "method_not_allowed": Code(405, "That method is not offered here."),
    "request_too_large": Code(413, "The request is too large."),
    "request_timeout": Code(408, "The request came too slowly."),
    "unsupported_media_type": Code(415, "The request body is not JSON."),
    "internal": Code(500, "Something unforeseen went wrong."),
    "service_unavailable": Code(503, "The service cannot reach its database."),
}
"""Every code of the specification, the public clients and the local service."""

REASONS: Final = (
    "cancelled",
    "no_eligible_arms",
    "arm_not_ready",
    "runtime_exceeded",
    "cost_budget_exhausted",
    "fallback_exhausted",
    "execution_terminal",
    "dispatch_timeout",
    "dispatch_network_error",
    "dispatch_internal_error",
    "candidate_too_large",
    "response_too_large",
    "internal",
    # Not in the specification, which has no reason for a run stopped by a verdict or for the lack of one, nor for a
    # response cut in the middle.
    "rejected_by_check",
    "check_unavailable",
    "response_incomplete",
)
"""Why a run or slice ended; any other value is shown as received."""
