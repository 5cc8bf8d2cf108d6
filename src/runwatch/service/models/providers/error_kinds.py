"""What a failed call means, from statuses and machine codes alone; sentences of a provider are never read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.secret_patterns import find_secret
from runwatch.base.text import clean_line, truncate
from runwatch.service.outbound import OutboundError

MESSAGE_CHARACTERS: Final = 200
"""The longest message of a provider that is kept. Not in the specification."""

REMOVED: Final = "[removed]"
"""What stands in a provider's message for a word that is a secret or looks like one."""

_KEY_PIECE: Final = 8
"""Characters of the key in a row that a word may not repeat."""

_READ_CHARACTERS: Final = 2000
"""Characters of a message that are looked at."""

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


def provider_message(body: Any, content: bytes, key: str | None) -> str | None:
    """The sentence with which a provider refuses a call, cleaned, cut and without secrets; ``None`` without one.

    Args:
        body: The decoded body of the answer, or ``None`` where it is not JSON.
        content: The body as it came.
        key: The key that was sent.
    """
    error = build_error(body)
    found = [error, body] if isinstance(error, Mapping) else [{"message": error}, body]
    texts = [holder.get(name) for holder in found if isinstance(holder, Mapping) for name in ("message", "detail")]
    text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    if text is None and body is None:
        text = content[: 4 * _READ_CHARACTERS].decode("utf-8", "replace")
    if text is None or not text.strip() or text.lstrip().startswith("<"):
        return None
    if key:
        text = text.replace(key, REMOVED)
    words = [REMOVED if _is_secret(word, key) else word for word in text[:_READ_CHARACTERS].split()]
    plain = truncate(clean_line(" ".join(words)), MESSAGE_CHARACTERS)
    return None if find_secret(plain.replace(REMOVED, "")) else plain


def _is_secret(word: str, key: str | None) -> bool:
    pieces = () if key is None else (key[at : at + _KEY_PIECE] for at in range(len(key) - _KEY_PIECE + 1))
    return any(piece in word for piece in pieces) or find_secret(word.strip("\"'`.,;:()[]{}<>")) is not None


def kind_from_outbound(error: OutboundError) -> str:
    """The kind that a call without a complete answer stands for."""
    return _OUTBOUND.get(error.kind, "network")
