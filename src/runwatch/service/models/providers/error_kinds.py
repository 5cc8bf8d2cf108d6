"""Classify failed calls by statuses and machine codes alone; a provider's sentences are never interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.secrets.secret_patterns import REMOVED, find_secret
from runwatch.base.text import clean_line, truncate
from runwatch.service.outbound import OutboundError

MESSAGE_CHARACTERS: Final = 200
"""Longest provider message to keep."""

_KEY_PIECE: Final = 8
"""Consecutive characters of the key that a word may not repeat."""

_READ_CHARACTERS: Final = 2000
"""Characters of a message to inspect."""

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
"""Failures in which the provider refused the request before a model read it: they use and cost nothing. For later
failures the charge is unknown unless the provider reports it.
"""

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
"""Codes in error bodies that are more exact than the status: at one provider, for example, an empty account is a 429.
"""

_RECEIVED: Final[Mapping[str, str]] = {"a part": "response_incomplete", "encoded": "invalid_response"}


def kind_from_status(status: int, body: Any) -> str:
    """Return the kind of :class:`~runwatch.service.models.providers.types.ProviderError` for a response.

    Args:
        status: Its HTTP status, not a success.
        body: Its decoded body; ``None`` if it is not JSON.
    """
    kind = kind_from_code(build_error(body))
    if kind is not None:
        return kind
    if status in _STATUSES:
        return _STATUSES[status]
    if 400 <= status < 500:
        return "request_refused"
    # What remains is a redirect or an invalid status.
    return "source_5xx" if 500 <= status < 600 else "invalid_response"


def kind_from_code(error: Any) -> str | None:
    """Return the kind that an error object names by a code, or ``None`` for unknown codes."""
    if not isinstance(error, Mapping):
        return None
    for name in ("code", "type"):
        code = error.get(name)
        if isinstance(code, str) and code in _CODES:
            return _CODES[code]
        # Gateways respond with 200 and put the upstream status into the body.
        if isinstance(code, int) and 400 <= code < 600:
            return kind_from_status(code, None)
    return None


def build_error(body: Any) -> Any:
    """Return the error object of a body in any of the three wire formats, or ``None``."""
    return body.get("error") if isinstance(body, Mapping) else None


def provider_message(body: Any, content: bytes, key: str | None) -> str | None:
    """Return the provider's sentence on a refused call, cleaned, cut and without secrets, or ``None``.

    Args:
        body: The decoded body; ``None`` if it is not JSON.
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
    """Return the kind of a call without a complete response."""
    return _RECEIVED.get(error.received, error.failure_class)
