"""Decide which addresses the service calls, and for which organization (manual: security, "Outbound calls")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from runwatch.base.network.addresses import AddressKind
from runwatch.service.options import ServeOptions

SAMPLE_CHECKS_PATH: Final = "/docks/"
"""Path under which a service with a sample organization serves its sample checks."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Addresses that calls may reach."""

    addresses: frozenset[AddressKind]
    plain_http: frozenset[AddressKind] = frozenset()


_NEARBY: Final = frozenset({AddressKind.LOOPBACK, AddressKind.PRIVATE})

PUBLIC: Final = AddressPolicy(frozenset({AddressKind.PUBLIC}))
"""HTTPS to public addresses (manual: interface, "Request to a check")."""

PUBLIC_OR_LOOPBACK: Final = AddressPolicy(
    frozenset({AddressKind.PUBLIC, AddressKind.LOOPBACK}), frozenset({AddressKind.LOOPBACK})
)
"""The same plus this machine, also over plain HTTP."""

PROVIDERS: Final = AddressPolicy(frozenset({AddressKind.PUBLIC}) | _NEARBY, _NEARBY)
"""The same plus this machine and its own network, also over plain HTTP."""


@dataclass(frozen=True, slots=True)
class OrganizationPolicies:
    """Address policies by organization.

    Only the organization of this machine's owner reaches more than public addresses, because every other one may have
    signed up over the network.

    Attributes:
        origin: Scheme, host and port of this service for callers on this machine.
    """

    owner_tenant_id: str
    options: ServeOptions
    origin: str

    def is_owner(self, tenant_id: str) -> bool:
        return tenant_id == self.owner_tenant_id

    def providers(self, tenant_id: str) -> AddressPolicy:
        return PROVIDERS if self.is_owner(tenant_id) else PUBLIC

    def endpoints(self, tenant_id: str) -> AddressPolicy:
        """Return the policy for output checks, review agents and webhooks."""
        allows_loopback = self.options.allow_loopback_checks and self.is_owner(tenant_id)
        return PUBLIC_OR_LOOPBACK if allows_loopback else PUBLIC

    def check(self, tenant_id: str, url: str) -> AddressPolicy:
        """Return the policy for the output check with this URL: that of endpoints, or of a sample check of this
        service.
        """
        return PROVIDERS if self.options.sample and self._is_dock(url) else self.endpoints(tenant_id)

    def _is_dock(self, url: str) -> bool:
        """Whether a URL is a sample check of this very service, in its single plain spelling.

        Dots, escapes, queries and further slashes are excluded, because HTTP clients and servers resolve them
        differently.
        """
        return re.fullmatch(rf"{re.escape(self.origin)}{SAMPLE_CHECKS_PATH}[a-z0-9-]+", url) is not None
