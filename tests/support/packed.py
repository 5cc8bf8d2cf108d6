"""Records with one hostile text in every place for a text."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.problem import Problem
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run, RunResult
from tests.support import builders

_KINDS: Final[dict[str, Record]] = {}


def kinds() -> dict[str, Record]:
    """One whole record of each kind that :func:`packed` knows, by name."""
    if not _KINDS:
        _KINDS.update(
            {
                "problem": builders.validation_problem(task__objective="Required."),
                "run": builders.open_run(
                    reason="cancelled", cancelled_by=builders.KEY_ID, completed_at=builders.AT, known_spend_usd=0.0031,
                    unknown_calls=1, estimated_calls=1,
                    required_arm={
                        "arm_id": "arm_3f20", "display_name": "Ember", "status": "degraded",
                        "status_reason": "The model is retired.",
                    },
                    selected={
                        "arm_id": "arm_3f20", "provider": "northwind", "model_key": "northwind/ember-7b",
                        "model_deployment_id": "mdep_1", "connection_id": "conn_1", "access_lane": "byok",
                    },
                    provider_errors=[
                        {
                            "attempt": 1, "arm_id": "arm_3f20", "at": builders.AT, "http_status": 400,
                            "message": "The model is not loaded.", "retention_expires_at": builders.AT,
                        },
                    ],
                ),
                "result": builders.result(),
                "account": builders.account(
                    closed_secrets=[{"resource_type": "webhook", "resource_id": "wh_1", "display_name": "Hook"}],
                ),
                "event": builders.event(1, "failed", reason="internal", acted_by=builders.KEY_ID),
                "verification event": builders.verification_event(2),
                "unknown event": builders.unknown_event(3),
                "echo receipt": builders.echo_receipt(),
                "live receipt": builders.live_receipt(),
                "baseline receipt": builders.baseline_receipt(),
                "ended receipt": builders.ended_receipt("failed"),
            },
        )  # fmt: skip
        for state in builders.RECORDED_STATES:
            _KINDS[f"recorded event {state}"] = builders.recorded_event(4, state)
    return _KINDS


def packed(kind: str, text: str, *, keep: tuple[str, ...] = ()) -> Record:
    """One record of a kind with the text in every string, in the name of a member, and in lists and objects of its own.

    Args:
        kind: A name of :func:`kinds`.
        text: The text.
        keep: Top-level members that stay as they are, so that the record can still be asked for by its id, or counts
            as final.

    Raises:
        KeyError: there is no such kind.
    """
    original = kinds()[kind]
    raw = {name: value if name in keep else _packed(value, text) for name, value in dict(original.raw).items()}
    raw.setdefault(text, text)
    raw["x_unknown"] = {text: [text, {text: text}], "x": text}
    types: tuple[type[Record], ...] = (Problem, Run, RunResult, Account, RunEvent, Receipt)
    return next(known(raw) for known in types if type(original) is known)


def _packed(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [_packed(item, text) for item in value]
    if isinstance(value, dict):
        return {name: _packed(item, text) for name, item in value.items()} | {text: text}
    return value
