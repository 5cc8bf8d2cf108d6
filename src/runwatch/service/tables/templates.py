"""Tenant template applications and the model selection."""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Column, Table, Text, UniqueConstraint

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

applications: Final = Table(
    "applications",
    metadata,
    sequence_column(),
    Column("application_id", Text, nullable=False, unique=True),
    tenant_column(),
    Column("principal_id", Text, nullable=False),
    Column("application_key", Text, nullable=False),
    Column("template_id", Text, nullable=False),
    Column("model_deployment_id", Text),
    Column("byok_offering", JSON),
    Column("state", Text, nullable=False),
    Column("failure_code", Text),
    Column("completed_effects", JSON, nullable=False),
    Column("managed_arm_id", Text),
    Column("source_connection_id", Text),
    Column("echo_execution_id", Text),
    Column("live_execution_id", Text),
    Column("consent", JSON),
    Column("live_proof", JSON),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    UniqueConstraint("tenant_id", "template_id", "application_key"),
    sqlite_autoincrement=True,
)
"""Applications. ``model_deployment_id`` is first the requested and then the found deployment; ``consent`` is the
handoff waiting for the user, without the address of its page.
"""

selections: Final = Table(
    "model_selections",
    metadata,
    Column("tenant_id", Text, primary_key=True),
    Column("application_id", Text, nullable=False),
    Column("selected_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)
"""The application whose model an organization has selected."""
