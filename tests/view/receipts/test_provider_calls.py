"""What a user reads of failed provider calls, unreported tokens and estimated costs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runwatch.records.arm import Arm
from runwatch.records.error_codes import REASONS
from runwatch.records.failed_calls import BODY_TEXTS, kind_from_http_status
from runwatch.records.receipt import Receipt
from runwatch.records.run import CallError
from runwatch.service.execution.live.provider_call import OTHER_REASON
from runwatch.service.execution.live.provider_call import REASONS as OWN_REASONS
from runwatch.service.models.providers.types import KINDS
from runwatch.view.export import text_output
from runwatch.view.problems.explanation_texts import BODY_ADVICE, CALL_ADVICE, CHECK_TEXTS, FAILURE_TEXTS
from runwatch.view.problems.explanations import explain_reason
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS, find_connection
from runwatch.view.runs.provider_calls import (
    UNREACHED,
    end_advice_text,
    end_reason_text,
    has_run,
    last_failure_text,
    provider_error_text,
)
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.shell_commands import ShellService
from tests.support import builders
from tests.support.hostile import ALL_AT_ONCE
from tests.support.receipts import live_receipt
from tests.support.resources import arm
from tests.view.strategies import CONTEXT


def call(kind: str | None, outcome: str = "failed", number: int = 1, arm_id: str = "arm_01HX7") -> dict[str, Any]:
    return {"attempt": number, "arm_id": arm_id, "outcome": outcome, "failure_kind": kind}


def failed(*calls: dict[str, Any], reason: str = OTHER_REASON, **cost: Any) -> Receipt:
    part = live_receipt().raw["slices"][0]
    part = {**part, "attempts": list(calls), "cost": {**part["cost"], **cost}}
    return live_receipt(slices=[part], status="failed", reason=reason)


def test_a_failed_run_leads_to_the_connection_that_it_called() -> None:
    facts = RunFacts(builders.run("ex_1", "failed"), receipt=failed(call("network"), reason="dispatch_network_error"))
    assert find_connection(facts) == "conn_01HXZ"
    action = next(action for action in RUNS.actions if action.id == "connection")
    assert action.enabled_when(facts)
    assert not action.enabled_when(RunFacts(builders.run("ex_1", "running")))
    assert action.enabled_when(RunFacts(builders.run("ex_1", "failed"))), "its receipt may name one"
    assert not action.enabled_when(RunFacts(builders.run("ex_1", "failed"), receipt=Receipt({})))


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
def test_a_required_model_that_was_not_ready_is_reported_with_what_makes_it_ready(
    arm: dict[str, Any], said: str
) -> None:
    required = {"arm_id": "arm_1", "display_name": "Tiny", **arm}
    run = builders.run(status="failed", reason="arm_not_ready", required_arm=required)
    shown = " ".join("\n".join(map(str, text_output.detail_lines(RUNS, RunFacts(run), CONTEXT))).split())
    assert said in shown


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        (None, "Save a model"),
        ([arm("arm_off", "disabled"), arm("arm_other", "degraded", data_class_grants=["internal"])], "Save a model"),
        (
            [arm("arm_1", "degraded", display_name="Tiny", status_reason="Test it: runwatch sources test c1")],
            "Tiny (arm_1) is degraded: Test it: runwatch sources test c1",
        ),
        ([arm("arm_1", "degraded"), arm("arm_2", display_name="Big")], "Big (arm_2) is ready now: submit again."),
    ],
)
def test_a_run_that_found_no_model_names_the_one_that_it_could_use(arms: list[Arm] | None, said: str) -> None:
    run = builders.run(status="failed", reason="no_eligible_arms", policy={"data_classes": ["public"]})
    facts = RunFacts(run, arms=None if arms is None else tuple(arms))
    shown = " ".join("\n".join(map(str, text_output.detail_lines(RUNS, facts, CONTEXT))).split())
    assert said in shown


@pytest.mark.parametrize("kind", [*KINDS, "candidate_too_large", "internal"])
def test_every_failure_of_a_call_has_words(kind: str) -> None:
    assert kind in FAILURE_TEXTS
    shown = receipt_text(failed(call(kind)))
    assert FAILURE_TEXTS[kind] in " ".join(shown.split())


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
    slow = failed(call("timeout"), reason="dispatch_timeout")
    assert end_reason_text("dispatch_timeout", slow) == "The provider did not answer in time."
    assert end_reason_text(OTHER_REASON, None) == explain_reason(OTHER_REASON).sentence


def exhausted_receipt(*outcomes: str, checks: list[dict[str, Any]], stated: dict[str, Any] | None) -> Receipt:
    part = {
        "attempts": [call(None, outcome, number) for number, outcome in enumerate(outcomes, 1)],
        "verification_checks": checks,
        **({} if stated is None else {"recorded_check": stated}),
    }
    return Receipt({"reason": "fallback_exhausted", "slices": [part]})


_REJECTED = {"outcome": "verdict", "is_correct": False}


@pytest.mark.parametrize(
    ("outcomes", "checks", "stated", "expected"),
    [
        (("answered", "answered"), [_REJECTED, _REJECTED], None, "The output check rejected the output of every"),
        (("failed", "failed"), [], {"state": "terminal_no_evaluation"}, "No saved model that could be tried gave an"),
        # An output that was too large to be checked.
        (("answered",), [], {"state": "terminal_no_evaluation"}, "No saved model that could be tried gave an output"),
        (("failed",), [], None, "No saved model that could be tried gave an output to check."),
        (("answered", "failed"), [_REJECTED], None, "The output check rejected an output, and the last saved model"),
        ((), [], None, "The output check rejected the output of every saved model that could be tried, or none"),
    ],
)
def test_exhausted_fallbacks_say_whether_a_check_rejected_an_output(
    outcomes: tuple[str, ...], checks: list[dict[str, Any]], stated: dict[str, Any] | None, expected: str
) -> None:
    receipt = exhausted_receipt(*outcomes, checks=checks, stated=stated)
    assert end_reason_text("fallback_exhausted", receipt).startswith(expected)
    step = end_advice_text("fallback_exhausted", receipt, (), CONTEXT)
    assert ("loosen the check" in step) is not expected.startswith("No saved model")


_ENDED = ("accepted", "queued", "expired")
_NO_CALL = {"attempts": [], "route": {"ranking": "required_arm", "selected": None}}


@pytest.mark.parametrize(
    ("slices", "states", "expected"),
    [
        (None, _ENDED, False),
        (None, (*_ENDED, "running"), True),
        # The end is not read yet.
        (None, ("accepted", "queued"), None),
        (None, (), None),
        ([], (), False),
        ([_NO_CALL], (), False),
        ([_NO_CALL], (*_ENDED, "running"), True),
        ([{**_NO_CALL, "attempts": [call(None, "expired_in_flight")]}], (), True),
        ([{"attempts": [], "route": {"ranking": [{"arm_id": "arm_1"}], "selected": None}}], (), None),
        # A test run calls no model.
        ([{"route": {"ranking": "skipped_platform_proof", "selected": None}}], (), None),
    ],
)
def test_a_run_that_waited_for_all_of_its_time_is_not_said_to_have_taken_long(
    slices: list[dict[str, Any]] | None, states: tuple[str, ...], expected: bool | None
) -> None:
    receipt = None if slices is None else Receipt({"reason": "runtime_exceeded", "slices": slices})
    assert has_run(states, receipt) is expected
    why = end_reason_text("runtime_exceeded", receipt, states=states)
    step = end_advice_text("runtime_exceeded", receipt, (), CONTEXT, states=states)
    assert ("took longer" in why, "never ran" in why) == (expected is not False, expected is not True)
    assert ("smaller task" in step, "fewer runs" in step) == (expected is not False, expected is not True)


def test_a_call_that_was_under_way_says_what_ended_it() -> None:
    assert last_failure_text(failed(call(None, "interrupted"))) == "the service or its worker stopped during the call"


def test_an_unknown_failure_is_shown_as_sent_and_cleaned() -> None:
    assert "gremlins" in receipt_text(failed(call("gremlins")))
    assert "\x1b" not in receipt_text(failed(call(ALL_AT_ONCE.text)))


SERVICE = dataclasses.replace(CONTEXT, service=ShellService("--local"))


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        ("authentication", "valid key, `runwatch sources rotate --local --key-stdin conn_01HXZ`"),
        ("permission", "`runwatch sources rotate --local --key-stdin conn_01HXZ`"),
        ("provider_insufficient_funds", "Add credit"),
        ("model_not_found", "`runwatch sources sync --local conn_01HXZ`"),
        ("input_too_long", "Shorten the objective"),
        ("rate_limited", "Wait as long as the provider says"),
        ("capacity", '`fallback` for "when checked" (`--on-eval`)'),
        ("source_5xx", "status page"),
        ("source_timeout", "Submit again. If it happens again"),
        ("network", "Start the provider's server"),
        ("tls", "signed its certificate"),
        ("dns", "Check the host name"),
        ("request_refused", "has it as `provider_errors`"),
        ("invalid_response", "has the server's protocol"),
        ("internal", "Look into the log of the service"),
        ("gremlins", "Read the attempts in the receipt"),
    ],
)
def test_the_next_step_fits_the_failure_of_the_last_call(failure: str, advice: str) -> None:
    reason = "dispatch_network_error" if failure in {"network", "tls", "dns"} else OTHER_REASON
    receipt = failed(call("egress_rejected"), call(failure, number=2), reason=reason)
    told = end_advice_text(reason, receipt, (), SERVICE)
    assert advice in told
    assert "{" not in told
    assert end_reason_text(reason, receipt).startswith("The last provider call failed: ")
    if failure in CALL_ADVICE:
        assert end_advice_text("fallback_exhausted", receipt, (), SERVICE) == told


def test_the_next_step_names_the_connection_of_the_call_that_failed() -> None:
    receipt = failed(call(None, "answered"), {**call("authentication"), "connection_id": "conn_other"})
    assert "conn_other`" in end_advice_text(OTHER_REASON, receipt, (), SERVICE)


@pytest.mark.parametrize("kind", FAILURE_TEXTS)
def test_every_failure_of_a_call_has_its_next_step(kind: str) -> None:
    assert CALL_ADVICE[kind].endswith((".", "`."))


@pytest.mark.parametrize(
    ("reason", "kind"),
    [(OTHER_REASON, "capacity"), ("fallback_exhausted", "capacity"), ("fallback_exhausted", None),
     ("rejected_by_check", None)],
)  # fmt: skip
def test_a_run_with_a_required_model_is_not_told_to_fall_back(reason: str, kind: str | None) -> None:
    part = failed(call(kind, "failed" if kind else "answered")).raw["slices"][0]
    part = {**part, "route": {**part["route"], "ranking": "required_arm"}}
    told = end_advice_text(reason, live_receipt(slices=[part], status="failed", reason=reason), (), SERVICE)
    assert "with another saved model (`--arm-id`), or with none" in told
    assert "fallback" not in told
    assert "save a further model" not in told


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 429, 500, 503, 529])
def test_without_a_receipt_the_status_of_the_answer_says_what_to_do(status: int) -> None:
    told = end_advice_text(OTHER_REASON, None, [CallError({"attempt": 1, "http_status": status})], CONTEXT)
    advice = CALL_ADVICE[kind_from_http_status(status) or ""]
    assert told.startswith(advice[:12])
    assert "{connection}" not in told
    assert ("(`runwatch sources list` has its id)" in told) == ("{connection}" in advice)


def test_a_call_that_was_taken_is_distinguished_from_one_that_was_not() -> None:
    for usage, words in (("known", UNREACHED), ("unknown", FAILURE_TEXTS["dropped"])):
        receipt = failed({**call("network"), "usage": usage}, reason="dispatch_network_error")
        assert last_failure_text(receipt) == words


def test_an_interrupted_call_is_a_matter_of_the_service() -> None:
    told = end_advice_text(OTHER_REASON, failed(call(None, "interrupted")), (), CONTEXT)
    assert told.startswith("Look into the log of the service")


@pytest.mark.parametrize("reason", ["check_unavailable", "internal"])
@pytest.mark.parametrize("failure", CHECK_TEXTS)
def test_a_check_without_a_verdict_is_named_with_its_answer_and_what_to_do(reason: str, failure: str) -> None:
    status = {"http_error": 500, "authentication": 401}.get(failure)
    recorded = {"state": "customer_unavailable", "attempted_verifier_id": "vrf_7c1e", "failure_class": failure}
    told = {} if status is None else {"http_status": status}
    part = live_receipt().raw["slices"][0] | {"recorded_check": {**recorded, **told}}
    receipt = live_receipt(slices=[part], status="failed", reason=reason)
    why, step = end_reason_text(reason, receipt), end_advice_text(reason, receipt, (), SERVICE)
    assert why.startswith(f"The output check vrf_7c1e gave no verdict: {CHECK_TEXTS[failure]}")
    assert (f"HTTP {status}" in why) is (status is not None)
    assert "internal error" not in why
    assert "support" not in step
    assert "--on-eval" in step
    assert "{" not in step
    if "verifiers" in step:
        assert "--local" in step
        assert "vrf_7c1e" in step
    assert why in " ".join(run_text(receipt).split())


@pytest.mark.parametrize("outcome", ["answered", "expired_in_flight"])
def test_a_check_that_had_not_answered_when_the_time_was_over_is_named(outcome: str) -> None:
    pending = {"state": "pending_evaluation", "pending": True, "attempted_verifier_id": "vrf_7c1e"}
    part = failed(call(None, outcome)).raw["slices"][0]
    part = {**part, "recorded_check": pending, "verification_checks": []}
    receipt = live_receipt(slices=[part], status="expired", reason="runtime_exceeded")
    why = end_reason_text("runtime_exceeded", receipt)
    step = end_advice_text("runtime_exceeded", receipt, (), SERVICE)
    is_of_check = outcome == "answered"
    assert ("before the output check vrf_7c1e answered" in why) is is_of_check
    assert ("`runwatch verifiers test --local vrf_7c1e`" in step) is is_of_check
    assert "runtime cap" in step


def test_the_rewriting_of_a_skill_is_reported_as_a_part_of_its_attempt() -> None:
    draft = {**call("source_5xx", number=3), "phase": "skill_draft"}
    assert "3 arm_01HX7, rewriting the skill: the provider failed" in receipt_text(failed(draft))


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


def test_the_wait_that_the_provider_asks_for_is_reported_and_advised() -> None:
    receipt = failed({**call("rate_limited"), "http_status": 429, "retry_after_s": 90})
    told = "the provider's rate limit was reached (HTTP 429); it asked to wait 1 min 30 s"
    assert last_failure_text(receipt) == told
    advice = end_advice_text(OTHER_REASON, receipt, (), SERVICE)
    assert advice.startswith("Wait 1 min 30 s, as the provider asked, then submit again.")
    error = CallError({"attempt": 1, "http_status": 503, "retry_after_s": 20})
    assert end_advice_text(OTHER_REASON, None, [error], SERVICE).startswith("Wait 20 s, as the provider asked")
    assert provider_error_text(error) == "the provider answered 503; it asked to wait 20 s"


@pytest.mark.parametrize("kind", BODY_TEXTS)
def test_what_came_in_place_of_an_answer_is_reported_and_what_to_do(kind: str) -> None:
    receipt = failed({**call("invalid_response"), "body_kind": kind, "content_type": "text/html"})
    assert last_failure_text(receipt) == f"the provider's answer was not usable: it was {BODY_TEXTS[kind]} (text/html)"
    advice = end_advice_text(OTHER_REASON, receipt, (), SERVICE)
    assert advice.startswith(BODY_ADVICE[kind])
    assert "`runwatch sources test --local conn_01HXZ`" in advice


def test_a_refused_call_is_reported_with_its_exact_status() -> None:
    receipt = failed({**call("request_refused"), "http_status": 418})
    assert last_failure_text(receipt) == "the provider refused the request (HTTP 418)"
    assert "HTTP 418" in run_text(receipt)
    assert "HTTP 418" in receipt_text(receipt)
