"""Records of the other resources, ready to be changed (manual: interface, "Resources").

As in :mod:`tests.support.builders`: keyword arguments replace members, ``ABSENT`` as their value leaves one out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm, ArmOutcome
from runwatch.records.compliance import ComplianceExport
from runwatch.records.credential import Credential
from runwatch.records.evaluation import EvalSummary
from runwatch.records.github import GithubConnection, GithubIntent
from runwatch.records.model import CatalogEntry, Definition, Deployment
from runwatch.records.proposal import Proposal
from runwatch.records.record import Record
from runwatch.records.source import Disconnected, Handoff, SourceConnection, SourceProfile
from runwatch.records.template import Application, Plan, Selection, Template
from runwatch.records.usage import Usage
from runwatch.records.verifier import KeyConnection, KeyIntent, Verifier, VerifierOutcome, VerifierTest
from runwatch.records.webhook import Delivery, Webhook
from tests.support.parts import AT, KEY_ID, merged, provenance

DECLARED: Final = {
    "status": "declared", "method": "deterministic", "declared_at": "2026-11-10T12:00:00Z",
    "statement": "Tenant declared deterministic correctness; not independently verified",
}  # fmt: skip
NOT_DECLARED: Final = {"status": "not_declared", "statement": "Not declared"}
HANDLE: Final = "cred_v_0123456789abcdef0123456789abcdef"
OLD_HANDLE: Final = "cred_v_ffffffffffffffffffffffffffffffff"


def definition(model_key: str = "northwind/ember-7b-instruct", **over: Any) -> Definition:
    raw = {
        "model_key": model_key, "publisher_id": "northwind", "family": "ember", "release": "2026-05",
        "capabilities": ["text.generate", "text.summarize"], "lifecycle": "preview",
        "release_license": {
            "identifier": "apache-2.0", "commercial_use": "allowed", "evidence_ref": "evd_license_0001",
        },
    }  # fmt: skip
    return Definition(merged(raw, over))


def deployment(model_deployment_id: str = "mdep_01HX6", **over: Any) -> Deployment:
    raw = {
        "model_deployment_id": model_deployment_id, "connection_id": "conn_01HX5", "source_id": "northwind_direct",
        "model_key": "northwind/ember-7b-instruct", "served_variant_id": "sv_ember7b_default",
        "upstream_ref": "ember-7b-instruct", "release_assurance": "unknown", "assurance_evidence_ref": None,
        "resolved_upstream_ref": "ember-7b-instruct-20260501", "resolution_evidence_ref": "evd_resolution_0001",
        "protocol_profile": "openai_responses", "location": "eu", "route": "direct", "fallback_policy": "none",
        "pricing_basis": "source_reported", "last_tested_at": "2026-11-18T09:12:00Z", "status": "listed",
        "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-18T09:12:30Z",
    }  # fmt: skip
    return Deployment(merged(raw, over))


def catalog_entry(model_deployment_id: str = "mdep_01HX6", **over: Any) -> CatalogEntry:
    """A model that can be saved, over the customer's own connection."""
    placed = deployment(model_deployment_id)
    variant_names = (
        "served_variant_id", "source_id", "model_key", "upstream_ref", "release_assurance", "assurance_evidence_ref",
    )  # fmt: skip
    raw = {
        "model": dict(definition().raw),
        "source": {"source_id": "northwind_direct", "source_kind": "publisher_direct"},
        "offering": {
            "served_variant": {name: placed.raw[name] for name in variant_names},
            "protocol_profile": "openai_responses", "auth_scheme": "api_key", "data_classes": ["public"],
            "fallback_policy": "none", "location": "eu", "route": "direct", "pricing_basis": "source_reported",
            "tested_at": "2026-11-18T09:12:00Z", "resolved_upstream_ref": "ember-7b-instruct-20260501",
            "resolution_evidence_ref": "evd_resolution_0001",
            "certification": {
                "certification_id": "cert_0001", "evidence_schema_version": "1", "standing": "conformant",
                "generated_at": "2026-11-18T09:12:30Z",
                "subject": {
                    "model_key": "northwind/ember-7b-instruct", "served_variant_id": "sv_ember7b_default",
                    "source_id": "northwind_direct", "protocol_profile": "openai_responses", "auth_scheme": "api_key",
                    "location": "eu", "route": "direct", "pricing_basis": "source_reported",
                },
            },
        },
        "connection": {"access_lane": "byok", "commercial_owner": "customer", "connection_id": "conn_01HX5"},
        "deployment": {name: value for name, value in placed.raw.items() if name != "connection_id"},
        "provenance": {**provenance(), "resolved": None},
        "arm_registration_template": {
            "kind": "model", "display_name": "Ember 7B Instruct", "model_deployment_id": model_deployment_id,
            "capability_tags": ["text.generate", "text.summarize"], "data_class_grants": ["public"],
            "cost_class": "economy",
        },
    }  # fmt: skip
    return CatalogEntry(merged(raw, over))


def arm(arm_id: str = "arm_01HX7", status: str = "ready", **over: Any) -> Arm:
    """A saved model that is bound to a deployment."""
    raw = {
        "arm_id": arm_id, "kind": "model", "display_name": "Ember 7B Instruct", "status": status,
        "model_lifecycle": "preview", "capability_tags": ["text.generate"], "data_class_grants": ["public"],
        "cost_class": "economy", "provider": "northwind_direct", "model_id": "ember-7b-instruct",
        "model_deployment_id": "mdep_01HX6",
    }  # fmt: skip
    return Arm(merged(raw, over))


def agent_arm(arm_id: str = "arm_agent1", **over: Any) -> Arm:
    """A saved agent whose route is not plainly available."""
    raw = {
        "arm_id": arm_id, "kind": "agent", "display_name": "Research agent", "status": "degraded",
        "status_reason": "endpoint_unreachable", "capability_tags": ["research"],
        "data_class_grants": ["public", "sandbox"], "cost_class": "premium",
        "endpoint": {"url": "https://agent.example.test/jobs", "auth_ref": ""},
        "lifecycle": {"long_running": True, "cancellable": False, "max_runtime_s": 600},
        "route_availability": {
            "status": "suspended", "reason": "operator_suspended", "since": "2026-11-20T00:00:00Z", "until": None,
        },
    }  # fmt: skip
    return Arm(merged(raw, over))


def arm_outcome(arm_id: str = "arm_01HX7", **over: Any) -> ArmOutcome:
    """What came of saving a model."""
    return ArmOutcome(merged({"arm_id": arm_id, "status": "ready", "status_reason": None}, over))


def verifier(verifier_id: str = "vrf_7c1e", **over: Any) -> Verifier:
    """A check with a key in use."""
    raw = {
        "verifier_id": verifier_id, "display_name": "Release-notes check", "version": "1.2.0", "kind": "endpoint",
        "endpoint": {"url": "https://checks.example.test/release-notes", "auth_ref": ""},
        "input_data_classes": ["public"], "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
        "hash": "sha256:aa11", "revision": 3, "status": "ready", "status_reason": None,
        "correctness_declaration": dict(DECLARED),
        "connection": {
            "status": "active", "stop_at": "2027-02-08T00:00:00Z", "stop_time_zone": "UTC", "days_remaining": 80,
            "stopped_at": None, "stop_reason": None,
        },
    }  # fmt: skip
    return Verifier(merged(raw, over))


def probe(*, reachable: bool = True) -> dict[str, Any]:
    """What one try found: a good answer, or a name that does not resolve."""
    if reachable:
        fine = {"status": "ok", "correction": None}
        return {
            "outcome": "reachable", "reason_code": None, "http_status": 200,
            "contract": {
                "validated": True, "verifier_result": {"is_correct": False, "quality_score": 0}, "violation": None,
            },
            "feedback": {"reachability": fine, "authentication": fine, "response_compatibility": fine}, "detail": None,
            "checked_at": "2026-11-20T09:05:00Z",
        }  # fmt: skip
    unseen = {"status": "not_checked", "correction": None}
    return {
        "outcome": "unreachable", "reason_code": "dns_resolution_failed", "http_status": None, "contract": None,
        "feedback": {
            "reachability": {"status": "failed", "correction": "Check the host name."}, "authentication": unseen,
            "response_compatibility": unseen,
        },
        "detail": "The host name did not resolve.", "checked_at": "2026-11-20T09:00:00Z",
    }  # fmt: skip


def verifier_outcome(verifier_id: str = "vrf_90aa", *, reachable: bool = True, **over: Any) -> VerifierOutcome:
    """What came of registering a check."""
    raw = {
        "verifier_id": verifier_id, "hash": "sha256:cc22", "status": "ready" if reachable else "degraded",
        "status_reason": None if reachable else "endpoint_unreachable", "preflight": probe(reachable=reachable),
        "correctness_declaration": dict(NOT_DECLARED),
    }  # fmt: skip
    return VerifierOutcome(merged(raw, over))


def verifier_test(verifier_id: str = "vrf_7c1e", *, reachable: bool = True, **over: Any) -> VerifierTest:
    raw = {
        "verifier_id": verifier_id, "status": "ready" if reachable else "degraded",
        "status_reason": None if reachable else "endpoint_unreachable", "probe": probe(reachable=reachable),
        "correctness_declaration": dict(NOT_DECLARED),
    }  # fmt: skip
    return VerifierTest(merged(raw, over))


def key_connection(status: str = "active", **over: Any) -> KeyConnection:
    raw = {
        "status": status, "stop_at": "2027-02-08T00:00:00Z", "stop_time_zone": "UTC", "days_remaining": 80,
        "stopped_at": None, "stop_reason": None, "handle": HANDLE, "origin": "https://checks.example.test",
        "generation": 4, "projection_ack": "acknowledged", "pending_key": None,
        "last_test": {"outcome": "passed", "handle": HANDLE, "reason": None, "at": "2026-11-10T12:00:05Z"},
        "replacement": None,
        "retired_keys": [
            {
                "handle": OLD_HANDLE, "state": "destroyed", "reason": "replaced", "retired_at": "2026-11-10T12:00:05Z",
                "destroyed_at": "2026-11-11T00:00:00Z",
            },
        ],
        "last_operation": {
            "kind": "promote", "phase": "committed", "generation": 4,
            "resulting_state": {"handle": HANDLE, "replaced_handle": OLD_HANDLE}, "recorded_at": "2026-11-10T12:00:05Z",
        },
    }  # fmt: skip
    return KeyConnection(merged(raw, over))


def key_intent(continue_url: str, **over: Any) -> KeyIntent:
    """A permission to enter a key on the page at an address."""
    raw = {
        "intent_id": "int_01", "continue_url": continue_url, "intake_origin": "https://app.example.test",
        "origin": "https://checks.example.test", "expires_at": "2026-11-20T10:35:00Z",
    }  # fmt: skip
    return KeyIntent(merged(raw, over))


def source_profile(source_id: str = "openai_direct", **over: Any) -> SourceProfile:
    """A source that can be connected with a key."""
    raw = {
        "source_id": source_id, "source_kind": "publisher_direct",
        "protocol_profiles": [{"id": "openai_responses", "version": "1"}],
        "auth_schemes": [{"id": "api_key", "version": "1"}],
        "endpoint_policy": {"https_required": True, "redirects_allowed": False}, "access_lane": "byok",
        "credential_owner": "customer", "commercial_owner": "customer",
    }  # fmt: skip
    return SourceProfile(merged(raw, over))


def connection(connection_id: str = "conn_01HX5", **over: Any) -> SourceConnection:
    raw = {
        "connection_id": connection_id, "source_id": "openai_direct", "display_name": "OpenAI",
        "auth_scheme": "api_key", "auth_binding_ref": "bind_01",
        "source_scope": {"kind": "account", "account_ref": "acct_01"}, "status": "active", "access_lane": "byok",
        "credential_owner": "customer", "commercial_owner": "customer", "customer_ref": "ten_01", "binding_revision": 2,
        "tested_binding_revision": 2, "test_state": "passed", "test_error": None,
        "last_tested_at": "2026-11-20T10:00:00Z", "rotated_at": None, "revoked_at": None,
        "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-20T10:00:00Z",
    }  # fmt: skip
    return SourceConnection(merged(raw, over))


def handoff(state: str = "pending", **over: Any) -> Handoff:
    """A permission to enter a source's key."""
    is_completed = state in {"completed", "consumed"}
    raw = {
        "handoff_intent_id": "hand_01", "source_id": "openai_direct", "auth_scheme": "api_key", "state": state,
        "failure_code": None, "expires_at": "2026-11-20T10:15:00Z", "completed_at": AT if is_completed else None,
        "failed_at": None, "expired_at": None, "consumed_at": None, "created_at": AT, "updated_at": AT,
        **({"source_scope": {"kind": "account", "account_ref": "acct_01"}} if is_completed else {}),
    }  # fmt: skip
    return Handoff(merged(raw, over))


def disconnected(connection_id: str = "conn_01HX5", **over: Any) -> Disconnected:
    return Disconnected(merged({"connection_id": connection_id, "status": "disabled", "revoked_at": AT}, over))


def template(template_id: str = "starter", *, eligible: bool = True, **over: Any) -> Template:
    """A template that can be applied, or one that is blocked."""
    lane = {"starter": "diagnostic", "pooled-open-model": "millwork_pool"}.get(template_id, "byok")
    raw: dict[str, Any] = {
        "template_id": template_id, "template_version": "1", "access_lane": lane, "eligible": eligible, "blockers": [],
        "alternative_plans": [], "catalog_row": None,
    }  # fmt: skip
    if not eligible:
        raw["blockers"] = [
            {
                "code": "pool_not_entitled",
                "detail": "This organization has no funded pool access yet.",
                "next_action": {"type": "top_up_in_billing", "detail": "Add credit, then plan again."},
            }
        ]
        raw["alternative_plans"] = [
            {
                "template_id": "byok-open-model", "template_version": "1", "access_lane": "byok",
                "application_supported": True,
                "next_action": {"type": "approve_plan", "detail": "Plan with your own provider account."},
            },
        ]  # fmt: skip
    return Template(merged(raw, over))


def plan(template_id: str = "starter", **over: Any) -> Plan:
    """What applying a template would do."""
    raw = {
        "template_id": template_id,
        "template_version": "1",
        "access_lane": "byok",
        "eligible": True,
        "request_preset_id": "starter-public-sandbox-v1",
        "issued_at": "2026-11-20T10:05:00.123Z",
        "expires_at": "2026-11-20T10:20:00.123Z",
        "digest": "sha256:d1",
        "qualification": {"state": "approved", "next_action": {"type": "approve_plan", "detail": "Apply the plan."}},
        "blockers": [],
        "alternative_plans": [],
        "byok_source": None,
        "request_policy": {
            "mode": "live", "data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60},
            "fallback_policy": "none", "verifier": "platform.output_presence",
        },
        "starter_credit": {"balance_usd": 18.4, "funded_state": "funded", "covers_maximum_spend": True},
        "maximum_spend_usd": 0.15,
        "effects": [
            {"id": "submit_echo", "description": "Submits a test run."},
            {"id": "submit_bounded_live_proof", "description": "Submits one live run within the budget."},
        ],
        "file_manifest": [],
    }  # fmt: skip
    return Plan(merged(raw, over))


def application(state: str = "echo_proved", **over: Any) -> Application:
    raw = {
        "application_id": "app_01", "template_id": "byok-open-model", "template_version": "1",
        "request_preset_id": None, "state": state, "completed_effects": [{"id": "submit_echo", "at": AT}],
        "result": None, "receipt": None, "managed_arm_id": "arm_01HX7", "echo_execution_id": "ex_01HXE",
        "echo_receipt_id": "ex_01HXE", "live_execution_id": None, "selected_model_deployment_id": None,
        "source_connection_id": "conn_01HX5", "consent": None,
        "live_proof": {"digest": "sha256:l1", "issued_at": AT, "expires_at": "2026-11-20T10:20:00Z"},
        "next_action": {"type": "authorize_byok_live_proof", "detail": "Authorize one paid run."},
        "diagnostics": {"source_id": "openai_direct", "lane_substitution_performed": False}, "created_at": AT,
    }  # fmt: skip
    return Application(merged(raw, over))


def selection(**over: Any) -> Selection:
    raw = {
        "application_id": "app_01", "template_id": "byok-open-model", "template_version": "1",
        "managed_arm_id": "arm_01HX7", "model_deployment_id": "mdep_01HX6", "request_preset_id": "byok-public-v1",
        "request_policy": {"mode": "live", "data_classes": ["public"], "fallback_policy": "none"},
        "proof_execution_id": "ex_01HXA", "selected_at": AT, "updated_at": AT,
    }  # fmt: skip
    return Selection(merged(raw, over))


def agent(arm_id: str = "arm_rev1", status: str = "ready", **over: Any) -> ReviewAgent:
    raw = {
        "arm_id": arm_id, "display_name": "Patch agent", "endpoint_url": "https://agent.example.test/jobs",
        "repository": "acme/widgets", "status": status,
        "status_reason": "" if status == "ready" else "endpoint_unreachable",
    }  # fmt: skip
    return ReviewAgent(merged(raw, over))


def credential(credential_ref: str = "cred_ref_01", **over: Any) -> Credential:
    raw = {
        "credential_ref": credential_ref,
        "display_name": "Patch agent key",
        "created_at": "2026-10-02T08:00:00Z",
    }
    return Credential(merged(raw, over))


def github_connection(**over: Any) -> GithubConnection:
    """A repository with the claim that it is connected."""
    raw = {
        "connection_id": "gh_01", "repository": "acme/widgets", "status": "connected", "verification": "unverified",
        "created_at": "2026-10-02T08:00:00Z",
    }  # fmt: skip
    return GithubConnection(merged(raw, over))


def github_intent(
    continue_url: str = "https://app.example.test/connect/github?intent=abc", **over: Any
) -> GithubIntent:
    """A permission to connect a repository."""
    raw = {"intent_id": "int_02", "continue_url": continue_url, "expires_at": "2026-11-20T10:35:00Z"}
    return GithubIntent(merged(raw, over))


def proposal(proposal_id: str = "prop_01", status: str = "pending", **over: Any) -> Proposal:
    raw = {
        "proposal_id": proposal_id, "status": status, "decided_by": None if status == "pending" else KEY_ID,
        "execution_id": "ex_01HXG", "slice_id": "sl_1", "arm_id": "arm_skill1", "parent_artifact_id": "art_1",
        "parent_score": 0.4, "candidate_score": 0.8, "diff": "@@ region:tone @@\n-Be brief.\n+Be brief and exact.",
        "verifier_evidence": {"verifier_id": "vrf_7c1e", "is_correct": True, "quality_score": 0.8},
        "created_at": "2026-11-20T08:00:00Z",
    }  # fmt: skip
    return Proposal(merged(raw, over))


def api_key(api_key_id: str = KEY_ID, status: str = "active", **over: Any) -> ApiKey:
    raw = {
        "api_key_id": api_key_id, "key_prefix": "solverapi_live_a1b2", "display_name": "ci", "role": "owner",
        "status": status, "created_at": "2026-10-01T00:00:00Z", "revoked_at": None if status == "active" else AT,
        "revoked_by": None if status == "active" else KEY_ID,
    }  # fmt: skip
    return ApiKey(merged(raw, over))


def webhook(webhook_id: str = "wh_01", **over: Any) -> Webhook:
    """An address that gets deliveries of final runs."""
    raw = {
        "webhook_id": webhook_id, "url": "https://hooks.example.test/runs", "event_types": ["execution.completed"],
        "status": "active", "created_at": "2026-11-01T00:00:00Z", "secret_rotated_at": None,
    }  # fmt: skip
    return Webhook(merged(raw, over))


def delivery(delivery_id: str = "dlv_01", **over: Any) -> Delivery:
    """A message that was delivered."""
    raw = {
        "delivery_id": delivery_id, "webhook_id": "wh_01", "event_id": "evt_01", "event_type": "execution.completed",
        "execution_id": "ex_01HXE", "status": "delivered", "attempts": 1, "next_attempt_at": None, "status_code": 204,
        "error": None, "replay_of": None, "created_at": AT, "delivered_at": AT,
    }  # fmt: skip
    return Delivery(merged(raw, over))


def usage(**over: Any) -> Usage:
    """What was used in a month."""
    raw = {
        "period": {"from": "2026-11-01", "to": "2026-11-30"},
        "totals": {
            "executions": 37, "slices": 41, "input_tokens": 60210, "output_tokens": 15020, "calls": 44, "usd": 1.62,
            "platform_usd": 1.1, "passthrough_usd": 0.52,
        },
        "by_arm": [
            {
                "arm_id": "arm_01HX7", "selected_count": 30, "fallback_count": 0, "input_tokens": 50000,
                "output_tokens": 12000, "usd": 0.4,
            }
        ],
        "by_day": [
            {"date": "2026-11-20", "executions": 9, "platform_usd": 0.2, "passthrough_usd": 0.1, "usd": 0.3},
        ],
        "by_key": [
            {
                "api_key_id": KEY_ID, "executions": 37, "slices": 41, "input_tokens": 60210, "output_tokens": 15020,
                "calls": 44, "usd": 1.62, "by_day": [{"date": "2026-11-20", "usd": 0.3}],
                "top_arms": [{"arm_id": "arm_01HX7", "selected_count": 30}],
            }
        ],
    }  # fmt: skip
    return Usage(merged(raw, over))


def eval_summary(**over: Any) -> EvalSummary:
    raw = {
        "window": {"from": "2026-11-01", "to": "2026-11-30"},
        "pass_rate_trend": [
            {
                "day": "2026-11-20", "verifier_id": "vrf_7c1e", "activity": "customer", "attempted_checks": 10,
                "valid_customer_verdicts": 9, "technical_failures": 1, "coverage": 0.9, "total": 9, "passed": 7,
                "pass_rate": 0.7778, "mean_quality_score": 0.74,
            }
        ],
        "repair_history": [],
    }  # fmt: skip
    return EvalSummary(merged(raw, over))


def compliance_export(**over: Any) -> ComplianceExport:
    """An export whose digest is that of its receipts."""
    receipts = '{"execution_id":"ex_01HXE"}\n'
    raw = {
        "schema_version": "aud2.v1",
        "period": {"from": "2026-11-01", "to": "2026-11-30"},
        "content_policy": {"receipts": "content_free", "proposals": "role_scoped_d8b"},
        "receipts_ndjson": receipts,
        "usage_totals": dict(usage().raw["totals"]),
        "decision_log": [
            {
                "decision_id": "dec_01", "kind": "execution_cancellation", "action": "cancelled",
                "resource": {"type": "execution", "id": "ex_01HXC"}, "acted_by": KEY_ID, "at": AT,
            }
        ],
        "attestation": {"algorithm": "sha256", "digest": hashlib.sha256(receipts.encode()).hexdigest()},
    }  # fmt: skip
    return ComplianceExport(merged(raw, over))


WHOLE: Final[tuple[Record, ...]] = (
    definition(), deployment(), catalog_entry(), arm(), agent_arm(), arm_outcome(), verifier(), verifier_outcome(),
    verifier_outcome(reachable=False), verifier_test(), key_connection(),
    key_intent("https://app.example.test/connect/verifier?intent=abc"), source_profile(), connection(), handoff(),
    handoff("completed"), disconnected(), template(), template("pooled-open-model", eligible=False), plan(),
    application(), selection(), agent(), credential(), github_connection(), github_intent(), proposal(), api_key(),
    webhook(), delivery(), usage(), eval_summary(), compliance_export(),
)  # fmt: skip
"""One of everything."""

LISTS: Final[Mapping[str, Callable[[], Sequence[Record]]]] = {
    "model": lambda: [
        catalog_entry(),
        catalog_entry("mdep_01HX9", model=dict(definition("contoso/atlas-12b", publisher_id="contoso").raw)),
    ],
    "arm": lambda: [arm(), agent_arm(), arm("arm_01HX8", "disabled", display_name="Atlas 12B")],
    "verifier": lambda: [
        verifier(),
        verifier(
            "vrf_90aa", display_name="Five bullets", status="degraded", status_reason="endpoint_unreachable",
            correctness_declaration=dict(NOT_DECLARED),
            connection={"status": "expired", "days_remaining": 0, "stop_reason": "stop_date"},
        ),
    ],
    "template": lambda: [
        template(),
        template("pooled-open-model", eligible=False),
        template("byok-open-model", catalog_row=dict(catalog_entry().raw)),
    ],
    "agent": lambda: [agent(), agent("arm_rev2", "degraded", display_name="Slow agent")],
    "credential": lambda: [credential(), credential("cred_ref_02", display_name="Docs key")],
    "github": lambda: [github_connection()],
    "connection": lambda: [
        connection(),
        connection(
            "conn_01HXZ", display_name="Box under the desk", source_id="openai_compatible", test_state="failed",
            test_error="authentication", status="disabled", tested_binding_revision=1,
        ),
    ],
    "source_profile": lambda: [source_profile(), source_profile("anthropic_direct")],
    "deployment": lambda: [deployment(), deployment("mdep_01HX9", status="disabled", model_key="contoso/atlas-12b")],
    "definition": lambda: [definition(), definition("contoso/atlas-12b", publisher_id="contoso", family="atlas")],
    "proposal": lambda: [proposal(), proposal("prop_02", "approved")],
    "api_key": lambda: [api_key(), api_key("key_Z9y8X7", "revoked", display_name="old laptop")],
    "webhook": lambda: [webhook(), webhook("wh_02", url="https://audit.example.test/ended")],
}  # fmt: skip
"""What a list of each kind gives."""
