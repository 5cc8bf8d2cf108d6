"""Source profiles, connections to sources, credential handoffs (manual: interface, "Sources, connections and credential
handoffs").

``endpoint`` of a connection is an open member of the local service: the address given by the user, for a source without
its own. It never holds a key. Other open members are ``usable``, the result of the rule on usable connections, and
details of the test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from runwatch.base.network.service_target import server_identity
from runwatch.records.record import Record, Wire, anything, flag, integer, many, mapping, moment, one, text, texts

OPENAI_COMPATIBLE: Final = "openai_compatible"
ANTHROPIC_COMPATIBLE: Final = "anthropic_compatible"
ANY_ADDRESS: Final = frozenset({OPENAI_COMPATIBLE, ANTHROPIC_COMPATIBLE})
"""Sources that accept the address of any server with their interface. Not in the specification."""

PROTOCOLS: Final = {
    "openai_chat": OPENAI_COMPATIBLE,
    "openai_responses": OPENAI_COMPATIBLE,
    "anthropic_messages": ANTHROPIC_COMPATIBLE,
}
"""The protocols that the local service speaks, by name, with the source of any address that offers each.

The module of that name in ``service.models.providers`` has its wire format.
"""

KEYLESS: Final = "none"
"""Auth scheme of a server that is called without a key. Not in the specification."""

NO_KEY: Final = "no_key"
"""Failure of a call without a key that the source refused for that; a refused key is ``authentication``."""

DROPPED: Final = "dropped"
"""Failure of a call that the source accepted without a response; ``network`` is one that it did not accept."""

NO_LIST: Final = "nothing at this path lists models"
"""What is said of a list call that failed with ``model_not_found``."""

SOURCE_FAILURE_TEXTS: Final[Mapping[str, str]] = {
    NO_KEY: "the server asks for a key",
    "authentication": "the source refused the key",
    "permission": "the source does not allow this key the call",
    "model_not_found": "the source has no such model, or nothing at this path",
    "rate_limited": "the source's rate limit is reached",
    "capacity": "the source is overloaded",
    "source_5xx": "the source failed",
    "provider_insufficient_funds": "the account at the source has no credit",
    "timeout": "no answer came in time",
    "source_timeout": "the source answered that the request timed out",
    "network": "nothing answered at the address",
    "dns": "the host name of the address does not resolve",
    "tls": "no secure connection was made: TLS or its certificate failed",
    DROPPED: "the source took the call and closed the connection without an answer",
    "egress_rejected": "the service may not call this address",
    "request_refused": "the source refused the request",
    "input_too_long": "the source refused the request as too long",
    "response_too_large": "the answer was too large",
    "response_incomplete": "the connection ended in the middle of the answer",
    "invalid_response": "the answer does not have the form of the protocol",
    "credential_unavailable": "the service cannot open the stored key with the master key at hand, and sent nothing",
}
"""Why a test of a source failed, by the kind of the failed call."""


def describe_test_failure(
    kind: str,
    http_status: int | None,
    message: str | None,
    *,
    was_sent: bool,
    auth_scheme: str | None,
    came: str | None = None,
) -> str:
    """Describe why a test failed, with the exact status and the source's message if it responded.

    Args:
        came: What came in place of an answer, from :func:`.failed_calls.describe_body`.
        was_sent: Whether the source accepted the call.
        auth_scheme: How the call was authorised.
    """
    words = SOURCE_FAILURE_TEXTS.get(find_failure_kind(kind, was_sent=was_sent, auth_scheme=auth_scheme), kind)
    status = "" if http_status is None else f" (HTTP {http_status})"
    if came is not None:
        status = f"{status}: it was {came}"
    return f"{words}{status}" + ("" if message is None else f': "{message}"')


def find_failure_kind(kind: str, *, was_sent: bool, auth_scheme: str | None) -> str:
    """Return the kind of a failed call, with :data:`DROPPED` and :data:`NO_KEY` distinguished."""
    if auth_scheme == KEYLESS and kind in {"authentication", "permission"}:
        return NO_KEY
    return DROPPED if kind == "network" and was_sent else kind


class Versioned(Record):
    """A protocol or an auth scheme with its version."""

    id = text()  # type: ignore[assignment]
    version = anything()


class EndpointPolicy(Record):
    """Rules for a source's address."""

    https_required = flag()
    redirects_allowed = flag()


class SourceProfile(Record):
    """A source that the service can connect to."""

    KIND = "source_profile"
    WIRE = Wire("/v1/model-source-profiles", "sources", "source_id")

    source_id = text()
    source_kind = text()
    display_name = text()
    protocol_profiles = many(Versioned)
    auth_schemes = many(Versioned)
    endpoint_policy = one(EndpointPolicy)
    access_lane = text()
    credential_owner = text()
    commercial_owner = text()


class SourceScope(Record):
    """Part of the account at the source that a connection reaches."""

    kind = text()
    account_ref = text()
    project_ref = text()
    region = text()


class FailedModel(Record):
    """A model that failed a test that other models of its connection passed. Not in the specification."""

    model = text()
    why = text()


class SourceConnection(Record):
    """A connection to a source with the customer's own account."""

    KIND = "connection"
    WIRE = Wire("/v1/source-connections", "connections", "connection_id")

    connection_id = text()
    source_id = text()
    display_name = text()
    auth_scheme = text()
    auth_binding_ref = text()
    source_scope = one(SourceScope)
    status = text()
    access_lane = text()
    credential_owner = text()
    commercial_owner = text()
    customer_ref = text()
    binding_revision = integer()
    tested_binding_revision = integer()
    test_state = text()
    test_error = text()
    test_failure = text()
    test_http_status = integer()
    test_message = text()
    test_retry_after_s = integer()
    test_body_kind = text()
    test_content_type = text()
    test_models = texts()
    failed_models = many(FailedModel)
    removed_models = texts()
    test_suggestions = texts()
    test_was_sent = flag()
    last_tested_at = moment()
    rotated_at = moment()
    revoked_at = moment()
    created_at = moment()
    updated_at = moment()
    endpoint = mapping()
    usable = flag()

    @property
    def is_usable(self) -> bool:
        """Whether models can run over it: active, not revoked, and tested with its current key."""
        return (
            self.revoked_at is None
            and self.raw.get("revoked_at") is None
            and self.status == "active"
            and self.test_state == "passed"
            and self.binding_revision is not None
            and self.binding_revision == self.tested_binding_revision
        )

    @property
    def handoff_endpoint(self) -> dict[str, Any] | None:
        """The endpoint for a handoff of another key, without the models and prices, which the connection keeps.

        ``None`` where the service shows no endpoint. A source with an address of its own takes no other one.
        """
        members = ("base_url", "protocol_profile") if self.source_id in ANY_ADDRESS else ("protocol_profile",)
        kept = self.endpoint or {}
        return {name: kept[name] for name in members if kept.get(name) is not None} or None


def find_connected(
    connections: Iterable[SourceConnection], source_id: str, base_url: str | None, protocol_profile: str | None = None
) -> list[SourceConnection]:
    """Return the open connections to a source at an address, usable ones first; key and name do not matter.

    Args:
        base_url: ``None`` for a source with an address of its own.
        protocol_profile: ``None`` for any.
    """

    def is_same(connection: SourceConnection) -> bool:
        endpoint = connection.endpoint or {}
        kept = endpoint.get("base_url")
        return (
            connection.raw.get("revoked_at") is None
            and connection.source_id == source_id
            and protocol_profile in {None, endpoint.get("protocol_profile")}
            and (base_url is None or (isinstance(kept, str) and server_identity(kept) == server_identity(base_url)))
        )

    return sorted(filter(is_same, connections), key=lambda connection: not connection.is_usable)


class Handoff(Record):
    """A one-time permission to enter a source's credential on a private page.

    Only the response that creates it holds the page's address, ``continue_url``, which is a secret.
    """

    KIND = "handoff"
    WIRE = Wire("/v1/source-credential-handoffs", "", "handoff_intent_id")

    handoff_intent_id = text()
    source_id = text()
    auth_scheme = text()
    state = text()
    failure_code = text()
    expires_at = moment()
    completed_at = moment()
    failed_at = moment()
    expired_at = moment()
    consumed_at = moment()
    created_at = moment()
    updated_at = moment()
    source_scope = one(SourceScope)
    continue_url = text()


class Disconnected(Record):
    """Outcome of disconnecting; ``effects`` is an open member of the local service."""

    KIND = "disconnected"

    connection_id = text()
    status = text()
    revoked_at = moment()
    effects = mapping()
