"""A reviewer's go or no-go on a record: its reason, and the digest of what it was made on. Kept here, never sent; ours.

A decision stands as one JSON text among the notes of this machine: ``{"verdict": "go" | "no-go", "reason": …, "digest":
…}``. When the record's digest is another one, the record has changed since it was decided on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from runwatch.base.json import dumps, loads
from runwatch.records.digest import digest_of
from runwatch.records.record import Record
from runwatch.view.drawn import line
from runwatch.view.format import Context, ago
from runwatch.view.glyphs import Role
from runwatch.view.resource import Styled

if TYPE_CHECKING:
    from runwatch.store.notes import Note

Verdict = Literal["go", "no-go"]

CHANGED: Final = "the record changed since"
"""What is said where a decision was made on something else than what the record says now."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision.

    Attributes:
        verdict: Go or no-go.
        reason: Why, in the reviewer's words.
        digest: The digest of the record that it was made on.
        at: When it was made.
    """

    verdict: Verdict
    reason: str
    digest: str
    at: datetime

    @property
    def text(self) -> str:
        """As it is kept among the notes."""
        return dumps({"verdict": self.verdict, "reason": self.reason, "digest": self.digest})

    def holds_for(self, record: Record) -> bool:
        """Whether the record still says what it was decided on."""
        try:
            return digest_of(record) == self.digest
        except ValueError:
            return False


def read_decision(text: str, at: datetime) -> Decision | None:
    """The decision that a note holds; ``None`` for a text that is none."""
    try:
        value = loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    verdict, reason, digest = (value.get(name) for name in ("verdict", "reason", "digest"))
    if verdict not in get_args(Verdict) or not isinstance(reason, str) or not isinstance(digest, str):
        return None
    return Decision(cast(Verdict, verdict), reason, digest, at)


def decisions_of(notes: Iterable[Note]) -> dict[str, Decision]:
    """The decisions among notes, by the record that each is about."""
    read = ((note.record_id, read_decision(note.text, note.at)) for note in notes if note.purpose == "decision")
    return {record_id: decision for record_id, decision in read if decision is not None}


def in_a_word(decision: Decision, record: Record, context: Context) -> Styled:
    """A decision in a list: its verdict, or that it is old because the record changed since."""
    good = decision.verdict == "go"
    mark = context.glyphs.good if good else context.glyphs.bad
    if not decision.holds_for(record):
        return Styled(line(f"{context.glyphs.warn} {decision.verdict}, old"), Role.WARN)
    return Styled(line(f"{mark} {decision.verdict}"), Role.GOOD if good else Role.BAD)


def in_a_sentence(decision: Decision, record: Record, context: Context) -> Styled:
    """A decision in a detail: verdict, age, reason, and whether the record changed since."""
    word = in_a_word(decision, record, context)
    reason = f": {decision.reason}" if decision.reason else ""
    changed = "" if decision.holds_for(record) else f" {context.glyphs.dot} {CHANGED}"
    glyph = word.text.partition(" ")[0]
    return Styled(
        line(f"{glyph} {decision.verdict}, {ago(decision.at, context.now)}{reason}{changed}", None), word.role
    )
