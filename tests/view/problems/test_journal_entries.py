"""Rows of the journal as records."""

from __future__ import annotations

from runwatch.records.problem import Problem
from runwatch.store.repositories.journal import JournalProblem, JournalRequest
from runwatch.view.problems.journal_entries import (
    ProblemEntry,
    RequestEntry,
    problem_from_journal,
    request_from_journal,
)
from tests.support import builders
from tests.support.problems import entry_from_problem
from tests.view.strategies import NOW


def test_a_problem_just_met_becomes_a_row_without_flaws() -> None:
    problem = builders.problem("not_found")
    entry = entry_from_problem(problem, time=NOW, profile="local", method="GET", path="/v1/executions/ex_1", key=None)
    assert entry.flaws() == ()
    assert entry.problem == problem
    assert entry.id == problem.instance
    assert entry.code == "not_found"
    assert "key" not in entry.raw
    assert entry.request == "GET /v1/executions/ex_1"


def test_a_problem_without_an_instance_still_has_an_id() -> None:
    entry = entry_from_problem(Problem({"title": "cut"}), time=NOW, attempt=2)
    assert entry.id == "2026-11-21T12:00:00.000Z/2"


def test_a_row_without_the_body_is_put_together_from_its_members() -> None:
    entry = ProblemEntry({"code": "not_found", "title": "Nothing here.", "status": 404, "instance": "i-1"})
    assert entry.problem.code == "not_found"
    assert entry.problem.title == "Nothing here."
    assert entry.problem.instance == "i-1"


def test_only_a_submit_is_a_submit() -> None:
    assert ProblemEntry({"operation": "postExecutions"}).is_submit
    assert not ProblemEntry({"operation": "postExecutionsByExecutionIdCancel"}).is_submit


def test_a_kept_problem_becomes_a_row_without_what_is_not_known() -> None:
    problem = builders.problem("rate_limited", retry_after_s=20)
    kept = JournalProblem(
        at=NOW, profile="local", origin="http://127.0.0.1:40213", operation="getExecutions", method="GET",
        path="/v1/executions", status=429, code="rate_limited", title=problem.title, detail=None,
        instance=problem.instance, key=None, attempt=1, raw=problem.raw,
    )  # fmt: skip
    entry = problem_from_journal(kept)
    assert entry.flaws() == ()
    assert entry.time == NOW
    assert entry.problem == problem
    assert entry.host == "127.0.0.1:40213"
    assert not {"detail", "key"} & set(entry.raw)


def test_a_kept_request_becomes_a_row_and_knows_whether_it_failed() -> None:
    facts = {
        "at": NOW, "profile": "local", "origin": "http://127.0.0.1:1", "operation": "getAccount", "method": "GET",
        "path": "/v1/account", "query": "", "status": 200, "elapsed_s": 0.143, "attempt": 1, "key": None,
        "sent_bytes": 0, "received_bytes": 812, "error": None,
    }  # fmt: skip
    fine = request_from_journal(JournalRequest(**facts))  # type: ignore[arg-type]
    lost = request_from_journal(JournalRequest(**{**facts, "status": None, "error": "refused"}))  # type: ignore[arg-type]
    assert fine.flaws() == ()
    assert not fine.is_problem
    assert lost.is_problem
    assert fine.id != request_from_journal(JournalRequest(**{**facts, "attempt": 2})).id  # type: ignore[arg-type]
    assert not RequestEntry({"method": "GET", "error": "cancelled"}).is_problem
    assert RequestEntry({"method": "POST", "error": "cancelled"}).is_problem
    assert RequestEntry({"status": 503}).is_problem
