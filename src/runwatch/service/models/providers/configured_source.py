"""A source of models that the service was told of when it was started, by a file or by ``--sample``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from runwatch.service.models.providers.types import DEFAULT_DATA_CLASSES

PROTOCOLS: Final = ("openai_chat", "openai_responses", "anthropic_messages")
"""The protocol profiles that this service speaks."""

AUTH_SCHEMES: Final = ("api_key", "none")
"""The authentication schemes that it speaks; ``none`` is ours, for servers that ask for no key."""

SOURCE_KINDS: Final = ("publisher_direct", "gateway", "cloud", "self_hosted", "fixture")
"""What a source can be: ``publisher_direct`` is shown in the specification, the others are ours."""


OPENAI_COMPATIBLE: Final = "openai_compatible"
ANTHROPIC_COMPATIBLE: Final = "anthropic_compatible"
ANY_ADDRESS: Final = frozenset({OPENAI_COMPATIBLE, ANTHROPIC_COMPATIBLE})
"""Sources that take the address of any server with their interface."""


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """One source.

    Attributes:
        source_id: Its id in the interface.
        source_kind: One of :data:`SOURCE_KINDS`.
        base_url: Where it is; see :class:`runwatch.service.models.providers.types.ProviderAddress`.
        protocol_profile: One of :data:`PROTOCOLS`.
        auth_schemes: Some of :data:`AUTH_SCHEMES`.
        display_name: Its name for people.
        location: Where it computes, as the deployments state it.
        route: ``direct``, or ``gateway`` where it passes calls on.
        data_classes: What its models may be given.
        prices: What its models cost.
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
