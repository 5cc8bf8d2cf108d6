"""Plans and applications of templates: what may be spent, what goes on by itself, and how one begun here is kept."""

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
"""States that an application never leaves (wire reference 2.7)."""

_WAITING: Final = frozenset({"action_required", "consent_pending"})

MOVING_S: Final = 2.0
"""How often an application that goes on by itself is read while it is shown; ours."""

WAITING_S: Final = 15.0
"""How often one that waits for somebody is read."""

_BUDGET: Final = ("diagnostics.maximum_spend_usd", "diagnostics.request_policy.budget.max_cost_usd")


def choose_poll_interval_s(application: Application) -> float | None:
    """Seconds until an application that is shown is read again; ``None`` when it has ended."""
    if application.state in ENDED:
        return None
    action = application.next_action
    is_waiting = application.state in _WAITING or application.live_proof is not None
    if action is not None and action.type in NO_ACTION_TYPES:
        is_waiting = False
    return WAITING_S if is_waiting else MOVING_S


def max_spend_text(plan: Plan) -> str:
    """What a plan may spend at most, in words."""
    most = plan.maximum_spend_usd
    return "an amount that the plan does not tell" if most is None else f"{plain_decimal(most)} USD"


def proof_spend_text(application: Application) -> str:
    """What the live proof of an application may spend at most, in words.

    The whole maximum where the application tells it, else the budget of its run, to which the platform fee comes.
    """
    for path, more in zip(_BUDGET, ("", " and the platform fee"), strict=True):
        value: Any = json_paths.get_at(application.raw, json_paths.parse_path(path))
        if not isinstance(value, bool) and isinstance(value, (int, float, Decimal)) and to_decimal(value) is not None:
            return f"{json_text(value)} USD{more}"
    return "an amount that the application does not tell"


def encode_application_note(application_id: str) -> str:
    """What is kept of an application that was begun here, so that it can be resumed."""
    return dumps({"application_id": application_id})


def decode_application_note(text: str) -> str:
    """The id of the application that a note keeps; empty for a text that keeps none."""
    try:
        value = loads(text)
    except ValueError:
        return ""
    found = value.get("application_id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
