"""Kinds of failed calls to a provider, and of what came in place of an answer; shared by the local service and the
texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_KINDS: Final[Mapping[int, str]] = {
    401: "authentication",
    402: "provider_insufficient_funds",
    403: "permission",
    404: "model_not_found",
    408: "source_timeout",
    413: "input_too_long",
    429: "rate_limited",
    503: "capacity",
    504: "source_timeout",
    529: "capacity",
}


def kind_from_http_status(status: int) -> str | None:
    """Return the kind of failure that a status means, or ``None`` for a status that is no failure."""
    if 400 <= status < 500:
        return _KINDS.get(status, "request_refused")
    return _KINDS.get(status, "source_5xx") if 500 <= status < 600 else None


BODY_TEXTS: Final[Mapping[str, str]] = {
    "empty": "an empty body",
    "html": "an HTML page",
    "stream": "a stream of events",
    "null": "the JSON value null",
    "broken_json": "JSON that breaks off or is broken",
    "other_json": "JSON of another form",
    "other": "something that is not JSON",
}
"""What came in place of an answer, by ``body_kind`` of a failed call."""


def describe_body(kind: str | None, content_type: str | None) -> str | None:
    """Describe what came in place of an answer, such as ``an HTML page (text/html)``; ``None`` if that is not known."""
    if kind is None:
        return None
    return f"{BODY_TEXTS.get(kind, kind)} ({content_type or 'without a content type'})"
