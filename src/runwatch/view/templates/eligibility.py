"""A template with the related local data, and the summary sentences for reviewers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from runwatch.records.digest import compute_digest
from runwatch.records.template import Blocker, Template
from runwatch.view.detail.record_diff import diff_records
from runwatch.view.templates.applications import NO_APPLICATION, ApplicationNote
from runwatch.view.templates.decisions import ReviewDecision
from runwatch.view.text.format import RenderContext, ago, counted, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import CellText, StyledText

if TYPE_CHECKING:
    from runwatch.store.repositories.record_versions import RecordVersion

_SHOWN_AS_TEXT: Final = ("eligible", "blockers")
"""Members whose changes are listed one by one; changes of the others are counted."""


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """A template and the related local data.

    Attributes:
        decision: The reviewer's decision, if any.
        versions: Observed versions, newest first; the first may be the current one.
        application: The note about its application that was started here.
    """

    template: Template
    decision: ReviewDecision | None = None
    versions: tuple[RecordVersion[Template], ...] = ()
    application: ApplicationNote = NO_APPLICATION

    @property
    def id(self) -> str:
        return self.template.id

    @property
    def raw(self) -> Mapping[str, Any]:
        return self.template.raw

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        return self.template.blockers or ()

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(blocker.code for blocker in self.blockers if blocker.code)

    @property
    def before(self) -> RecordVersion[Template] | None:
        """The version before the current one; ``None`` if no change was observed."""
        return next(iter(self.earlier), None)

    @property
    def earlier(self) -> Sequence[RecordVersion[Template]]:
        """The versions before the current one, newest first."""
        try:
            present = compute_digest(self.template)
        except ValueError:
            return ()
        return self.versions[1:] if self.versions and self.versions[0].digest == present else self.versions


def eligibility_label(template: Template) -> str | None:
    """Return whether a template can be applied now, in one word; ``None`` if the service does not say."""
    return None if template.eligible is None else "eligible" if template.eligible else "blocked"


def eligibility_text(template: Template) -> StyledText:
    """Return whether a template can be applied, in a sentence."""
    count = len(template.blockers or ())
    blockers = counted(count, "blocker")
    if template.eligible is None:
        return StyledText(
            line(f"The service does not say whether it is eligible{f': {blockers}' if count else ''}."), Role.WARN
        )
    if template.eligible:
        return StyledText(line("Eligible: no blockers."), Role.GOOD)
    return StyledText(line(f"Not eligible: {blockers if count else 'the service names no blocker'}."), Role.BAD)


def next_action_text(facts: TemplateFacts) -> str | None:
    """Return the first next action that clears a blocker, without its command, which the detail has."""
    actions = (blocker.next_action for blocker in facts.blockers)
    text = next((action.detail or action.type for action in actions if action is not None), None)
    return None if text is None else text.partition(": runwatch ")[0]


def certification_label(template: Template) -> str | None:
    """Return the certification status in the catalog row."""
    row = template.catalog_row
    offering = None if row is None else row.offering
    return None if offering is None or offering.certification is None else offering.certification.standing


def describe_changes(before: Template, now: Template) -> Iterator[str]:
    """Describe the changes since an earlier version: eligibility and blockers by name, all others as a count."""
    if before.eligible != now.eligible:
        yield f"{eligibility_label(now) or 'eligibility unknown'}, was {eligibility_label(before) or 'unknown'}"
    old, new = _codes(before), _codes(now)
    for position, code in enumerate(new):
        if code not in old:
            yield f"blocker {position + 1} {code} is new"
    yield from (f"blocker {code} is gone" for code in old if code not in new)
    said = {code: blocker.raw for code, blocker in new.items()}
    reworded = [code for code, blocker in old.items() if code in said and said[code] != blocker.raw]
    yield from (f"blocker {code} says something else" for code in reworded)
    rest = [{k: v for k, v in it.raw.items() if k not in _SHOWN_AS_TEXT} for it in (before, now)]
    others = sum(1 for _ in diff_records(*rest))
    if others:
        yield f"{counted(others, 'value')} of the rest differ{'s' * (others == 1)}"


def change_line(facts: TemplateFacts, _: object, context: RenderContext) -> CellText | None:
    """Describe what changed since the previous version, and when that version was last seen."""
    before = facts.before
    if before is None:
        return None
    changes = "; ".join(describe_changes(before.record, facts.template)) or "differences only"
    when = time_of_day(before.last_seen_at, context)
    return StyledText(line(f"{when} ({ago(before.last_seen_at, context.now)}): {changes}", None), Role.WARN)


def _codes(template: Template) -> dict[str, Blocker]:
    """Return blockers by code. Blockers without a code cannot be distinguished and are left out."""
    return {blocker.code: blocker for blocker in template.blockers or () if blocker.code}
