"""The members of every record and of every request body (manual: interface, "Resources").

Only what the references name is here, so it holds for every service of this interface. Where they name
nothing, the comment says that the shape is ours.
"""

from __future__ import annotations

from typing import Final

from tests.contract.shapes import DAY, TIME, Shape, words

TEXT_OR_NULL: Final = (None, str)
TIME_OR_NULL: Final = (None, TIME)

STATE: Final = words("accepted", "queued", "running", "progress", "completed", "failed", "cancelled", "expired")
FINAL_STATE: Final = words("completed", "failed", "cancelled", "expired")
MODE: Final = words("live", "echo")
ARM_KIND: Final = words("model", "agent", "skill")
ARM_STATUS: Final = words("ready", "degraded", "disabled")
COST_CLASS: Final = words("economy", "standard", "premium")
LANE: Final = words("millwork_pool", "byok")
OWNER: Final = words("customer", "millwork")
PRICING: Final = words("source_reported", "estimated")
FALLBACK: Final = words("none", "source_controlled")
ASSURANCE: Final = words("unknown", "family_alias", "source_attested_release", "exact_artifact")
STOP_REASON: Final = (None, words("revoked", "origin_invalidated", "stop_date"))
KEY_STATUS: Final = words("unbound", "active", "revoked", "expired", "unknown")
FAILURE_CLASS: Final = words(
    "authentication", "credential_unavailable", "timeout", "network", "egress_rejected", "response_too_large",
    "http_error", "invalid_response", "internal",
)  # fmt: skip

RUN: Final[Shape] = {
    "execution_id": str, "status": STATE, "slices": [{"slice_id": str, "capability": str, "status": STATE}],
    "links": {"status": str, "events": str, "receipt": str}, "created_at": TIME, "cancelled_by": TEXT_OR_NULL,
}  # fmt: skip
CHECK: Final[Shape] = {
    "check_id": str,
    "verifier_id": TEXT_OR_NULL,
    "verifier_hash": TEXT_OR_NULL,
    "activity": words("customer", "platform_baseline", "platform_echo", "unknown"),
    "arm_id": TEXT_OR_NULL,
    "attempt": (None, int),
    "phase": words("candidate", "skill_baseline", "skill_repair"),
    "outcome": words("valid_verdict", "technical_failure"),
    "failure_class": (None, FAILURE_CLASS),
    "is_correct": (None, bool),
    "quality_score": (None, float),
}
EVENT: Final[Shape] = {
    "event_id": str, "execution_id": str, "slice_id?": str, "type": str, "at": TIME, "state?": STATE, "reason?": str,
    "acted_by?": TEXT_OR_NULL, "verification_check?": CHECK, "recorded_check?": {"state": str, "recorded_at": TIME},
}  # fmt: skip
PROVENANCE: Final[Shape] = {
    "schema_version": str,
    "requested": {
        "model_key": str, "publisher_id": str, "family": str, "release": str, "served_variant_id": str,
        "upstream_ref": str,
    },
    "source": {
        "source_id": str, "source_kind": str, "connection_id?": str, "access_lane": LANE, "commercial_owner": OWNER,
        "auth_scheme": str,
    },
    "deployment": {
        "model_deployment_id": str, "protocol_profile": str, "location": str, "route": str, "pricing_basis": PRICING,
        "fallback_policy": FALLBACK,
    },
    "resolved": (None, {
        "upstream_ref": str, "source_request_id": TEXT_OR_NULL,
        "attestation": words("source_response", "gateway_response"),
    }),
}  # fmt: skip
RESULT: Final[Shape] = {
    "execution_id": str, "slice_id": str, "final_text": str, "model_provenance": (None, PROVENANCE),
    "retention_expires_at": TIME_OR_NULL,
}  # fmt: skip
RECEIPT: Final[Shape] = {
    "execution_id": str, "mode": MODE, "status": FINAL_STATE,
    "slices": [
        {
            "slice_id": str,
            "capability": str,
            "route": object,
            "verifier?": {"id": str, "hash": str, "verifier_id": TEXT_OR_NULL, "is_correct": bool},
            "verification_checks?": [CHECK],
            "recorded_check?": {"state": str, "recorded_at": TIME},
            "acted_on_eval?": {"action": words("gate", "fallback", "repair_retry"), "outcome": str},
            "cost": object,
            "model_provenance?": (None, PROVENANCE),
        },
    ],
    "totals": {"usd": float, "platform_fee_usd": float, "runtime_s": float},
}  # fmt: skip

ARM: Final[Shape] = {
    "arm_id": str, "kind": ARM_KIND, "display_name": str, "status": ARM_STATUS, "capability_tags": [str],
    "data_class_grants": [str], "cost_class?": COST_CLASS, "provider?": str, "model_id?": str,
    "model_deployment_id?": str, "endpoint?": {"url": str, "auth_ref": str}, "lifecycle?": object,
    "artifact_hash?": str, "route_availability?": {"status": str, "reason": str, "since": TIME},
}  # fmt: skip
ARM_OUTCOME: Final[Shape] = {"arm_id": str, "status": ARM_STATUS, "status_reason": TEXT_OR_NULL}

DECLARATION: Final[Shape] = {"status": words("not_declared", "declared"), "statement": str}
CONNECTION_SUMMARY: Final[Shape] = {
    "status": KEY_STATUS, "stop_at": TIME_OR_NULL, "stop_time_zone": TEXT_OR_NULL, "days_remaining": (None, int),
    "stopped_at": TIME_OR_NULL, "stop_reason": STOP_REASON,
}  # fmt: skip
VERIFIER: Final[Shape] = {
    "verifier_id": str, "display_name": str, "version": str, "kind": words("endpoint"),
    "endpoint": {"url": str, "auth_ref": str}, "input_data_classes": [str],
    "scoring": {"correctness": words("boolean_anchors"), "quality": words("scalar_0_1")}, "hash": str,
    "status": words("ready", "degraded"), "status_reason": TEXT_OR_NULL, "revision": int,
    "correctness_declaration": DECLARATION, "connection": CONNECTION_SUMMARY,
}  # fmt: skip
_FEEDBACK: Final[Shape] = {"status": words("ok", "failed", "not_checked"), "correction": TEXT_OR_NULL}
PROBE: Final[Shape] = {
    "outcome": words("reachable", "unreachable"),
    "reason_code": (None, words(
        "scheme_rejected", "dns_resolution_failed", "private_range_rejected", "probe_timeout", "endpoint_unreachable",
        "authentication_failed",
    )),
    "http_status": (None, int),
    "contract": (None, {
        "validated": bool, "verifier_result": (None, {"is_correct": bool, "quality_score": float}),
        "violation": TEXT_OR_NULL,
    }),
    "feedback": {"reachability": _FEEDBACK, "authentication": _FEEDBACK, "response_compatibility": _FEEDBACK},
    "detail": TEXT_OR_NULL,
    "checked_at": TIME,
}  # fmt: skip
VERIFIER_OUTCOME: Final[Shape] = {**VERIFIER, "preflight": PROBE}
VERIFIER_TEST: Final[Shape] = {
    "verifier_id": str, "status": words("ready", "degraded"), "status_reason": TEXT_OR_NULL, "probe": PROBE,
    "correctness_declaration": DECLARATION,
}  # fmt: skip
PENDING_KEY: Final[Shape] = (None, {"handle": str, "captured_generation": int, "staged_until": TIME})
VERIFIER_CONNECTION: Final[Shape] = {
    **CONNECTION_SUMMARY, "handle": TEXT_OR_NULL, "origin": TEXT_OR_NULL, "generation": (None, int),
    "projection_ack": TEXT_OR_NULL, "pending_key": PENDING_KEY,
    "last_test": (None, {"outcome": words("passed", "failed"), "handle": str, "reason": TEXT_OR_NULL, "at": TIME}),
    "replacement": (None, {"status": words("pending", "failed"), "handle": str}),
    "retired_keys": [{"handle": str, "state": words("scheduled_for_destruction", "destroyed")}],
}  # fmt: skip
KEY_INTENT: Final[Shape] = {
    "intent_id": str,
    "continue_url": str,
    "origin": str,
    "expires_at": TIME,
}

PROPOSAL: Final[Shape] = {
    "proposal_id": str, "status": words("pending", "approved", "rejected", "expired"), "decided_by": TEXT_OR_NULL,
    "execution_id": str, "slice_id": str, "arm_id": str, "parent_artifact_id": TEXT_OR_NULL,
    "parent_score": (None, float), "candidate_score": (None, float), "decided_at": TIME_OR_NULL, "created_at": TIME,
}  # fmt: skip
WHOLE_PROPOSAL: Final[Shape] = {**PROPOSAL, "diff": str, "verifier_evidence": {"is_correct": bool}}

_PERIOD: Final[Shape] = {"from": DAY, "to": DAY}
_SPENT: Final[Shape] = {
    "executions": int, "slices": int, "input_tokens": int, "output_tokens": int, "calls": int, "usd": float,
}  # fmt: skip
_TOTALS: Final[Shape] = {**_SPENT, "platform_usd": float, "passthrough_usd": float}
USAGE: Final[Shape] = {
    "period": _PERIOD,
    "totals": _TOTALS,
    "by_arm": [
        {
            "arm_id": str, "selected_count": int, "fallback_count": int, "input_tokens": int, "output_tokens": int,
            "usd": float,
        }
    ],
    "by_day": [{"date": DAY, "executions": int, "platform_usd": float, "passthrough_usd": float, "usd": float}],
    "by_key": [
        {
            **_SPENT, "api_key_id": str, "by_day": [{"date": DAY, "usd": float}],
            "top_arms": [{"arm_id": str, "selected_count": int}],
        }
    ],
}  # fmt: skip
ACCOUNT: Final[Shape] = {
    "tenant_id": str,
    "authenticated_principal_id": str,
    "display_name": str,
    "quota_tier": str,
    "is_demo": bool,
    "quota": {"executions": object, "concurrency": object, "rate_limit_rpm": (None, int)},
    "balance": (None, {
        "balance_usd": float, "top_up_history": [object], "credit_activity": [object], "billing_email": TEXT_OR_NULL,
    }),
    "billing": (None, {"funded_state": words("funded", "sandbox"), "manage_available": bool}),
}  # fmt: skip
API_KEY: Final[Shape] = {
    "api_key_id": str, "key_prefix": str, "status": words("active", "revoked"), "created_at": TIME,
    "revoked_at": TIME_OR_NULL, "revoked_by?": TEXT_OR_NULL,
}  # fmt: skip
MINTED_KEY: Final[Shape] = {**API_KEY, "key": str}
EVAL_SUMMARY: Final[Shape] = {
    "window": {"from": (None, DAY), "to": (None, DAY)},
    "pass_rate_trend": [
        {
            "day": DAY, "verifier_id": TEXT_OR_NULL, "total": int, "passed": int, "pass_rate": (None, float),
            "mean_quality_score": (None, float),
        }
    ],
    "repair_history": [
        {name: shape for name, shape in PROPOSAL.items() if name != "decided_by"} | {"decision": TEXT_OR_NULL}
    ],
}  # fmt: skip
COMPLIANCE: Final[Shape] = {
    "schema_version": words("aud2.v1"),
    "period": _PERIOD,
    "content_policy": {"receipts": words("content_free"), "proposals": words("role_scoped_d8b")},
    "receipts_ndjson": str,
    "usage_totals": _TOTALS,
    "decision_log": [
        {
            "decision_id": str,
            "kind": words("proposal_decision", "execution_cancellation", "api_key_revocation", "registry_action"),
            "action": str,
            "resource": {"type": words("proposal", "execution", "api_key", "arm", "verifier"), "id": str},
            "acted_by": TEXT_OR_NULL, "at": TIME,
        }
    ],
    "attestation": {"algorithm": words("sha256"), "digest": str},
}  # fmt: skip
# Ours: the Problems that the service keeps, for the owner of its data directory alone.
_ANSWERED: Final[Shape] = {
    "instance": str, "at": TIME, "code": str, "method": str, "path": str, "principal_id": TEXT_OR_NULL,
    "cause": TEXT_OR_NULL, "problem": {"type": str, "title": str, "status": int, "instance": str},
}  # fmt: skip
PROBLEM_LOOKUP: Final[Shape] = {
    "problems": [_ANSWERED], "kept": int, "oldest_at": TIME_OR_NULL, "newest_at": TIME_OR_NULL,
    "before?": (None, _ANSWERED), "after?": (None, _ANSWERED),
}  # fmt: skip
# What a new organization answers is named; what renaming one answers is ours.
TENANT: Final[Shape] = {"tenant_id": str, "display_name": str}
NEW_TENANT: Final[Shape] = {**TENANT, "api_key": MINTED_KEY}

AGENT: Final[Shape] = {
    "arm_id": str, "display_name": str, "endpoint_url": str, "repository": str, "status": ARM_STATUS,
    "status_reason": str,
}  # fmt: skip
AGENT_CONNECTION: Final[Shape] = {
    "status": KEY_STATUS, "handle": TEXT_OR_NULL, "origin": TEXT_OR_NULL, "generation": int, "stop_at": TIME_OR_NULL,
    "days_remaining": (None, int), "pending_key": PENDING_KEY,
}  # fmt: skip
CREDENTIAL: Final[Shape] = {"credential_ref": str, "display_name": str, "created_at": TIME}
# Ours, by analogy with the other intents; so are the list and the webhooks.
GITHUB_INTENT: Final[Shape] = {"intent_id": str, "continue_url": str, "expires_at": TIME}
TOP_UP: Final[Shape] = GITHUB_INTENT
GITHUB_CONNECTION: Final[Shape] = {"connection_id": str, "repository": str, "status": str, "created_at": TIME}
WEBHOOK: Final[Shape] = {"webhook_id": str, "url": str, "event_types": [str], "status": str, "created_at": TIME}
REMOVED_WEBHOOK: Final[Shape] = {"webhook_id": str, "status": str, "removed_at": TIME}
DELIVERY: Final[Shape] = {"delivery_id": str, "webhook_id": str, "status": str, "created_at": TIME}
