"""Verdict and action of Review Composer runs and receipts.

State ``completed`` only means that observation has ended (manual: interface, "Review agents"). So where a state is
shown, the verdict replaces it once there is one. An unknown verdict is shown as sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runwatch.records.packet import DecisionPacket
from runwatch.records.states import is_final
from runwatch.view.spec.members import column
from runwatch.view.spec.resource import Column
from runwatch.view.text.format import state_cell
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText, StyledText

_ROLES: Final[Mapping[str, Role]] = {
    "pass": Role.GOOD,
    "approve": Role.GOOD,
    "block": Role.BAD,
    "request_changes": Role.BAD,
    "no_verdict": Role.WARN,
    "comment": Role.WARN,
}
"""``pass``, ``block`` and ``no_verdict`` are in the specification; the others are common words of code review."""

NEEDS_REVIEW: Final = "needs_review"
"""The action that asks the user to review."""


def parse_packet(raw: Mapping[str, Any] | None) -> DecisionPacket | None:
    """Return a decoded decision packet as a record; ``None`` if absent or empty."""
    return DecisionPacket.of(raw) if raw else None


def verdict_role(verdict: str | None) -> Role:
    """Return the role of a verdict; plain for an unknown one."""
    return _ROLES.get(verdict or "", Role.PLAIN)


def is_rejected(packet: DecisionPacket | None) -> bool:
    return packet is not None and verdict_role(packet.verdict) is Role.BAD


def verdict_text(verdict: str) -> SafeText:
    """Return a verdict in words; an unknown one as sent."""
    return line(verdict.replace("_", " ") if verdict in _ROLES else verdict)


def verdict_column(value: Callable[[Any], str | None]) -> Column[Any]:
    """Declare the column of the verdict, whose name tells it from the verdict of an output check."""
    return column(
        "verdict", value, title="review verdict", facet_title="review", min_cells=8,
        format=lambda verdict, _: StyledText(verdict_text(verdict), verdict_role(verdict)),
    )  # fmt: skip


def run_outcome_cell(status: str | None, packet: DecisionPacket | None, glyphs: Glyphs) -> StyledText:
    """Format the state of a run for a list: its verdict if there is one, else its status."""
    if packet is None or packet.verdict is None:
        return state_cell(status, glyphs)
    role = verdict_role(packet.verdict)
    glyph = glyphs.unknown if role is Role.PLAIN else glyphs.sign(role)
    return StyledText(line(f"{glyph} {verdict_text(packet.verdict)}"), role)


def run_outcome_title(status: str | None, packet: DecisionPacket | None, glyphs: Glyphs) -> StyledText:
    """Format the state of a run for a heading, with the action to take."""
    shown = run_outcome_cell(status, packet, glyphs)
    if packet is None or not packet.action:
        return shown
    role = Role.WARN if packet.action == NEEDS_REVIEW and shown.role is Role.GOOD else shown.role
    return StyledText(line(f"{shown.text} {glyphs.dot} {line(packet.action)}"), role)


def end_reason(reason: str | None, packet: DecisionPacket | None) -> str | None:
    """Return why a run ended: its reason, else that of its decision packet, else the action that this asks for."""
    return reason if reason or packet is None else packet.reason or packet.action


def end_reason_cell(reason: str | None, packet: DecisionPacket | None, status: str | None, glyphs: Glyphs) -> CellText:
    """Format why a run ended for a list, with the action that a decision packet asks for. A live or completed run needs
    no reason.
    """
    if packet is not None and not reason:
        words = [line(word) for word in (packet.action, packet.reason) if word]
        role = Role.WARN if packet.action == NEEDS_REVIEW else Role.PLAIN
        return StyledText(line(f" {glyphs.dot} ".join(words) or glyphs.unknown), role)
    needs_none = not is_final(status) or status == "completed"
    return line(reason or (glyphs.nothing if needs_none else glyphs.unknown))
