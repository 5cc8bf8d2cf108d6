"""What the rooms below HTTP share of one open service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from runwatch.base.clock import Clock
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.database import ServiceDatabase
from runwatch.service.execution.engine import Engine
from runwatch.service.models.provider_config import ProviderConfig
from runwatch.service.models.providers import Providers
from runwatch.service.options import ServeOptions
from runwatch.service.organization.webhook_sender import WebhookSender
from runwatch.service.outbound import OutboundClient


@dataclass(slots=True, kw_only=True)
class ServiceContext:
    """One open service, without HTTP.

    Attributes:
        clock: Where time comes from.
        database: Everything that is kept.
        engine: What moves the runs.
        vault: Secrets of providers, checks, agents and webhooks.
        outbound: Calls to other servers.
        providers: Calls to model providers.
        provider_config: Sources of models that this start names.
        deliverer: What sends to webhooks.
        options: How the service was started.
        reach_policy: Where calls to other servers may go.
        origin: Scheme, host and port under which callers of this machine find it.
        last_request: When the last request came or was answered, on the monotonic clock.
        touched: Set whenever that changes; whatever waits for it clears it.
    """

    clock: Clock
    database: ServiceDatabase
    engine: Engine
    vault: Vault
    outbound: OutboundClient
    providers: Providers
    provider_config: ProviderConfig
    deliverer: WebhookSender
    options: ServeOptions
    reach_policy: OrganizationPolicies
    origin: str
    last_request: float = 0.0
    touched: asyncio.Event = field(default_factory=asyncio.Event)

    def touch(self) -> None:
        """Note that somebody is using the service."""
        self.last_request = self.clock.monotonic()
        self.touched.set()
