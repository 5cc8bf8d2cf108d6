"""Definition of a model source: built in, or configured at start by a file or by ``--sample``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from runwatch.records.source import KEYLESS, PROTOCOLS
from runwatch.service.models.providers.prices import PriceTable

AUTH_SCHEMES: Final = ("api_key", KEYLESS)
"""Authentication schemes that a configured source may have."""

SOURCE_KINDS: Final = ("publisher_direct", "gateway", "cloud", "self_hosted", "fixture")
"""Kinds of source; only ``publisher_direct`` is in the specification."""

_SCHEME_VERSION: Final = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDefinition:
    """Definition of one source.

    Attributes:
        source_kind: ``publisher_direct``, ``gateway``, ``cloud``, ``fixture`` or one outside the specification.
        protocol_profiles: Protocols it speaks, default first.
        base_url: Its address; ``None`` if each connection gives one.
        auth_schemes: Authentication schemes it accepts, default first.
        location: Where it computes; ``unknown`` if not stated.
        route: ``direct``, or ``gateway`` if it forwards calls.
        fallback_policy: ``source_controlled`` if another model than the requested one may answer.
        data_classes: Data classes its models may receive; ``None`` to use each model's own.
    """

    source_id: str
    display_name: str
    source_kind: str
    protocol_profiles: tuple[str, ...]
    base_url: str | None
    auth_schemes: tuple[str, ...] = ("api_key",)
    location: str = "unknown"
    route: str = "direct"
    fallback_policy: str = "none"
    data_classes: tuple[str, ...] | None = None
    prices: PriceTable = field(default_factory=dict)

    @property
    def is_served(self) -> bool:
        """Whether this service speaks a protocol of the source."""
        return any(name in PROTOCOLS for name in self.protocol_profiles)

    def to_json(self) -> dict[str, Any]:
        """Build the JSON of the profile.

        ``display_name``, ``base_url``, ``served`` and ``needs_endpoint`` are not in the specification.
        """
        return {
            "source_id": self.source_id,
            "display_name": self.display_name,
            "source_kind": self.source_kind,
            "protocol_profiles": [{"id": name, "version": _SCHEME_VERSION} for name in self.protocol_profiles],
            "auth_schemes": [{"id": name, "version": _SCHEME_VERSION} for name in self.auth_schemes],
            "endpoint_policy": {
                "https_required": self.base_url is not None and self.base_url.startswith("https:"),
                "redirects_allowed": False,
            },
            "access_lane": "byok",
            "credential_owner": "customer",
            "commercial_owner": "customer",
            "base_url": self.base_url,
            "served": self.is_served,
            "needs_endpoint": self.base_url is None,
        }
