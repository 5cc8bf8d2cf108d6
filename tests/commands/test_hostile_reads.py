"""Commands that read, in every format, over a service of hostile records: only text comes out, and JSON is exact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch.commands.cli.command_spec import FORMAT, CommandSpec
from runwatch.commands.cli.grammar import list_commands
from runwatch.view.resources.organization import COMPLIANCE
from runwatch.view.resources.receipts import RECEIPTS
from tests.commands.here import Here
from tests.support.cli import Outcome
from tests.support.filled import all_members
from tests.support.hostile_service import TEXTS, hostile_service, records_of
from tests.support.safe_files import assert_safe_csv, assert_safe_markdown
from tests.support.screen import foreign_controls
from tests.support.scripted import ScriptedService, running_service

SHARE = 5
READS = {
    "list", "show", "events", "result", "deployments", "definitions", "connection", "deliveries", "compare", "usage",
    "evals", "account",
}  # fmt: skip
FORMATS = ("table", "json", "ndjson", "csv")
VERBS_THAT_READ = [verb for verb in list_commands() if verb.path[-1] in READS and set(FORMAT) <= set(verb.flags)]


@pytest.fixture(scope="module")
def service() -> Iterator[ScriptedService]:
    with running_service(hostile_service(SHARE)) as running:
        yield running


@pytest.fixture
def cli(runwatch: Here, service: ScriptedService) -> Here:
    return runwatch.use(service.base_url)


def words_of(verb: CommandSpec) -> list[str]:
    """The command with an id for each of its arguments that must be there."""
    ids = [f"id_{number}" for number, argument in enumerate(verb.arguments) if argument.takes in {"1", "+"}]
    return [*verb.path, *ids]


def assert_plain(outcome: Outcome) -> None:
    """Nothing but text came out, and nothing broke on the way."""
    assert foreign_controls(outcome.stdout) == []
    assert foreign_controls(outcome.stderr) == []
    assert "Traceback" not in outcome.errors
    assert "unforeseen" not in outcome.errors
    assert "Unexpected error" not in outcome.errors


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("verb", VERBS_THAT_READ, ids=lambda verb: " ".join(verb.path))
def test_a_verb_that_reads_prints_only_text(cli: Here, verb: CommandSpec, form: str) -> None:
    assert_plain(cli("runs", "show", "asked1"))
    outcome = cli(*words_of(verb), "--format", form)
    assert_plain(outcome)
    assert outcome.code in {0, 1}, outcome.errors
    assert outcome.stdout or outcome.stderr
    if form == "json":
        assert outcome.stdout.isascii()


def test_every_list_and_every_show_is_among_them() -> None:
    assert len(VERBS_THAT_READ) > 25
    assert {verb.path for verb in list_commands() if verb.path[-1] in {"list", "show"}} <= {
        *(verb.path for verb in VERBS_THAT_READ)
    }


@pytest.mark.parametrize("words", [("receipts", "export"), ("templates", "report")], ids=" ".join)
@pytest.mark.parametrize("ending", ["csv", "md"])
def test_a_file_for_people_is_safe_to_open(cli: Here, words: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"export.{ending}"
    outcome = cli(*words, "--output", str(file))
    assert_plain(outcome)
    assert outcome.code == 0, outcome.errors
    {"csv": assert_safe_csv, "md": assert_safe_markdown}[ending](file.read_text("utf-8"))


@pytest.mark.parametrize("words", [("receipts", "export"), ("compliance", "export")], ids=" ".join)
def test_a_file_for_programs_is_ascii_and_exact(cli: Here, words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    outcome = cli(*words, "--output", str(file))
    assert_plain(outcome)
    assert outcome.code == 0, outcome.errors
    content = file.read_bytes()
    assert content.isascii()
    wanted = records_of(RECEIPTS, SHARE) if words[0] == "receipts" else all_members(COMPLIANCE.record, TEXTS[0])
    assert json.loads(content) == wanted
