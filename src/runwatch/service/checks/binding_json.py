"""JSON of a protected connection for the interface and for the database (manual: interface, "Verifiers")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter

from runwatch.service.checks.binding_state import Binding
from runwatch.service.checks.stop_date import days_left
from runwatch.service.transaction import pick

_BINDING: Final = TypeAdapter(Binding)


def summary_json(binding: Binding, now: datetime) -> dict[str, Any]:
    at = binding.stop.at
    return {
        "status": binding.status,
        "stop_at": at,
        "stop_time_zone": binding.stop.time_zone,
        "days_remaining": days_left(at, now) if at is not None and binding.status == "active" else None,
        "stopped_at": binding.stopped_at,
        "stop_reason": binding.stop_reason,
    }


def view_json(binding: Binding, now: datetime) -> dict[str, Any]:
    """Build the whole connection, without any operation.

    ``projection_ack`` is always confirmed, because the sender of the key reads the same rows that are shown here.
    """
    pending = binding.pending
    return summary_json(binding, now) | {
        "handle": binding.handle,
        "origin": binding.origin,
        "generation": binding.generation,
        "projection_ack": "acknowledged" if binding.generation else None,
        "pending_key": None if pending is None else pick(asdict(pending), "handle captured_generation staged_until"),
        "last_test": None if binding.last_test is None else asdict(binding.last_test),
        "replacement": _replacement(binding),
        "retired_keys": [asdict(key) for key in reversed(binding.retired)],
    }


def _replacement(binding: Binding) -> dict[str, Any] | None:
    """Return the outcome of the attempt to replace the current or last key."""
    pending, test = binding.pending, binding.last_test
    if binding.status == "unbound":
        return None
    if pending is not None:
        return {"status": "pending", "handle": pending.handle, "staged_until": pending.staged_until}
    if test is not None and test.outcome == "failed":
        return {"status": "failed", "handle": test.handle, "reason": test.reason, "at": test.at}
    return None


def to_json(binding: Binding) -> dict[str, Any]:
    """Build the stored form of a binding, without its generation."""
    return {name: value for name, value in asdict(binding).items() if name != "generation"}


def from_row(row: Mapping[str, Any]) -> Binding:
    return _BINDING.validate_python({**row["state"], "generation": row["generation"]})
