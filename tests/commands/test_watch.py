"""``runs watch``: every event once, in order, to the end of every run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.commands.conftest import ECHO, FAILED, LIVE, RUNNING
from tests.commands.here import Here
from tests.support.builders import account, echo_events, event, problem, run
from tests.support.scripted import Said, ScriptedService


def raw(events: list[Any]) -> list[dict[str, Any]]:
    return [dict(item.raw) for item in events]


def grow(service: ScriptedService, run_id: str, *pages: list[Any]) -> None:
    """Have the events of a run come in pages, one a read."""
    path = f"/v1/executions/{run_id}/events"
    service.say("GET", path, *(Said(200, {"events": raw(page)}) for page in pages))


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_events_are_exact_objects_one_a_line(runwatch: Here, service: ScriptedService, form: str) -> None:
    outcome = runwatch("runs", "watch", ECHO, "--format", form)
    assert outcome.json_lines == raw(echo_events(ECHO))
    assert (outcome.code, outcome.errors) == (0, "")


def test_a_second_watch_starts_with_the_kept_events_and_asks_nobody_for_them(
    runwatch: Here, service: ScriptedService
) -> None:
    assert runwatch("runs", "watch", ECHO).code == 0
    asked = len(service.requests("GET", ".*/events"))
    assert runwatch("runs", "watch", ECHO, "--json").json_lines == raw(echo_events(ECHO))
    assert len(service.requests("GET", ".*/events")) == asked


def test_events_come_once_whatever_pages_repeat(runwatch: Here, service: ScriptedService) -> None:
    events = echo_events(RUNNING)
    grow(service, RUNNING, events[:2], [], events[:3], events[2:5], events)
    assert runwatch("runs", "watch", RUNNING, "--json").json_lines == raw(events)


def test_lines_of_several_runs_name_their_run(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "watch", ECHO, FAILED)
    lines = outcome.text.splitlines()
    assert len(lines) == 14
    assert {ECHO, FAILED} == {line.split()[2] for line in lines}
    single = runwatch("runs", "watch", ECHO).text
    assert ECHO not in single


def test_csv_has_one_head_for_all_runs(runwatch: Here, service: ScriptedService) -> None:
    lines = runwatch("runs", "watch", ECHO, FAILED, "--format", "csv").text.splitlines()
    assert len(lines) == 15
    assert [line.startswith("event_id,") for line in lines].count(True) == 1


def test_all_follows_the_runs_that_are_live_now(runwatch: Here, service: ScriptedService) -> None:
    grow(service, RUNNING, echo_events(RUNNING))
    outcome = runwatch("runs", "watch", "--all", "--json")
    assert {item["execution_id"] for item in outcome.json_lines} == {RUNNING}
    service.runs[0]["status"] = "completed"
    nothing = runwatch("runs", "watch", "--all")
    assert (nothing.code, nothing.stdout) == (0, b"")
    assert "no run is live" in nothing.errors


def test_all_takes_the_watch_list_where_there_is_no_list(runwatch: Here, service: ScriptedService) -> None:
    assert runwatch("runs", "add", RUNNING, ECHO).code == 0
    service.say("GET", "/v1/executions", Said(405, problem("method_not_allowed")))
    grow(service, RUNNING, echo_events(RUNNING))
    outcome = runwatch("runs", "watch", "--all", "--json")
    assert {item["execution_id"] for item in outcome.json_lines} == {RUNNING}


@pytest.mark.parametrize("words", [[], [ECHO, "--all"]])
def test_runs_are_named_or_all_of_them(runwatch: Here, service: ScriptedService, words: list[str]) -> None:
    assert runwatch("runs", "watch", *words).code == 2
    assert service.heard == []


def test_an_unknown_run_is_a_refusal(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "watch", "ex_nobody", "--json")
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert json.loads(outcome.errors)["problem"]["status"] == 404


def test_of_several_runs_one_failure_is_reported_and_the_others_go_on(runwatch: Here, service: ScriptedService) -> None:
    outcome = runwatch("runs", "watch", "ex_nobody", ECHO, code=1)
    assert len(outcome.text.splitlines()) == 7
    assert "run ex_nobody is no longer followed" in outcome.errors


def test_exit_status_gives_the_worst_state(runwatch: Here, service: ScriptedService) -> None:
    for run_id, state in (("ex_expired", "expired"), ("ex_cancelled", "cancelled")):
        service.runs.append(dict(run(run_id, state).raw))
        grow(service, run_id, echo_events(run_id, final=state))
    watch = ("runs", "watch", "--exit-status")
    assert runwatch(*watch, ECHO, LIVE).code == 0
    assert runwatch(*watch, ECHO, "ex_cancelled").code == 11
    assert runwatch(*watch, "ex_cancelled", "ex_expired").code == 12
    assert runwatch(*watch, "ex_expired", FAILED).code == 10
    assert runwatch("runs", "watch", FAILED).code == 0


def test_a_run_that_ends_without_a_final_event_ends_the_watch_with_its_status(
    runwatch: Here, service: ScriptedService
) -> None:
    service.runs.append(dict(run("ex_mute", "failed").raw))
    grow(service, "ex_mute", [event(1, "running", execution_id="ex_mute")], [])
    assert runwatch("runs", "watch", "ex_mute", "--exit-status").code == 10


def test_a_silent_service_is_reported_now_and_then_and_survived(runwatch: Here, service: ScriptedService) -> None:
    path = f"/v1/executions/{RUNNING}/events"
    events = raw(echo_events(RUNNING))
    bad = Said(503, problem("upstream_unavailable", status=503))
    service.say("GET", path, Said(200, {"events": events[:2]}), *[bad] * 18, Said(200, {"events": events[2:]}))
    outcome = runwatch("runs", "watch", RUNNING, "--json")
    assert outcome.json_lines == events
    notices = [json.loads(line)["notice"] for line in outcome.errors.splitlines()]
    assert 2 <= len(notices) < 6
    assert all("next try in" in notice for notice in notices)


def test_a_silence_that_several_runs_meet_is_reported_once(runwatch: Here, service: ScriptedService) -> None:
    service.runs.append(dict(run("ex_second", "running").raw))
    bad = Said(503, problem("upstream_unavailable", status=503))
    for run_id in (RUNNING, "ex_second"):
        events = raw(echo_events(run_id))
        path = f"/v1/executions/{run_id}/events"
        service.say("GET", path, Said(200, {"events": events[:2]}), *[bad] * 3, Said(200, {"events": events}))
    outcome = runwatch("runs", "watch", RUNNING, "ex_second", code=0)
    assert outcome.errors.count("next try in") == 1


def test_patience_ends_with_a_network_exit_code(runwatch: Here, service: ScriptedService) -> None:
    path = f"/v1/executions/{RUNNING}/events"
    bad = Said(503, problem("upstream_unavailable", status=503))
    service.say("GET", path, Said(200, {"events": raw(echo_events(RUNNING)[:2])}), bad)
    outcome = runwatch("runs", "watch", RUNNING, code=3)
    assert len(outcome.text.splitlines()) == 2
    assert 900 <= sum(runwatch.clock.sleeps) <= 1000


@pytest.mark.parametrize(("limit", "said", "waited_s"), [(60, "20 s", 20), (None, "1 min", 60)])
def test_a_429_is_waited_out_and_said(
    runwatch: Here, service: ScriptedService, limit: int | None, said: str, waited_s: int
) -> None:
    service.say("GET", "/v1/account", Said(200, account(quota={"rate_limit_rpm": limit})))
    path = f"/v1/executions/{RUNNING}/events"
    events = raw(echo_events(RUNNING))
    limited = Said(429, problem("rate_limited", retry_after_s=20), headers=(("Retry-After", "20"),))
    service.say("GET", path, Said(200, {"events": events[:2]}), limited, Said(200, {"events": events[2:]}))
    outcome = runwatch("runs", "watch", RUNNING, code=0)
    assert len(outcome.text.splitlines()) == 7
    # Without a published limit it is what was granted before, one request: no other one goes for a minute.
    assert f"asks to wait; next try in {said}" in outcome.errors
    assert waited_s <= sum(runwatch.clock.sleeps) <= waited_s + 10


@pytest.mark.parametrize(("asked_s", "said"), [(20, "20"), (0, "1")])
def test_a_429_while_the_list_is_read_is_waited_out_and_said(
    runwatch: Here, service: ScriptedService, asked_s: int, said: str
) -> None:
    grow(service, RUNNING, echo_events(RUNNING))
    limited = Said(429, problem("rate_limited", retry_after_s=asked_s))
    page = {"executions": service.runs[:1], "next_cursor": "more"}
    rest = {"executions": service.runs[1:], "next_cursor": None}
    service.say("GET", "/v1/executions", Said(200, page), limited, Said(200, rest))
    outcome = runwatch("runs", "watch", "--all", "--json", code=0)
    assert {item["execution_id"] for item in outcome.json_lines} == {RUNNING}
    assert f"asks to wait; next try in {said}" in outcome.errors
    assert [heard.head.query.get("cursor") for heard in service.requests("GET", "/v1/executions")] == [
        None, "more", "more",
    ]  # fmt: skip


def test_a_list_that_repeats_its_cursor_is_not_read_for_ever(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/executions", Said(200, {"executions": [], "next_cursor": "more"}))
    outcome = runwatch("runs", "watch", "--all")
    assert outcome.code not in {0, 2}
    assert len(service.requests("GET", "/v1/executions")) == 2


def test_many_runs_stay_within_the_published_limit(runwatch: Here, service: ScriptedService) -> None:
    ids = [f"ex_{number}" for number in range(12)]
    service.runs[:] = [dict(run(run_id, "running").raw) for run_id in ids]
    quota = {**dict(account().raw)["quota"], "rate_limit_rpm": 60}
    service.say("GET", "/v1/account", Said(200, account(quota=quota)))
    for run_id in ids:
        events = echo_events(run_id)
        grow(service, run_id, events[:1], [], [], events)
    began = runwatch.clock.monotonic()
    assert runwatch("runs", "watch", "--all").code == 0
    minutes = (runwatch.clock.monotonic() - began) / 60
    assert len(service.heard) >= 48
    assert len(service.heard) / minutes <= 60
