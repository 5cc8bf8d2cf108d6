"""Outcomes of the provider calls of a live run, from its receipt, and why the run ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runwatch.base.shell_words import runwatch_command
from runwatch.records.receipt import ProviderCall, Receipt, ReceiptSlice
from runwatch.records.run import CallError, RequiredArm
from runwatch.view.problems.explanation_texts import CALL_WORDS, FAILURE_WORDS
from runwatch.view.problems.explanations import explain_reason
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText, block, line

_INTERNAL: Final = "dispatch_internal_error"
_TIMEOUT: Final = "dispatch_timeout"
_GENERAL: Final = frozenset({_INTERNAL, "fallback_exhausted"})
"""Reasons shared by many failures of calls; the failure of the last call is more specific."""

TOO_MANY_REQUESTS: Final = 429

_WAIT: Final = (
    "Wait as long as the provider says, or a minute, then submit again. `runs show` has its answer as"
    " `provider_errors`."
)
"""Advice after a rate limit."""

_TIMED_OUT: Final = "the provider answered that the request timed out"
"""What went wrong with a call that the provider itself answered with a timeout, such as 408."""

_AFTER_TIMED_OUT: Final = (
    "Submit again. If it happens again, look into the log of the provider's server, or of a proxy in between."
)

_WITHOUT_REFUSAL: Final = (
    "Read the attempts in the receipt: they say what went wrong. Test the connection, which the receipt names, with"
    " `runwatch sources test ID`, and look into the log of the provider's server, or of a proxy in between, then"
    " submit again."
)
"""Advice where the provider refused no call, so that the run has no ``provider_errors``."""

_SERVICE_FAILED: Final = (
    "Look into the log of the service, which stopped or failed during the call. The call may be charged: read the"
    " receipt, then submit again."
)
"""Advice where the service, and no provider, ended the last call."""


def provider_failure_text(call: ProviderCall) -> SafeText | None:
    """Describe what went wrong with a call; ``None`` if it was answered or the failure is unknown."""
    kind, outcome = call.failure_kind, call.outcome
    if kind is not None:
        status = "" if call.http_status is None else f" (HTTP {call.http_status})"
        return line(f"{_TIMED_OUT if _is_timeout_answer(call) else FAILURE_WORDS.get(kind, kind)}{status}")
    words = CALL_WORDS.get(outcome or "")
    return None if words is None else line(words)


def last_failure_text(receipt: Receipt | None) -> SafeText | None:
    """Describe what went wrong with the last call of a run, unless its reason already says so."""
    calls = _calls(receipt)
    if receipt is None or not calls:
        return None
    is_told = receipt.reason not in _GENERAL and not (receipt.reason == _TIMEOUT and _is_timeout_answer(calls[-1]))
    return None if is_told else provider_failure_text(calls[-1])


def _calls(receipt: Receipt | None) -> list[ProviderCall]:
    return [call for part in (receipt.slices if receipt is not None else None) or () for call in part.attempts or ()]


def _is_timeout_answer(call: ProviderCall) -> bool:
    return call.failure_kind == "timeout" and call.http_status is not None


def end_reason_text(reason: str, receipt: Receipt | None) -> SafeText:
    """Explain the reason of an ended run, with the failure of the last call if the receipt names it."""
    sentence, failure = explain_reason(reason).sentence, last_failure_text(receipt)
    if failure is None:
        return line(sentence)
    told = f"The last provider call failed: {failure}."
    return line(told if reason in {_INTERNAL, _TIMEOUT} else f"{sentence} {told}")


def end_advice_text(reason: str, receipt: Receipt | None, errors: Sequence[CallError]) -> SafeText:
    """Return what to do after a run has ended, by its reason and by how its calls failed.

    Args:
        errors: How providers refused its calls, in order; empty if that is not known.
    """
    calls = _calls(receipt)
    status = calls[-1].http_status if calls else errors[-1].http_status if errors else None
    is_limited = status == TOO_MANY_REQUESTS or (bool(calls) and calls[-1].failure_kind == "rate_limited")
    if reason in _GENERAL and is_limited:
        return line(_WAIT)
    if reason == _TIMEOUT and status is not None:
        return line(_AFTER_TIMED_OUT)
    if reason == _INTERNAL and calls and not errors and all(call.http_status is None for call in calls):
        last = calls[-1]
        is_own = last.failure_kind == "internal" or last.outcome == "interrupted"
        return line(_SERVICE_FAILED if is_own else _WITHOUT_REFUSAL)
    return line(explain_reason(reason).next_step)


def required_arm_text(arm: RequiredArm) -> SafeText:
    """Say what makes the saved model ready that a run required."""
    name = f"{line(arm.display_name or '')} ({line(arm.arm_id)})".strip()
    if arm.status == "ready":
        return line(f"{name} is ready now: submit again.", None)
    show = runwatch_command("arms show", arm.arm_id or "")
    return line(f"{name} is {line(arm.status)}: {line(arm.status_reason or show, None)}", None)


def provider_error_text(error: CallError) -> SafeText:
    """Quote how a provider refused a call: ``the provider answered 400: "…"``."""
    status = "" if error.http_status is None else f" {error.http_status}"
    said = f': "{line(error.message)}"' if error.message else ""
    return line(f"the provider answered{status}{said}", None)


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
    return f"{number} {line(model or call.arm_id or context.glyphs.unknown, 60)}: {line(came)}"
