"""Constants and parts that the builders share: checks, provenance, decision packets."""

from __future__ import annotations

from typing import Any, Final

ABSENT: Final = object()
"""As the value of a keyword: the record has no such member."""

RUN_ID: Final = "ex_01HXE"
KEY_ID: Final = "key_A1b2C3"
AT: Final = "2026-11-20T10:05:00.000Z"


def merged(raw: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The members of ``raw`` with those of ``over`` in their place, absent ones left out."""
    both = {**raw, **over}
    return {name: value for name, value in both.items() if value is not ABSENT}


def verification_check(**over: Any) -> dict[str, Any]:
    """One attempt to check an output: a verdict that accepts it."""
    raw = {
        "check_id": "chk_1", "verifier_id": "vrf_7c1e", "verifier_hash": "sha256:aa11", "activity": "customer",
        "arm_id": "arm_01HX7", "attempt": 1, "phase": "candidate", "outcome": "valid_verdict", "failure_class": None,
        "is_correct": True, "quality_score": 0.86,
    }  # fmt: skip
    return merged(raw, over)


RECORDED_STATES: Final[dict[str, dict[str, Any]]] = {
    "customer_verdict": {
        "verifier_id": "vrf_7c1e", "check_id": "chk_2", "is_correct": True, "quality_score": 0.86,
        "anchor_results": {"five_bullets": True, "no_invented_version": True},
    },
    "customer_unavailable": {"attempted_verifier_id": "vrf_7c1e", "check_id": "chk_9", "failure_class": "timeout"},
    "baseline": {"customer_check_selected": False, "verifier_id": "vrf_builtin_baseline", "output_present": True},
    "platform_test": {"identity": "platform.echo"},
    "pending_evaluation": {"pending": True, "execution_id": RUN_ID},
    "terminal_no_evaluation": {"no_evaluation_attempted": True, "reason": "cancelled"},
    "missing_evidence": {"execution_id": RUN_ID, "lifecycle_state": "completed"},
    "unknown_evidence": {"execution_id": RUN_ID, "lifecycle_state": "completed"},
}  # fmt: skip
"""The states of a recorded check with the members that belong to each (manual: interface, "Receipt fields")."""


def recorded_check(state: str = "platform_test", **over: Any) -> dict[str, Any]:
    """The latest statement about a check, in one of its states."""
    return merged({"state": state, **RECORDED_STATES.get(state, {}), "recorded_at": AT}, over)


def provenance() -> dict[str, Any]:
    """Which model was asked for, which one answered, and by which way."""
    return {
        "schema_version": "1",
        "requested": {
            "model_key": "contoso/atlas-12b", "publisher_id": "contoso", "family": "atlas", "release": "2026-03",
            "served_variant_id": "sv_atlas12b", "upstream_ref": "contoso/atlas-12b",
        },
        "source": {
            "source_id": "openrouter", "source_kind": "gateway", "connection_id": "conn_01HXZ", "access_lane": "byok",
            "commercial_owner": "customer", "auth_scheme": "oauth2",
        },
        "deployment": {
            "model_deployment_id": "mdep_01HX9", "protocol_profile": "openai_chat", "location": "us",
            "route": "gateway", "pricing_basis": "source_reported", "fallback_policy": "none",
        },
        "resolved": {
            "upstream_ref": "contoso/atlas-12b-20260312", "source_request_id": "req_88",
            "attestation": "gateway_response",
        },
    }  # fmt: skip


def decision_packet() -> dict[str, Any]:
    """What the review composer decided about a change."""
    return {
        "version": "v1", "verdict": "block", "reason": "veto_source_blocked", "action": "gate",
        "policy_hash": "sha256:dd33", "connector_versions": {"github": "github-app/v1", "agent": "async_job_v1"},
        "policy": {"combine": "all", "veto_sources": ["github"], "sources": ["coderabbit", "github"]},
        "artifact": {
            "repository": "acme/widgets", "base_ref": "main", "base_sha": "0123456789abcdef0123456789abcdef01234567",
            "branch": "agent/fix-12", "pr_number": 12, "pr_opened_by": {"github_user_id": 42, "github_login": "octo"},
        },
        "sources": [{"id": "github", "status": "block", "reason": "required_check_failed", "evidence_id": "evd_2"}],
        "decided_at": AT, "agent_usage_usd": 0, "platform_fee_usd": 0.4,
    }  # fmt: skip
