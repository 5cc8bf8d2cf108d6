"""What a user reads of failed provider calls, unreported tokens and estimated costs."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.error_codes import REASONS
from runwatch.records.receipt import Receipt
from runwatch.records.run import CallError
from runwatch.service.execution.live.provider_call import OTHER_REASON
from runwatch.service.execution.live.provider_call import REASONS as OWN_REASONS
from runwatch.service.models.providers import KINDS
from runwatch.view.export import text_output
from runwatch.view.problems.explanation_texts import FAILURE_WORDS
from runwatch.view.problems.explanations import explain_reason
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.provider_calls import end_advice_text, end_reason_text, last_failure_text
from runwatch.view.runs.run_facts import RunFacts
from tests.support import builders
from tests.support.hostile import ALL_AT_ONCE
from tests.support.receipts import live_receipt
from tests.view.strategies import CONTEXT


def call(kind: str | None, outcome: str = "failed", number: int = 1, arm_id: str = "arm_01HX7") -> dict[str, Any]:
    return {"attempt": number, "arm_id": arm_id, "outcome": outcome, "failure_kind": kind}


def failed(*calls: dict[str, Any], reason: str = OTHER_REASON, **cost: Any) -> Receipt:
    part = live_receipt().raw["slices"][0]
    part = {**part, "attempts": list(calls), "cost": {**part["cost"], **cost}}
    return live_receipt(slices=[part], status="failed", reason=reason)


def receipt_text(receipt: Receipt) -> str:
    return "\n".join(map(str, text_output.detail_lines(RECEIPTS, receipt, CONTEXT)))


def run_text(receipt: Receipt) -> str:
    run = builders.run(status="failed", reason=receipt.reason)
    return "\n".join(map(str, text_output.detail_lines(RUNS, RunFacts(run, receipt=receipt), CONTEXT)))


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        (
            {"status": "degraded", "status_reason": "Test it: runwatch sources test c1"},
            "Test it: runwatch sources test c1",
        ),
        ({"status": "disabled"}, "disabled: runwatch arms show arm_1"),
        ({"status": "ready"}, "Tiny (arm_1) is ready now: submit again."),
    ],
)
def test_a_required_model_that_was_not_ready_is_told_with_what_makes_it_ready(arm: dict[str, Any], said: str) -> None:
    required = {"arm_id": "arm_1", "display_name": "Tiny", **arm}
    run = builders.run(status="failed", reason="arm_not_ready", required_arm=required)
    shown = " ".join("\n".join(map(str, text_output.detail_lines(RUNS, RunFacts(run), CONTEXT))).split())
    assert said in shown


@pytest.mark.parametrize("kind", [*KINDS, "candidate_too_large", "internal"])
def test_every_failure_of_a_call_has_words(kind: str) -> None:
    assert kind in FAILURE_WORDS
    shown = receipt_text(failed(call(kind)))
    assert FAILURE_WORDS[kind] in " ".join(shown.split())


def test_the_general_reason_does_not_blame_the_service_alone() -> None:
    assert OTHER_REASON in REASONS
    assert OTHER_REASON not in OWN_REASONS.values()
    explanation = explain_reason(OTHER_REASON)
    assert explanation.sentence.startswith("The provider refused the call")
    assert "support" not in explanation.next_step


def test_runs_and_receipts_say_why_the_last_call_failed() -> None:
    receipt = failed(call("source_5xx"), call("rate_limited", number=2, arm_id="arm_01HX8"))
    told = "The last provider call failed: the provider's rate limit was reached."
    assert end_reason_text(OTHER_REASON, receipt) == told
    assert told in receipt_text(receipt)
    assert told in run_text(receipt)
    assert "1 arm_01HX7: the provider failed with a server error" in receipt_text(receipt)
    assert "2 contoso/atlas-12b: the provider's rate limit was reached" in receipt_text(receipt)
    exhausted = failed(call("capacity"), reason="fallback_exhausted")
    assert end_reason_text("fallback_exhausted", exhausted).endswith(
        "failed: the provider has no capacity for the call."
    )
    assert end_reason_text("dispatch_timeout", failed(call("timeout"), reason="dispatch_timeout")) == (
        "The provider did not answer in time."
    )
    assert end_reason_text(OTHER_REASON, None) == explain_reason(OTHER_REASON).sentence


def test_a_call_that_was_under_way_says_what_ended_it() -> None:
    assert last_failure_text(failed(call(None, "interrupted"))) == "the service stopped during the call"


def test_an_unknown_failure_is_shown_as_sent_and_cleaned() -> None:
    assert "gremlins" in receipt_text(failed(call("gremlins")))
    assert "\x1b" not in receipt_text(failed(call(ALL_AT_ONCE.text)))


INVALID, INTERNAL = call("invalid_response"), call("internal")
REFUSED = {**call("source_5xx"), "http_status": 500}


@pytest.mark.parametrize(
    ("calls", "errors", "advice"),
    [
        ([INVALID], [], "Read the attempts in the receipt: they say what went wrong. Test the connection"),
        ([INTERNAL, INVALID], [], "Read the attempts in the receipt"),
        ([INTERNAL], [], "Look into the log of the service"),
        ([INVALID, call(None, "interrupted")], [], "Look into the log of the service"),
        ([REFUSED, INVALID], [], "Read what the provider answered"),
        ([INVALID], [CallError({"attempt": 1, "message": "no"})], "Read what the provider answered"),
        ([], [], "Read what the provider answered"),
    ],
)
def test_the_next_step_names_provider_errors_only_where_a_call_was_refused(
    calls: list[dict[str, Any]], errors: list[CallError], advice: str
) -> None:
    told = end_advice_text(OTHER_REASON, failed(*calls), errors)
    assert told.startswith(advice)
    assert ("provider_errors" in told) is advice.startswith("Read what")


def test_a_timeout_that_the_provider_answered_is_its_answer() -> None:
    receipt = failed({**call("timeout"), "http_status": 408}, reason="dispatch_timeout")
    words = "the provider answered that the request timed out (HTTP 408)"
    assert last_failure_text(receipt) == words
    assert end_reason_text("dispatch_timeout", receipt) == f"The last provider call failed: {words}."
    assert words in " ".join(receipt_text(receipt).split())
    for shown in (receipt_text(receipt), run_text(receipt)):
        assert "in time" not in shown
        assert "this one is slow" not in " ".join(shown.split())
    error = CallError({"attempt": 1, "http_status": 408})
    assert end_advice_text("dispatch_timeout", None, [error]).startswith("Submit again. If it happens again, look into")
    slow = failed(call("timeout"), reason="dispatch_timeout")
    assert last_failure_text(slow) is None
    assert "while this one is slow" in end_advice_text("dispatch_timeout", slow, ())


def test_tokens_that_a_call_did_not_report_are_unknown_or_a_least_number() -> None:
    assert "tokens unknown" in receipt_text(failed(usage="unknown", input_tokens=0, output_tokens=0))
    assert "0 in · 0 out" not in receipt_text(failed(usage="unknown", input_tokens=0, output_tokens=0))
    assert "at least 1,830 in · 412 out" in receipt_text(failed(usage="unknown"))
    assert "at least" not in receipt_text(failed())


def test_an_estimated_cost_does_not_look_measured() -> None:
    guess, measured = failed(pricing_basis="estimated"), failed()
    assert "usage 0.0142 USD (estimated)" in receipt_text(guess)
    assert receipt_text(guess).count("(estimated)") == 2
    assert "USD (estimated)  (receipt)" in run_text(guess)
    assert "(estimated)" not in receipt_text(measured) + run_text(measured)


def test_a_refused_call_is_told_with_its_exact_status() -> None:
    receipt = failed({**call("request_refused"), "http_status": 418})
    assert last_failure_text(receipt) == "the provider refused the request (HTTP 418)"
    assert "HTTP 418" in run_text(receipt)
    assert "HTTP 418" in receipt_text(receipt)


@pytest.mark.parametrize(
    ("status", "advice"),
    [(400, "Read what the provider answered: `runs show`"), (429, "Wait as long as"), (500, "Read")],
)
def test_the_next_step_names_the_answer_of_the_provider_and_waits_after_a_rate_limit(status: int, advice: str) -> None:
    error = {"attempt": 1, "http_status": status, "message": "no"}
    run = builders.run(status="failed", reason=OTHER_REASON, provider_errors=[error])
    receipt = failed({**call("rate_limited" if status == 429 else "request_refused"), "http_status": status})
    for facts in (RunFacts(run), RunFacts(run, receipt=receipt)):
        shown = " ".join("\n".join(map(str, text_output.detail_lines(RUNS, facts, CONTEXT))).split())
        assert f" next {advice}" in shown
        assert "provider_errors" in shown
        assert "in the receipt: they name" not in shown
