"""The members of every request body that the service takes (manual: interface, "Resources").

A member without ``?`` is required. ``object`` means a value of any type.
"""

from __future__ import annotations

from typing import Final

from tests.contract.members import ARM_KIND, COST_CLASS, MODE
from tests.contract.shapes import Shape, words

RUN_BODY: Final[Shape] = {
    "mode?": MODE,
    "task": {
        "objective": str,
        "inputs_ref?": {"kind": words("url_list", "url", "inline_json"), "url?": str, "json?": {}},
    },
    "policy": {
        "data_classes": [str],
        "budget": {"max_cost_usd": float, "max_runtime_s": float},
        "cost_coefficient?": float,
        "on_eval?": [words("gate", "fallback", "repair_retry")],
    },
    "verifier_id?": str,
    "routing?": {"required_arm_id": str},
    "compose?": words("auto"),
    "review_composer?": {},
}
ARM_BODY: Final[Shape] = {
    "kind": ARM_KIND, "display_name": str, "capability_tags": [str], "data_class_grants": [str],
    "cost_class?": COST_CLASS, "model_deployment_id?": str,
}  # fmt: skip
ARM_PATCH: Final[Shape] = {"display_name?": str, "capability_tags?": [str], "data_class_grants?": [str]}
QUOTE_BODY: Final[Shape] = {"model_deployment_id": str, "input_tokens": int, "output_tokens": int}

_ENDPOINT: Final[Shape] = {"url": str, "auth_ref?": str}
VERIFIER_BODY: Final[Shape] = {
    "display_name": str,
    "version": str,
    "kind": words("endpoint"),
    "endpoint": _ENDPOINT,
    "input_data_classes": [str],
    "scoring": {"correctness": words("boolean_anchors"), "quality": words("scalar_0_1")},
    "correctness_declaration?": {"method": words("deterministic")},
}
VERIFIER_PATCH: Final[Shape] = {
    "display_name?": str, "version?": str, "endpoint?": _ENDPOINT,
    "correctness_declaration?": {"method": words("deterministic")},
}  # fmt: skip
INTENT_BODY: Final[Shape] = {
    "stop_choice": {"kind": words("no_expiration", "preset_days", "calendar_date"), "days?": int},
}
KEY_TEST_BODY: Final[Shape] = {"handle": str, "captured_generation": int, "operation_key?": str}
KEY_REVOKE_BODY: Final[Shape] = {"operation_key?": str}

HANDOFF_BODY: Final[Shape] = {
    "source_id": str, "auth_scheme": str, "endpoint?": {"base_url?": str, "protocol_profile?": str, "prices?": {}},
}  # fmt: skip
CONNECTION_BODY: Final[Shape] = {
    "display_name": str, "source_id": str, "auth_scheme": str, "handoff_intent_id": str, "source_scope": {},
}  # fmt: skip
ROTATE_BODY: Final[Shape] = {"handoff_intent_id": str}

PLAN_BODY: Final[Shape] = {"template_id?": words("starter", "pooled-open-model", "byok-open-model")}
APPLICATION_BODY: Final[Shape] = {**PLAN_BODY, "digest": str, "issued_at": str, "application_key?": str, "write?": bool}
RESUME_BODY: Final[Shape] = {
    "action": words(
        "poll_consent", "retry_consent", "retry_connection_test", "retry_deployment_sync", "authorize_live_proof",
        "refresh_pool_readiness", "refresh_byok_readiness",
    ),
    "live_proof_digest?": str,
}  # fmt: skip
SELECTION_BODY: Final[Shape] = {"application_id": str}

NAME_BODY: Final[Shape] = {"display_name": str}
KEY_BODY: Final[Shape] = {"display_name?": str, "role?": words("owner", "runner", "reader")}
REJECTION_BODY: Final[Shape] = {"reason?": str}
WEBHOOK_BODY: Final[Shape] = {"url": str, "event_types": [str]}
AGENT_BODY: Final[Shape] = {"repository": str, "display_name": str, "endpoint": _ENDPOINT, "max_runtime_s": int}
REPOSITORY_BODY: Final[Shape] = {"repository": str}
SIGN_IN_BODY: Final[Shape] = {"key": str}
SECRET_BODY: Final[Shape] = {"secret": str}
TOP_UP_BODY: Final[Shape] = {"amount_usd": float}
