"""What can be copied of a record is exact, and safe to paste."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from runwatch.base.json import loads
from runwatch.base.text import is_clean
from runwatch.view.problems.copy_options import list_copy_options
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts
from tests.support.builders import run
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.shells import SHELL_PARAMETERS, ShellBox

TRICKS = (
    "$(touch pwned)", "`touch pwned`", "x; touch pwned", "a | touch pwned", "a'b; touch \\'", "(touch pwned)",
    "> owned", "a\nreboot\n",
)  # fmt: skip


REQUEST = {"time": "2026-11-21T12:00:00Z", "origin": "https://a.example", "method": "GET", "path": "/v1/account"}


def test_of_a_run_its_id_and_its_json() -> None:
    record = run("ex_1", label=ALL_AT_ONCE.text)
    found = {str(copy.what): copy.text for copy in list_copy_options(RUNS, RunFacts(record))}
    assert list(found) == ["run id", "run as JSON"]
    assert found["run id"] == "ex_1"
    assert loads(found["run as JSON"]) == dict(record.raw)
    assert is_clean(found["run as JSON"])


def test_of_a_problem_its_instance_and_the_support_block_without_any_key() -> None:
    entry = ProblemEntry(
        {**REQUEST, "status": 404, "code": "not_found", "instance": "0b1f6c1e-8a34", "key": "secret-key"}
    )
    found = {str(copy.what): copy.text for copy in list_copy_options(PROBLEMS, entry)}
    assert list(found) == ["instance", "support block", "problem as JSON"]
    assert found["instance"] == "0b1f6c1e-8a34"
    assert "0b1f6c1e-8a34" in found["support block"]
    assert "secret-key" not in found["support block"]


def test_a_problem_without_an_instance_offers_none() -> None:
    found = [str(copy.what) for copy in list_copy_options(PROBLEMS, ProblemEntry({**REQUEST, "status": 502}))]
    assert found == ["support block", "problem as JSON"]


def test_of_a_request_a_command_that_takes_the_key_from_a_pipe_unless_it_comes_from_a_file() -> None:
    found = {str(copy.what): copy.text for copy in list_copy_options(REQUESTS, RequestEntry(REQUEST))}
    assert list(found) == ["curl command", "request as JSON"]
    command = "-X GET --url https://a.example/v1/account"
    assert found["curl command"] == (f"runwatch config header --base-url https://a.example | curl -sS -H @- {command}")
    filed = {str(copy.what): copy.text for copy in list_copy_options(REQUESTS, RequestEntry(REQUEST), is_foreign=True)}
    assert filed["curl command"] == f"curl -sS {command}"


def test_a_request_that_no_command_repeats_has_none_to_copy() -> None:
    entry = RequestEntry({**REQUEST, "method": "GET;touch pwned;#"})
    assert [str(copy.what) for copy in list_copy_options(REQUESTS, entry, is_foreign=True)] == ["request as JSON"]


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_what_is_copied_of_a_hostile_record_executes_nothing(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [*copied_texts([*TRICKS, ALL_AT_ONCE.text])]
    assert box.run(shell, texts) == [[]] * len(texts)
    assert box.made() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_the_whole_corpus_executes_nothing_however_it_is_copied(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [*copied_texts([hostile.text for hostile in CORPUS])]
    assert box.run(shell, texts) == [[]] * len(texts)
    assert box.made() == []


def copied_texts(hostile: Iterable[str]) -> Iterator[str]:
    """Whatever copying gives of records that hold the text in every place, and that the clipboard takes."""
    for text in hostile:
        record = run(text, label=text, tags=[text, "reboot"], nested={text: text, "list": ["a", "reboot"]})
        problem = ProblemEntry(
            dict.fromkeys(("time", "profile", "origin", "path", "title", "detail", "instance"), text)
        )
        for copy in (*list_copy_options(RUNS, RunFacts(record)), *list_copy_options(PROBLEMS, problem)):
            if is_clean(copy.text) and (" id" not in copy.what or "\n" not in copy.text):
                yield copy.text
