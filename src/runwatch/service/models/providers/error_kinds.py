"""What a failed call means, from statuses and machine codes alone; sentences of a provider are never read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.service.outbound import OutboundError

_STATUSES: Final[Mapping[int, str]] = {
    401: "authentication",
    402: "provider_insufficient_funds",
    403: "permission",
    404: "model_not_found",
    408: "timeout",
    429: "rate_limited",
    503: "capacity",
    529: "capacity",
}

REFUSALS: Final = frozenset(
    {
        "authentication",
        "permission",
        "model_not_found",
        "request_refused",
        "rate_limited",
        "capacity",
        "provider_insufficient_funds",
    }
)
"""Failures in which the provider turned the request away before a model read it: they use and cost nothing. What a
provider that failed later charges for is not known unless it says so."""

_CODES: Final[Mapping[str, str]] = {
    "authentication_error": "authentication",
    "billing_error": "provider_insufficient_funds",
    "insufficient_quota": "provider_insufficient_funds",
    "invalid_api_key": "authentication",
    "model_not_found": "model_not_found",
    "overloaded_error": "capacity",
    "permission_error": "permission",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "server_error": "source_5xx",
}
"""Codes in error bodies that say more than the status: an empty account is a 429 at one provider, for example."""

_OUTBOUND: Final[Mapping[str, str]] = {
    "dns_resolution_failed": "network",
    "network": "network",
    "private_range_rejected": "egress_rejected",
    "response_too_large": "response_too_large",
    "scheme_rejected": "egress_rejected",
    "timeout": "timeout",
}


def kind_from_status(status: int, body: Any) -> str:
    """The kind of :class:`~runwatch.service.models.providers.types.ProviderError` that an answer stands for.

    Args:
        status: Its HTTP status, which is no success.
        body: Its decoded body, or ``None`` where it has none that is JSON.
    """
    kind = kind_from_code(build_error(body))
    if kind is not None:
        return kind
    if status in _STATUSES:
        return _STATUSES[status]
    if 400 <= status < 500:
        return "request_refused"
    # What is left is a redirect, or a status that no server should send.
    return "source_5xx" if 500 <= status < 600 else "invalid_response"


def kind_from_code(error: Any) -> str | None:
    """The kind that an error object names by a code; ``None`` for codes that are not known here."""
    if not isinstance(error, Mapping):
        return None
    for name in ("code", "type"):
        code = error.get(name)
        if isinstance(code, str) and code in _CODES:
            return _CODES[code]
        # Gateways answer 200 and put the status that they met into the body.
        if isinstance(code, int) and 400 <= code < 600:
            return kind_from_status(code, None)
    return None


def build_error(body: Any) -> Any:
    """The error object of a body in any of the three wire forms, or ``None``."""
    return body.get("error") if isinstance(body, Mapping) else None


def kind_from_outbound(error: OutboundError) -> str:
    """The kind that a call without a complete answer stands for."""
    return _OUTBOUND.get(error.kind, "network")
