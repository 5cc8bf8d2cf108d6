"""Kinds of failed calls to a provider by the HTTP status of its answer; shared by the local service and the texts."""

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
