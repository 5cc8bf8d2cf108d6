"""Tables of an organization as a whole: decisions, limits, wallet, proposals and webhooks."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index

from runwatch.service.tables.columns import table

audit_table: Final = table(
    "audit",
    "sequence:int* decision_id! tenant_id>tenants kind action resource_type resource_id acted_by? at",
    Index("audit_by_tenant", "tenant_id", "at"),
)
"""Decisions for the compliance export; a row never changes."""

local_owner_table: Final = table("local_owner", "api_key_id>api_keys* tenant_id>tenants")
"""The one key in ``service.json``, and the organization that it opens."""

sealed_secrets_table: Final = table("sealed_secrets", "handle* sealed:bytes created_at")
"""Secrets of a service of several processes, sealed with a master key that is not in the database."""

key_expiries_table: Final = table("key_expiries", "api_key_id>api_keys* expires_at")
"""Expiry of keys that have one."""

key_uses_table: Final = table("key_uses", "api_key_id>api_keys* last_used_at")
"""Last use of keys, as far as written to disk."""

run_owners_table: Final = table("run_owners", "execution_id>runs* api_key_id>api_keys")
"""The key that submitted each run."""

tenant_limits_table: Final = table("tenant_limits", "tenant_id>tenants* executions_per_month:int? concurrency:int?")
"""Quotas of organizations that have any; null is no limit."""

run_counts_table: Final = table("run_counts", "tenant_id>tenants* month* submitted:int ended:int")
"""Number of runs by the month (UTC) of their submission, and how many of them are final. Counted in the transaction
that submits or ends a run, so that nobody has to count runs.
"""

wallets_table: Final = table("wallets", "tenant_id>tenants* balance_usd is_frozen:bool")
"""Balances of organizations that keep one, in US dollars as decimal digits."""

start_balances_table: Final = table("start_balances", "tenant_id>tenants* amount_usd")
"""The balance that a start named last, in US dollars as decimal digits."""

wallet_activity_table: Final = table(
    "wallet_activity",
    "sequence:int* tenant_id>tenants at amount_usd description",
    Index("wallet_activity_by_tenant", "tenant_id", "sequence"),
)
"""Changes of balances made by the user."""

wallet_charges_table: Final = table("wallet_charges", "execution_id>runs* tenant_id>tenants amount_usd at")
"""Charges of runs against balances; one row per run, so that none is charged twice."""

proposals_table: Final = table(
    "proposals",
    "sequence:int* proposal_id! tenant_id>tenants status execution_id>runs slice_id arm_id parent_artifact_id? "
    "parent_score:float? candidate_score:float? diff verifier_evidence:json created_at expires_at decided_by? "
    "decided_at? reason?",
    Index("proposals_by_tenant", "tenant_id", "sequence"),
)
"""Repair proposals and decisions. ``expired`` is never stored; it follows from the time."""

proposal_artifacts_table: Final = table("proposal_artifacts", "proposal_id>proposals* content artifact_hash")
"""The whole skill text that a proposal would install. Proposals of version 0.1.0 have no row."""

webhooks_table: Final = table(
    "webhooks",
    "sequence:int* webhook_id! tenant_id>tenants url event_types:json secret_handle created_at secret_rotated_at?",
    Index("webhooks_by_tenant", "tenant_id", "sequence"),
)
"""Receivers of final runs; the signing secret is in the vault."""

webhook_deliveries_table: Final = table(
    "webhook_deliveries",
    "sequence:int* delivery_id! tenant_id>tenants webhook_id>webhooks event_id event_type execution_id>runs body "
    "status attempts:int next_attempt_at? status_code:int? error? replay_of? created_at delivered_at?",
    Index("webhook_deliveries_by_webhook", "webhook_id", "sequence"),
    Index("webhook_deliveries_by_turn", "status", "next_attempt_at"),
)
"""One message to one webhook each; ``body`` is the text that is sent and signed."""
