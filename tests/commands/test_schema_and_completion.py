"""``schema`` and ``completion``."""

from __future__ import annotations

import subprocess

import pytest

from runwatch.commands.cli.grammar import list_commands
from runwatch.commands.completion import SCRIPTS
from runwatch.commands.schema import records
from runwatch.records.requests.run import RunRequest
from runwatch.view.resources.registry import RESOURCES
from tests.commands.here import Here


def test_the_request_s_schema_is_that_of_its_model(runwatch: Here) -> None:
    found = runwatch("schema", "run-request").json
    assert found.pop("$schema").startswith("https://json-schema.org/")
    assert found == RunRequest.model_json_schema()


KINDS = [record.KIND for record in records()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_s_schema_lists_its_declared_members(runwatch: Here, kind: str) -> None:
    found = runwatch("schema", kind).json
    assert found["type"] == "object"
    assert found["properties"]
    assert found["description"]


def test_nested_members_and_their_types_are_reported(runwatch: Here) -> None:
    members = runwatch("schema", "receipt").json["properties"]
    assert members["totals"]["properties"]["usd"] == {"type": ["number", "null"]}
    assert members["slices"]["items"]["properties"]["cost"]["properties"]["calls"] == {"type": ["integer", "null"]}
    assert members["created_at"] == {"type": ["string", "null"], "format": "date-time"}


def test_every_resource_of_the_service_has_a_schema() -> None:
    remote = {spec.kind for spec in RESOURCES if not spec.is_local}
    assert remote <= set(KINDS)


def test_kinds_are_listed_and_the_nearest_named(runwatch: Here) -> None:
    assert runwatch("schema").text.splitlines() == ["run-request", *KINDS]
    wrong = runwatch("schema", "reciept")
    assert (wrong.code, "receipt" in wrong.errors) == (2, True)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_knows_every_word_and_every_flag(runwatch: Here, shell: str) -> None:
    script = runwatch("completion", shell).text
    for verb in list_commands():
        assert all(word in script for word in verb.path)
        for flag in verb.flags:
            assert flag.hidden or flag.name.removeprefix("--") in script
    assert "idle-exit" not in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ru"], "runs"),
        (["runs", "wa"], "watch"),
        (["--profile", "runs", "runs", "l"], "list"),
        (["runs", "list", "--format", ""], "table json ndjson csv"),
        (["config", "key", ""], "set forget"),
        (["runs", "watch", "--exit"], "--exit-status"),
        (["completion", "z"], "zsh"),
    ],
)
def test_bash_completes_words_flags_and_values(runwatch: Here, words: list[str], offered: str) -> None:
    script = runwatch("completion", "bash").text
    call = 'COMP_WORDS=(runwatch "$@"); COMP_CWORD=$#; _runwatch; echo "${COMPREPLY[*]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{call}", "bash", *words], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == (offered, "")
