"""Events as lines: time, kind, slice, and a summary.

An event of an unknown form is shown as compact JSON. Gaps are drawn with an explanation; nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import is_final
from runwatch.view.runs.check_results import (
    VERDICTS,
    describe_attempt,
    describe_failure_class,
    describe_recorded_check,
    format_score,
)
from runwatch.view.text.format import RenderContext, short_id, time_of_day
from runwatch.view.text.glyphs import Glyphs, Role, state_glyph
from runwatch.view.text.safe_text import SafeText, fit, json_text, line
from runwatch.view.text.styled_text import StyledText

KINDS: Final = {"lifecycle": "lifecycle", "verification_check": "check", "recorded_check": "recorded"}
"""Short names of known event types. Other types are shown as sent."""

KIND_CELLS: Final = 9
SLICE_CELLS: Final = 4
SLICE_END_CELLS: Final = 5
"""Width of the end of a slice's id, which tells its events from those of the run where there is little room."""

EXTRAS: Final = 3
"""Maximum number of additional scalar members shown in a line."""

MAX_EXTRA_CELLS: Final = 80
"""Maximum width of the value of one, which leaves a digest and its algorithm whole."""

_NOTHING: Final = line("")

_FRAME: Final = frozenset({"event_id", "execution_id", "slice_id", "type", "at"})


class EventLine(NamedTuple):
    """One line of a timeline.

    Attributes:
        slice: The event's slice; empty for the whole run.
        is_gap: Whether the line is not an event but marks a period without responses.
        run: The event's run if lines of several runs are mixed; else empty.
        says_kind: Whether the summary says what kind of event it is, as a state does.
        ids: The ids of which the line has short forms.
    """

    time: SafeText
    kind: SafeText
    slice: SafeText
    summary: SafeText
    role: Role
    is_gap: bool = False
    run: SafeText = _NOTHING
    says_kind: bool = False
    ids: tuple[str, ...] = ()

    def plain(self, run: SafeText | None = None) -> SafeText:
        """Return the whole line as text, with the run of the event if lines of several runs are mixed."""
        if self.is_gap:
            return self.summary
        frame = (self.time,) if run is None else (self.time, run)
        kind = fit(self.kind, max(KIND_CELLS, cell_width(self.kind)))
        part = fit(self.slice, max(SLICE_CELLS, cell_width(self.slice)))
        return line(f"{'  '.join(frame)}  {kind} {part} {self.summary}", None)


def render_event(event: RunEvent, context: RenderContext) -> EventLine:
    kind = event.raw.get("type")
    summary, role = describe_event(event, context.glyphs)
    return EventLine(
        time_of_day(event.at, context),
        line(context.glyphs.unknown if kind is None else KINDS.get(kind, kind) if isinstance(kind, str) else kind, 24),
        short_id(event.slice_id, context.glyphs) if event.slice_id else line(""),
        summary,
        role,
        says_kind=event.type == "lifecycle" and bool(event.state),
        ids=tuple(filter(None, (event.execution_id, event.slice_id, event.arm_id))),
    )


def render_gap(since: datetime, until: datetime, context: RenderContext) -> EventLine:
    """Render a period without responses. Nothing was lost, because reading resumed after the last applied event."""
    rule, empty = context.glyphs.rule * 4, line("")
    span = f"{time_of_day(since, context)} {context.glyphs.nothing} {time_of_day(until, context)}"
    summary = line(f"{rule} no answer {span}, nothing lost {rule}")
    return EventLine(empty, empty, empty, summary, Role.QUIET, is_gap=True)


def last_event_text(event: RunEvent) -> SafeText:
    """Describe the newest event in one word for a list: the resulting state, else its kind."""
    if event.type == "lifecycle" and event.state:
        return line(event.state, 24)
    return line("event" if event.type is None else KINDS.get(event.type, event.type), 24)


def describe_event(event: RunEvent, glyphs: Glyphs) -> StyledText:
    """Describe an event: its state, its check, both if it has both, or its JSON."""
    parts = list(_parts(event, glyphs))
    if not parts:
        rest = {name: value for name, value in event.raw.items() if name not in _FRAME}
        return StyledText(line(rest or glyphs.unknown), Role.PLAIN)
    extras = [
        f"{line(name, 24)}={line(json_text(value), MAX_EXTRA_CELLS)}"
        for name, value in event.unknown().items()
        if isinstance(value, (str, int, float))
    ]
    text = f" {glyphs.dot} ".join(part.text for part in parts)
    return StyledText(line("  ".join([text, *extras[:EXTRAS]])), parts[0].role)


def fit_summary(event: RunEvent, summary: SafeText, cells: int, glyphs: Glyphs) -> SafeText:
    """Return the summary of an event, without the words before the saved model that is called next if this has no room
    in so many cells: first without the state, then without the reason.
    """
    if event.state != "progress" or not event.arm_id or cell_width(summary) <= cells:
        return summary
    arm = f"{glyphs.arrow} {short_id(event.arm_id, glyphs)}"
    at = summary.find(arm)
    if at < 0:
        return summary
    state = f"{line(event.state)} {glyphs.dot} "
    for start in (0, len(state) if summary.startswith(state) else 0):
        if cell_width(summary[start : at + len(arm)]) <= cells:
            return line(summary[start:], None)
    return line(summary[at:], None)


def _parts(event: RunEvent, glyphs: Glyphs) -> Iterator[StyledText]:
    if event.type == "lifecycle" and event.state:
        yield _lifecycle(event, glyphs)
    if event.verification_check is not None:
        yield _check(event.verification_check, glyphs)
    if event.recorded_check is not None:
        finding = describe_recorded_check(event.recorded_check, glyphs)
        yield StyledText(finding.text, finding.role)


def _lifecycle(event: RunEvent, glyphs: Glyphs) -> StyledText:
    glyph, role = state_glyph(event.state, glyphs)
    words = [f"{glyph} {line(event.state)}" if is_final(event.state) else line(event.state)]
    if event.reason and event.reason != event.state:
        words.append(line(event.reason))
    if event.arm_id:
        words.append(short_id(event.arm_id, glyphs))
        if event.state == "progress":
            words[-2:] = [f" {glyphs.arrow} ".join(words[-2:])]
    if event.acted_by:
        words.append(f"by {line(event.acted_by)}")
    if event.note:
        words.append(line(event.note))
    return StyledText(line(f" {glyphs.dot} ".join(words)), role if is_final(event.state) else Role.PLAIN)


def _check(check: VerificationCheck, glyphs: Glyphs) -> StyledText:
    finding = describe_attempt(check, glyphs)
    if finding.kind in VERDICTS:
        words = [finding.words(glyphs), format_score(check.quality_score)]
    elif finding.kind == "unavailable":
        words = [finding.short, describe_failure_class(check.failure_class, check.http_status)]
    else:
        words = [finding.text]
    if check.attempt is not None:
        words.append(f"attempt {check.attempt}")
    if check.phase not in {None, "candidate"}:
        words.append(line(check.phase))
    return StyledText(line("  ".join(word for word in words if word)), finding.role)
