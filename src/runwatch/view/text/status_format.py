"""Formats for the status of a resource, such as ready, blocked or disabled (manual: decisions, "Interface
conventions").

Run states have words and glyphs of their own; these are the status words of all other resources (manual: interface,
"Resources"). An unrecognized word is shown as sent and without colour, because its meaning is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, json_text, line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.styled_text import CellText, signed

_GOOD: Final = (
    "ready", "active", "listed", "passed", "approved", "eligible", "conformant", "exact_artifact", "reachable", "ok",
    "connected", "acknowledged", "delivered", "valid_verdict", "allowed",
)  # fmt: skip
_WAITING: Final = (
    "degraded", "pending", "untested", "expired", "planned", "applying", "consent_pending",
    "action_required", "arm_ready", "echo_proved", "live_queued", "live_running", "preview", "deprecated", "suspended",
    "not_checked", "unverified", "restricted", "scheduled_for_destruction",
)  # fmt: skip
_BAD: Final = ("failed", "failed_safe", "blocked", "unreachable", "quarantined", "technical_failure")
_OFF: Final = ("disabled", "revoked", "retired", "rejected", "cancelled", "consumed", "destroyed")

_ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(_GOOD, Role.GOOD),
    **dict.fromkeys(_WAITING, Role.WARN),
    **dict.fromkeys(_BAD, Role.BAD),
    **dict.fromkeys(_OFF, Role.OFF),
}


def status_cell(word: str | None, context: RenderContext) -> CellText:
    """Format a status word with its glyph and colour; ``None`` means unknown."""
    if word is None:
        return line(context.glyphs.unknown)
    role = _ROLES.get(word)
    return line(word, None) if role is None else signed(word, role, context.glyphs)


def detail_status(value: object, context: RenderContext) -> CellText:
    """Format a decoded member of any type as a status."""
    return status_cell(value, context) if isinstance(value, str) else line(json_text(value), None)


def advice_cell(value: str, context: RenderContext) -> SafeText:
    """Show a text in which the service may name a command."""
    return line(add_service(value, context.service))


def joined_cell(value: tuple[str, ...], _: RenderContext) -> SafeText:
    return line(", ".join(line(word) for word in value))
