"""What the past of the sample organization is made with, and the organizations while they are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from runwatch.service.access.authentication import Principal
from runwatch.service.access.vault import Vault
from runwatch.service.database import ServiceDatabase
from runwatch.service.models.providers import Providers
from runwatch.service.options import ServeOptions
from runwatch.service.sample.check_calls import SampleCheckClient
from runwatch.service.sample.simulated_clock import SimulatedClock


@dataclass(frozen=True, slots=True)
class Tools:
    """The service of the past.

    Attributes:
        database: Where everything is kept.
        clock: What time it is.
        vault: Where keys are kept.
        providers: What calls sources of models.
        calls: What calls checks and agents.
        options: How the service is started.
        origin: Where the service will be found, and its sample checks.
    """

    database: ServiceDatabase
    clock: SimulatedClock
    vault: Vault
    providers: Providers
    calls: SampleCheckClient
    options: ServeOptions
    origin: str


@dataclass(slots=True)
class Organization:
    """One organization while it is made up.

    Attributes:
        principal: Its owner.
        runner_id: The id of the key that submits most of its runs.
        connections: Ids of connections, by source.
        arms: Ids of saved models, by the names in :data:`runwatch.service.sample.models.MODELS`, and of agents, by the
            ends of their addresses.
        checks: Ids of output checks, by the name of their endpoint.
    """

    principal: Principal
    runner_id: str
    connections: dict[str, str] = field(default_factory=dict)
    arms: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)

    @property
    def tenant_id(self) -> str:
        """Its id."""
        return self.principal.tenant_id


def read_token(address: str) -> str:
    """The token in the address of a private page."""
    return address.partition("intent=")[2]
