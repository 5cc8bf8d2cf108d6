"""JSON of template applications (manual: interface, "Tenant templates")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.service.execution import runs
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.state_machine import RunState
from runwatch.service.setup import plans
from runwatch.service.setup.templates import POOLED, VERSION
from runwatch.service.transaction import Row, Transaction


def application_json(transaction: Transaction, row: Row, continue_url: str | None = None) -> dict[str, Any]:
    """Build the JSON of an application; only the caller that started the consent gets its ``continue_url``."""
    echo = None if row["echo_execution_id"] is None else runs.load(transaction, row["echo_execution_id"])
    live = None if row["live_execution_id"] is None else runs.load(transaction, row["live_execution_id"])
    proven = echo if row["template_id"] == "starter" else live
    result = None if live is None else live_rows.find_result(transaction, live.execution_id)
    return {
        "application_id": row["application_id"],
        "template_id": row["template_id"],
        "template_version": VERSION,
        "request_preset_id": plans.PRESETS[row["template_id"]],
        "state": row["state"],
        "completed_effects": row["completed_effects"],
        "result": None if live is None or result is None else _result(live, live_rows.result_json(result)),
        "receipt": None if proven is None or not proven.is_final else _receipt(proven),
        "managed_arm_id": row["managed_arm_id"],
        "echo_execution_id": row["echo_execution_id"],
        "echo_receipt_id": None if echo is None or not echo.is_final else echo.execution_id,
        "live_execution_id": row["live_execution_id"],
        "selected_model_deployment_id": row["model_deployment_id"],
        "source_connection_id": row["source_connection_id"],
        "consent": _consent(row, continue_url),
        "live_proof": row["live_proof"] if row["state"] == "echo_proved" else None,
        "next_action": _next_action(row),
        "diagnostics": _diagnostics(row),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def _result(run: RunState, shown: dict[str, Any]) -> dict[str, Any]:
    href = f"/v1/executions/{run.execution_id}/result"
    return {"execution_id": run.execution_id, "href": href, "model_provenance": shown["model_provenance"]}


def _receipt(run: RunState) -> dict[str, str]:
    return {"receipt_id": run.execution_id, "href": f"/v1/receipts/{run.execution_id}"}


def _consent(row: Row, continue_url: str | None) -> dict[str, Any] | None:
    if row["consent"] is None or row["state"] not in {"consent_pending", "action_required"}:
        return None
    return {**row["consent"], "continue_url": continue_url}


def _diagnostics(row: Row) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "request_policy": plans.request_policy(row["template_id"]),
        "lane_substitution_performed": False,
        **(row["byok_offering"] or {}),
    }
    return shown if row["failure_code"] is None else {**shown, "failure_code": row["failure_code"]}


_AFTER_FAILURE: Final = {
    "consent_expired": ("retry_consent", "Begin the entry of the credential anew."),
    "connection_test_failed": ("retry_connection_test", "Have the connection tested again."),
    "deployment_not_listed": ("retry_deployment_sync", "Have the source's list of models read again."),
}

_BY_STATE: Final = {
    "applying": ("wait", "It continues by itself."),
    "consent_pending": ("enter_credential", "Enter the source's key on its private page."),
    "arm_ready": ("wait", "A test run is on its way."),
    "echo_proved": ("authorize_{lane}_live_proof", "Authorize one bounded live run with live_proof.digest."),
    "live_queued": ("wait", "The live run waits for its turn."),
    "live_running": ("wait", "The live run is on its way."),
    "action_required": ("refresh_{lane}_readiness", "Fix the cause named by failure_code, then refresh."),
    "failed_safe": ("approve_plan", "The application has ended. Make a new plan."),
}


def _next_action(row: Row) -> dict[str, str]:
    """Return the next action; ``wait``, ``enter_credential``, ``select_model`` and ``none`` are not in the
    specification.
    """
    if row["state"] == "ready":
        kind, detail = ("none", "The template is set up.")
        if row["template_id"] != "starter":
            kind, detail = ("select_model", "Select its model for the organization.")
    else:
        kind, detail = _AFTER_FAILURE.get(row["failure_code"] or "", _BY_STATE[row["state"]])
    return {"type": kind.format(lane="pool" if row["template_id"] == POOLED else "byok"), "detail": detail}
