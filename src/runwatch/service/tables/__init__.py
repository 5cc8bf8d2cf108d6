"""Every table of the service, one file per area. A new resource adds its table to one of them.

Rows that belong to an organization have ``tenant_id``. Listed rows have a ``sequence``, which grows with every insert
and gives lists their order and cursors. Timestamps are texts in the interface's format, which sort correctly. What the
interface sends verbatim (events, receipts) is stored as the text that is sent.

Every change of a table, including a new one, needs a revision in ``migrations`` and raises :data:`SCHEMA_VERSION`.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Column, Float, ForeignKey, Index, Integer, LargeBinary, Table, Text

from runwatch.service.tables import checks, live, models, organization, review, sample, templates
from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

__all__ = ["SCHEMA_VERSION", "checks", "live", "metadata", "models", "organization", "review", "sample", "templates"]

SCHEMA_VERSION: Final = 7
"""The version that this code reads and writes; an older file is migrated, and a newer one is refused."""

tenants: Final = Table(
    "tenants",
    metadata,
    Column("tenant_id", Text, primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("created_at", Text, nullable=False),
)

api_keys: Final = Table(
    "api_keys",
    metadata,
    Column("api_key_id", Text, primary_key=True),
    tenant_column(),
    Column("key_hash", Text, nullable=False, unique=True),
    Column("key_prefix", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("revoked_at", Text),
    Column("revoked_by", Text),
)
"""API keys: a hash of the key and its first characters, never the key."""

service_keys: Final = Table(
    "service_keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("key", LargeBinary, nullable=False),
)
"""Keys that the service makes for itself, such as its cursor key; they open nothing outside of it."""

runs: Final = Table(
    "runs",
    metadata,
    sequence_column(),
    Column("execution_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("mode", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("max_runtime_s", Float, nullable=False),
    Column("slices", JSON, nullable=False),
    Column("spend_usd", Text, nullable=False),
    Column("reason", Text),
    Column("cancelled_by", Text),
    Column("created_at", Text, nullable=False),
    Column("completed_at", Text),
    Index("runs_by_tenant", "tenant_id", "sequence"),
    Index("runs_by_status", "status", "tenant_id", "sequence"),
    Index("runs_by_age", "tenant_id", "created_at"),
    sqlite_autoincrement=True,
)
"""Runs: their limits (``policy``, the exact JSON) and progress. Never the objective."""

events: Final = Table(
    "events",
    metadata,
    sequence_column(),
    Column("event_id", Text, nullable=False, unique=True),
    Column("execution_id", Text, ForeignKey("runs.execution_id"), nullable=False),
    Column("body", Text, nullable=False),
    Index("events_by_run", "execution_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Events in the order they happened; a row never changes."""

receipts: Final = Table(
    "receipts",
    metadata,
    sequence_column(),
    Column("execution_id", Text, ForeignKey("runs.execution_id"), nullable=False, unique=True),
    tenant_column(),
    Column("status", Text, nullable=False),
    Column("completed_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("receipts_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Receipts, one for every final run; a row never changes."""

receipt_arms: Final = Table(
    "receipt_arms",
    metadata,
    Column("arm_id", Text, primary_key=True),
    Column("execution_id", Text, ForeignKey("receipts.execution_id"), primary_key=True),
)
"""Arms that a receipt names as selected, for the list's ``arm_id`` filter."""

idempotency: Final = Table(
    "idempotency",
    metadata,
    Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
    Column("endpoint", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("principal_id", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("recorded_at", Text, nullable=False, index=True),
)
"""First responses of keyed mutations."""

problems: Final = Table(
    "problems",
    metadata,
    sequence_column(),
    Column("instance", Text, nullable=False, unique=True),
    Column("at", Text, nullable=False),
    Column("tenant_id", Text),
    Column("principal_id", Text),
    Column("method", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("cause", Text),
    sqlite_autoincrement=True,
)
"""Problems as sent, with the internal cause, which only the owner of this database may see."""
