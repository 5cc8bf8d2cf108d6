"""Classify failed calls by statuses and machine codes, and what came in place of an answer by its form alone.

A provider's sentences are never interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.json import loads
from runwatch.base.secrets.key_forms import remove_key
from runwatch.base.secrets.secret_patterns import REMOVED, find_secret
from runwatch.base.text import clean_line, truncate
from runwatch.records.failed_calls import kind_from_http_status
from runwatch.service.outbound import OutboundError

MESSAGE_CHARACTERS: Final = 200
"""Longest provider message to keep."""

_KEY_PIECE: Final = 8
"""Consecutive characters of the key that a word may not repeat."""

_READ_CHARACTERS: Final = 2000
REFUSALS: Final = frozenset(
    {
        "authentication",
        "permission",
        "model_not_found",
        "request_refused",
        "input_too_long",
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
    "billing_hard_limit_reached": "provider_insufficient_funds",
    "context_length_exceeded": "input_too_long",
    "insufficient_quota": "provider_insufficient_funds",
    "invalid_api_key": "authentication",
    "model_not_found": "model_not_found",
    "overloaded_error": "capacity",
    "permission_error": "permission",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "request_too_large": "input_too_long",
    "server_error": "source_5xx",
    "timeout_error": "source_timeout",
}
"""Codes in error bodies that are more exact than the status: at one provider, for example, an empty account is a 429.
"""

_RECEIVED: Final[Mapping[str, str]] = {"a part": "response_incomplete", "encoded": "invalid_response"}

_UNSENT: Final[Mapping[str, str]] = {"dns_resolution_failed": "dns", "tls_failed": "tls"}
"""Kinds of calls that never began, where checks know ``network`` alone."""


def kind_from_status(status: int, body: Any) -> str:
    """Return the kind of :class:`~runwatch.service.models.providers.types.ProviderError` for a response."""
    kind = kind_from_code(build_error(body))
    # Without a kind, it is a redirect or an invalid status.
    return kind or kind_from_http_status(status) or "invalid_response"


def kind_from_code(error: Any) -> str | None:
    """Return the kind that an error object names by a code, or ``None`` for unknown codes."""
    if not isinstance(error, Mapping):
        return None
    for name in ("code", "type"):
        code = error.get(name)
        if isinstance(code, str) and code in _CODES:
            return _CODES[code]
        # Gateways respond with 200 and put the upstream status into the body.
        if isinstance(code, int) and not isinstance(code, bool):
            return kind_from_http_status(code)
    return None


def build_error(body: Any) -> Any:
    """Return the error object of a body in any of the three wire formats, or ``None``."""
    return body.get("error") if isinstance(body, Mapping) else None


def broken_output(member: str, error: Any, *, has_text: bool) -> Any:
    """Return the error object of an output that the provider broke off.

    Args:
        member: Member of the protocol that says ``error``.
        has_text: Whether a part of the output came: then the request was not refused unread, whatever the code.
    """
    found = dict(error) if isinstance(error, Mapping) else {"message": error}
    if not found.get("message"):
        found["message"] = f"{member}: error"
    kind = kind_from_code(found)
    if kind is not None and not (has_text and kind in REFUSALS):
        return found
    code = found.get("code")
    said = found["message"] if code is None else f"error {code}: {found['message']}"
    return {"type": "server_error", "message": said}


def provider_message(body: Any, content: bytes, key: str | None, *, names_code: bool = False) -> str | None:
    """Return the provider's sentence on a refused call, cleaned, cut and without secrets, or ``None``.

    Args:
        names_code: Whether the error's own code goes before the sentence, because no status says it.
    """
    error = build_error(body)
    found = [error, body] if isinstance(error, Mapping) else [{"message": error}, body]
    texts = [holder.get(name) for holder in found if isinstance(holder, Mapping) for name in ("message", "detail")]
    text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    code = error.get("code") if names_code and isinstance(error, Mapping) else None
    if code is not None and isinstance(code, (str, int)):
        text = f"error {code}" if text is None else f"error {code}: {text}"
    if text is None and body is None:
        text = content[: 4 * _READ_CHARACTERS].decode("utf-8", "replace")
    if text is None or not text.strip() or text.lstrip().startswith("<"):
        return None
    if key:
        text = remove_key(text, key)
    words = [REMOVED if _is_secret(word, key) else word for word in text[:_READ_CHARACTERS].split()]
    plain = truncate(clean_line(" ".join(words)), MESSAGE_CHARACTERS)
    return None if find_secret(plain.replace(REMOVED, "")) else plain


def _is_secret(word: str, key: str | None) -> bool:
    pieces = () if key is None else (key[at : at + _KEY_PIECE] for at in range(len(key) - _KEY_PIECE + 1))
    return any(piece in word for piece in pieces) or find_secret(word.strip("\"'`.,;:()[]{}<>")) is not None


def kind_from_outbound(error: OutboundError) -> str:
    """Return the kind of a call without a complete response."""
    return _RECEIVED.get(error.received) or _UNSENT.get(error.kind, error.failure_class)


_MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,40}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")

_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|script)\b", re.IGNORECASE)

_STREAM: Final = re.compile(rb"(?:data|event)?:")
"""How a line of server-sent events begins; one with a colon alone is a comment."""

_LOOKED_AT_BYTES: Final = 2000


def find_body_kind(content: bytes, media_type: str | None) -> str:
    """Return the kind of a body, a key of :data:`runwatch.records.failed_calls.BODY_TEXTS`."""
    body = content.strip()
    start = body[:_LOOKED_AT_BYTES]
    if not body:
        return "empty"
    if body == b"null":
        return "null"
    if _HTML.search(start) and start.startswith(b"<"):
        return "html"
    if media_type == "text/event-stream" or _STREAM.match(start):
        return "stream"
    if _is_json(body):
        return "other_json"
    if start.startswith((b"{", b"[")):
        first_line, _, further = body.partition(b"\n")
        return "stream" if further and _is_json(first_line) else "broken_json"
    return "other"


def clean_media_type(header: str | None, key: str | None) -> str | None:
    """Return the media type of a ``Content-Type`` header without its parameters, or ``None`` for an invalid one and
    for one that repeats the key of the call.
    """
    media_type = (header or "").partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media_type) or (key and remove_key(media_type, key) != media_type):
        return None
    return media_type


def _is_json(content: bytes) -> bool:
    try:
        loads(content)
    except ValueError:
        return False
    return True
