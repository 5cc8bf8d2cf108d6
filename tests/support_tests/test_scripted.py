"""The scripted service says exactly what it was told, for every operation of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from runwatch.base.json import loads
from tests.support.builders import account, echo_events, echo_receipt, result, run
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.packed import kinds, packed
from tests.support.scripted import Said, ScriptedService, running_service

IDS = [f"ex_{number}" for number in range(7)]


def ask(service: ScriptedService, path: str, method: str = "GET", key: str = "k", body: bytes | None = None) -> Any:
    request = Request(service.base_url + path, method=method, data=body, headers={"Authorization": f"Bearer {key}"})
    try:
        with urlopen(request, timeout=60) as answer:
            return loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())["type"].rpartition("/")[2]


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    script = ScriptedService(
        runs=[run(run_id, "running" if run_id == "ex_0" else "completed") for run_id in IDS],
        events={"ex_1": echo_events("ex_1")},
        receipts=[echo_receipt("ex_1"), echo_receipt("ex_2", status="failed")],
        results={"ex_1": result("ex_1")},
        account=account(),
        submitted=[run("ex_new", "accepted")],
        key="k",
    )
    with running_service(script) as running:
        yield running


def test_single_reads_give_the_record(service: ScriptedService) -> None:
    assert ask(service, "/v1/executions/ex_1") == dict(run("ex_1", "completed").raw)
    assert ask(service, "/v1/executions/ex_1/result") == dict(result("ex_1").raw)
    assert ask(service, "/v1/receipts/ex_1") == dict(echo_receipt("ex_1").raw)
    assert ask(service, "/v1/account") == dict(account().raw)


def test_what_is_not_there_is_not_found(service: ScriptedService) -> None:
    for path in ("/v1/executions/no", "/v1/executions/no/events", "/v1/receipts/no", "/v1/arms"):
        assert ask(service, path) == (404, "not_found")


def test_another_key_is_refused(service: ScriptedService) -> None:
    assert ask(service, "/v1/account", key="other") == (401, "unauthenticated")


def test_lists_are_paged_to_their_end(service: ScriptedService) -> None:
    found: list[str] = []
    cursor = ""
    while True:
        page = ask(service, f"/v1/executions?limit=3{cursor}")
        found += [item["execution_id"] for item in page["executions"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == IDS


def test_lists_are_filtered_by_status(service: ScriptedService) -> None:
    assert len(ask(service, "/v1/executions?status=running")["executions"]) == 1
    assert len(ask(service, "/v1/receipts?status=failed")["receipts"]) == 1


def test_events_follow_the_named_one_and_an_unknown_one_gives_all(service: ScriptedService) -> None:
    events = ask(service, "/v1/executions/ex_1/events")["events"]
    assert [event["event_id"] for event in events] == [event.event_id for event in echo_events("ex_1")]
    assert ask(service, "/v1/executions/ex_1/events?after=ev_0005")["events"] == events[5:]
    assert ask(service, "/v1/executions/ex_1/events?after=ev_9999")["events"] == events


def test_submits_answer_as_scripted_and_then_by_themselves(service: ScriptedService) -> None:
    first = ask(service, "/v1/executions", "POST", body=b"{}")
    second = ask(service, "/v1/executions", "POST", body=b"{}")
    assert first["execution_id"] == "ex_new"
    assert ask(service, f"/v1/executions/{second['execution_id']}")["status"] == "accepted"
    assert [heard.body for heard in service.requests("POST", "/v1/executions")] == [b"{}", b"{}"]


def test_a_cancel_ends_a_live_run_and_refuses_a_final_one(service: ScriptedService) -> None:
    assert ask(service, "/v1/executions/ex_0/cancel", "POST")["status"] == "cancelled"
    assert ask(service, "/v1/executions/ex_0/cancel", "POST") == (409, "invalid_state")


def test_an_answer_can_be_given_word_for_word(service: ScriptedService) -> None:
    service.say("GET", "/v1/account", Said(200, b'{"a": 0.10, "b": 1e400}'), Said(200, [1]))
    assert str(ask(service, "/v1/account")["a"].literal) == "0.10"
    assert [ask(service, "/v1/account") for _ in range(2)] == [[1], [1]]


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_hostile_records_come_through_exactly(kind: str) -> None:
    service = ScriptedService()
    records = [packed(kind, hostile.text) for hostile in (*CORPUS, ALL_AT_ONCE)]
    service.say("GET", "/all", Said(200, [dict(record.raw) for record in records]))
    with running_service(service):
        assert ask(service, "/all") == [record.raw for record in records]
