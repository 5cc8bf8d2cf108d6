"""What the packages below HTTP share of one open service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from runwatch.base.clock import Clock
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.database import ServiceDatabase
from runwatch.service.execution.engine import Engine
from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.providers.source_definition import SourceDefinition
from runwatch.service.options import ServeOptions
from runwatch.service.organization.webhook_sender import WebhookSender
from runwatch.service.outbound import OutboundClient


@dataclass(slots=True, kw_only=True)
class ServiceContext:
    """One open service, without HTTP.

    Attributes:
        origin: Scheme, host and port of the service for callers on this machine.
        last_request: Time of the last request or response, on the monotonic clock.
        touched: Set on every change of that; waiters clear it.
    """

    clock: Clock
    database: ServiceDatabase
    engine: Engine
    vault: Vault
    outbound: OutboundClient
    providers: Providers
    configured_sources: tuple[SourceDefinition, ...]
    deliverer: WebhookSender
    options: ServeOptions
    reach_policy: OrganizationPolicies
    origin: str
    last_request: float = 0.0
    touched: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def page_origin(self) -> str:
        """Scheme, host and port at which callers reach private pages."""
        return self.options.public_url or self.origin

    @property
    def has_secure_pages(self) -> bool:
        return self.page_origin.startswith("https:")

    def touch(self) -> None:
        self.last_request = self.clock.monotonic()
        self.touched.set()
