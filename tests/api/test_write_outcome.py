"""What a failure proves about a write (manual: decisions, "Outcome of a write")."""

from __future__ import annotations

import pytest

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import OPERATIONS, RUN_REFUSALS, Operation
from runwatch.api.write_outcome import is_settled_cancel, proves_no_effect
from runwatch.records.run import Run
from tests.store.stub import refused
from tests.support.builders import run

SUBMIT = OPERATIONS["postExecutions"]
CANCEL = OPERATIONS["postExecutionsByExecutionIdCancel"]

EIGHT = {
    "validation_failed": 400, "echo_mode_mismatch": 400, "data_class_not_available": 403, "not_found": 404,
    "invalid_state": 409, "quota_exceeded": 429, "insufficient_credit": 402, "credit_wallet_frozen": 403,
}  # fmt: skip


def test_the_refusing_codes_are_the_eight_of_the_wire_reference() -> None:
    assert set(EIGHT) == RUN_REFUSALS


@pytest.mark.parametrize("in_doubt", [False, True])
@pytest.mark.parametrize(("code", "status"), EIGHT.items())
def test_each_of_the_eight_codes_proves_that_no_run_was_accepted(code: str, status: int, in_doubt: bool) -> None:
    assert proves_no_effect(SUBMIT, status, code, in_doubt=in_doubt)


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "unauthenticated"), (403, "permission_denied"), (429, "rate_limited"), (403, ""), (429, "")],
)
@pytest.mark.parametrize("operation", [SUBMIT, CANCEL], ids=lambda operation: operation.id)
def test_401_403_and_429_prove_it_on_a_first_attempt_only(operation: Operation, status: int, code: str) -> None:
    assert proves_no_effect(operation, status, code, in_doubt=False)
    assert not proves_no_effect(operation, status, code, in_doubt=True)


@pytest.mark.parametrize("in_doubt", [False, True])
@pytest.mark.parametrize("operation", [SUBMIT, CANCEL], ids=lambda operation: operation.id)
def test_a_conflict_proves_that_this_body_did_nothing(operation: Operation, in_doubt: bool) -> None:
    assert proves_no_effect(operation, 409, "idempotency_conflict", in_doubt=in_doubt)


@pytest.mark.parametrize(
    ("status", "code"), [(400, ""), (404, ""), (405, "method_not_allowed"), (413, "request_too_large"), (418, "teapot")]
)
def test_any_other_refusal_of_a_submit_leaves_it_unknown_but_refuses_another_write(status: int, code: str) -> None:
    assert not proves_no_effect(SUBMIT, status, code, in_doubt=False)
    assert proves_no_effect(CANCEL, status, code, in_doubt=False)
    assert not proves_no_effect(CANCEL, status, code, in_doubt=True)


def test_invalid_state_after_a_lost_cancel_may_be_the_work_of_that_cancel() -> None:
    assert proves_no_effect(CANCEL, 409, "invalid_state", in_doubt=False)
    assert not proves_no_effect(CANCEL, 409, "invalid_state", in_doubt=True)


@pytest.mark.parametrize("code", ["validation_failed", "idempotency_conflict", "upstream_unavailable", ""])
@pytest.mark.parametrize("status", [303, 307, 408, 500, 502, 503])
@pytest.mark.parametrize("operation", [SUBMIT, CANCEL], ids=lambda operation: operation.id)
def test_timeouts_redirects_and_server_errors_prove_nothing_whatever_the_body_says(
    operation: Operation, status: int, code: str
) -> None:
    assert not proves_no_effect(operation, status, code, in_doubt=False)


@pytest.mark.parametrize("status", [400, 404, 409, 418, 422])
def test_a_problem_of_any_type_refuses_a_submit_on_its_first_attempt(status: int) -> None:
    assert proves_no_effect(SUBMIT, status, "urn:example:any", in_doubt=False, is_problem=True)
    assert not proves_no_effect(SUBMIT, status, "urn:example:any", in_doubt=True, is_problem=True)
    assert not proves_no_effect(SUBMIT, 408, "urn:example:any", in_doubt=False, is_problem=True)


@pytest.mark.parametrize(
    ("operation", "evidence", "is_settled"),
    [
        (CANCEL, refused("invalid_state", operation=CANCEL.id), True),
        (CANCEL, run("ex_1", "cancelled"), True),
        (CANCEL, refused("not_found", operation=CANCEL.id), False),
        (CANCEL, run("ex_1", "running"), False),
        (CANCEL, None, False),
        (SUBMIT, refused("invalid_state", operation=SUBMIT.id), False),
        (SUBMIT, run("ex_1", "cancelled"), False),
    ],
)
def test_only_a_cancel_of_a_run_that_has_ended_is_settled_by_it(
    operation: Operation, evidence: ApiProblem | Run | None, is_settled: bool
) -> None:
    assert is_settled_cancel(operation.id, evidence) == is_settled
