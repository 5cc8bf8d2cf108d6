"""Credential references, GitHub connections and browser sessions."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index, UniqueConstraint

from runwatch.service.tables.columns import table

credentials_table: Final = table(
    "credentials",
    "sequence:int* credential_ref! tenant_id>tenants display_name created_at",
    Index("credentials_by_tenant", "tenant_id", "sequence"),
)
"""References to credentials; this service never stores the material itself."""

github_connections_table: Final = table(
    "github_connections",
    "sequence:int* connection_id! tenant_id>tenants repository connected_by created_at",
    UniqueConstraint("tenant_id", "repository"),
)
"""Repositories that an owner has recorded as connected, without proof by a GitHub App."""

sessions_table: Final = table("sessions", "token_hash* api_key_id>api_keys expires_at^")
"""Browser sessions: a hash of the cookie, and the key used at the sign-in."""
