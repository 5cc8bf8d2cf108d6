"""Decide which addresses the service calls, and for which organization (manual, Security: Outbound calls)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from runwatch.base.addresses import AddressKind
from runwatch.service.options import ServeOptions

DOCKS_PATH: Final = "/docks/"
"""Where a service with a sample organization serves its own small checks."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Where calls may go.

    Attributes:
        addresses: The kinds of addresses that are called.
        plain_http: The kinds to which plain http is spoken.
    """

    addresses: frozenset[AddressKind]
    plain_http: frozenset[AddressKind] = frozenset()


_NEARBY: Final = frozenset({AddressKind.LOOPBACK, AddressKind.PRIVATE})

PUBLIC: Final = AddressPolicy(frozenset({AddressKind.PUBLIC}))
"""Https to public addresses (wire reference 4.1)."""

PUBLIC_OR_LOOPBACK: Final = AddressPolicy(
    frozenset({AddressKind.PUBLIC, AddressKind.LOOPBACK}), frozenset({AddressKind.LOOPBACK})
)
"""The same and this machine, also by plain http."""

PROVIDERS: Final = AddressPolicy(frozenset({AddressKind.PUBLIC}) | _NEARBY, _NEARBY)
"""The same, this machine and its own network, also by plain http."""


@dataclass(frozen=True, slots=True)
class OrganizationPolicies:
    """Decides where the calls of each organization may go.

    Only the organization of this machine's owner reaches more than public addresses: every other one may have signed
    up over the network.

    Attributes:
        owner_tenant_id: The organization of the data directory's owner.
        options: How the service was started.
        origin: Scheme, host and port of this service, as callers of this machine find it.
    """

    owner_tenant_id: str
    options: ServeOptions
    origin: str

    def is_owner(self, tenant_id: str) -> bool:
        """Whether an organization is that of this machine's owner."""
        return tenant_id == self.owner_tenant_id

    def providers(self, tenant_id: str) -> AddressPolicy:
        """Where model servers may be."""
        return PROVIDERS if self.is_owner(tenant_id) else PUBLIC

    def endpoints(self, tenant_id: str) -> AddressPolicy:
        """Where output checks, review agents and receivers of webhooks may be."""
        allows_loopback = self.options.allow_loopback_checks and self.is_owner(tenant_id)
        return PUBLIC_OR_LOOPBACK if allows_loopback else PUBLIC

    def check(self, tenant_id: str, url: str) -> AddressPolicy:
        """Where the output check with this URL may be: as every endpoint, or a sample check of this service."""
        return PROVIDERS if self.options.sample and self._is_dock(url) else self.endpoints(tenant_id)

    def _is_dock(self, url: str) -> bool:
        """Whether a URL is that of a sample check of this very service, spelled in the one plain way.

        No dots, escapes, query or further slashes: HTTP clients and servers resolve those differently.
        """
        return re.fullmatch(rf"{re.escape(self.origin)}{DOCKS_PATH}[a-z0-9-]+", url) is not None
