"""The run narrative: plain sentences from a run's events, or from its receipt if events are missing.

Every sentence is based on data from the service. A verdict, a technical failure and "nothing was checked" have
different sentences. The saved model after a fallback is named only if the event's own ``arm_id``, the attempts in the
receipt, or a check or the receipt's route after the last fallback names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import is_final
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.runs.check_results import describe_attempt, describe_recorded_check, format_score, slice_finding
from runwatch.view.runs.decision_packet import verdict_role
from runwatch.view.runs.provider_calls import end_reason_text as why_ended
from runwatch.view.runs.provider_calls import provider_error_text
from runwatch.view.runs.run_facts import RunFacts, find_states, receipt_slices
from runwatch.view.runs.run_trace import FALLBACK, REPAIR
from runwatch.view.text.format import RenderContext, duration, short_id, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import whole_model
from runwatch.view.text.safe_text import SafeText, line

MAX_NARRATED_EVENTS: Final = 2_000
"""Maximum number of events in a narrative, counted from the first. A longer run adds a sentence that says so."""

_PHASES: Final = {"skill_baseline": "The skill's output as it stands", "skill_repair": "The repaired skill's output"}

_OUTCOMES: Final = {
    "passed_gate": "The gate let the output pass.",
    "skill_accepted": "The skill's output was accepted without a repair.",
    "skill_rejected": "The skill's output was rejected too, and no repaired skill was tried.",
    "repair_accepted": "The repair was accepted.",
    "repair_rejected": "The repair was rejected.",
    "proposal_created": "The repair was accepted and became a proposal",
}
"""Reactions of the policy that the attempts do not show (manual: interface, "Receipt fields")."""

_STATED_AGAIN: Final = frozenset({"customer_verdict", "customer_unavailable", "baseline", "platform_test"})


@dataclass(frozen=True, slots=True)
class NarrativeSentence:
    """One thing that happened, and when, if that is known."""

    at: datetime | None
    text: SafeText
    role: Role = Role.PLAIN


@dataclass(slots=True)
class _Teller:
    """What was narrated of one slice so far, because sentences depend on earlier ones.

    Attributes:
        arm: The saved model in use, if known.
        waits_for: An announced reaction whose attempt has not occurred yet.
        waited_at: When it was announced.
        fallbacks: Number of fallbacks so far.
    """

    facts: RunFacts
    context: RenderContext
    arm: str | None = None
    waits_for: str = ""
    waited_at: datetime | None = None
    fallbacks: int = 0
    checked: set[tuple[object, ...]] = field(default_factory=set)


def narrate_run(
    facts: RunFacts, events: Sequence[RunEvent], context: RenderContext, *, is_cut: bool = False
) -> list[NarrativeSentence]:
    """Return the run narrative, oldest sentence first.

    The events are known from the first one on; if they are cut, the run has more.
    """
    sentences = list(_from_events(facts, events, context))
    if not any(event.verification_check or event.recorded_check for event in events):
        sentences += _from_receipt(facts, context)
    _insert_provider_errors(sentences, facts)
    if is_cut:
        sentences.append(
            NarrativeSentence(None, line(f"The run has more than {len(events):,} events; the rest is under Events."))
        )
    return sentences + list(_end(facts._replace(states=find_states(events))))


def narrative_sections(
    facts: RunFacts, events: Sequence[RunEvent], context: RenderContext, *, is_cut: bool = False
) -> tuple[DetailSection, ...]:
    """Return the narrative as a section of a detail; empty if nothing is known."""
    sentences = narrate_run(facts, events, context, is_cut=is_cut)
    lines = tuple(
        DetailLine(line("" if sentence.at is None else time_of_day(sentence.at, context)), sentence.text, sentence.role)
        for sentence in sentences
    )
    return (DetailSection(line("What happened"), lines),) if lines else ()


def _from_events(facts: RunFacts, events: Iterable[RunEvent], context: RenderContext) -> Iterator[NarrativeSentence]:
    tellers: dict[str, _Teller] = {}
    began: dict[str, datetime] = {}
    for event in events:
        if event.slice_id is None:
            yield from _of_run(event, began, context)
            continue
        teller = tellers.setdefault(event.slice_id, _Teller(facts, context))
        yield from _of_slice(teller, event, len(tellers) > 1)
    for teller in tellers.values():
        yield from _announced(teller, None)


def _of_run(event: RunEvent, began: dict[str, datetime], context: RenderContext) -> Iterator[NarrativeSentence]:
    if event.type != "lifecycle" or event.state is None or event.state in began:
        return
    if event.at is not None:
        began[event.state] = event.at
    if event.state == "accepted":
        yield NarrativeSentence(event.at, line("The run was accepted."))
    elif event.state == "running":
        queued = began.get("queued") or began.get("accepted")
        waited = (event.at - queued).total_seconds() if event.at is not None and queued is not None else 0.0
        late = f" after {duration(waited)} in the queue" if waited >= 1 else ""
        yield NarrativeSentence(event.at, line(f"Work began{late}."))


def _of_slice(teller: _Teller, event: RunEvent, is_one_of_many: bool) -> Iterator[NarrativeSentence]:
    where = f"Slice {short_id(event.slice_id, teller.context.glyphs)}: " if is_one_of_many else ""
    check = event.verification_check
    if check is not None:
        yield from _announced(teller, check.arm_id)
        teller.checked.add((check.check_id, check.attempt))
        yield _checked(teller, check, event.at, where)
    stated = event.recorded_check
    # The result of a check is stated again after it; skip the repetition.
    if stated is not None and (not teller.checked or stated.state not in _STATED_AGAIN):
        finding = describe_recorded_check(stated, teller.context.glyphs)
        if finding.kind not in {"pending", "unchecked"}:
            yield NarrativeSentence(event.at, _sentence(where, finding.text), finding.role)
    if event.type != "lifecycle":
        return
    named = event.arm_id
    if event.state == "running" and named:
        teller.arm = named
        yield NarrativeSentence(event.at, line(f"{where}{_name(teller, named)} went to work."))
    elif event.state == "progress" and event.reason in {FALLBACK, REPAIR}:
        yield from _announced(teller, None)
        teller.waits_for, teller.waited_at = event.reason, event.at
        if event.reason == FALLBACK:
            teller.fallbacks += 1
            named = named or _called(teller.facts, event.slice_id, teller.fallbacks)
        if named:
            yield from _announced(teller, named)
    elif is_final(event.state):
        yield from _announced(teller, _selected(teller.facts, event.slice_id))
        if event.note:
            yield NarrativeSentence(event.at, line(f"{where}{line(event.note)}"))


def _announced(teller: _Teller, arm: str | None) -> Iterator[NarrativeSentence]:
    """Yield the sentence for the announced reaction, naming the new saved model if known."""
    if not teller.waits_for:
        return
    is_fallback, at = teller.waits_for == FALLBACK, teller.waited_at
    teller.waits_for = ""
    if is_fallback:
        to = f" to {_name(teller, arm)}" if arm else "; which saved model took over is not said"
        if arm:
            teller.arm = arm
        yield NarrativeSentence(at, line(f"The run fell back{to}."))
    else:
        by = f" by {_name(teller, arm)}" if arm else ""
        yield NarrativeSentence(at, line(f"The work was repaired and tried again{by}."))


def _checked(teller: _Teller, check: VerificationCheck, at: datetime | None, where: str) -> NarrativeSentence:
    finding = describe_attempt(check, teller.context.glyphs)
    teller.arm = check.arm_id or teller.arm
    number = "" if check.attempt is None else f"Attempt {check.attempt}: "
    whose = _PHASES.get(check.phase or "", "The output")
    of = f" of {_name(teller, check.arm_id)}" if check.arm_id else ""
    points = format_score(check.quality_score)
    match finding.kind:
        case "accepted" | "rejected":
            with_score = f" with a score of {points}" if points else ""
            text = f"{number}{whose}{of} was {finding.kind} by the check{with_score}."
        case "unavailable":
            text = f"{number}{whose}{of} was not judged: {finding.text}."
        case _:
            text = _sentence(number, finding.text)
    return NarrativeSentence(at, line(f"{where}{text}"), finding.role)


def _from_receipt(facts: RunFacts, context: RenderContext) -> Iterator[NarrativeSentence]:
    """Narrate the attempts of a receipt, for a run whose events are missing or do not include them."""
    parts = receipt_slices(facts.receipt)
    for part in parts:
        where = f"Slice {short_id(part.slice_id, context.glyphs)}: " if len(parts) > 1 else ""
        teller = _Teller(facts, context)
        for check in part.verification_checks or ():
            if teller.arm and check.arm_id and check.arm_id != teller.arm:
                yield NarrativeSentence(None, line(f"{where}The run fell back to {_name(teller, check.arm_id)}."))
            yield _checked(teller, check, None, where)
        if not part.verification_checks and facts.mode.value is not None:
            finding = slice_finding(part, facts.mode.value, context.glyphs)
            if finding.kind not in {"unrecorded", "unchecked", "pending"}:
                yield NarrativeSentence(None, _sentence(where, finding.text), finding.role)
        acted = part.acted_on_eval
        said = _OUTCOMES.get(acted.outcome or "", "") if acted is not None else ""
        if acted is not None and said:
            proposal = f" ({line(acted.proposal_id)})" if acted.proposal_id else ""
            yield NarrativeSentence(None, line(f"{where}{said.removesuffix('.')}{proposal}."))


def _insert_provider_errors(sentences: list[NarrativeSentence], facts: RunFacts) -> None:
    """Insert what providers answered to refused calls, each before the first sentence about a later time."""
    for error in facts.provider_errors:
        at = error.at
        words = provider_error_text(error)
        sentence = NarrativeSentence(at, line(f"{words[:1].upper()}{words[1:]}.", None), Role.WARN)
        later = (index for index, it in enumerate(sentences) if at is not None and it.at is not None and it.at > at)
        sentences.insert(next(later, len(sentences)), sentence)


def _end(facts: RunFacts) -> Iterator[NarrativeSentence]:
    if not facts.is_final:
        return
    status, reason, at = facts.status, facts.reason.value, facts.ended_at.value
    took = facts.took_s.value
    after = f" after {duration(took)}" if took is not None and took >= 0 else ""
    role = {"completed": Role.GOOD, "failed": Role.BAD, "cancelled": Role.OFF}.get(status or "", Role.WARN)
    packet = facts.packet.value
    if packet is not None and packet.verdict:
        to_do = f"; the action is {line(packet.action)}" if packet.action else ""
        why = f" ({line(packet.reason)})" if packet.reason else ""
        text = f"Observation ended{after}. The verdict is {line(packet.verdict)}{why}{to_do}."
        yield NarrativeSentence(at, line(text), verdict_role(packet.verdict))
        return
    who = f" by {line(facts.cancelled_by.value)}" if status == "cancelled" and facts.cancelled_by.value else ""
    text = f"The run {ending_text(status)}{who}{after}"
    if reason and reason != status:
        text += f": {line(reason)}. {why_ended(reason, facts.receipt, states=facts.states)}".rstrip(".")
    yield NarrativeSentence(at, line(f"{text}."), role)


def ending_text(status: str | None) -> SafeText:
    """Say how a run ended, after its subject: ``failed``, ``was cancelled``."""
    return line(status if status in {"completed", "failed", "expired"} else f"was {line(status)}")


def _sentence(where: str, words: SafeText) -> SafeText:
    return line(f"{where}{words[:1].upper()}{words[1:]}.")


def _called(facts: RunFacts, slice_id: str | None, number: int) -> str | None:
    """Return the saved model that a fallback of a slice called, by the fallback's number, from the receipt."""
    parts = receipt_slices(facts.receipt)
    attempts = next((part.attempts for part in parts if part.slice_id == slice_id), None) or ()
    called = [call.arm_id for call in attempts if call.phase == "candidate"]
    return called[number] if number < len(called) else None


def _selected(facts: RunFacts, slice_id: str | None) -> str | None:
    for part in receipt_slices(facts.receipt):
        if part.slice_id == slice_id and part.route is not None and part.route.selected is not None:
            return part.route.selected.arm_id
    return None


def _name(teller: _Teller, arm: str | None) -> SafeText:
    if arm is None:
        return line("a saved model")
    shown = line(short_id(arm, teller.context.glyphs))
    model = teller.facts.model.value if teller.facts.arm_id.value == arm else None
    return line(f"{shown} ({line(whole_model(model), 60)})") if model else shown
