"""Output checks, the protected keys of their endpoints, and private entry."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Column, Index, Integer, Table, Text

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

verifiers: Final = Table(
    "verifiers",
    metadata,
    sequence_column(),
    Column("verifier_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("display_name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("endpoint", JSON, nullable=False),
    Column("input_data_classes", JSON, nullable=False),
    Column("scoring", JSON, nullable=False),
    Column("declared_at", Text),
    Column("hash", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("status_reason", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("retired_at", Text),
    Index("verifiers_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Output checks. ``declared_at`` is the time of the declaration of deterministic correctness; a retired check keeps its
row.
"""

bindings: Final = Table(
    "key_bindings",
    metadata,
    Column("subject_id", Text, primary_key=True),
    tenant_column(),
    Column("kind", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("state", JSON, nullable=False),
)
"""The protected connection of an output check or a review agent, by its id: ``state`` holds handles, dates and the last
operations, never a key. ``generation`` grows with every change.
"""

entry_intents: Final = Table(
    "entry_intents",
    metadata,
    Column("intent_id", Text, primary_key=True),
    tenant_column(),
    Column("principal_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject_id", Text, nullable=False),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("details", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("used_at", Text),
)
"""One-time permissions to enter something on a private page: a hash of the token in the page's address."""
