"""Runs and receipts of Review Composer: their verdict and action say more than the word ``completed``.

Lifecycle ``completed`` only means that observation has ended (wire reference 2.13). So wherever a state is shown, the
verdict takes its place as soon as there is one; a verdict nobody knows is shown as it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.packet import DecisionPacket
from runwatch.view.text.format import state_label
from runwatch.view.text.glyphs import Glyphs, Role, state_glyph
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

_ROLES: Final[Mapping[str, Role]] = {
    "pass": Role.GOOD,
    "approve": Role.GOOD,
    "block": Role.BAD,
    "request_changes": Role.BAD,
    "no_verdict": Role.WARN,
    "comment": Role.WARN,
}
"""``pass``, ``block`` and ``no_verdict`` are the reference's; the others are the words of code review, ours."""

NEEDS_REVIEW: Final = "needs_review"
"""The action that asks for the user."""


def parse_packet(raw: Mapping[str, Any] | None) -> DecisionPacket | None:
    """A decoded decision packet as a record; ``None`` where there is none, or nothing in it."""
    return DecisionPacket(dict(raw)) if raw else None


def verdict_role(verdict: str | None) -> Role:
    """What a verdict means; plain where nobody knows."""
    return _ROLES.get(verdict or "", Role.PLAIN)


def is_rejected(packet: DecisionPacket | None) -> bool:
    """Whether the decision is that the work may not pass."""
    return packet is not None and verdict_role(packet.verdict) is Role.BAD


def run_outcome_cell(status: str | None, packet: DecisionPacket | None, glyphs: Glyphs) -> StyledText:
    """The state of a run for a list: its verdict where one was reached, else its status."""
    if packet is None or packet.verdict is None:
        return StyledText(state_label(status, glyphs), state_glyph(status, glyphs)[1])
    role = verdict_role(packet.verdict)
    glyph = {Role.GOOD: glyphs.good, Role.BAD: glyphs.bad, Role.WARN: glyphs.warn}.get(role, glyphs.unknown)
    return StyledText(line(f"{glyph} {line(packet.verdict)}"), role)


def run_outcome_title(status: str | None, packet: DecisionPacket | None, glyphs: Glyphs) -> StyledText:
    """The same for a heading, with what is to be done."""
    shown = run_outcome_cell(status, packet, glyphs)
    if packet is None or not packet.action:
        return shown
    role = Role.WARN if packet.action == NEEDS_REVIEW and shown.role is Role.GOOD else shown.role
    return StyledText(line(f"{shown.text} {glyphs.dot} {line(packet.action)}"), role)


def decision_reason_cell(packet: DecisionPacket | None, glyphs: Glyphs) -> StyledText | None:
    """What is to be done and why, for a column of reasons; ``None`` without a packet."""
    if packet is None:
        return None
    words = [line(word) for word in (packet.action, packet.reason) if word]
    role = Role.WARN if packet.action == NEEDS_REVIEW else Role.PLAIN
    return StyledText(line(f" {glyphs.dot} ".join(words) or glyphs.unknown), role)
