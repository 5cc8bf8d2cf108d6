"""Exit codes, and how a failure is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runwatch.api.errors import (
    ApiProblem,
    InvalidRequestError,
    NoResponseError,
    RateLimitedError,
    ReadOnlyError,
    UnusableResponseError,
)
from runwatch.base.errors import (
    ConfirmationRequired,
    DataError,
    LocalServiceError,
    NotConfigured,
    RunwatchError,
    SettingsError,
    UsageError,
    WriteInProgressError,
)
from runwatch.commands.cli.error_report import Circumstances, error_json_line, error_text
from runwatch.commands.cli.exit_codes import exit_code, status_exit_code
from runwatch.records.error_codes import CODES
from tests.support.builders import problem, validation_problem
from tests.support.hostile import CORPUS
from tests.support.screen import foreign_controls

BY_CODE = {
    "unauthenticated": 4,
    "permission_denied": 4,
    "validation_failed": 1,
    "not_found": 1,
    "idempotency_conflict": 1,
    "invalid_state": 1,
    "insufficient_credit": 1,
    "credit_wallet_frozen": 1,
    "echo_mode_mismatch": 1,
    "data_class_not_available": 1,
    "quota_exceeded": 5,
    "rate_limited": 5,
    "upstream_unavailable": 3,
    "method_not_allowed": 1,
    "request_too_large": 1,
    "request_timeout": 3,
    "unsupported_media_type": 1,
    "internal": 3,
    "service_unavailable": 3,
}


def api_problem(code: str, status: int | None = None, **over: Any) -> ApiProblem:
    found = over.pop("problem", None) or problem(code, status=status)
    members: dict[str, Any] = {
        "problem": found,
        "status": found.status,
        "is_synthetic": False,
        "wait_s": None,
        "operation": "postExecutions",
        "attempts": 1,
        "outcome_known": True,
        "key": "the-key",
        "detail": found.detail,
        "hint": None,
        "retryable": False,
    }
    return ApiProblem(found.title or "", **{**members, **over})


def no_answer(**over: Any) -> NoResponseError:
    members: dict[str, Any] = {
        "kind": "reset",
        "was_sent": True,
        "operation": "postExecutions",
        "attempts": 3,
        "outcome_known": False,
        "key": "the-key",
        "detail": "connection reset",
        "hint": "Try again.",
    }
    return NoResponseError("The connection was lost", **{**members, **over})


def unusable() -> UnusableResponseError:
    return UnusableResponseError(
        "No JSON", status=200, operation="getAccount", attempts=1, outcome_known=True, key=None, detail="x", hint="y"
    )


def test_every_code_of_the_interface_has_its_exit_code() -> None:
    assert set(BY_CODE) == set(CODES)
    assert {code: exit_code(api_problem(code)) for code in CODES} == BY_CODE


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(401, "", 4), (403, "", 4), (403, "something_new", 4), (404, "", 1), (408, "", 3), (429, "", 5), (418, "", 1),
     (500, "", 3), (502, "", 3), (503, "", 3), (302, "", 3)],
)  # fmt: skip
def test_an_answer_of_no_known_code_goes_by_its_status(status: int, code: str, expected: int) -> None:
    assert exit_code(api_problem(code or "x/", status)) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RunwatchError("x"), 1),
        (UsageError("x"), 2),
        (ConfirmationRequired("x"), 2),
        (SettingsError("x"), 2),
        (NotConfigured("x"), 2),
        (DataError("x"), 2),
        (LocalServiceError("x"), 3),
        (ReadOnlyError(operation="postExecutions", what="Submit a run"), 2),
        (InvalidRequestError(operation="getAccount", errors=[{"field": "x", "message": "y"}]), 2),
        (RateLimitedError(operation="getAccount", seconds=3), 5),
        (no_answer(), 3),
        (unusable(), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_error_has_its_exit_code(error: RunwatchError, expected: int) -> None:
    assert exit_code(error) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [([], 0), (["completed"], 0), (["completed", "cancelled"], 11), (["cancelled", "expired"], 12),
     (["expired", "failed", "cancelled"], 10), (["completed", None], 0)],
)  # fmt: skip
def test_of_several_states_the_worst_counts(states: list[str | None], expected: int) -> None:
    assert status_exit_code(states) == expected


def test_a_failure_in_json_is_one_line_with_everything_a_script_needs() -> None:
    error = api_problem("rate_limited", wait_s=19.2, attempts=2)
    line = error_json_line(error, 5)
    assert line.endswith("\n")
    assert line.count("\n") == 1
    told = json.loads(line)
    assert told["problem"] == dict(error.problem.raw)
    assert (told["exit_code"], told["attempts"], told["outcome"]) == (5, 2, "known")
    assert (told["idempotency_key"], told["retry_after_s"]) == ("the-key", 20)
    assert set(told) == {
        "problem", "error", "detail", "hint", "exit_code", "attempts", "outcome", "idempotency_key", "retry_after_s",
    }  # fmt: skip


def test_a_failure_without_a_request_has_the_same_members() -> None:
    told = json.loads(error_json_line(UsageError("No such verb", hint="--help"), 2))
    assert told == {
        "problem": None,
        "error": "No such verb",
        "detail": None,
        "hint": "--help",
        "exit_code": 2,
        "attempts": 0,
        "outcome": "known",
        "idempotency_key": None,
    }


def test_an_interrupted_submit_is_of_unknown_outcome() -> None:
    told = json.loads(error_json_line(RunwatchError("Interrupted"), 130, Circumstances(pending_key="the-key")))
    assert (told["outcome"], told["idempotency_key"]) == ("unknown", "the-key")


def test_a_write_that_another_process_sends_is_of_unknown_outcome() -> None:
    assert json.loads(error_json_line(WriteInProgressError("Sent right now"), 2))["outcome"] == "unknown"


def test_a_failure_in_words_has_the_reason_the_fields_the_next_step_and_the_instance() -> None:
    found = validation_problem(policy__budget__max_cost_usd="Must be > 0.")
    text = error_text(api_problem("", problem=found))
    for words in (
        "runwatch: The request is not valid",
        "Some fields need attention.",
        "validation_failed (HTTP 400)",
        "policy.budget.max_cost_usd: Must be > 0.",
        "Nothing was accepted",
        "Correct the listed fields",
        f"instance  {found.instance}",
        "the-key",
    ):
        assert words in text


def test_an_unknown_outcome_in_words_says_how_to_settle_it() -> None:
    text = error_text(no_answer())
    for words in ("3 attempts", "may be charged", "runwatch runs submit --resend the-key"):
        assert words in text


def test_a_conflict_says_that_an_earlier_run_stands() -> None:
    assert "An earlier one" in error_text(api_problem("idempotency_conflict"))


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_comes_with_a_next_step(code: str) -> None:
    assert "  next      " in error_text(api_problem(code))


def test_hostile_text_is_reported_as_text() -> None:
    for entry in CORPUS:
        found = problem("not_found", title=entry.text, detail=entry.text, instance=entry.text)
        error = api_problem("", problem=found, key=entry.text)
        assert foreign_controls(error_text(error).encode("utf-8", "surrogatepass")) == []
        assert json.loads(error_json_line(error, 1))["problem"]["detail"] == entry.text
        assert error_json_line(error, 1).isascii()
