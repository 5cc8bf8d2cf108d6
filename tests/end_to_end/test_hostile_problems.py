"""Hostile Problems, and hostile words on the command line, through every command that repeats them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.json import dumps
from runwatch.base.secrets.secret_patterns import find_known_key
from tests.support.builders import account, request_body
from tests.support.cli import Cli, Outcome, assert_plain
from tests.support.hostile import CORPUS, by_name
from tests.support.packed import packed
from tests.support.scripted import Said, ScriptedService, running_service

FORMATS = ("table", "json", "ndjson", "csv")
ERROR_LIMIT = 60_000
"""A longer error body is not read as a Problem (manual: decisions, "Client and retries")."""
# A command line carries no NUL, no lone surrogate, and not 128 KiB in one word; an empty id and dots name nothing, and
# a key is refused as an id.
TYPED = [
    entry.text
    for entry in CORPUS
    if entry.is_unicode and "\0" not in entry.text and 0 < len(entry.text) <= 2000 and entry.text != ".."
    if find_known_key(entry.text) is None
]


def problem_of(text: str) -> dict[str, Any]:
    """A Problem with the text in every string, but with its own instance and the status of its response."""
    raw = dict(packed("problem", text, keep=("status",)).raw)
    own = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return raw | {"instance": f"{own[:32]} {text[:20]}"}


PROBLEMS = {f"ex_{number:04}": problem_of(entry.text) for number, entry in enumerate(CORPUS)}
"""The Problem that reading each run ends in."""

READABLE = [problem for problem in PROBLEMS.values() if len(dumps(problem)) < ERROR_LIMIT]


@pytest.fixture(scope="module")
def service() -> Iterator[ScriptedService]:
    """Answers each read of a run's events with its own hostile Problem, and knows no other run."""
    unlimited = dict(account().raw["quota"]) | {"rate_limit_rpm": 1_000_000}
    script = ScriptedService(account=account(quota=unlimited))
    for run_id, problem in PROBLEMS.items():
        script.say("GET", f"/v1/executions/{run_id}/events", Said(400, problem))
    with running_service(script) as running:
        yield running


@pytest.fixture(scope="module")
def met(service: ScriptedService, tmp_path_factory: pytest.TempPathFactory) -> tuple[Cli, Outcome]:
    """A command line that has met every Problem, and what it said about them."""
    cli = Cli(tmp_path_factory.mktemp("met"), base_url=service.base_url, api_key="k")
    return cli, cli("runs", "watch", *PROBLEMS, "--json")


@pytest.fixture
def cli(service: ScriptedService, tmp_path: Path) -> Cli:
    return Cli(tmp_path, base_url=service.base_url, api_key="k")


@pytest.mark.exhaustive
def test_every_hostile_problem_is_reported_plainly_and_exactly(cli: Cli, met: tuple[Cli, Outcome]) -> None:
    in_words = cli("runs", "watch", *PROBLEMS)
    assert_plain(in_words)
    assert (in_words.code, in_words.stdout) == (1, b"")
    in_json = met[1]
    assert_plain(in_json)
    told = [value["problem"] for value in map(json.loads, in_json.errors.splitlines()) if value.get("problem")]
    assert len(told) == len(PROBLEMS)
    assert len(READABLE) > len(PROBLEMS) - 20
    assert [problem for problem in READABLE if problem not in told] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_hostile_problems_and_their_requests_are_listed_plainly(met: tuple[Cli, Outcome], form: str) -> None:
    cli = met[0]
    instance = READABLE[7]["instance"][:32]
    for words in (["problems", "list"], ["problems", "find", instance], ["requests", "list"]):
        listed = cli(*words, *(["--limit", "0"] if words[1] == "list" else []), "--format", form)
        assert_plain(listed)
        assert listed.code == 0
        if "json" in form and words[0] == "problems":
            records = listed.json if form == "json" else listed.json_lines
            details = {record["detail"] for record in records}
            assert details >= {problem["detail"] for problem in (READABLE if words[1] == "list" else READABLE[7:8])}
    shown = cli("problems", "show", instance, "--format", form)
    assert_plain(shown)
    assert shown.code == 0


def test_a_mail_that_is_hostile_itself_finds_the_problems_it_names(cli: Cli) -> None:
    cli("runs", "watch", *list(PROBLEMS)[:20])
    named = READABLE[7]["instance"]
    mail = "\n".join(entry.text for entry in CORPUS if entry.is_unicode) + f"\nit said {named[:16]}, what now?"
    found = cli("problems", "find", "-", "--json", stdin=mail.encode())
    assert_plain(found)
    assert found.code == 0
    assert named in [problem["instance"] for problem in found.json]
    assert len(found.json) < 10


@pytest.mark.exhaustive
def test_hostile_ids_go_to_the_service_as_they_are_and_come_back_plain(cli: Cli, service: ScriptedService) -> None:
    before = len(service.heard)
    outcome = cli("runs", "watch", "--", *TYPED)
    assert_plain(outcome)
    assert outcome.code == 1
    asked = {tuple(heard.head.segments) for heard in service.heard[before:]} - {("v1", "account")}
    assert asked == {("v1", "executions", text, "events") for text in TYPED}


@pytest.mark.exhaustive
def test_an_id_that_would_be_another_path_is_refused_and_not_sent(cli: Cli, service: ScriptedService) -> None:
    before = len(service.heard)
    for dots in (".", ".."):
        assert cli("runs", "show", dots).code == 2
    assert [heard for heard in service.heard[before:] if heard.head.path != "/v1/account"] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_hostile_ids_on_the_watch_list_are_listed_plainly(cli: Cli, form: str) -> None:
    lines = [text for text in TYPED if text.strip() == text and len(text.splitlines()) == 1]
    added = cli("runs", "add", "--no-check", "--", "-", stdin="\n".join(lines).encode())
    assert_plain(added)
    assert added.code == 0
    assert_plain(cli("runs", "list", "--format", form))


@pytest.mark.parametrize(
    "name",
    ["header injection", "CR LF", "C0 ESC", "bidi RLO", "emoji", "long word", "blanks at both ends", "shell quotes"],
)
def test_a_hostile_idempotency_key_adds_no_header_and_starts_no_run_twice(
    cli: Cli, service: ScriptedService, name: str, tmp_path: Path
) -> None:
    before = len(service.heard)
    (tmp_path / "body.json").write_text(json.dumps(request_body()))
    outcome = cli("runs", "submit", "--from", "body.json", "--idempotency-key", by_name(name).text, "--json")
    assert_plain(outcome)
    assert outcome.code in {0, 2}
    posts = [heard for heard in service.heard[before:] if heard.head.method == "POST"]
    assert len(posts) == (1 if outcome.code == 0 else 0)
    for post in posts:
        assert [value for header, value in post.head.headers if header == "authorization"] == ["Bearer k"]
        assert post.head.header("idempotency-key") == by_name(name).text.strip()


def test_a_hostile_objective_reaches_the_service_exactly(cli: Cli, service: ScriptedService) -> None:
    # The objective is read as text; what ends its last line is not part of it.
    text = " ".join(entry.text for entry in CORPUS if entry.is_unicode and len(entry.text) < 20)[:3900].strip()
    limits = ("--data-class", "public", "--max-cost-usd", "1", "--max-runtime-s", "60")
    words = ("runs", "submit", "--mode", "echo", "--objective-file", "-", *limits)
    outcome = cli(*words, stdin=text.encode())
    assert_plain(outcome)
    assert outcome.code == 0
    post = [heard for heard in service.heard if heard.head.method == "POST"][-1]
    assert json.loads(post.body)["task"]["objective"] == text
    dry = cli(*words, "--dry-run", stdin=text.encode())
    assert_plain(dry)
    assert dry.json["body"]["task"]["objective"] == text


@pytest.mark.parametrize(
    "words",
    [
        ["runs", "list", "--filter", by_name("OSC 52 clipboard, BEL").text],
        ["runs", "list", "--filter", by_name("regex bomb").text],
        ["runs", "list", "--status", by_name("CSI clear screen").text],
        ["runs", "list", "--since", by_name("bidi RLO").text],
        ["runs", "list", "--fields", by_name("CSI colour").text],
        ["runs", by_name("CSI clear screen").text],
        [by_name("OSC 0 title, BEL").text],
        ["problems", "explain", by_name("DCS tmux passthrough").text],
        ["problems", "find", by_name("RIS full reset").text + "123456"],
        ["config", "get", by_name("APC kitty graphics").text],
        ["config", "set", by_name("closing tag").text, by_name("TOML").text],
        ["schema", by_name("CSI 8-bit clear").text],
        ["completion", by_name("shell substitution").text],
        ["runs", "list", "--base-url", by_name("header injection").text],
        ["runs", "list", "--profile", by_name("path up").text],
    ],
    ids=lambda words: " ".join(words[:3]).encode("ascii", "backslashreplace").decode()[:40],
)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["in words", "in JSON"])
def test_hostile_words_are_refused_or_taken_plainly(cli: Cli, words: list[str], more: list[str]) -> None:
    outcome = cli(*words, *more)
    assert_plain(outcome)
    assert outcome.code in {0, 1, 2}
