"""Tenant templates: what an organization can set up, and what blocks it (manual: interface, "Tenant templates").

Blockers are computed from the organization's current state, and each names the next action that removes it. The
specification names few codes; ``connection_required``, ``connection_test_required`` and ``deployment_required`` are
this service's own, and so are the actions ``connect_source``, ``test_source_connection`` and
``sync_source_deployments``.

A private service has no pool of models that it pays for, so ``pooled-open-model`` is never eligible there. In the
sample organization, keyless connections to sample sources act as the pool
(:func:`runwatch.service.models.catalog.is_pool`); an organization may use it while its balance covers the most that the
template may spend. They are no account of the organization's own, so they do not count for ``byok-open-model``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from runwatch.base.shell_words import runwatch_command
from runwatch.service.models.availability import is_usable
from runwatch.service.models.catalog import catalog_entry, is_pool
from runwatch.service.organization import wallet
from runwatch.service.tables import connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction

VERSION: Final = "1"
"""``template_version`` of every template."""

LANES: Final = {"starter": "diagnostic", "pooled-open-model": "millwork_pool", "byok-open-model": "byok"}
"""Access lane of each template, in listing order."""

STARTER, POOLED, BYOK = LANES

LIVE_BUDGET_USD: Final = Decimal("0.25")
"""Most that the models of a template's live proof may cost."""

POOL_SPEND_USD: Final = LIVE_BUDGET_USD + wallet.PLATFORM_FEE_USD
"""Balance required for the pool: the most that its template may spend."""

OPEN_CLASS: Final = "public"
"""Data class of the templates' runs."""


@dataclass(frozen=True, slots=True)
class OrganizationState:
    """What an organization has, as far as it matters for templates.

    Attributes:
        connections: Connections that are not revoked, newest first.
        deployments: Their deployments, newest first.
        is_funded: Whether it keeps a balance that covers the most that a template may spend.
    """

    connections: Sequence[Row]
    deployments: Sequence[Row]
    is_funded: bool = False

    @classmethod
    def of(cls, transaction: Transaction, tenant_id: str) -> OrganizationState:
        mine = {"tenant_id": tenant_id}
        known = transaction.newest(connections_table, {**mine, "revoked_at": None})
        ids = tuple(row["connection_id"] for row in known)
        served = transaction.newest(deployments_table, {**mine, "connection_id": ids})
        balance = wallet.spendable(transaction, tenant_id)
        return cls(known, served, balance is not None and balance >= POOL_SPEND_USD)

    @property
    def own(self) -> list[Row]:
        """Return the connections that are the organization's own accounts, newest first."""
        return [row for row in self.connections if not is_pool(row)]

    @property
    def has_pool(self) -> bool:
        """Whether there is a pool of models, usable or not."""
        return any(is_pool(row) for row in self.connections)

    def connection_of(self, deployment: Row) -> Row:
        return next(row for row in self.connections if row["connection_id"] == deployment["connection_id"])

    def ready(self, template_id: str) -> list[Row]:
        """Return the deployments that a template can use now, newest first; none for a template without a model."""
        if template_id == STARTER or (template_id == POOLED and not self.is_funded):
            return []
        usable = {
            row["connection_id"]
            for row in self.connections
            if is_usable(row) and is_pool(row) == (template_id == POOLED)
        }
        return [row for row in self.deployments if row["connection_id"] in usable and is_open_model(row)]


def is_open_model(deployment: Row) -> bool:
    """Whether a deployment is listed and certified for open data."""
    return deployment["status"] == "listed" and OPEN_CLASS in deployment["data_classes"]


def find_blocker(template_id: str, estate: OrganizationState) -> dict[str, Any] | None:
    """Return the first obstacle to a template; ``None`` when it is eligible."""
    if template_id == STARTER or estate.ready(template_id):
        return None
    return _byok_blocker(estate) if template_id == BYOK else _pool_blocker(estate)


def _blocker(code: str, detail: str, action: str, how: str) -> dict[str, Any]:
    """Build the JSON of an obstacle, with the type of the next action and what the user should do."""
    return {"code": code, "detail": detail, "next_action": {"type": action, "detail": how}}


def _pool_blocker(estate: OrganizationState) -> dict[str, Any]:
    if estate.has_pool and not estate.is_funded:
        return _blocker(
            "pool_not_entitled",
            f"The organization keeps no balance that covers {POOL_SPEND_USD} US dollars.",
            "top_up_in_billing",
            "Add sample credit (not real money): runwatch account --top-up 5",
        )
    return _blocker(
        "pool_not_entitled",
        "This service has no pool of models that it pays for.",
        "approve_plan",
        "Plan byok-open-model instead: it runs a model over a connection of your own.",
    )


def _byok_blocker(estate: OrganizationState) -> dict[str, Any]:
    if not estate.own:
        return _blocker(
            "connection_required",
            "The organization has no connection of its own to a source of models.",
            "connect_source",
            "Connect a source, for example with: runwatch sources connect --openai-compatible URL",
        )
    usable = [row for row in estate.own if is_usable(row)]
    if not usable:
        row = estate.own[0]
        reason = f"failed its last test ({row['test_error']})" if row["test_state"] == "failed" else "is not tested"
        return _blocker(
            "connection_test_required",
            f"The connection {row['connection_id']} {reason}.",
            "test_source_connection",
            f"Test the connection: {runwatch_command('sources test', row['connection_id'])}",
        )
    return _blocker(
        "deployment_required",
        f"The connection {usable[0]['connection_id']} lists no model that is certified for {OPEN_CLASS} data.",
        "sync_source_deployments",
        f"Read its list of models: {runwatch_command('sources sync', usable[0]['connection_id'])}",
    )


def template_json(template_id: str, estate: OrganizationState) -> dict[str, Any]:
    blocker = find_blocker(template_id, estate)
    row = next(iter(estate.ready(template_id)), None)
    alternatives = []
    if template_id == POOLED:
        alternatives.append(
            {
                "template_id": BYOK,
                "template_version": VERSION,
                "access_lane": LANES[BYOK],
                "application_supported": True,
                "next_action": {"type": "approve_plan", "detail": "Plan it with your own connection to a source."},
            }
        )
    return {
        "template_id": template_id,
        "template_version": VERSION,
        "access_lane": LANES[template_id],
        "eligible": blocker is None,
        "blockers": [] if blocker is None else [blocker],
        "alternative_plans": alternatives,
        "catalog_row": None if row is None else catalog_entry(estate.connection_of(row), row),
    }
