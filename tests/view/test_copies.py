"""What can be copied of a record is exact, and safe to paste."""

from __future__ import annotations

from runwatch.base.json import loads
from runwatch.base.text import is_clean
from runwatch.view.copies import copies
from runwatch.view.entries import ProblemEntry, RequestEntry
from runwatch.view.facts import RunFacts
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.resources.runs import RUNS
from tests.support.builders import run
from tests.support.hostile import ALL_AT_ONCE

REQUEST = {"time": "2026-11-21T12:00:00Z", "origin": "https://a.example", "method": "GET", "path": "/v1/account"}


def test_of_a_run_its_id_and_its_json() -> None:
    record = run("ex_1", label=ALL_AT_ONCE.text)
    found = {str(copy.what): copy.text for copy in copies(RUNS, RunFacts(record))}
    assert list(found) == ["run id", "run as JSON"]
    assert found["run id"] == "ex_1"
    assert loads(found["run as JSON"]) == dict(record.raw)
    assert is_clean(found["run as JSON"])


def test_of_a_problem_its_instance_and_the_support_block_without_any_key() -> None:
    entry = ProblemEntry(
        {**REQUEST, "status": 404, "code": "not_found", "instance": "0b1f6c1e-8a34", "key": "secret-key"}
    )
    found = {str(copy.what): copy.text for copy in copies(PROBLEMS, entry)}
    assert list(found) == ["instance", "support block", "problem as JSON"]
    assert found["instance"] == "0b1f6c1e-8a34"
    assert "0b1f6c1e-8a34" in found["support block"]
    assert "secret-key" not in found["support block"]


def test_a_problem_without_an_instance_offers_none() -> None:
    found = [str(copy.what) for copy in copies(PROBLEMS, ProblemEntry({**REQUEST, "status": 502}))]
    assert found == ["support block", "problem as JSON"]


def test_of_a_request_a_command_with_a_variable_for_the_key() -> None:
    found = {str(copy.what): copy.text for copy in copies(REQUESTS, RequestEntry(REQUEST))}
    assert list(found) == ["curl command", "request as JSON"]
    assert found["curl command"].startswith("curl -sS -X GET https://a.example/v1/account")
    assert "$RUNWATCH_API_KEY" in found["curl command"]
