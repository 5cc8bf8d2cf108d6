"""What a failed test of a source connection means, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from runwatch.records.source import SourceConnection

KEYLESS: Final = "none"
"""The auth scheme of a server that takes no key. Not in the specification."""


class SourceTestFailure(NamedTuple):
    """A failed test in words.

    Attributes:
        why: What the test met.
        advice: What to do next.
    """

    why: str
    advice: str


_FAILURES: Final[Mapping[str, SourceTestFailure]] = {
    "authentication": SourceTestFailure("the source refused the key", "Give the connection another key."),
    "permission": SourceTestFailure(
        "the source does not allow this key the call", "Check at the source what the key may do, or use another key."
    ),
    "model_not_found": SourceTestFailure(
        "the source has no such model, or nothing at this path", "Check the name of the model and the address."
    ),
    "rate_limited": SourceTestFailure("the source's rate limit is reached", "Test again in a minute."),
    "capacity": SourceTestFailure("the source is overloaded", "Test again in a minute."),
    "source_5xx": SourceTestFailure("the source failed", "Look into the log of the server, then test again."),
    "provider_insufficient_funds": SourceTestFailure(
        "the account at the source has no credit", "Add credit at the source."
    ),
    "timeout": SourceTestFailure(
        "no answer came in time", "The model may still be loading. Look into the log of the server, then test again."
    ),
    "network": SourceTestFailure("nothing answered at the address", "Start the server, or correct host and port."),
    "egress_rejected": SourceTestFailure(
        "the service may not call this address", "Use an address that the service may reach, or https."
    ),
    "request_refused": SourceTestFailure(
        "the source refused the request", "Check the name of the model, the protocol and the log of the server."
    ),
    "response_too_large": SourceTestFailure("the answer was too large", "Check the address."),
    "invalid_response": SourceTestFailure(
        "the answer does not have the form of the protocol", "Check the address and the protocol."
    ),
}
_NO_KEY: Final = SourceTestFailure("the server asks for a key", "Connect it with a key.")
_NAME_ONE: Final = "A server that lists no models needs the name of one: runwatch sources connect takes --model NAME."
_NO_LIST: Final = SourceTestFailure("nothing at this path lists models", f"Check the address. {_NAME_ONE}")
_LIST_REFUSED: Final = ("model_not_found", "request_refused")
"""What a test without named models meets at a server that lists none."""

_UNKNOWN: Final = SourceTestFailure("no reason given", "Test again.")


def explain_failure(connection: SourceConnection) -> SourceTestFailure:
    """Why the last test of a connection failed, with the HTTP status and other model names where they are known."""
    kind = connection.test_error or connection.test_failure
    is_unnamed = (connection.endpoint or {}).get("models") == []
    if kind in {"authentication", "permission"} and connection.auth_scheme == KEYLESS:
        why, advice = _NO_KEY
    elif kind in _LIST_REFUSED and is_unnamed:
        why, advice = _NO_LIST
    elif kind:
        why, advice = _FAILURES.get(kind, SourceTestFailure(kind, _UNKNOWN.advice))
    else:
        why, advice = _UNKNOWN
    protocol = (connection.endpoint or {}).get("protocol_profile")
    if kind == "invalid_response" and isinstance(protocol, str):
        why = f"{why} {protocol}"
        if is_unnamed:
            advice = f"{advice} {_NAME_ONE}"
    if connection.test_http_status is not None:
        why = f"{why} (HTTP {connection.test_http_status})"
    if connection.test_suggestions:
        advice = f"{advice} It serves {', '.join(connection.test_suggestions)}."
    return SourceTestFailure(why, advice)
