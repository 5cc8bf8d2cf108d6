"""Accept and cancel runs (manual: interface, "Runs"; manual: decisions, "Error responses").

All runs, whether from a request or from the service itself, go through :func:`submit`. In a service of one process the
caller has the engine drive the run once the transaction is on disk; in a team the transaction itself queues the run.
"""

from __future__ import annotations

import re
from typing import Any, Final

from runwatch.base.closest_word import did_you_mean
from runwatch.base.secrets.secret_patterns import find_secret
from runwatch.base.shell_words import runwatch_command
from runwatch.records.requests.run import KNOWN_DATA_CLASSES, RunRequest
from runwatch.service import decision_log
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import review_composer, routing, run_owners, runs
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.state_machine import RunState, new_run
from runwatch.service.organization import wallet
from runwatch.service.tables import arms_table, deployments_table, verifiers_table
from runwatch.service.transaction import Transaction

ECHO_DATA_CLASSES: Final = frozenset({"public", "sandbox"})
"""Data classes that a test run may use without a registered arm."""

_OTHER_KINDS: Final = {
    "skill": "is a skill, not a saved model. `repair_retry` in `on_eval` uses the oldest ready skill that is granted"
    " all data classes of the run; a run names none.",
    "agent": "is a review agent, not a saved model. A review composer run names it in review_composer.agent_arm_id.",
}
"""What an arm is that no run can require, by its kind, and how a run uses it."""

_CHECKS: Final = "`runwatch verifiers list` shows them."


def submit(
    transaction: Transaction,
    tenant_id: str,
    key_id: str,
    request: RunRequest,
    content: dict[str, Any],
) -> RunState:
    """Accept a run and return it.

    Args:
        content: The same request with exact values.

    Raises:
        RefusalError: ``echo_mode_mismatch``, ``data_class_not_available``, ``validation_failed``, ``invalid_state``, or
            a refusal of :func:`runwatch.service.organization.wallet.admit_run`.
    """
    if request.breaks_echo_rule:
        raise RefusalError("echo_mode_mismatch", "A test run calls no model, so it takes no verifier_id.")
    _check_inputs(request)
    _check_known_classes(transaction, tenant_id, request)
    _check_arm(transaction, tenant_id, request)
    if request.review_composer is not None:
        review_composer.require_agent(transaction, tenant_id, request.review_composer)
    else:
        _check_data_classes(transaction, tenant_id, request)
    _check_verifier(transaction, tenant_id, request)
    wallet.admit_run(transaction, tenant_id, request.mode)
    run = new_run(
        tenant_id=tenant_id,
        mode=request.mode,
        policy=content["policy"],
        max_runtime_s=request.policy.budget.max_runtime_s,
        now=transaction.now,
    )
    runs.add(transaction, run)
    if request.mode == "live":
        live_rows.add(
            transaction,
            run,
            content["task"],
            verifier_id=request.verifier_id,
            required_arm_id=_required_arm(request),
            review_composer=content.get("review_composer"),
        )
    run_owners.record_owner(transaction, run.execution_id, key_id)
    return run


def cancel(transaction: Transaction, tenant_id: str, key_id: str, execution_id: str) -> RunState:
    """Cancel a run that is not final and record the key that did it. The engine stops driving it after the commit.

    A provider call in progress is not undone. Refuses with ``not_found``, or ``invalid_state`` for a final run.
    """
    run = runs.find(transaction, tenant_id, execution_id)
    if run.is_final:
        raise RefusalError("invalid_state", f"The run is already {run.status}.")
    ended = runs.end(transaction, execution_id, "cancelled", "cancelled", acted_by=key_id)
    transaction.abort_run(execution_id)
    decision_log.record_decision(
        transaction, tenant_id, "execution_cancellation", "cancelled", "execution", execution_id, key_id
    )
    return ended


def _check_inputs(request: RunRequest) -> None:
    """Refuse inputs given as addresses, also in test runs: this service fetches none."""
    inputs = request.task.inputs_ref
    if inputs is not None and inputs.kind != "inline_json":
        raise make_validation_error(
            (
                "task.inputs_ref.kind",
                "Must be inline_json: this service fetches no addresses. Send what is there as inline_json.",
            )
        )


def _check_known_classes(transaction: Transaction, tenant_id: str, request: RunRequest) -> None:
    """Refuse a data class that no model or option of the organization has and that is not one of the usual ones.

    The message names it only if it is plain and holds no secret.
    """
    known = set(KNOWN_DATA_CLASSES)
    if known.issuperset(request.policy.data_classes):
        return
    for row in transaction.list_all(arms_table, {"tenant_id": tenant_id}):
        known.update(row["data_class_grants"])
    for row in transaction.list_all(deployments_table, {"tenant_id": tenant_id}):
        known.update(row["data_classes"])
    failures = []
    for position, name in enumerate(request.policy.data_classes):
        if name not in known:
            near = did_you_mean(name, sorted(known))
            guess = f" {near[0].upper()}{near[1:]}" if near else ""
            named = f"There is no data class {name}. " if _is_plain(name) else ""
            message = f"{named}Must be one of {', '.join(sorted(known))}.{guess}"
            failures.append((f"policy.data_classes[{position}]", message))
    if failures:
        raise make_validation_error(*failures)


def _is_plain(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) is not None and find_secret(name) is None


def _check_data_classes(transaction: Transaction, tenant_id: str, request: RunRequest) -> None:
    """Refuse a data class that is granted to no registered arm, not counting disabled arms.

    A test run calls no arm but prepares a live run, so the same classes are refused, except those that every
    organization may use before it has saved a model.
    """
    granted = routing.has_grants(transaction, tenant_id)
    if request.mode == "echo":
        granted |= ECHO_DATA_CLASSES
    saved = {"tenant_id": tenant_id, "kind": "model", "status": ("ready", "degraded")}
    if request.mode == "live" and not transaction.count(arms_table, saved):
        raise RefusalError(
            "data_class_not_available",
            "No model is saved, so no live run can be accepted. Connect a source of models and save one of its models.",
        )
    if not set(request.policy.data_classes) <= granted:
        raise RefusalError(
            "data_class_not_available",
            "No saved model may be given every one of the requested data classes. `runwatch arms list --kind model`"
            " shows what each may be given, and `runwatch arms edit ID --data-class CLASS` sets it: name all its"
            " classes.",
        )


def _check_arm(transaction: Transaction, tenant_id: str, request: RunRequest) -> None:
    """Refuse an arm that the organization does not have. The message names it only if the id is plain and holds no
    secret.
    """
    arm_id = _required_arm(request)
    if arm_id is None:
        return
    arm = transaction.one(arms_table, {"arm_id": arm_id, "tenant_id": tenant_id})
    if arm is not None and arm["kind"] in _OTHER_KINDS:
        message = f"{arm_id} {_OTHER_KINDS[arm['kind']]} Leave it out, or give the id of a saved model."
        raise make_validation_error(("routing.required_arm_id", message))
    if arm is None or arm["kind"] != "model":
        named = f"There is no saved model {arm_id}. " if _is_plain(arm_id) else ""
        known = transaction.list_all(
            arms_table, {"tenant_id": tenant_id, "kind": "model", "status": ("ready", "degraded")}
        )
        near = did_you_mean(arm_id, [row["arm_id"] for row in known])
        guess = f" {near[0].upper()}{near[1:]}" if near else ""
        listed = f"`{runwatch_command('arms list', kind='model')}` shows them."
        raise make_validation_error(
            (
                "routing.required_arm_id",
                f"{named}Must be the id of a saved model of this organization. {listed}{guess}",
            )
        )


def _check_verifier(transaction: Transaction, tenant_id: str, request: RunRequest) -> None:
    """Refuse a check that cannot be used.

    The specification leaves the codes open. This service answers ``validation_failed`` for an unknown check, and
    ``invalid_state`` for a retired check or when no saved model could produce an output. The check receives the output,
    so it must be registered for the run's data classes.
    """
    arm_id = _required_arm(request)
    if request.verifier_id is None:
        return
    verifier = transaction.one(verifiers_table, {"verifier_id": request.verifier_id, "tenant_id": tenant_id})
    if verifier is None:
        raise make_validation_error(
            ("verifier_id", f"Must be the id of an output check of this organization. {_CHECKS}")
        )
    if verifier["retired_at"] is not None:
        raise RefusalError("invalid_state", f"The output check is retired, for good. Use another one. {_CHECKS}")
    if not set(request.policy.data_classes) <= set(verifier["input_data_classes"]):
        message = (
            "The check is not registered for every data class of the run. Set them with `runwatch verifiers update"
            " --data-class CLASS ID`, all that it may be given, or ask for fewer."
        )
        raise make_validation_error(("verifier_id", message))
    if arm_id is None and not routing.candidates(transaction, tenant_id, data_classes=request.policy.data_classes):
        raise RefusalError(
            "invalid_state",
            "An output check needs a saved model that is ready, or routing.required_arm_id. `runwatch arms list --kind"
            " model` says what makes each ready.",
        )


def _required_arm(request: RunRequest) -> str | None:
    return None if request.routing is None else request.routing.required_arm_id
