"""The timeline of a run: its wait, slices, attempts and checks as bars on one line of time, each with its seconds.

Bars come from the times of events alone. What has no beginning in the events gets no bar, and the timeline says so;
what has no end stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final, NamedTuple

from runwatch.base.text import cell_width, wrap_words
from runwatch.records.check import VerificationCheck
from runwatch.records.receipt import ProviderCall, ReceiptSlice
from runwatch.records.run import CallError
from runwatch.view.detail.chart_sections import WidthOf
from runwatch.view.detail.plots import draw_span
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.runs.check_results import VERDICTS, CheckFinding, describe_attempt, format_score
from runwatch.view.runs.provider_calls import provider_error_text, provider_failure_text
from runwatch.view.runs.run_facts import RunFacts, receipt_slices
from runwatch.view.runs.run_trace import FALLBACK, AttemptTrace, RunTrace, SliceTrace
from runwatch.view.text.format import RenderContext, duration, short_id, time_of_day
from runwatch.view.text.glyphs import Glyphs, Role, state_glyph
from runwatch.view.text.safe_text import SafeText, block, fit, line

_GAP: Final = 2
_MIN_BAR_CELLS: Final = 8
_MIN_NOTE_CELLS: Final = 8
_NOTE_SHARE: Final = 0.45
"""Part of a line that notes may take."""

_WORDS_CELLS: Final = 200
"""Width to which a note quotes what came of an attempt; the Summary has all of it. What follows is never cut."""

_DURATION_CELLS: Final = ((60, 6), (600, 10), (float("inf"), 11))
"""Width of the longest duration below so many seconds: ``59.9 s``, ``9 min 59 s``, ``59 min 59 s``."""


class BarKind(IntEnum):
    """What a bar stands for; its value is the place of its pattern."""

    ATTEMPT = 0
    SLICE = 1
    QUEUE = 2
    CHECK = 3


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """One bar.

    Attributes:
        began_at: ``None`` for no bar, because no event says when it began.
        ended_at: ``None`` while it is open.
        is_growing: Whether an open bar is still going on; otherwise its end is not recorded.
        seen_at: Until when it is known to have gone on, if its end is not recorded.
        note: What came of it.
    """

    kind: BarKind
    label: SafeText
    began_at: datetime | None
    ended_at: datetime | None
    note: SafeText
    role: Role
    is_growing: bool = False
    seen_at: datetime | None = None


def timeline_sections(
    facts: RunFacts,
    trace: RunTrace,
    room_of: WidthOf,
    context: RenderContext,
    *,
    until: datetime | None = None,
    is_cut: bool = False,
    whole: Sequence[TimelineBar] = (),
) -> tuple[DetailSection, ...]:
    """Return the timeline as sections of a detail: the bars, then what they mean.

    The line of time ends where the last bar does, or at ``until`` if that is later. A run that is cut has more events
    than the trace has taken.

    Args:
        whole: The bars of the whole run, if these are those of a moment of it: every moment gets the same columns.
    """
    bars = list(timeline_bars(facts, trace, context))
    if not trace.count:
        lacks = "The file has no events of this run" if context.is_of_file else "No event of this run is read yet"
        unread = line(f"{lacks}, so there is nothing to draw.")
        return (DetailSection(line(""), (DetailLine(line(""), unread, Role.QUIET),)),)
    if trace.first_at is None or trace.last_at is None or not bars:
        nothing = line("No event of this run has a time yet, so there is nothing to draw.")
        return (DetailSection(line(""), (DetailLine(line(""), nothing, Role.QUIET),)),)
    is_over = trace.is_over or facts.is_final
    now = trace.last_at if is_over else max(trace.last_at, facts.counts_until(context.now, context.lost_at))
    scale = _Scale(trace.first_at, now, max(now, until or now))
    room = room_of([bar.label for bar in (*bars, *whole)])
    drawn = DetailSection(line("Timeline"), tuple(_lines(bars, scale, room, context, whole)))
    remarks = _remarks(facts, trace, bars, context.glyphs, is_cut=is_cut)
    if is_over and not trace.is_over and not is_cut:
        last = time_of_day(trace.last_at, context)
        remarks.append(line(f"The run has ended, but no event after {last} is read: what followed is not drawn."))
    # Under a heading of its own, it has the whole width.
    return drawn, DetailSection(line("Legend"), tuple(DetailLine(line(""), text, Role.QUIET) for text in remarks))


def timeline_bars(facts: RunFacts, trace: RunTrace, context: RenderContext) -> Iterator[TimelineBar]:
    """Yield the bars: the wait, then each slice, followed by its attempts and their checks."""
    if trace.queued_at is not None or "queued" in trace.since:
        yield _queue(trace, context.glyphs, has_ended=facts.is_final)
    parts = {part.slice_id: part for part in receipt_slices(facts.receipt)}
    for part in trace.slices.values():
        name = line(f"slice {short_id(part.id, context.glyphs)}", 18)
        is_growing = not part.is_over and not trace.is_over and not facts.is_final
        glyph, role = state_glyph(part.state, context.glyphs)
        if role == Role.LIVE and not is_growing:
            glyph, role = context.glyphs.unknown, Role.PLAIN
        yield TimelineBar(
            BarKind.SLICE, name, part.began_at, part.ended_at, line(f"{glyph} {line(part.state)}"), role,
            is_growing=is_growing, seen_at=part.seen_at,
        )  # fmt: skip
        # A test run calls no model.
        for attempt in part.attempts if not facts.is_test else ():
            yield from _attempt(attempt, part, parts.get(part.id), facts, trace, context.glyphs)


def _queue(trace: RunTrace, glyphs: Glyphs, *, has_ended: bool) -> TimelineBar:
    ends = [at for state, at in trace.since.items() if state not in {"accepted", "queued"}]
    is_over = bool(ends) or has_ended
    note = line("" if is_over else f"{glyphs.live} waits")
    role = Role.QUIET if is_over else Role.LIVE
    return TimelineBar(
        BarKind.QUEUE, line("queued"), trace.queued_at, ends[0] if ends else None, note, role,
        is_growing=not is_over, seen_at=trace.queued_at,
    )  # fmt: skip


def _attempt(
    attempt: AttemptTrace,
    part: SliceTrace,
    receipt: ReceiptSlice | None,
    facts: RunFacts,
    trace: RunTrace,
    glyphs: Glyphs,
) -> Iterator[TimelineBar]:
    numbers = f"{attempt.first}" if attempt.first == attempt.last else f"{attempt.first}-{attempt.last}"
    call = _call(receipt, attempt)
    error = next((refusal for refusal in facts.provider_errors if refusal.attempt == attempt.last), None)
    finding = None if attempt.check is None else describe_attempt(attempt.check, glyphs)
    has_own_check = attempt.check is not None and attempt.answered_at is not None
    ended = _call_end(attempt, error)
    can_go_on = not part.is_over and not trace.is_over and not facts.is_final
    is_growing = not attempt.is_over and attempt.answered_at is None and can_go_on
    words, role = _came_of(attempt, call, error, None if has_own_check else finding, glyphs, is_growing=is_growing)
    retry = "" if not attempt.reason else "fallback" if attempt.reason == FALLBACK else "repair"
    arm = short_id(attempt.arm, glyphs) if attempt.arm else ""
    text = f" {glyphs.dot} ".join(filter(None, (line(words, _WORDS_CELLS), retry, arm)))
    # The mark of a retry is in its label, which is never cut.
    label = line(f"{glyphs.again if retry else ' '} attempt {numbers}")
    yield TimelineBar(
        BarKind.ATTEMPT, label, attempt.began_at, ended, line(text), role,
        is_growing=is_growing, seen_at=attempt.seen_at,
    )  # fmt: skip
    if attempt.answered_at is not None:
        is_checking = attempt.check is None and can_go_on
        if attempt.check is None or finding is None:
            glyph, role = (glyphs.live, Role.LIVE) if is_checking else (glyphs.unknown, Role.WARN)
            words = f"{glyph} pending"
        else:
            words, role = _verdict(attempt.check, finding, glyphs), finding.role
        yield TimelineBar(
            BarKind.CHECK, line(f"  check {numbers}"), attempt.answered_at, attempt.checked_at, line(words), role,
            is_growing=is_checking, seen_at=attempt.answered_at,
        )  # fmt: skip


def _call_end(attempt: AttemptTrace, error: CallError | None) -> datetime | None:
    """Return when the call ended: its output came, the provider refused it, or the attempt ended as a whole."""
    refused = None if error is None else error.at
    is_within = refused is not None and (attempt.began_at is None or refused >= attempt.began_at)
    return attempt.answered_at or (refused if is_within else None) or attempt.until


def _call(receipt: ReceiptSlice | None, attempt: AttemptTrace) -> ProviderCall | None:
    calls = (receipt.attempts if receipt is not None else None) or ()
    return next((call for call in calls if call.attempt == attempt.last), None)


def _came_of(
    attempt: AttemptTrace,
    call: ProviderCall | None,
    error: CallError | None,
    finding: CheckFinding | None,
    glyphs: Glyphs,
    *,
    is_growing: bool,
) -> tuple[str, Role]:
    """Describe what came of an attempt, from its check, its refusal or the receipt."""
    if attempt.check is not None and finding is not None:
        return _verdict(attempt.check, finding, glyphs), finding.role
    if attempt.answered_at is not None:
        return "answered", Role.PLAIN
    if error is not None:
        return f"{glyphs.bad} {provider_error_text(error)}", Role.BAD
    failure = None if call is None else provider_failure_text(call)
    if failure is not None:
        return f"{glyphs.bad} {failure}", Role.BAD
    if not attempt.is_over:
        return (f"{glyphs.live} running", Role.LIVE) if is_growing else (f"{glyphs.unknown} running", Role.PLAIN)
    return "no check recorded", Role.PLAIN


def _verdict(check: VerificationCheck, finding: CheckFinding, glyphs: Glyphs) -> str:
    score = format_score(check.quality_score) if finding.kind in VERDICTS else ""
    return f"{finding.words(glyphs)} {score}".rstrip()


# Drawing.


class _Scale(NamedTuple):
    """The line of time: its left end, the present, and its right end."""

    since: datetime
    now: datetime
    until: datetime


def _lines(
    bars: Sequence[TimelineBar], scale: _Scale, room: int, context: RenderContext, whole: Sequence[TimelineBar]
) -> Iterator[DetailLine]:
    glyphs = context.glyphs
    seconds = [_seconds(bar, scale.now, glyphs) for bar in bars]
    longest = (scale.until - scale.since).total_seconds()
    reserved = next(cells for below_s, cells in _DURATION_CELLS if longest < below_s) if whole else 0
    number_cells = max(reserved, *map(cell_width, seconds))
    note_cells = min(max(cell_width(bar.note) for bar in whole or bars), max(_MIN_NOTE_CELLS, int(room * _NOTE_SHARE)))
    cells = room - number_cells - note_cells - 2 * _GAP
    is_narrow = cells < _MIN_BAR_CELLS
    if is_narrow:
        # What came of each is below its bar, so that a failed attempt does not look like a good one.
        note_cells, cells = max(_MIN_NOTE_CELLS, room), room - number_cells - _GAP
    gap = " " * _GAP
    yield DetailLine(line(""), _axis(scale, cells, context), Role.QUIET)
    for bar, number in zip(bars, seconds, strict=True):
        text = f"{_draw(bar, scale, cells, glyphs)}{gap}{fit(number, number_cells, 'right')}"
        first, *more = wrap_words(bar.note, note_cells)
        if is_narrow and bar.note:
            first, more = "", [first, *more]
        below = "".join(f"\n{' ' * max(0, room - note_cells)}{row}" for row in more)
        yield DetailLine(bar.label, block(f"{text}{gap}{first}".rstrip(" ") + below), bar.role)


def _axis(scale: _Scale, cells: int, context: RenderContext) -> SafeText:
    left, right = time_of_day(scale.since, context), time_of_day(scale.until, context)
    between = cells - cell_width(left) - cell_width(right)
    whole = duration(max(0.0, (scale.until - scale.since).total_seconds()))
    return line(f"{left}{' ' * between}{right}  {whole}" if between > 0 else f"from {left}, {whole}", None)


def _draw(bar: TimelineBar, scale: _Scale, cells: int, glyphs: Glyphs) -> SafeText:
    if bar.began_at is None:
        return fit(line(glyphs.unknown), max(0, cells))
    end, mark = _end(bar, scale.now, glyphs)
    span = max((scale.until - scale.since).total_seconds(), 1e-9)
    start = (bar.began_at - scale.since).total_seconds() / span
    return draw_span(start, (end - scale.since).total_seconds() / span, cells, glyphs.patterns[bar.kind], mark=mark)


def _end(bar: TimelineBar, now: datetime, glyphs: Glyphs) -> tuple[datetime, str]:
    """Return where a bar ends and the mark of its end: none, going on, or not recorded."""
    assert bar.began_at is not None
    if bar.ended_at is not None:
        return max(bar.ended_at, bar.began_at), ""
    return (
        (max(now, bar.began_at), glyphs.going_on)
        if bar.is_growing
        else (max(bar.seen_at or bar.began_at, bar.began_at), glyphs.unknown)
    )


def _seconds(bar: TimelineBar, now: datetime, glyphs: Glyphs) -> SafeText:
    if bar.began_at is None:
        return line(glyphs.unknown)
    end, mark = _end(bar, now, glyphs)
    least = f"{glyphs.at_least} " if mark == glyphs.unknown else ""
    return line(f"{least}{duration((end - bar.began_at).total_seconds())}")


def _remarks(
    facts: RunFacts, trace: RunTrace, bars: Sequence[TimelineBar], glyphs: Glyphs, *, is_cut: bool
) -> list[SafeText]:
    names = {BarKind.QUEUE: "queued", BarKind.SLICE: "slice", BarKind.ATTEMPT: "attempt", BarKind.CHECK: "check"}
    used = [f"{glyphs.patterns[kind]} {names[kind]}" for kind in names if any(bar.kind is kind for bar in bars)]
    if any(bar.label.startswith(glyphs.again) for bar in bars):
        used.append(f"{glyphs.again} before an attempt: tried again")
    if any(bar.ended_at is None and bar.is_growing for bar in bars):
        used.append(f"{glyphs.going_on} at an end: going on")
    if any(bar.began_at is None or (bar.ended_at is None and not bar.is_growing) for bar in bars):
        used.append(f"{glyphs.unknown} not recorded")
    remarks = [line("   ".join(used), None)]
    attempts = [attempt for part in trace.slices.values() for attempt in part.attempts]
    # The service's own baseline takes no time.
    joined = [each for each in attempts if each.began_at is not None and each.answered_at is None and _takes_time(each)]
    if joined:
        which = ", ".join(str(each.last) for each in joined)
        subject = f"bars of attempts {which} include" if len(joined) > 1 else f"bar of attempt {which} includes"
        remarks.append(line(f"The {subject} the check: no event says when it began."))
    known = sum(len(part.attempts or ()) for part in receipt_slices(facts.receipt))
    timed = sum(each.last - each.first + 1 for each in attempts if each.began_at is not None)
    if known > timed:
        remarks.append(line(f"The receipt has {known} provider calls; events have the times of {timed}."))
    if trace.untimed:
        plural = "s have" if trace.untimed != 1 else " has"
        remarks.append(
            line(f"{trace.untimed} event{plural} no time and {'are' if trace.untimed != 1 else 'is'} left out.")
        )
    if is_cut:
        remarks.append(line(f"The run has more than {trace.count:,} events; the rest is not drawn."))
    return remarks


def _takes_time(attempt: AttemptTrace) -> bool:
    return attempt.check is not None and not (attempt.check.activity or "").startswith("platform_")
