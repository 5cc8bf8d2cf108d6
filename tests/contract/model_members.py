"""Members of model definitions, deployments, sources and templates (manual: interface, "Resources")."""

from __future__ import annotations

from typing import Final

from tests.contract.members import (
    ASSURANCE,
    COST_CLASS,
    FALLBACK,
    LANE,
    MODE,
    OWNER,
    PRICING,
    PROVENANCE,
    TEXT_OR_NULL,
    TIME_OR_NULL,
)
from tests.contract.shapes import TIME, Shape, words

DEFINITION: Final[Shape] = {
    "model_key": str,
    "publisher_id": str,
    "family": str,
    "release": str,
    "capabilities": [str],
    "lifecycle": words("preview", "active", "deprecated", "retired"),
    "release_license": {
        "identifier": str, "commercial_use": words("allowed", "restricted", "unknown"), "evidence_ref": TEXT_OR_NULL,
    },
}  # fmt: skip
_LISTED: Final[Shape] = {
    "model_deployment_id": str, "source_id": str, "model_key": str, "served_variant_id": str, "upstream_ref": str,
    "release_assurance": ASSURANCE, "assurance_evidence_ref": TEXT_OR_NULL, "resolved_upstream_ref": TEXT_OR_NULL,
    "resolution_evidence_ref": TEXT_OR_NULL, "protocol_profile": str, "location": str, "route": str,
    "fallback_policy": FALLBACK, "pricing_basis": PRICING, "last_tested_at": TIME_OR_NULL,
    "status": words("listed", "disabled"), "created_at": TIME, "updated_at": TIME,
}  # fmt: skip
DEPLOYMENT: Final[Shape] = {**_LISTED, "connection_id": str}
CATALOG_ENTRY: Final[Shape] = {
    "model": DEFINITION,
    "source": {"source_id": str, "source_kind": str},
    "offering": {
        "served_variant": {
            "served_variant_id": str, "source_id": str, "model_key": str, "upstream_ref": str,
            "release_assurance": ASSURANCE, "assurance_evidence_ref": TEXT_OR_NULL,
        },
        "protocol_profile": str, "auth_scheme": str, "data_classes": [str], "fallback_policy": FALLBACK,
        "location": str, "route": str, "pricing_basis": PRICING, "tested_at": TIME_OR_NULL,
        "resolved_upstream_ref": TEXT_OR_NULL, "resolution_evidence_ref": TEXT_OR_NULL,
        "certification": {
            "certification_id": str, "evidence_schema_version": str, "generated_at": TIME,
            "standing": (None, words("conformant", "exact_artifact")),
            "subject": {
                "model_key": str, "served_variant_id": str, "source_id": str, "protocol_profile": str,
                "auth_scheme": str, "location": str, "route": str, "pricing_basis": PRICING,
            },
        },
    },
    "connection": {"access_lane": LANE, "commercial_owner": OWNER, "connection_id?": str},
    "deployment": _LISTED,
    "provenance": PROVENANCE,
    "arm_registration_template": {
        "kind": words("model"), "display_name": str, "model_deployment_id": str, "capability_tags": [str],
        "data_class_grants": [str], "cost_class": COST_CLASS,
    },
}  # fmt: skip

PROFILE: Final[Shape] = {
    "source_id": str,
    "source_kind": str,
    "protocol_profiles": [{"id": str, "version": str}],
    "auth_schemes": [{"id": str, "version": str}],
    "endpoint_policy": {"https_required": bool, "redirects_allowed": bool},
    "access_lane": words("byok"),
    "credential_owner": words("customer"),
    "commercial_owner": words("customer"),
}
HANDOFF: Final[Shape] = {
    "handoff_intent_id": str, "source_id": str, "auth_scheme": str,
    "state": words("pending", "completed", "failed", "expired", "consumed"),
    "failure_code": (None, words("cancelled", "broker_error")), "expires_at": TIME, "completed_at": TIME_OR_NULL,
    "failed_at": TIME_OR_NULL, "expired_at": TIME_OR_NULL, "consumed_at": TIME_OR_NULL, "created_at": TIME,
    "updated_at": TIME,
}  # fmt: skip
SOURCE_CONNECTION: Final[Shape] = {
    "connection_id": str, "source_id": str, "display_name": str, "auth_scheme": str, "auth_binding_ref": str,
    "source_scope": {"kind": words("account", "project", "region")}, "status": words("active", "disabled"),
    "access_lane": LANE, "credential_owner": words("customer"), "commercial_owner": OWNER, "customer_ref": str,
    "binding_revision": int, "tested_binding_revision": (None, int),
    "test_state": words("untested", "passed", "failed"), "test_error": TEXT_OR_NULL, "last_tested_at": TIME_OR_NULL,
    "rotated_at": TIME_OR_NULL, "revoked_at": TIME_OR_NULL, "created_at": TIME, "updated_at": TIME,
}  # fmt: skip

NEXT_ACTION: Final[Shape] = {"type": str, "detail": str}
TEMPLATE: Final[Shape] = {
    "template_id": words("starter", "pooled-open-model", "byok-open-model"),
    "template_version": str,
    "access_lane": words("diagnostic", "millwork_pool", "byok"),
    "eligible": bool,
    "alternative_plans": [
        {
            "access_lane": str, "application_supported": bool, "next_action": NEXT_ACTION, "template_id": str,
            "template_version": str,
        }
    ],
    "blockers": [{"code": str, "detail": str, "next_action": NEXT_ACTION}],
    "catalog_row": (None, CATALOG_ENTRY),
}  # fmt: skip
PLAN: Final[Shape] = {
    "template_id": str, "template_version": str, "access_lane": str, "application_supported": bool,
    "next_action": NEXT_ACTION, "request_preset_id": str, "issued_at": TIME, "expires_at": TIME, "digest": str,
    "qualification": {"state": str, "next_action": NEXT_ACTION},
    "byok_source": (None, {"source_id": str, "auth_scheme": str, "model_key": str, "served_variant_id": str}),
    "request_policy": (None, {"mode": MODE, "data_classes": [str], "budget": object, "fallback_policy": str}),
    "starter_credit": {"balance_usd": float, "funded_state": str, "covers_maximum_spend": bool},
    "maximum_spend_usd": float, "effects": [{"id": str, "description": str}],
    "file_manifest": [{"path": str, "kind": str}],
}  # fmt: skip
APPLICATION: Final[Shape] = {
    "application_id": str,
    "template_id": str,
    "template_version": str,
    "state": words(
        "planned", "applying", "consent_pending", "arm_ready", "echo_proved", "live_queued", "live_running", "ready",
        "action_required", "failed_safe",
    ),
    "completed_effects": [{"id": str, "at": TIME}],
    "result": (None, {"execution_id": str, "href": str}),
    "receipt": (None, {"receipt_id": str, "href": str}),
    "managed_arm_id": TEXT_OR_NULL,
    "echo_execution_id": TEXT_OR_NULL,
    "echo_receipt_id": TEXT_OR_NULL,
    "live_execution_id": TEXT_OR_NULL,
    "selected_model_deployment_id": TEXT_OR_NULL,
    "source_connection_id": TEXT_OR_NULL,
    "consent": (None, {"handoff_intent_id": str, "continue_url": TEXT_OR_NULL, "expires_at": TIME, "attempt": int}),
    "live_proof": (None, {"digest": str, "issued_at": TIME, "expires_at": TIME}),
    "next_action": NEXT_ACTION,
    "diagnostics": {},
    "created_at": TIME,
}  # fmt: skip
SELECTION: Final[Shape] = {
    "application_id": str, "template_id": str, "template_version": str, "managed_arm_id": str,
    "model_deployment_id": str, "request_preset_id": str,
    "request_policy": {"mode": words("live"), "data_classes": [str], "budget": object, "fallback_policy": str},
    "proof_execution_id": str, "selected_at": TIME, "updated_at": TIME,
}  # fmt: skip

# Ours: the references name no members.
QUOTE: Final[Shape] = {"model_deployment_id": str, "usd": float, "pricing_basis": PRICING}
MODEL_SERVER: Final[Shape] = {
    "base_url": str, "name": str, "protocol_profile": words("openai_chat"), "models": [str], "needs_key": bool,
    "is_slow": bool,
}  # fmt: skip
