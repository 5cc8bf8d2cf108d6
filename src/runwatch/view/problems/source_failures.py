"""Explain a failed test of a source connection, with advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from runwatch.base.shell_words import runwatch_command
from runwatch.records.failed_calls import describe_body
from runwatch.records.source import (
    ANY_ADDRESS,
    DROPPED,
    NO_KEY,
    NO_LIST,
    SOURCE_FAILURE_TEXTS,
    SourceConnection,
    find_failure_kind,
)
from runwatch.view.problems.explanation_texts import BODY_ADVICE, WAITS
from runwatch.view.text.format import duration
from runwatch.view.text.safe_text import line


class SourceTestFailure(NamedTuple):
    why: str
    advice: str


_ADVICE: Final[Mapping[str, str]] = {
    "authentication": "{Key}.",
    "permission": "Check at the source what the key may do. {Key}.",
    "model_not_found": "Check the name of the model and the address.",
    "rate_limited": "{Again} in a minute.",
    "capacity": "{Again} in a minute.",
    "source_5xx": "Look into the log of the server, then {again}.",
    "provider_insufficient_funds": "Add credit at the source.",
    "timeout": "The model may still be loading. Look into the log of the server, then {again}.",
    "source_timeout": "The model may still be loading. Look into the log of the server, then {again}.",
    "network": "Start the server, then {again}. {Address}.",
    "dns": "Check the name server of this machine, then {again}. {Address}.",
    "tls": "Check that the address speaks TLS, and that this machine trusts who signed its certificate, then {again}.",
    DROPPED: "Look into the log of the server, or check whether the address wants https, then {again}.",
    "egress_rejected": "Use an address that the service may reach, or https.",
    "request_refused": "Check the name of the model, the protocol and the log of the server.",
    "input_too_long": "Check the protocol and the address: only a message of a few words was sent.",
    "response_too_large": "Check the address.",
    "response_incomplete": "Look into the log of the server, or of a proxy in between.",
    "invalid_response": "Check the address and the protocol.",
    "credential_unavailable": "Start the service with the master key that sealed the connection's key. {Key}.",
}
_NO_LIST: Final = SourceTestFailure(NO_LIST, "Check the address.")
_LIST_REFUSED: Final = ("model_not_found", "request_refused")
"""Failures of a test without named models at a server that lists none."""

_UNKNOWN: Final = SourceTestFailure("no reason given", "{Again}.")


def explain_failure(connection: SourceConnection, *, is_kept: bool = True) -> SourceTestFailure:
    """Explain why the last test of a connection failed, with the source's message and other model names if known.

    If several models are named for the connection, it says which of them failed. A connection that was not kept cannot
    be tested again and has to be made again.
    """
    kind = connection.test_error or connection.test_failure
    kind = kind and find_failure_kind(
        kind, was_sent=connection.test_was_sent is True, auth_scheme=connection.auth_scheme
    )
    rotate = runwatch_command("sources rotate", connection.id, key_stdin=True)
    is_unnamed = (connection.endpoint or {}).get("models") == []
    name_one = f" {_name_model(connection)}" if is_unnamed else ""
    if kind == NO_KEY:
        give = f"Give it one: {rotate}" if is_kept else "Connect again with --key-stdin, and type the key."
        why, advice = SOURCE_FAILURE_TEXTS[kind], give
    elif kind in _LIST_REFUSED and is_unnamed:
        why, advice = _NO_LIST
    elif kind:
        why, advice = SOURCE_FAILURE_TEXTS.get(kind, kind), _ADVICE.get(kind, _UNKNOWN.advice)
    else:
        why, advice = _UNKNOWN
    again = "test again" if is_kept else "connect again"
    key = f"Give it another key: {rotate}" if is_kept else "Connect again with another key"
    address = (
        "An address cannot be changed: connect another source for the right one"
        if is_kept
        else "Or connect again with the right host and port"
    )
    is_key = "{Key}" in advice or kind == NO_KEY
    advice = advice.format(again=again, Again=again.capitalize(), Key=key, Address=address)
    if (why, advice) == _NO_LIST:
        advice = f"{advice}{name_one}"
    if is_key and is_kept:
        advice = advice.removesuffix(".")
    if connection.test_retry_after_s is not None and kind in WAITS:
        advice = f"{again.capitalize()} in {duration(connection.test_retry_after_s)}, as the source asks."
    protocol = (connection.endpoint or {}).get("protocol_profile")
    if kind == "invalid_response" and isinstance(protocol, str):
        why = f"{why} {protocol}"
        found = BODY_ADVICE.get(connection.test_body_kind or "")
        advice = f"{advice if found is None else f'{found}.'}{name_one}"
    if connection.test_models and len((connection.endpoint or {}).get("models") or ()) > 1:
        verb = "were" if len(connection.test_models) > 1 else "was"
        why = f"{why}, when {' and '.join(connection.test_models)} {verb} called"
    if connection.test_http_status is not None:
        why = f"{why} (HTTP {connection.test_http_status})"
    came = describe_body(connection.test_body_kind, connection.test_content_type)
    if came is not None:
        why = f"{why}: it was {line(came)}"
    if connection.test_message:
        # A sentence ends behind the quotation.
        why = f'{why}: "{line(connection.test_message).removesuffix(".")}"'
    if connection.test_suggestions:
        advice = f"{advice} It serves {', '.join(connection.test_suggestions)}."
    if is_kept and not is_key and connection.id:
        advice = f"{advice} To test it: {runwatch_command('sources test', connection.id)}"
    return SourceTestFailure(why, advice)


def _name_model(connection: SourceConnection) -> str:
    """Return the advice for a server that lists no models: the command that names one, with its address if known."""
    address = (connection.endpoint or {}).get("base_url")
    flag = connection.source_id if connection.source_id in ANY_ADDRESS and isinstance(address, str) else None
    server = {} if flag is None else {flag: str(address)}
    connect = runwatch_command("sources connect", **server, model="NAME")
    return f"A server that lists no models needs the name of one: `{connect}`."
