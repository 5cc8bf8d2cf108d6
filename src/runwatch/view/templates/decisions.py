"""A reviewer's go or no-go on a record, with a reason and the record's digest. Kept locally, never sent.

A decision is stored as JSON in a local note: ``{"verdict": "go" | "no-go", "reason": …, "digest": …}``. If the record's
digest differs, the record has changed since the decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from runwatch.base.json import dumps, loads
from runwatch.records.digest import compute_digest
from runwatch.records.record import Record
from runwatch.view.text.format import RenderContext, ago
from runwatch.view.text.glyphs import Role
from runwatch.view.text.styled_text import StyledText, signed

if TYPE_CHECKING:
    from runwatch.store.repositories.notes import LocalNote

Verdict = Literal["go", "no-go"]

CHANGED: Final = "the record has changed since"
"""Shown if the record changed after the decision."""


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """One decision, with the digest of the record at that time."""

    verdict: Verdict
    reason: str
    digest: str
    at: datetime

    @property
    def text(self) -> str:
        """As stored in a local note."""
        return dumps({"verdict": self.verdict, "reason": self.reason, "digest": self.digest})

    def holds_for(self, record: Record) -> bool:
        try:
            return compute_digest(record) == self.digest
        except ValueError:
            return False


def parse_decision(text: str, at: datetime) -> ReviewDecision | None:
    """Parse the decision in a note; ``None`` if the text is not one."""
    try:
        value = loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    verdict, reason, digest = (value.get(name) for name in ("verdict", "reason", "digest"))
    if verdict not in get_args(Verdict) or not isinstance(reason, str) or not isinstance(digest, str):
        return None
    return ReviewDecision(cast(Verdict, verdict), reason, digest, at)


def group_decisions(notes: Iterable[LocalNote]) -> dict[str, ReviewDecision]:
    """Return the decisions among notes, by record id."""
    read = ((note.record_id, parse_decision(note.text, note.at)) for note in notes if note.purpose == "decision")
    return {record_id: decision for record_id, decision in read if decision is not None}


def decision_cell(decision: ReviewDecision, record: Record, context: RenderContext) -> StyledText:
    """Format a decision for a list: its verdict, or that it is old because the record changed."""
    if not decision.holds_for(record):
        return signed(f"{decision.verdict}, old", Role.WARN, context.glyphs)
    return signed(decision.verdict, Role.GOOD if decision.verdict == "go" else Role.BAD, context.glyphs)


def decision_line(decision: ReviewDecision, record: Record, context: RenderContext) -> StyledText:
    """Format a decision for a detail: verdict, age, reason, and whether the record has changed since."""
    role = decision_cell(decision, record, context).role
    reason = f": {decision.reason}" if decision.reason else ""
    changed = "" if decision.holds_for(record) else f" {context.glyphs.dot} {CHANGED}"
    return signed(f"{decision.verdict}, {ago(decision.at, context.now)}{reason}{changed}", role, context.glyphs)
