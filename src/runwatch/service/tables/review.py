"""Credential references, GitHub connections and browser sessions."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, ForeignKey, Index, Table, Text, UniqueConstraint

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

credentials: Final = Table(
    "credentials",
    metadata,
    sequence_column(),
    Column("credential_ref", Text, nullable=False, unique=True),
    tenant_column(),
    Column("display_name", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Index("credentials_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""References to credentials; this service never stores the material itself."""

github_connections: Final = Table(
    "github_connections",
    metadata,
    sequence_column(),
    Column("connection_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("repository", Text, nullable=False),
    Column("connected_by", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("tenant_id", "repository"),
    sqlite_autoincrement=True,
)
"""Repositories that an owner has recorded as connected, without proof by a GitHub App."""

sessions: Final = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), nullable=False),
    Column("expires_at", Text, nullable=False, index=True),
)
"""Browser sessions: a hash of the cookie, and the key used at the sign-in."""
