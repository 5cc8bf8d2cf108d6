"""Plans and applications of templates: maximum spend, poll intervals, and the local note about an application."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps, loads
from runwatch.records.template import Application, Plan
from runwatch.view.templates.next_actions import NO_ACTION_TYPES
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext, time_of_day
from runwatch.view.text.safe_text import SafeText, json_text, line, plain_decimal
from runwatch.view.text.values import parse_time, to_decimal

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


@dataclass(frozen=True, slots=True)
class ApplicationNote:
    """The local note about an application started here, so that it can be resumed.

    Attributes:
        id: The application; empty for none.
        spend: What the proof that waits for the user's go may spend; empty if nothing waits.
        until: How long the go can be given; ``None`` if that is not known.
    """

    id: str = ""
    spend: str = ""
    until: datetime | None = None


NO_APPLICATION: Final = ApplicationNote()


def note_application(application: Application) -> ApplicationNote:
    """Return the note about an application as it was read."""
    proof = None if application.state in ENDED else application.live_proof
    if proof is None:
        return ApplicationNote(application.id)
    return ApplicationNote(application.id, proof_spend_text(application), proof.expires_at)


def waiting_text(note: ApplicationNote, context: RenderContext) -> SafeText:
    """Describe what an application waits for; empty if for nothing."""
    if not note.spend:
        return line("")
    if note.until is None:
        return line(f"waits for your go: {note.spend}")
    waits = "waits" if note.until > context.now else "waited"
    return line(f"{waits} for your go: {note.spend}, until {time_of_day(note.until, context)}")


def encode_application_note(note: ApplicationNote) -> str:
    waits = {"spend": note.spend, "until": None if note.until is None else format_iso(note.until)}
    return dumps({"application_id": note.id, **({"waits": waits} if note.spend else {})})


def decode_application_note(text: str) -> ApplicationNote:
    """Return a note; an empty one if the text is not JSON or names no application."""
    try:
        value = loads(text)
    except ValueError:
        return NO_APPLICATION
    found = value.get("application_id") if isinstance(value, dict) else None
    if not isinstance(found, str):
        return NO_APPLICATION
    waits = value.get("waits")
    if not isinstance(waits, dict) or not isinstance(waits.get("spend"), str):
        return ApplicationNote(found)
    return ApplicationNote(found, waits["spend"], parse_time(str(waits.get("until"))))
