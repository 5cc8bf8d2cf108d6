"""Every code and reason has a plain sentence and a next step; the support block has no secret."""

from __future__ import annotations

import pytest

from runwatch.base.text import is_clean
from runwatch.records.error_codes import CODES, REASONS
from runwatch.records.problem import Problem
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
from runwatch.view.problems.journal_entries import ProblemEntry, entry_from_problem
from tests.support import builders
from tests.support.hostile import ALL_AT_ONCE
from tests.view.strategies import NOW

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


def test_the_list_of_all_explanations_is_complete() -> None:
    words = [(explanation.kind, explanation.word) for explanation in all_explanations()]
    assert sorted(words) == sorted([("error code", code) for code in CODES] + [("reason", word) for word in REASONS])


def test_a_word_that_is_code_and_reason_is_explained_as_both() -> None:
    assert [explanation.kind for explanation in explain_code_or_reason("internal")] == ["error code", "reason"]
    assert [explanation.kind for explanation in explain_code_or_reason("rate_limited")] == ["error code"]
    assert [explanation.kind for explanation in explain_code_or_reason("cancelled")] == ["reason"]


def test_a_word_nobody_knows_gets_an_honest_answer() -> None:
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


def test_a_complete_problem_of_an_unknown_type_refuses_a_submit_on_its_first_attempt() -> None:
    assert describe_submit_effect("urn:example:any", 409, 1, is_problem=True) == NOTHING_ACCEPTED
    assert describe_submit_effect("urn:example:any", 409, 2, is_problem=True) == OUTCOME_UNKNOWN
    assert describe_submit_effect("urn:example:any", 409, 1) == OUTCOME_UNKNOWN
