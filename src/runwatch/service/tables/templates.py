"""Tenant template applications and the model selection."""

from __future__ import annotations

from typing import Final

from sqlalchemy import UniqueConstraint

from runwatch.service.tables.columns import table

applications_table: Final = table(
    "applications",
    "sequence:int* application_id! tenant_id>tenants principal_id application_key template_id model_deployment_id? "
    "byok_offering:json? state failure_code? completed_effects:json managed_arm_id? source_connection_id? "
    "echo_execution_id? live_execution_id? consent:json? live_proof:json? created_at updated_at",
    UniqueConstraint("tenant_id", "template_id", "application_key"),
)
"""Applications. ``model_deployment_id`` is first the requested and then the found deployment; ``consent`` is the
handoff waiting for the user, without the address of its page.
"""

selections_table: Final = table("model_selections", "tenant_id* application_id selected_at updated_at")
"""The application whose model an organization has selected."""
