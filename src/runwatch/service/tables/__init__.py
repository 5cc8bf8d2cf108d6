"""Every table of the service, one file per area; domain modules have the bare names, so a table's ends in ``_table``.

Rows that belong to an organization have ``tenant_id``. Listed rows have a ``sequence``, which grows with every insert
and gives lists their order and cursors. Timestamps are texts in the interface's format, which sort correctly. What the
interface sends verbatim (events, receipts) is stored as the text that is sent.

Every change of a table, including a new one, needs a revision in ``migrations`` and raises :data:`SCHEMA_VERSION`.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index

from runwatch.service.tables import checks, live, models, organization, review, sample, templates
from runwatch.service.tables.columns import metadata, table

__all__ = ["SCHEMA_VERSION", "checks", "live", "metadata", "models", "organization", "review", "sample", "templates"]

SCHEMA_VERSION: Final = 14
"""The version that this code reads and writes; an older file is migrated, and a newer one is refused."""

tenants_table: Final = table("tenants", "tenant_id* display_name created_at")

api_keys_table: Final = table(
    "api_keys",
    "api_key_id* tenant_id>tenants key_hash! key_prefix role display_name status created_at revoked_at? revoked_by?",
)
"""API keys: a hash of the key and its first characters, never the key."""

service_keys_table: Final = table("service_keys", "name* key:bytes")
"""Keys that the service makes for itself, such as its cursor key; they open nothing outside of it."""

runs_table: Final = table(
    "runs",
    "sequence:int* execution_id! tenant_id>tenants mode status policy max_runtime_s:float slices:json spend_usd "
    "reason? cancelled_by? created_at completed_at?",
    Index("runs_by_tenant", "tenant_id", "sequence"),
    Index("runs_by_status", "status", "tenant_id", "sequence"),
    Index("runs_by_age", "tenant_id", "created_at"),
)
"""Runs: their limits (``policy``, the exact JSON) and progress. Never the objective."""

events_table: Final = table(
    "events",
    "sequence:int* event_id! execution_id>runs body",
    Index("events_by_run", "execution_id", "sequence"),
)
"""Events in the order they happened; a row never changes."""

receipts_table: Final = table(
    "receipts",
    "sequence:int* execution_id>runs! tenant_id>tenants status completed_at body",
    Index("receipts_by_tenant", "tenant_id", "sequence"),
)
"""Receipts, one for every final run; a row never changes."""

receipt_arms_table: Final = table("receipt_arms", "arm_id* execution_id>receipts*")
"""Arms that a receipt names as selected, for the list's ``arm_id`` filter."""

idempotency_table: Final = table(
    "idempotency",
    "tenant_id>tenants* endpoint* key* principal_id digest status:int body:bytes recorded_at^",
)
"""First responses of mutations with an idempotency key."""

rate_windows_table: Final = table("rate_windows", "name* recent:json")
"""Requests of the last minute by key, in seconds since 1970, for a service of several processes with a limit."""

problems_table: Final = table(
    "problems", "sequence:int* instance! at tenant_id? principal_id? method path code body cause?"
)
"""Problems as sent, with the internal cause, which only the owner of this database may see."""
