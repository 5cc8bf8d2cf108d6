"""A model source configured at start, by a file or by ``--sample``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from runwatch.service.models.providers.types import DEFAULT_DATA_CLASSES

PROTOCOLS: Final = ("openai_chat", "openai_responses", "anthropic_messages")

AUTH_SCHEMES: Final = ("api_key", "none")
"""Authentication schemes that it supports; ``none``, for servers without a key, is not in the specification."""

SOURCE_KINDS: Final = ("publisher_direct", "gateway", "cloud", "self_hosted", "fixture")
"""Kinds of source; only ``publisher_direct`` is in the specification."""


OPENAI_COMPATIBLE: Final = "openai_compatible"
ANTHROPIC_COMPATIBLE: Final = "anthropic_compatible"
ANY_ADDRESS: Final = frozenset({OPENAI_COMPATIBLE, ANTHROPIC_COMPATIBLE})
"""Sources that accept the address of any server with their interface."""


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """A configured source.

    Attributes:
        source_kind: One of :data:`SOURCE_KINDS`.
        base_url: Its address; see :class:`runwatch.service.models.providers.types.ProviderAddress`.
        protocol_profile: One of :data:`PROTOCOLS`.
        auth_schemes: Some of :data:`AUTH_SCHEMES`.
        display_name: Its name for users.
        location: Where it computes, as shown in deployments.
        route: ``direct``, or ``gateway`` if it forwards calls.
        data_classes: Data classes its models may receive.
    """

    source_id: str
    source_kind: str
    base_url: str
    protocol_profile: str
    auth_schemes: tuple[str, ...] = ("api_key",)
    display_name: str = ""
    location: str = "unknown"
    route: str = "direct"
    data_classes: tuple[str, ...] = DEFAULT_DATA_CLASSES
    prices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
