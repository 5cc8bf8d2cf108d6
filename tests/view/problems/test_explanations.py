"""Every code and reason has a plain sentence and a next step; the support block has no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import runwatch
from runwatch.base.text import is_clean
from runwatch.records.error_codes import CODES, REASONS
from runwatch.records.problem import Problem
from runwatch.records.states import INCOMPLETE
from runwatch.service.checks.probe import UNREACHABLE
from runwatch.service.execution.live.next_live_step import SKILL_ACCEPTED, SKILL_REJECTED
from runwatch.service.execution.live.state import CANCELLED_IN_FLIGHT, EXPIRED_IN_FLIGHT, INTERRUPTED
from runwatch.service.models.providers.types import KINDS
from runwatch.service.outbound import OutboundError
from runwatch.view.problems.explanations import (
    KEY_WAS_USED,
    NEW_KEY,
    NOTHING_ACCEPTED,
    OUTCOME_UNKNOWN,
    all_explanations,
    describe_submit_effect,
    explain_code,
    explain_code_or_reason,
    explain_reason,
    next_step,
    support_block,
)
from runwatch.view.problems.journal_entries import ProblemEntry
from tests.support import builders
from tests.support.hostile import ALL_AT_ONCE
from tests.support.problems import entry_from_problem
from tests.view.strategies import NOW

PACKAGE = Path(runwatch.__file__).parent

REFUSING = (
    "validation_failed", "echo_mode_mismatch", "data_class_not_available", "not_found", "invalid_state",
    "quota_exceeded", "insufficient_credit", "credit_wallet_frozen",
)  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_every_error_code_is_explained(code: str) -> None:
    explanation = explain_code(code)
    assert explanation.is_known
    assert explanation.word == code
    assert explanation.status == CODES[code].status
    for sentence in (explanation.sentence, explanation.next_step, explanation.effect):
        assert sentence.endswith(".")
        assert sentence[:1].isupper()


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_explained(reason: str) -> None:
    explanation = explain_reason(reason)
    assert explanation.is_known
    assert explanation.effect == ""
    assert explanation.sentence.endswith(".")
    assert explanation.next_step.endswith(".")


def emitted() -> Iterator[tuple[str, str]]:
    """Every word of the local service for the result of a run, a call, a check, an output or a delivery."""
    yield from (("error code", code) for code in CODES)
    yield from (("reason", reason) for reason in REASONS)
    yield from (("failure of a call", kind) for kind in (*KINDS, "candidate_too_large", "internal", "dropped"))
    yield from (("end of a call", state) for state in (INTERRUPTED, CANCELLED_IN_FLIGHT, EXPIRED_IN_FLIGHT))
    yield from (("end of an output", reason) for reason in (*INCOMPLETE, "stop", "end_turn", "stop_sequence"))
    met = [OutboundError(kind).failure_class for kind in (*UNREACHABLE, "response_too_large")]
    own = ("authentication", "credential_unavailable", "http_error", "invalid_response", "internal")
    yield from (("failure of a check", word) for word in sorted({*met, *own}))
    probed = ("authentication_failed", "response_incompatible")
    yield from (
        ("result of a probe", word) for word in {*probed, *(fault.reason_code for fault in UNREACHABLE.values())}
    )
    reactions = ("passed_gate", "fell_back", "repair_accepted", "repair_rejected", "proposal_created")
    yield from (("reaction of a policy", word) for word in (*reactions, SKILL_ACCEPTED, SKILL_REJECTED))
    states = ("operator_suspended", "not_ready", "provider_deprecated", "absent_from_feed", "drift")
    yield from (("state of a saved model", word) for word in states)
    sent = ("http_error", "credential_unavailable", "queue_full", "response_too_large")
    yield from (("error of a delivery", word) for word in (*UNREACHABLE, *sent))


def test_every_word_that_the_service_can_emit_is_explained_and_no_other() -> None:
    told = {(found.kind, found.word): found for found in all_explanations()}
    assert set(told) == set(emitted())
    for kind, word in told:
        found = next(one for one in explain_code_or_reason(word) if one.kind == kind)
        assert found.is_known
        assert found.sentence[:1].isupper()
        assert found.sentence.endswith(".")
        assert found.next_step.endswith(".")
        assert "{" not in found.next_step


@pytest.mark.parametrize("source", ["service/execution", "service/checks", "service/models", "service/organization"])
def test_every_reason_in_the_code_of_the_service_is_known(source: str) -> None:
    text = "".join(path.read_text() for path in (PACKAGE / source).rglob("*.py"))
    # A binding of a key has its own states and reasons.
    text = re.sub(r'_stopped\(.*|"status": "failed", "handle".*', "", text)
    ended = re.findall(r'(?:FailRun\(|"(?:failed|expired)", |\breason=)"([a-z_]+)"', text)
    assert set(ended) <= set(REASONS)


def test_what_the_state_refuses_is_done_as_its_detail_says() -> None:
    assert explain_code("invalid_state").next_step.startswith("Do first what the detail asks for.")


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("internal", ["error code", "reason", "failure of a call", "failure of a check"]),
        ("rate_limited", ["error code", "failure of a call"]),
        ("cancelled", ["reason"]),
        ("scheme_rejected", ["result of a probe", "error of a delivery"]),
    ],
)
def test_a_word_is_explained_in_every_use(word: str, kinds: list[str]) -> None:
    assert [explanation.kind for explanation in explain_code_or_reason(word)] == kinds


def test_an_unknown_word_gets_an_honest_answer() -> None:
    (explanation,) = explain_code_or_reason("flux_inverted\x1b[2J")
    assert not explanation.is_known
    assert "does not know" in explanation.sentence
    assert is_clean(explanation.word)
    assert not explain_reason("gremlins").is_known


@pytest.mark.parametrize("code", ["", "not_a_problem", "redirect_refused"])
def test_what_this_client_words_itself_is_explained_too(code: str) -> None:
    explanation = explain_code(code)
    assert explanation.kind == "client"
    assert explanation.is_known
    assert explanation.word


def test_exactly_the_eight_codes_prove_on_any_attempt_that_nothing_was_accepted() -> None:
    proven = {
        code for code, facts in CODES.items() if describe_submit_effect(code, facts.status, 3) == NOTHING_ACCEPTED
    }
    assert proven == set(REFUSING)


@pytest.mark.parametrize(
    ("code", "status", "attempts", "effect"),
    [
        ("unauthenticated", 401, 1, NOTHING_ACCEPTED),
        ("unauthenticated", 401, 2, OUTCOME_UNKNOWN),
        ("permission_denied", 403, 1, NOTHING_ACCEPTED),
        ("rate_limited", 429, 1, NOTHING_ACCEPTED),
        ("rate_limited", 429, 2, OUTCOME_UNKNOWN),
        ("idempotency_conflict", 409, 3, KEY_WAS_USED),
        ("upstream_unavailable", 502, 1, OUTCOME_UNKNOWN),
        ("internal", 500, 1, OUTCOME_UNKNOWN),
        ("validation_failed", 500, 1, OUTCOME_UNKNOWN),
        ("validation_failed", 408, 1, OUTCOME_UNKNOWN),
        ("something_new", 418, 1, OUTCOME_UNKNOWN),
        ("", None, 1, OUTCOME_UNKNOWN),
    ],
)
def test_the_effect_of_a_failed_submit_is_never_claimed_without_proof(
    code: str, status: int | None, attempts: int, effect: str
) -> None:
    assert describe_submit_effect(code, status, attempts) == effect


def test_a_submit_that_no_connection_carried_accepted_nothing_however_often_it_was_tried() -> None:
    assert describe_submit_effect("", None, 3, had_no_effect=True) == NOTHING_ACCEPTED


def test_the_support_block_is_fixed_and_holds_neither_key_nor_body() -> None:
    problem = builders.problem("validation_failed", detail="Two fields need attention.")
    entry = entry_from_problem(
        problem, time=NOW, profile="prod-eu", origin="https://api.example.test", method="POST",
        path="/v1/executions", operation="postExecutions", key="idem-7c1e", attempt=1,
    )  # fmt: skip
    lines = support_block(entry).split("\n")
    assert [line.split()[0] for line in lines] == [
        "time:", "profile:", "host:", "request:", "status:", "type:", "title:", "instance:", "detail:", "console:",
    ]  # fmt: skip
    assert lines[0] == "time:     2026-11-21T12:00:00.000Z"
    assert lines[2] == "host:     api.example.test"
    assert lines[7] == f"instance: {problem.instance}"
    assert "idem-7c1e" not in "\n".join(lines)


def test_the_support_block_of_an_empty_row_still_has_every_line() -> None:
    assert len(support_block(ProblemEntry({})).split("\n")) == 10


def test_hostile_text_cannot_add_lines_to_the_support_block() -> None:
    raw = {"type": ALL_AT_ONCE.text, "title": ALL_AT_ONCE.text, "instance": "a\nstatus 200", "detail": "\r\nfake"}
    block = support_block(entry_from_problem(Problem(raw), time=NOW, profile="a\nb"))
    assert is_clean(block)
    assert len(block.split("\n")) == 10


def test_a_new_key_is_asked_for_where_the_user_chose_the_key() -> None:
    assert NEW_KEY in next_step("validation_failed", is_key_given=True)
    assert "key" not in next_step("validation_failed")
    assert "key" not in explain_code("validation_failed").next_step
    assert next_step("not_found", is_key_given=True) == explain_code("not_found").next_step


def test_advice_for_a_lack_of_credit_promises_nothing_of_a_lower_cap_below_zero() -> None:
    assert "only while the balance is above zero" in next_step("insufficient_credit")


@pytest.mark.parametrize("code", ["", "not_a_problem", "of_a_proxy"])
def test_a_429_of_any_origin_asks_for_a_wait(code: str) -> None:
    assert next_step(code, 429) == explain_code("rate_limited").next_step
    assert next_step(code, 503) == explain_code(code).next_step
    assert next_step("quota_exceeded", 429) == explain_code("quota_exceeded").next_step


def test_a_complete_problem_of_an_unknown_type_refuses_a_submit_on_its_first_attempt() -> None:
    assert describe_submit_effect("urn:example:any", 409, 1, is_problem=True) == NOTHING_ACCEPTED
    assert describe_submit_effect("urn:example:any", 409, 2, is_problem=True) == OUTCOME_UNKNOWN
    assert describe_submit_effect("urn:example:any", 409, 1) == OUTCOME_UNKNOWN
