"""A support bundle has what helps, and nothing private in any part."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.base.log import REDACTED, keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.view.problems import support_bundle as module
from runwatch.view.problems.activity import ActivityEntry
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.problems.support_bundle import (
    BUNDLE_FORMAT,
    build_bundle,
    build_bundle_name,
    encode_bundle,
    is_bundle,
    parse_bundle,
    redact_secrets,
)
from tests.support.builders import problem
from tests.support.hostile import CORPUS
from tests.support.problems import entry_from_problem
from tests.view.strategies import NOW

INSTANCE = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
CANARY = "canary-5e1f0a9b7c2d"
VERSIONS = {"runwatch": "1", "python": "3", "system": "test"}


def met(**over: Any) -> ProblemEntry:
    facts = {
        "profile": "work", "origin": "https://api.example.com", "method": "GET", "path": "/v1/executions/ex_1",
        "operation": "getExecutionsByExecutionId", "attempt": 1, **over,
    }  # fmt: skip
    return entry_from_problem(problem("not_found", instance=INSTANCE), time=NOW, **facts)


def happened(seconds: float, **members: Any) -> ActivityEntry:
    time = format_iso(NOW + timedelta(seconds=seconds))
    return ActivityEntry({"time": time, "offset_s": seconds, "found_in": "this machine", **members})


def made(entry: ProblemEntry | None = None, around: list[ActivityEntry] | None = None, **more: Any) -> dict[str, Any]:
    return build_bundle(entry or met(), around or [], made_at=NOW, versions=VERSIONS, **more)


def test_the_problem_its_requests_and_what_was_near_stand_apart() -> None:
    around = [
        happened(-60, what="run", run_id="ex_0", state="failed"),
        happened(0, what="request", method="GET", path="/v1/executions/ex_1", status=404),
        happened(0, what="problem", instance=INSTANCE),
        happened(3, what="request", method="GET", path="/v1/account", status=200),
        happened(9, what="problem", instance="another", code="rate_limited"),
    ]
    content = made(around=around)
    assert content["form"] == BUNDLE_FORMAT
    assert content["problem"]["instance"] == INSTANCE
    assert [each["path"] for each in content["requests"]] == ["/v1/executions/ex_1"]
    assert [each["what"] for each in content["around"]] == ["run", "request", "problem"]
    assert INSTANCE in content["support_block"]
    assert content["versions"] == VERSIONS
    assert content["next"]


def test_retries_belong_to_the_call_by_their_key() -> None:
    entry = met(method="POST", path="/v1/executions", key="key-1", attempt=2)
    tries = [happened(-1, what="request", method="POST", path="/v1/executions", key=key) for key in ("key-1", "key-2")]
    content = made(entry, tries)
    assert [each["key"] for each in content["requests"]] == ["key-1"]
    assert [each["key"] for each in content["around"]] == ["key-2"]


def test_of_very_much_the_nearest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NEARBY_REQUESTS", 3)
    content = made(around=[happened(seconds, what="request", path=f"/{seconds}") for seconds in range(-9, 9)])
    assert [each["path"] for each in content["around"]] == ["/-1", "/0", "/1"]


SECRETS = {
    "continue_url": f"https://service.example/connect/verifier?intent={CANARY}",
    "detail": f"Open https://service.example/connect/source?intent={CANARY} in a browser.",
    "title": f"see https://service.example/entry/{CANARY}X9 now", "text": f"Authorization: Bearer {CANARY}",
    "note": f"key solverapi_test_{CANARY} was used", "said": f"sk-proj_{CANARY}",
    "address": f"https://user:{CANARY}@service.example/", "fragment": f"https://service.example/page#{CANARY}",
    "path": f"/connect/verifier?intent={CANARY}", "api_key": CANARY, "x_token": CANARY,
    "nested": {"password": CANARY, "list": [{"Authorization": CANARY}, f"token={CANARY}"]},
    "client_secret": 12345678901234567,
}  # fmt: skip


@pytest.mark.parametrize("place", ["entry", "body", "happening", "kept"])
@pytest.mark.parametrize("name", SECRETS)
def test_no_key_and_no_private_address_gets_in(name: str, place: str) -> None:
    raw = {name: SECRETS[name]}
    entry, around = met(), [happened(1, what="request", path="/v1/account")]
    if place == "entry":
        entry = ProblemEntry({**entry.raw, **raw})
    elif place == "body":
        entry = ProblemEntry({**entry.raw, "raw": {**(entry.body or {}), **raw}})
    elif place == "happening":
        around = [happened(1, what="run", **raw)]
    else:
        around = [happened(1, what="problem", kept=raw)]
    written = encode_bundle(made(entry, around)).decode()
    assert CANARY not in written
    assert "12345678901234567" not in written
    assert "service.example" in written or "service.example" not in str(SECRETS[name]) or "continue_url" in name


def test_what_the_process_knows_to_be_secret_is_left_out_in_any_place() -> None:
    keep_secret(Secret("hunter2-hunter2-hunter2"))
    content = made(ProblemEntry({**met().raw, "hunter2-hunter2-hunter2": "and hunter2-hunter2-hunter2"}))
    assert "hunter2" not in encode_bundle(content).decode()


def test_settings_are_reported_without_commands_and_files() -> None:
    rows = [
        {"key": "theme", "value": "runwatch-dark", "source": "default", "where": "/home/ada/settings.toml"},
        {"key": "profiles.work.key_command", "value": f"pass show {CANARY}", "source": "file"},
        {"key": "profiles.work.ca_file", "value": "/home/ada/ca.pem", "source": "file"},
        {"key": "profiles.work.base_url", "value": f"https://ada:{CANARY}@api.example.com", "source": "file"},
        {"key": "filters", "value": {"mine": "customer-x"}, "source": "file"},
        {"key": "retries", "value": 2, "source": "default"},
    ]
    content = made(settings=rows)
    told = {row["setting"]: row["value"] for row in content["settings"]}
    assert told == {
        "theme": "runwatch-dark", "profiles.work.key_command": "set", "profiles.work.ca_file": "set",
        "profiles.work.base_url": "https://api.example.com", "filters": "set", "retries": 2,
    }  # fmt: skip
    assert not {CANARY, "/home/ada", "customer-x"} & set(encode_bundle(content).decode().split('"'))


def test_what_support_needs_is_not_taken_for_a_secret() -> None:
    kept = {
        "type": "https://runwatch.invalid/problems/validation_failed", "origin": "http://127.0.0.1:40213",
        "key": "7c1e0d52-1111-4222-8333-444455556666", "instance": INSTANCE, "path": "/v1/executions/ex_01HX7Q8Z2M4N",
        "query": "status=failed&limit=100", "credentials": None, "is_secret": True,
    }  # fmt: skip
    assert redact_secrets(kept) == kept
    assert redact_secrets({"token": None, "secret": True}) == {"token": None, "secret": True}
    assert redact_secrets({"token": "x"}) == {"token": REDACTED}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_value_is_cleaned_without_losing_its_form(value: Any) -> None:
    cleaned = redact_secrets(value)
    assert type(cleaned) is type(value)
    assert redact_secrets(cleaned) == cleaned


@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
def test_a_hostile_problem_makes_a_bundle_that_is_plain_ascii(hostile: Any) -> None:
    entry = ProblemEntry({**met().raw, "title": hostile.text, "instance": hostile.text, hostile.text: hostile.text})
    content = made(entry)
    assert isinstance(loads(encode_bundle(content)), dict)
    name = build_bundle_name(entry, NOW)
    assert name.isascii()
    assert "/" not in name
    assert "\0" not in name


def test_a_bundle_is_read_back() -> None:
    around = [
        happened(0, what="request", method="GET", path="/v1/executions/ex_1", operation="x", attempt=1, status=404),
        happened(1, what="run", run_id="ex_9", state="failed", kept={"execution_id": "ex_9", "status": "failed"}),
        happened(2, what="run", run_id="ex_8", state="expired", kept={"event_id": "ev_1", "type": "lifecycle"}),
        happened(3, what="problem", instance="second", code="rate_limited", kept={"title": "Slow down"}),
    ]
    content = json.loads(encode_bundle(made(around=around)))
    assert is_bundle(content)
    _, problems, requests, runs = parse_bundle(content)
    assert [each.id for each in problems] == [INSTANCE, "second"]
    assert problems[1].problem.title == "Slow down"
    assert [each.path for each in requests] == ["/v1/executions/ex_1"]
    assert [(each["execution_id"], each["status"]) for each in runs] == [("ex_9", "failed"), ("ex_8", "expired")]


@pytest.mark.parametrize(
    "content", [{}, {"problem": 1, "requests": 2}, {"around": [1, None, {}, {"what": "run", "kept": 5}]}]
)
def test_a_bundle_that_lacks_its_parts_is_read_all_the_same(content: dict[str, Any]) -> None:
    parse_bundle({"form": BUNDLE_FORMAT, **content})


def test_the_name_says_which_problem_and_when() -> None:
    assert (
        build_bundle_name(met(), datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC))
        == "problem-0b1f6c1e-20261122T030405Z.json"
    )
