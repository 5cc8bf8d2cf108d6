"""Tools for making the sample organization's past, and the organizations in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from runwatch.service.access.authentication import Principal
from runwatch.service.access.vault import Vault
from runwatch.service.database import TransactionRunner
from runwatch.service.models.providers.providers import Providers
from runwatch.service.options import ServeOptions
from runwatch.service.sample.check_calls import SampleCheckClient
from runwatch.service.sample.simulated_clock import SimulatedClock


@dataclass(frozen=True, slots=True)
class Tools:
    """The service of the past.

    Attributes:
        origin: Future public origin of the service and its sample checks.
    """

    database: TransactionRunner
    clock: SimulatedClock
    vault: Vault
    providers: Providers
    calls: SampleCheckClient
    options: ServeOptions
    origin: str


@dataclass(slots=True)
class Organization:
    """An organization in the making.

    Attributes:
        runner_id: Id of the key that submits most of its runs.
        arms: Ids of saved models by the names in :data:`runwatch.service.sample.models.MODELS`, and of agents by the
            ends of their addresses.
    """

    principal: Principal
    runner_id: str
    connections: dict[str, str] = field(default_factory=dict)
    arms: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id


def read_token(address: str) -> str:
    """Return the token in the address of a private page."""
    return address.partition("intent=")[2]
