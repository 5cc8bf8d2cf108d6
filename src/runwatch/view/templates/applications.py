"""Plans and applications of templates: maximum spend, poll intervals, and the local note about an application."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from runwatch.base.json import dumps, loads
from runwatch.records.template import Application, Plan
from runwatch.view.templates.next_actions import NO_ACTION_TYPES
from runwatch.view.text import json_paths
from runwatch.view.text.safe_text import json_text, plain_decimal
from runwatch.view.text.values import to_decimal

ENDED: Final = frozenset({"ready", "failed_safe"})
"""Final states of an application (manual: interface, "Tenant templates")."""

_WAITING: Final = frozenset({"action_required", "consent_pending"})

MOVING_S: Final = 2.0
"""Poll interval of a visible application that proceeds by itself, in seconds."""

WAITING_S: Final = 15.0
"""Poll interval of one that waits for the user, in seconds."""

_BUDGET: Final = ("diagnostics.maximum_spend_usd", "diagnostics.request_policy.budget.max_cost_usd")


def choose_poll_interval_s(application: Application) -> float | None:
    """Return the poll interval of a visible application in seconds; ``None`` if it has ended."""
    if application.state in ENDED:
        return None
    action = application.next_action
    is_waiting = application.state in _WAITING or application.live_proof is not None
    if action is not None and action.type in NO_ACTION_TYPES:
        is_waiting = False
    return WAITING_S if is_waiting else MOVING_S


def max_spend_text(plan: Plan) -> str:
    """Describe the maximum spend of a plan."""
    most = plan.maximum_spend_usd
    return "an amount that the plan does not state" if most is None else f"{plain_decimal(most)} USD"


def proof_spend_text(application: Application) -> str:
    """Describe the maximum spend of an application's live proof.

    It is the total maximum if the application states it, else the budget of its run, which does not include the
    platform fee.
    """
    for path, more in zip(_BUDGET, ("", " and the platform fee"), strict=True):
        value: Any = json_paths.get_at(application.raw, json_paths.parse_path(path))
        if not isinstance(value, bool) and isinstance(value, (int, float, Decimal)) and to_decimal(value) is not None:
            return f"{json_text(value)} USD{more}"
    return "an amount that the application does not state"


def encode_application_note(application_id: str) -> str:
    """Encode the local note about an application started here, so it can be resumed."""
    return dumps({"application_id": application_id})


def decode_application_note(text: str) -> str:
    """Return the application id in a note; empty if the text has none."""
    try:
        value = loads(text)
    except ValueError:
        return ""
    found = value.get("application_id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
