"""Sources, their connections and deployments, and arms."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index, UniqueConstraint

from runwatch.service.tables.columns import table

handoffs_table: Final = table(
    "handoffs",
    "sequence:int* handoff_intent_id! tenant_id>tenants principal_id source_id auth_scheme endpoint:json? state "
    "failure_code? secret_handle? source_scope:json? expires_at completed_at? failed_at? expired_at? consumed_at? "
    "created_at updated_at",
)
"""Credential handoffs. ``endpoint`` (not in the specification) holds address, protocol profile and prices of a source
without an address of its own. ``secret_handle`` names the secret in the vault until a connection takes it over; a
keyless handoff has none.
"""

connections_table: Final = table(
    "source_connections",
    "sequence:int* connection_id! tenant_id>tenants source_id display_name auth_scheme auth_binding_ref "
    "secret_handle? source_scope:json endpoint:json status binding_revision:int tested_binding_revision:int? "
    "test_state test_error? last_tested_at? rotated_at? revoked_at? created_at updated_at",
    Index("connections_by_tenant", "tenant_id", "sequence"),
)
"""Connections to sources. ``endpoint`` is ``{base_url, protocol_profile, prices}``, where ``prices`` maps an upstream
model name, or ``*``, to ``{input_usd_per_million, output_usd_per_million}`` as decimal text.
"""

deployments_table: Final = table(
    "model_deployments",
    "sequence:int* model_deployment_id! tenant_id>tenants connection_id>source_connections source_id model_key "
    "served_variant_id upstream_ref resolved_upstream_ref? resolution_evidence_ref? release_assurance "
    "assurance_evidence_ref? protocol_profile location route fallback_policy pricing_basis data_classes:json "
    "definition:json status last_tested_at? created_at updated_at",
    Index("deployments_by_tenant", "tenant_id", "sequence"),
    UniqueConstraint("connection_id", "upstream_ref"),
)
"""Models that a connection serves. ``definition`` is the ModelDefinition (manual: interface, "Model catalog,
definitions and deployments"); ``data_classes`` is what the deployment is certified for.
"""

arms_table: Final = table(
    "arms",
    "sequence:int* arm_id! tenant_id>tenants kind display_name status status_reason? capability_tags:json "
    "data_class_grants:json cost_class? model_deployment_id>model_deployments? provider? model_id? credential_ref? "
    "endpoint:json? lifecycle:json? artifact:json? artifact_hash? repository? created_at updated_at",
    Index("arms_by_tenant", "tenant_id", "sequence"),
)
"""Registered options: models, agents and skills. Only review agents have a ``repository``."""
