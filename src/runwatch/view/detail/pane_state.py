"""Texts for a pane's state: in its frame, and in place of rows (manual: decisions, "Interface conventions")."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from runwatch.records.problem import NOT_A_PROBLEM
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.format import RenderContext, elapsed_clock, short_duration, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.key_names import KeyLookup, insert_keys
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.styled_text import StyledText

if TYPE_CHECKING:
    from runwatch.store.state.changes import ReadFailure

_ROLES = {
    LoadState.STALE: Role.WARN,
    LoadState.RATE_LIMITED: Role.WARN,
    LoadState.PARTIAL: Role.WARN,
    LoadState.OFFLINE: Role.BAD,
    LoadState.NO_ANSWER: Role.BAD,
    LoadState.NOT_AUTHORISED: Role.BAD,
    LoadState.ERROR: Role.BAD,
}

JUST_NOW_S = 5.0

_LIMITED = "the service limits requests (429)"

SHOWN_READ_S = 1.0
"""A shorter read after a failed one is not shown, because it would only flicker."""

_STALE_STATES = frozenset(
    {LoadState.STALE, LoadState.RATE_LIMITED, LoadState.OFFLINE, LoadState.NO_ANSWER, LoadState.NOT_AUTHORISED}
)

FAILED_STATES = frozenset(
    {LoadState.OFFLINE, LoadState.NO_ANSWER, LoadState.NOT_AUTHORISED, LoadState.NOT_OFFERED, LoadState.ERROR}
)
"""States that are explained even if there are rows. A rate limit has its own countdown above."""


def is_stale(state: PaneState) -> bool:
    """Return whether rows are dimmed, because they may be out of date."""
    return state.load in _STALE_STATES or _is_withdrawn(state)


def _is_withdrawn(state: PaneState) -> bool:
    """Return whether the service does not list any more what it listed before."""
    return state.load is LoadState.ERROR and state.failure is not None and state.failure.is_withdrawn


def pane_status(state: PaneState, context: RenderContext) -> StyledText:
    """Describe the state in a few words, for the lower left of a frame."""
    dot = f" {context.glyphs.dot} "
    words = dot.join(word for word in _state_texts(state, context) if word)
    return StyledText(line(words), _ROLES.get(state.load, Role.QUIET))


def _state_texts(state: PaneState, context: RenderContext) -> list[str]:
    age = "" if state.age_s is None else short_duration(state.age_s)
    match state.load:
        case LoadState.LOADING if state.failure is not None and state.waiting_s is None:
            # Refused before the first answer, and not being read now.
            return ["not read", limit_wait_text(state.budget_s), state.failure.title]
        case LoadState.LOADING:
            waiting = "" if state.waiting_s is None or state.waiting_s < 1 else f"{state.waiting_s:.0f}s"
            loading = " ".join(word for word in (f"loading{context.glyphs.ellipsis}", state.reading, waiting) if word)
            return [limit_wait_text(state.budget_s) or loading]
        case LoadState.OFFLINE | LoadState.NO_ANSWER:
            # The age of the rows comes early, because a narrow frame cuts from the end and the age must not be lost.
            # The text of the pane says why, and the header since when if the whole service is lost.
            what = outage_text(state.failure) if state.load is LoadState.OFFLINE else state.load.value
            since = "" if state.since is None else f"since {time_of_day(state.since, context)}"
            aged = [age and f"data {age} old", _again_text(state, context)]
            if not state.is_lost:
                return [what, *aged, since]
            return aged if age else [" ".join(filter(None, ("not read", since))), *aged]
        case LoadState.RATE_LIMITED:
            return [age and f"updated {freshness_text(state.age_s)}", f"held {elapsed_clock(state.hold_s)}"]
        case LoadState.STALE:
            return [
                f"updated {freshness_text(state.age_s)}",
                "reading" if state.is_refreshing else limit_wait_text(state.budget_s),
            ]
        case LoadState.ERROR if _is_withdrawn(state):
            since = "" if state.since is None else f"since {time_of_day(state.since, context)}"
            return ["no longer listed", age and f"data {age} old", _again_text(state, context), since]
        case LoadState.NOT_AUTHORISED | LoadState.NOT_OFFERED | LoadState.ERROR:
            title = state.failure.title if state.failure else ""
            return [state.load.value, age and f"data {age} old", _again_text(state, context), title]
        case LoadState.ENDED:
            return [state.reading or (f"final, read {age} ago" if age else "final")]
        case LoadState.PARTIAL:
            updated = f"updated {freshness_text(state.age_s)}"
            return ["partial: items left out", updated, limit_wait_text(state.budget_s)]
        case LoadState.EMPTY | LoadState.FRESH | LoadState.REFRESHING:
            return [f"updated {freshness_text(state.age_s)}", limit_wait_text(state.budget_s)]


def outage_text(failure: ReadFailure | None) -> str:
    """Name a failure to read: a Problem with a 5XX status is an error of a service that responds."""
    if failure is None or failure.kind is not FailureKind.OFFLINE or failure.problem is None:
        return "offline"
    return f"error {failure.problem.status}"


def lost_text(since: datetime, came: str, context: RenderContext) -> str:
    """Say since when the service is lost.

    ``came`` is what it sends in place of answers; empty if nothing comes.
    """
    lost = LoadState.NO_ANSWER if came else LoadState.OFFLINE
    return f"{lost} since {time_of_day(since, context)}"


def _again_text(state: PaneState, context: RenderContext) -> str:
    """Say that a list whose last read failed is being read again, or waits for that.

    Of a lost service, the header says how often it is tried; each try would come and go here.
    """
    if state.waiting_s is None or state.waiting_s < SHOWN_READ_S or state.is_lost:
        return limit_wait_text(state.budget_s)
    return f"reading again{context.glyphs.ellipsis} {state.waiting_s:.0f}s"


def limit_wait_text(wait_s: float) -> str:
    """Describe a wait for the request limit, in seconds; empty for no wait."""
    return f"waits for the request limit, {_reads_in_text(wait_s)}" if wait_s > 0 else ""


def short_limit_wait_text(wait_s: float) -> str:
    """Describe the same where there is little room."""
    return f"request limit: {_reads_in_text(wait_s)}" if wait_s > 0 else ""


def _reads_in_text(wait_s: float) -> str:
    seconds = math.ceil(wait_s)
    return f"reads in {f'{seconds} s' if seconds < 100 else elapsed_clock(seconds)}"


def has_no_record(failure: ReadFailure) -> bool:
    """Return whether the service responded that it has no such record."""
    return failure.problem is not None and failure.problem.code == "not_found"


def read_failure_span(
    failure: ReadFailure, failed_at: datetime | None, hold_s: float, context: RenderContext
) -> tuple[SafeText, Role]:
    """Describe the last failure to read a run's events, with its time where that is known.

    A 429 lets reads through in ``hold_s`` seconds; 0 without one.
    """
    at = f" at {time_of_day(failed_at, context)}" if failed_at else ""
    if failure.kind is FailureKind.RATE_LIMITED:
        return line(hold_text(hold_s) if hold_s > 0 else f"refused{at}: {_LIMITED}"), Role.WARN
    if has_no_record(failure):
        return line(f"not found{at}: the service has no events of this run"), Role.BAD
    what = "no usable answer" if failure.kind is FailureKind.NO_ANSWER else "no response"
    return line(f"{what}{at}: {failure.title}"), Role.BAD


def hold_text(hold_s: float) -> str:
    """Describe a wait after a 429, in seconds."""
    return f"held {elapsed_clock(hold_s)}: {_LIMITED}"


def freshness_text(age_s: float | None) -> str:
    """Describe how long ago data was read; the first seconds are "just now", so an idle screen is not redrawn."""
    return "just now" if age_s is None or age_s < JUST_NOW_S else f"{short_duration(age_s)} ago"


def empty_state_lines(
    spec: ResourceSpec[Any], state: PaneState, context: RenderContext, key_of: KeyLookup, *, can_create: bool = True
) -> tuple[SafeText, ...]:
    """Return the text of a pane without rows: why there are none and what to do next, with the current keys."""
    refresh = key_of("screen.refresh")
    failure = state.failure
    again = _again_text(state, context).capitalize()
    match state.load:
        case LoadState.LOADING | LoadState.REFRESHING:
            asks = (line(f"{refresh} asks now."),) if state.budget_s > 0 else ()
            return (pane_status(state, context).text, *asks)
        case LoadState.OFFLINE | LoadState.NO_ANSWER:
            missing = "Nothing is read yet; " if state.age_s is None else ""
            next_step = again or f"{missing}{refresh} tries again now."
            if failure is not None and failure.needs_start:
                # No retry starts the service, so the hint stays while one is under way.
                next_step = failure.hint or next_step
            came = (line(f"No usable answer: {state.came}."),) if state.came else ()
            lines = () if failure is None else _failure_lines(failure, "")
            hint = (line(failure.hint, None),) if came and failure is not None and failure.hint else ()
            return (*came, *lines, *hint, line(add_service(next_step, context.service), None))
        case LoadState.NOT_AUTHORISED:
            code = failure.problem.code if failure and failure.problem else "unauthenticated"
            # Imported here, because the first paint has no failure to explain.
            from runwatch.view.problems.explanations import explain_code

            explained = explain_code(code)
            return (
                *_failure_lines(failure, explained.sentence),
                line(add_service(explained.next_step, context.service), None),
                line(again or f"Nothing is read until you press {refresh}."),
            )
        case LoadState.NOT_OFFERED:
            shown = {
                Run: "Runs submitted or added here",
                Receipt: "Receipts of listed, submitted and added runs",
            }.get(spec.record)
            problem = None if failure is None else failure.problem
            said = f"This service offers no list of {spec.plural}"
            if problem is not None and problem.code == NOT_A_PROBLEM:
                said += f", or a proxy in between hides it: an answer of another program ({problem.status}) came"
            return (
                line(f"{said}."),
                line(
                    f"Other screens keep working; {refresh} retries."
                    if shown is None
                    else f"{shown} are shown instead; {key_of('screen.add')} adds ids."
                ),
            )
        case LoadState.ERROR if _is_withdrawn(state):
            since = "" if state.since is None else f" since {time_of_day(state.since, context)}"
            status = "" if failure is None or failure.problem is None else f" ({failure.problem.status})"
            return (
                line(f"The service lists no {spec.plural}{since}{status}. What is known of them is from before."),
                line(again or f"The console looks again automatically; {refresh} looks now."),
            )
        case LoadState.ERROR:
            next_step = again or (failure.hint if failure and failure.hint else f"{refresh} reads again.")
            if failure is not None and failure.is_final and not again:
                return (*_failure_lines(failure, "error"), *_less_to_read(spec, key_of))
            return (*_failure_lines(failure, "error"), line(add_service(next_step, context.service), None))
        case LoadState.RATE_LIMITED:
            return (
                line(f"The service limits requests (429); reads again in {elapsed_clock(state.hold_s)}."),
                line(f"{refresh} asks anyway. If the service refuses again, the wait starts again."),
            )
    if not (can_create and (spec.create_actions or spec.empty_keys)):
        return (line(add_service(spec.empty, context.service), None),)
    why, _, by_commands = spec.empty.partition(". ")
    said = f"{why}." if "`" in by_commands else spec.empty
    texts = [line(said, None)]
    if spec.empty_keys:
        texts.append(line(insert_keys(spec.empty_keys, key_of), None))
    if spec.create_actions:
        made = ", ".join(action.label for action in spec.create_actions)
        texts.append(line(f"{key_of('screen.new')}  {made}"))
    return tuple(texts)


def _less_to_read(spec: ResourceSpec[Any], key_of: KeyLookup) -> tuple[SafeText, ...]:
    """Return what to do if a list does not fit in one response."""
    refresh = line(f"Nothing is read until you press {key_of('screen.refresh')}.")
    if spec.record is not Receipt:
        return (refresh,)
    # Of the lists in one response, this alone is filtered by the service.
    return (
        line(f"{key_of('screen.filter')} with age<1d, status=failed or arm=ID asks the service for less."),
        line(f"{key_of('screen.add')} reads single receipts, by their run ids."),
        refresh,
    )


def _failure_lines(failure: ReadFailure | None, otherwise: str) -> tuple[SafeText, ...]:
    if failure is None:
        return (line(otherwise),)
    instance = failure.problem.instance if failure.problem is not None else None
    parts = (failure.title, failure.detail, f"instance {line(instance, None)}" if instance else None)
    return tuple(line(part, None) for part in parts if part)
