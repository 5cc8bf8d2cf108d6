"""Model sources: those of the interface, two that accept any address, and those configured at start.

A source says where models come from and how to call them; a connection is one organization's account there (manual:
interface, "Sources, connections and credential handoffs"). The addresses are those documented by the publishers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.base.network.service_target import may_be_loopback
from runwatch.records.requests.run import KNOWN_DATA_CLASSES
from runwatch.records.requests.source import EndpointRequest, PriceRequest, is_private_host
from runwatch.records.source import ANTHROPIC_COMPATIBLE, KEYLESS, OPENAI_COMPATIBLE, PROTOCOLS
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.models.providers.source_definition import SourceDefinition

SCHEMA_VERSION: Final = "1"
"""Format version of profiles, definitions and provenance."""


def _publisher(source_id: str, name: str, base_url: str, *protocols: str) -> SourceDefinition:
    return SourceDefinition(
        source_id=source_id,
        display_name=name,
        source_kind="publisher_direct",
        protocol_profiles=protocols or ("openai_chat",),
        base_url=base_url,
    )


def _any_address(source_id: str, name: str) -> SourceDefinition:
    return SourceDefinition(
        source_id=source_id,
        display_name=name,
        source_kind="gateway",
        protocol_profiles=tuple(protocol for protocol, source in PROTOCOLS.items() if source == source_id),
        auth_schemes=("api_key", KEYLESS),
        base_url=None,
    )


KNOWN: Final = (
    _publisher("openai_direct", "OpenAI", "https://api.openai.com/v1", "openai_responses", "openai_chat"),
    _publisher("anthropic_direct", "Anthropic", "https://api.anthropic.com/v1", "anthropic_messages"),
    SourceDefinition(
        source_id="openrouter",
        display_name="OpenRouter",
        source_kind="gateway",
        protocol_profiles=("openai_chat",),
        base_url="https://openrouter.ai/api/v1",
        route="gateway",
        fallback_policy="source_controlled",
    ),
    _publisher(
        "gemini_developer_api",
        "Gemini Developer API",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini_generate_content",
    ),
    _publisher("xai_direct", "xAI", "https://api.x.ai/v1"),
    _publisher("moonshot_direct", "Moonshot AI", "https://api.moonshot.ai/v1"),
    _publisher("deepseek_direct", "DeepSeek", "https://api.deepseek.com/v1"),
    SourceDefinition(
        source_id="fireworks",
        display_name="Fireworks AI",
        source_kind="cloud",
        protocol_profiles=("openai_chat",),
        base_url="https://api.fireworks.ai/inference/v1",
    ),
    SourceDefinition(
        source_id="aws_bedrock",
        display_name="Amazon Bedrock",
        source_kind="cloud",
        protocol_profiles=("bedrock_converse",),
        auth_schemes=("api_key", "aws_sts_sigv4"),
        base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    ),
    _any_address(OPENAI_COMPATIBLE, "Any server with the OpenAI interface"),
    _any_address(ANTHROPIC_COMPATIBLE, "Any server with the Anthropic interface"),
)
"""The sources of the specification, and two of this service that accept any address."""


def profiles(configured: Iterable[SourceDefinition]) -> dict[str, SourceDefinition]:
    """Return all sources by id; a configured source replaces a built-in one with the same id."""
    known = {profile.source_id: profile for profile in KNOWN}
    return known | {source.source_id: source for source in configured}


def find(known: Mapping[str, SourceDefinition], source_id: str, auth_scheme: str) -> SourceDefinition:
    """Return the source to connect.

    Refuses with ``validation_failed`` for an unknown source or a scheme it does not accept, ``invalid_state`` for a
    source or scheme that this service does not support.
    """
    profile = known.get(source_id)
    if profile is None:
        raise make_validation_error(("source_id", "There is no such source; see /v1/model-source-profiles."))
    if auth_scheme not in profile.auth_schemes:
        raise make_validation_error(("auth_scheme", f"Must be {' or '.join(profile.auth_schemes)}."))
    if not profile.is_served or auth_scheme not in {"api_key", KEYLESS}:
        raise RefusalError(
            "invalid_state",
            "This source is not served by this service, which does not speak its protocol. `runwatch sources list"
            " --available` shows the others.",
        )
    return profile


def endpoint_of(profile: SourceDefinition, auth_scheme: str, asked: EndpointRequest | None) -> dict[str, Any]:
    """Build the ``endpoint`` column of handoffs and connections for a source.

    A server on this machine or in its own network may receive every known data class, because the data stays in that
    network. For any other address only each model's own statement counts. Refuses with ``validation_failed`` when the
    address is missing or may not be chosen, the protocol is not one of the source's, or a server without a key is not
    on this machine.
    """
    asked = asked or EndpointRequest()
    base_url = profile.base_url
    if base_url is None:
        if asked.base_url is None:
            raise make_validation_error(("endpoint.base_url", "Required: this source has no address of its own."))
        base_url = asked.base_url
    elif asked.base_url is not None:
        raise make_validation_error(("endpoint.base_url", "This source has an address of its own."))
    protocol = asked.protocol_profile or next(name for name in profile.protocol_profiles if name in PROTOCOLS)
    if protocol not in profile.protocol_profiles or protocol not in PROTOCOLS:
        spoken = [name for name in profile.protocol_profiles if name in PROTOCOLS]
        raise make_validation_error(("endpoint.protocol_profile", f"Must be {' or '.join(spoken)}."))
    host = urlsplit(base_url).hostname or ""
    if profile.base_url is None and auth_scheme == KEYLESS and not may_be_loopback(host):
        raise make_validation_error(
            ("auth_scheme", "Only a server on this machine may be called without a key. Give the connection one.")
        )
    is_local = profile.base_url is None and is_private_host(host)
    return {
        "base_url": base_url,
        "protocol_profile": protocol,
        "source_kind": profile.source_kind,
        "location": "local" if is_local else profile.location,
        "route": profile.route,
        "fallback_policy": profile.fallback_policy,
        "data_classes": list(KNOWN_DATA_CLASSES) if is_local else profile.data_classes and list(profile.data_classes),
        "own_prices": {**profile.prices, **price_table(asked.prices)},
        "prices": {**profile.prices, **price_table(asked.prices)},
        "models": list(dict.fromkeys(asked.models or ())),
    }


def price_table(asked: Mapping[str, PriceRequest] | None) -> dict[str, dict[str, str]]:
    """Convert the prices of a request to the stored format of a connection."""
    members = {"input_usd_per_million", "output_usd_per_million"}
    return {name: price.model_dump(include=members) for name, price in (asked or {}).items()}
