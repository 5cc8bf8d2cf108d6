"""Tables of an organization as a whole: decisions, limits, wallet, proposals and webhooks."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, Integer, Table, Text

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

audit: Final = Table(
    "audit",
    metadata,
    sequence_column(),
    Column("decision_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("kind", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("resource_type", Text, nullable=False),
    Column("resource_id", Text, nullable=False),
    Column("acted_by", Text),
    Column("at", Text, nullable=False),
    Index("audit_by_tenant", "tenant_id", "at"),
    sqlite_autoincrement=True,
)
"""Decisions for the compliance export; a row never changes."""

local_owner: Final = Table(
    "local_owner",
    metadata,
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
    tenant_column(),
)
"""The one key in ``service.json``, and the organization that it opens."""

key_expiries: Final = Table(
    "key_expiries",
    metadata,
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
    Column("expires_at", Text, nullable=False),
)
"""Expiry of keys that have one."""

key_uses: Final = Table(
    "key_uses",
    metadata,
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
    Column("last_used_at", Text, nullable=False),
)
"""Last use of keys, as far as written to disk."""

run_owners: Final = Table(
    "run_owners",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), nullable=False),
)
"""The key that submitted each run."""

tenant_limits: Final = Table(
    "tenant_limits",
    metadata,
    Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
    Column("executions_per_month", Integer),
    Column("concurrency", Integer),
)
"""Quotas of organizations that have any; null is no limit."""

wallets: Final = Table(
    "wallets",
    metadata,
    Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
    Column("balance_usd", Text, nullable=False),
    Column("is_frozen", Boolean, nullable=False),
)
"""Balances of organizations that keep one, in US dollars as decimal digits."""

wallet_activity: Final = Table(
    "wallet_activity",
    metadata,
    sequence_column(),
    tenant_column(),
    Column("at", Text, nullable=False),
    Column("amount_usd", Text, nullable=False),
    Column("description", Text, nullable=False),
    Index("wallet_activity_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Changes of balances made by the user."""

wallet_charges: Final = Table(
    "wallet_charges",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    tenant_column(),
    Column("amount_usd", Text, nullable=False),
    Column("at", Text, nullable=False),
)
"""Charges of runs against balances; one row per run, so that none is charged twice."""

proposals: Final = Table(
    "proposals",
    metadata,
    sequence_column(),
    Column("proposal_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("status", Text, nullable=False),
    Column("execution_id", Text, ForeignKey("runs.execution_id"), nullable=False),
    Column("slice_id", Text, nullable=False),
    Column("arm_id", Text, nullable=False),
    Column("parent_artifact_id", Text),
    Column("parent_score", Float),
    Column("candidate_score", Float),
    Column("diff", Text, nullable=False),
    Column("verifier_evidence", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", Text),
    Column("reason", Text),
    Index("proposals_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Repair proposals and decisions. ``expired`` is never stored; it follows from the time."""

proposal_artifacts: Final = Table(
    "proposal_artifacts",
    metadata,
    Column("proposal_id", Text, ForeignKey("proposals.proposal_id"), primary_key=True),
    Column("content", Text, nullable=False),
    Column("artifact_hash", Text, nullable=False),
)
"""The whole skill text that a proposal would install. Proposals of version 0.1.0 have no row."""

webhooks: Final = Table(
    "webhooks",
    metadata,
    sequence_column(),
    Column("webhook_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("url", Text, nullable=False),
    Column("event_types", JSON, nullable=False),
    Column("secret_handle", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("secret_rotated_at", Text),
    Index("webhooks_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Receivers of final runs; the signing secret is in the vault."""

webhook_deliveries: Final = Table(
    "webhook_deliveries",
    metadata,
    sequence_column(),
    Column("delivery_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("webhook_id", Text, ForeignKey("webhooks.webhook_id"), nullable=False),
    Column("event_id", Text, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("execution_id", Text, ForeignKey("runs.execution_id"), nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", Text),
    Column("status_code", Integer),
    Column("error", Text),
    Column("replay_of", Text),
    Column("created_at", Text, nullable=False),
    Column("delivered_at", Text),
    Index("webhook_deliveries_by_webhook", "webhook_id", "sequence"),
    Index("webhook_deliveries_by_turn", "status", "next_attempt_at"),
    sqlite_autoincrement=True,
)
"""One message to one webhook each; ``body`` is the text that is sent and signed."""
