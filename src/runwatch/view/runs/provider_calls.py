"""Outcomes of the provider calls of a live run, from its receipt, and why the run ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.shell_words import quote_word, runwatch_command
from runwatch.records.check import RecordedCheck
from runwatch.records.failed_calls import describe_body, kind_from_http_status
from runwatch.records.receipt import ProviderCall, Receipt, ReceiptSlice
from runwatch.records.run import CallError, RequiredArm
from runwatch.records.source import DROPPED
from runwatch.records.states import is_final
from runwatch.view.problems.explanation_texts import (
    BODY_ADVICE,
    CALL_ADVICE,
    CALL_TEXTS,
    CHECK_ADVICE,
    CHECK_TEXTS,
    EXHAUSTED_TEXTS,
    FAILURE_TEXTS,
    PINNED_ADVICE,
    TIME_TEXTS,
    UNANSWERED_ADVICE,
    WAITS,
    WHEN_CHECKED,
)
from runwatch.view.problems.explanations import explain_reason
from runwatch.view.problems.status_reasons import status_reason_text
from runwatch.view.runs.check_results import customer_check_id
from runwatch.view.runs.run_facts import receipt_slices
from runwatch.view.text.format import RenderContext, duration
from runwatch.view.text.member_format import whole_model
from runwatch.view.text.safe_text import SafeText, block, line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from runwatch.records.arm import Arm

_OF_CONNECTION: Final = lazy_pattern(r",?(?: with)? `runwatch sources [a-z -]+ \{connection\}`")
_LISTED: Final = " (`runwatch sources list` has its id)"
"""What advice names in place of a command for a connection that is not known."""

UNREACHED: Final = "nothing answered at the provider's address"
"""What went wrong with a call of the kind ``network`` that was not sent."""

_UNAVAILABLE: Final = frozenset({"check_unavailable", "internal"})
"""Reasons of a run whose check gave no verdict; other services have the second one for it."""

_OF_CALLS: Final = frozenset({"dispatch_internal_error", "dispatch_network_error"})
"""Reasons that the failure of the last call takes the place of."""

_ADVISED: Final = _OF_CALLS | {"dispatch_timeout", "fallback_exhausted"}
"""Reasons after which the failure of the last call says what to do."""

_WITHOUT_REFUSAL: Final = (
    "Read the attempts in the receipt: they say what went wrong. Test the connection with"
    " `runwatch sources test {connection}`, and look into the log of the provider's server, or of a proxy in between,"
    " then submit again."
)
"""Advice after a failure of an unknown kind where the provider refused no call, so that the run has no
``provider_errors``.
"""


def provider_failure_text(call: ProviderCall) -> SafeText | None:
    """Describe what went wrong with a call; ``None`` if it was answered or the failure is unknown."""
    kind = DROPPED if call.is_dropped else call.failure_kind
    if kind is not None:
        status = "" if call.http_status is None else f" (HTTP {call.http_status})"
        words = UNREACHED if call.is_unreached else FAILURE_TEXTS.get(kind, kind)
        return line(f"{words}{status}{_answer_text(call)}", None)
    ended = CALL_TEXTS.get(call.outcome or "")
    return None if ended is None else line(ended)


def _answer_text(call: ProviderCall) -> str:
    """Say how long the provider asked to wait, or what came in place of its answer; empty if neither is known."""
    came = describe_body(call.body_kind, call.content_type)
    return _wait_text(call.retry_after_s) if came is None else f": it was {came}"


def _wait_text(seconds: int | None) -> str:
    return "" if seconds is None else f"; it asked to wait {duration(seconds)}"


def last_failure_text(receipt: Receipt | None) -> SafeText | None:
    """Describe what went wrong with the last call of a run, or with its check, unless its reason already says so."""
    if receipt is None:
        return None
    check = _silent_check(receipt)
    if check is not None:
        return _check_failure_text(check)
    calls = _calls(receipt)
    is_explained = receipt.reason not in _OF_CALLS | {"fallback_exhausted"}
    return provider_failure_text(calls[-1]) if calls and not is_explained else None


def _check_failure_text(check: RecordedCheck) -> SafeText:
    status = "" if check.http_status is None else f" (HTTP {check.http_status})"
    failure = check.failure_class or "it gave no reason"
    return line(f"{CHECK_TEXTS.get(failure, failure)}{status}")


def _calls(receipt: Receipt | None) -> list[ProviderCall]:
    return [call for part in receipt_slices(receipt) for call in part.attempts or ()]


def _silent_check(receipt: Receipt | None) -> RecordedCheck | None:
    """Return the check whose lack of a verdict ended a run."""
    if receipt is None or receipt.reason not in _UNAVAILABLE:
        return None
    found = (part.recorded_check for part in reversed(receipt.slices or ()))
    return next((check for check in found if check is not None and check.state == "customer_unavailable"), None)


def _unanswered_check(receipt: Receipt | None) -> ReceiptSlice | None:
    """Return the slice whose check had not answered when the run's time was over."""
    if receipt is None or receipt.reason != "runtime_exceeded":
        return None
    for part in receipt.slices or ():
        stated, last = part.recorded_check, part.attempts[-1] if part.attempts else None
        is_asked = customer_check_id(part) is not None or (stated is not None and stated.state == "pending_evaluation")
        checked = {check.attempt for check in part.verification_checks or ()}
        has_output = last is not None and last.outcome == "answered" and last.phase != "skill_draft"
        if is_asked and has_output and last is not None and last.attempt not in checked:
            return part
    return None


def has_run(states: Collection[str | None], receipt: Receipt | None) -> bool | None:
    """Return whether an ended run ever ran; ``None`` if that is not known. ``states`` are those that its events
    name.
    """
    if _calls(receipt) or not {"running", "progress"}.isdisjoint(states):
        return True
    if not {"accepted", "queued"}.isdisjoint(states) and any(map(is_final, states)):
        return False
    parts = None if receipt is None else receipt.slices
    return False if parts is not None and all(map(_is_untouched, parts)) else None


def _is_untouched(part: ReceiptSlice) -> bool:
    """Return whether a receipt says of a slice that no model was called or ranked for it."""
    ranking = None if part.route is None else part.route.ranking
    is_ranked = bool(ranking) and not isinstance(ranking, str)
    is_selected = part.route is not None and part.route.selected is not None
    says_so = part.attempts is not None or ranking == []
    return says_so and not (part.attempts or part.verification_checks or is_ranked or is_selected)


def _case_texts(reason: str, states: Collection[str | None], receipt: Receipt | None) -> tuple[str, str] | None:
    """Return sentence and next step of a reason with several cases, if it is known which one applies."""
    if reason == "fallback_exhausted":
        case = _exhausted_case(receipt)
        return None if case is None else EXHAUSTED_TEXTS[case]
    ran = has_run(states, receipt) if reason == "runtime_exceeded" else None
    return None if ran is None else TIME_TEXTS[ran]


def _exhausted_case(receipt: Receipt | None) -> str | None:
    """Return what ended the fallbacks of a run, by :data:`EXHAUSTED_TEXTS`; ``None`` if its receipt does not say."""
    parts, calls = receipt_slices(receipt), _calls(receipt)
    checks = [check for part in parts for check in (part.recorded_check, *(part.verification_checks or ()))]
    if any(check is not None and check.is_correct is False for check in checks):
        return "both" if calls and calls[-1].outcome != "answered" else "rejected"
    stated = [part.recorded_check for part in parts]
    is_unchecked = bool(stated) and all(it is not None and it.state == "terminal_no_evaluation" for it in stated)
    has_failed = bool(calls) and all(call.outcome != "answered" for call in calls)
    return "failed" if is_unchecked or has_failed else None


def _named(id: str | None) -> str:
    return f" {line(id)}" if id else ""


def end_reason_text(reason: str, receipt: Receipt | None, *, states: Collection[str | None] = ()) -> SafeText:
    """Explain the reason of an ended run, with the failure of the last call or of the check if the receipt has it.

    ``states`` are those that its events name, from the first event on; empty if they are unknown.
    """
    unanswered = _unanswered_check(receipt)
    if unanswered is not None:
        check_name = _named(customer_check_id(unanswered))
        return line(f"The run's time was over before the output check{check_name} answered.", None)
    case_texts = _case_texts(reason, states, receipt)
    sentence = explain_reason(reason).sentence if case_texts is None else case_texts[0]
    failure, check = last_failure_text(receipt), _silent_check(receipt)
    if failure is None:
        return line(sentence)
    if check is not None:
        subject = f"The output check{_named(check.attempted_verifier_id)}"
        consequence = "The run's on_eval needs a verdict, so the run failed."
        return line(f"{subject} gave no verdict: {failure}. {consequence}", None)
    last = f"The last provider call failed: {failure}."
    return line(last if reason in _OF_CALLS else f"{sentence} {last}")


def end_advice_text(
    reason: str,
    receipt: Receipt | None,
    errors: Sequence[CallError],
    context: RenderContext,
    *,
    states: Collection[str | None] = (),
) -> SafeText:
    """Return what to do after a run has ended, by its reason and by how its calls or its check failed.

    ``errors`` say how providers refused its calls, ``states`` are those that its events name; empty if they are
    unknown.
    """
    check = _silent_check(receipt)
    if check is not None:
        return line(_check_advice(check, context), None)
    unanswered = _unanswered_check(receipt)
    if unanswered is not None:
        return line(complete_advice(UNANSWERED_ADVICE, context, check=customer_check_id(unanswered) or "ID"), None)
    calls, pinned = _calls(receipt), PINNED_ADVICE if _is_pinned(receipt) else {}
    if reason in _ADVISED:
        kind = _last_kind(calls, errors) or ""
        step = pinned.get(kind) or CALL_ADVICE.get(kind)
        if step is None and reason == "dispatch_internal_error" and calls and calls[-1].failure_kind and not errors:
            step = _WITHOUT_REFUSAL
        if step is not None:
            step = _fit_to_answer(step, kind, calls, errors)
            connection = find_called_connection(receipt)
            if connection is None:
                return line(complete_advice(_OF_CONNECTION.sub(_LISTED, step), context), None)
            return line(complete_advice(step, context, connection=connection), None)
    case_texts = _case_texts(reason, states, receipt)
    step = explain_reason(reason).next_step if case_texts is None else case_texts[1]
    return line(complete_advice(pinned.get(reason) or step, context), None)


def _fit_to_answer(step: str, kind: str, calls: Sequence[ProviderCall], errors: Sequence[CallError]) -> str:
    """Return advice with the wait that the provider asked for, or for what it answered."""
    last: ProviderCall | CallError | None = calls[-1] if calls else errors[-1] if errors else None
    if last is not None and last.retry_after_s is not None and kind in WAITS:
        _, _, others = step.partition(". ")
        return f"Wait {duration(last.retry_after_s)}, as the provider asked, then submit again. {others}".rstrip()
    body_kind = last.body_kind if isinstance(last, ProviderCall) and kind == "invalid_response" else None
    advice = BODY_ADVICE.get(body_kind or "")
    if advice is None:
        return step
    return f"{advice}. Test the connection, `runwatch sources test {{connection}}`, then submit again."


def _is_pinned(receipt: Receipt | None) -> bool:
    return any(part.route is not None and part.route.ranking == "required_arm" for part in receipt_slices(receipt))


def _last_kind(calls: Sequence[ProviderCall], errors: Sequence[CallError]) -> str | None:
    if not calls:
        status = errors[-1].http_status if errors else None
        return None if status is None else kind_from_http_status(status)
    last = calls[-1]
    if last.outcome == "interrupted":
        return "internal"
    return DROPPED if last.is_dropped else last.failure_kind


def _check_advice(check: RecordedCheck, context: RenderContext) -> str:
    step = CHECK_ADVICE.get(check.failure_class or "") or explain_reason("check_unavailable").next_step
    advice = complete_advice(step, context, check=check.attempted_verifier_id or "ID")
    if WHEN_CHECKED in advice:
        return advice
    return f"{advice} With nothing for {WHEN_CHECKED} a run completes without a verdict too."


def find_called_connection(receipt: Receipt | None) -> str | None:
    """Return the connection of the last call; a receipt whose calls do not name it has that of the selected option."""
    last = next(iter(reversed(_calls(receipt))), None)
    if last is not None and last.connection_id:
        return last.connection_id
    routes = [part.route for part in reversed(receipt_slices(receipt))]
    selected = (route.selected for route in routes if route is not None)
    return next((arm.connection_id for arm in selected if arm is not None and arm.connection_id), None)


def complete_advice(step: str, context: RenderContext, **ids: str) -> str:
    """Return advice whose commands call the service that the record is from, with ids quoted for a shell."""
    for name, id in ids.items():
        step = step.replace(f"{{{name}}}", quote_word(id))
    return add_service(step, context.service)


def arm_step_text(arm: RequiredArm | Arm, context: RenderContext) -> SafeText:
    """Say what makes the saved model ready that a run required or could have used."""
    name = f"{line(arm.display_name or '')} ({line(arm.arm_id)})".strip()
    if arm.status == "ready":
        return line(f"{name} is ready now: submit again.", None)
    show = complete_advice(runwatch_command("arms show", arm.arm_id or ""), context)
    why = add_service(status_reason_text(arm.status_reason), context.service) if arm.status_reason else show
    return line(f"{name} is {line(arm.status)}: {line(why, None)}", None)


def provider_error_text(error: CallError) -> SafeText:
    """Quote how a provider refused a call: ``the provider answered 400: "…"``."""
    status = "" if error.http_status is None else f" {error.http_status}"
    said = f': "{line(error.message)}"' if error.message else ""
    return line(f"the provider answered{status}{said}{_wait_text(error.retry_after_s)}", None)


def call_lines(part: ReceiptSlice, context: RenderContext) -> SafeText | None:
    """Describe each provider call of a slice; ``None`` if all were answered."""
    calls = part.attempts or ()
    if all(call.outcome == "answered" for call in calls):
        return None
    return block("\n".join(_call(position, call, part, context) for position, call in enumerate(calls, 1)))


def _call(position: int, call: ProviderCall, part: ReceiptSlice, context: RenderContext) -> str:
    selected = part.route.selected if part.route is not None else None
    model = call.model_key or (selected.model_key if selected is not None and selected.arm_id == call.arm_id else None)
    number = call.attempt if call.attempt is not None else position
    came = provider_failure_text(call) or call.outcome or context.glyphs.unknown
    doing = ", rewriting the skill" if call.phase == "skill_draft" else ""
    return f"{number} {line(whole_model(model) or call.arm_id or context.glyphs.unknown, 60)}{doing}: {line(came)}"
