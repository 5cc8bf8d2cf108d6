"""How the standing of a resource is drawn: ready, blocked, disabled and what lies between (console-anchors C5).

The states of runs have words and glyphs of their own; these are the words of everything else (wire reference 2). A word
that nobody knows is drawn as it came, in no colour: it might mean anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, json_text, line
from runwatch.view.text.styled_text import CellText, StyledText

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
    """A word for a standing with its glyph and colour; ``None`` means that it is not known."""
    glyphs = context.glyphs
    if word is None:
        return line(glyphs.unknown)
    role = _ROLES.get(word, Role.PLAIN)
    mark = {Role.GOOD: glyphs.good, Role.WARN: glyphs.warn, Role.BAD: glyphs.bad, Role.OFF: glyphs.off}.get(role)
    shown = line(word, None)
    return StyledText(line(f"{mark} {shown}", None), role) if mark else shown


def detail_status(value: object, context: RenderContext) -> CellText:
    """The same for a decoded member of any type."""
    return status_cell(value, context) if isinstance(value, str) else line(json_text(value), None)


def joined_cell(value: tuple[str, ...], _: RenderContext) -> SafeText:
    """Short texts one after another, in a list."""
    return line(", ".join(line(word) for word in value))
