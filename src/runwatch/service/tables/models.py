"""Sources, their connections and deployments, and arms."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

handoffs: Final = Table(
    "handoffs",
    metadata,
    sequence_column(),
    Column("handoff_intent_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("principal_id", Text, nullable=False),
    Column("source_id", Text, nullable=False),
    Column("auth_scheme", Text, nullable=False),
    Column("endpoint", JSON),
    Column("state", Text, nullable=False),
    Column("failure_code", Text),
    Column("secret_handle", Text),
    Column("source_scope", JSON),
    Column("expires_at", Text, nullable=False),
    Column("completed_at", Text),
    Column("failed_at", Text),
    Column("expired_at", Text),
    Column("consumed_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""Credential handoffs. ``endpoint`` (not in the specification) holds address, protocol profile and prices of a source
without an address of its own. ``secret_handle`` names the secret in the vault until a connection takes it over; a
keyless handoff has none.
"""

connections: Final = Table(
    "source_connections",
    metadata,
    sequence_column(),
    Column("connection_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("source_id", Text, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("auth_scheme", Text, nullable=False),
    Column("auth_binding_ref", Text, nullable=False),
    Column("secret_handle", Text),
    Column("source_scope", JSON, nullable=False),
    Column("endpoint", JSON, nullable=False),
    Column("status", Text, nullable=False),
    Column("binding_revision", Integer, nullable=False),
    Column("tested_binding_revision", Integer),
    Column("test_state", Text, nullable=False),
    Column("test_error", Text),
    Column("last_tested_at", Text),
    Column("rotated_at", Text),
    Column("revoked_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("connections_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Connections to sources. ``endpoint`` is ``{base_url, protocol_profile, prices}``, where ``prices`` maps an upstream
model name, or ``*``, to ``{input_usd_per_million, output_usd_per_million}`` as decimal text.
"""

deployments: Final = Table(
    "model_deployments",
    metadata,
    sequence_column(),
    Column("model_deployment_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("connection_id", Text, ForeignKey("source_connections.connection_id"), nullable=False),
    Column("source_id", Text, nullable=False),
    Column("model_key", Text, nullable=False),
    Column("served_variant_id", Text, nullable=False),
    Column("upstream_ref", Text, nullable=False),
    Column("resolved_upstream_ref", Text),
    Column("resolution_evidence_ref", Text),
    Column("release_assurance", Text, nullable=False),
    Column("assurance_evidence_ref", Text),
    Column("protocol_profile", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("route", Text, nullable=False),
    Column("fallback_policy", Text, nullable=False),
    Column("pricing_basis", Text, nullable=False),
    Column("data_classes", JSON, nullable=False),
    Column("definition", JSON, nullable=False),
    Column("status", Text, nullable=False),
    Column("last_tested_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("deployments_by_tenant", "tenant_id", "sequence"),
    UniqueConstraint("connection_id", "upstream_ref"),
    sqlite_autoincrement=True,
)
"""Models that a connection serves. ``definition`` is the ModelDefinition (manual: interface, "Model catalog,
definitions and deployments"); ``data_classes`` is what the deployment is certified for.
"""

arms: Final = Table(
    "arms",
    metadata,
    sequence_column(),
    Column("arm_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("kind", Text, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("status_reason", Text),
    Column("capability_tags", JSON, nullable=False),
    Column("data_class_grants", JSON, nullable=False),
    Column("cost_class", Text),
    Column("model_deployment_id", Text, ForeignKey("model_deployments.model_deployment_id")),
    Column("provider", Text),
    Column("model_id", Text),
    Column("credential_ref", Text),
    Column("endpoint", JSON),
    Column("lifecycle", JSON),
    Column("artifact", JSON),
    Column("artifact_hash", Text),
    Column("repository", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("arms_by_tenant", "tenant_id", "sequence"),
    sqlite_autoincrement=True,
)
"""Registered options: models, agents and skills. Only review agents have a ``repository``."""
