"""The routes of runs: what they answer, in which order, by which filter."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.records.account import Account
from runwatch.records.run import Run
from tests.service.conftest import Json, Local, capped, echo_body, event_bodies, step
from tests.support.clock import START
from tests.support.problems import check, fields


def ids(page: Json) -> list[str]:
    return [run["execution_id"] for run in page["executions"]]


async def test_a_submitted_run_is_a_whole_record(held: Local) -> None:
    raw = await held.submit(echo_body(compose="auto", extra="kept out"))
    run = Run(raw)
    assert not run.flaws()
    assert not run.unknown()
    run_id = raw["execution_id"]
    (part,) = raw["slices"]
    assert raw == {
        "execution_id": run_id, "status": "accepted",
        "slices": [{"slice_id": part["slice_id"], "capability": "text.generate", "status": "accepted"}],
        "links": {
            "status": f"/v1/executions/{run_id}", "events": f"/v1/executions/{run_id}/events",
            "receipt": f"/v1/receipts/{run_id}",
        },
        "created_at": format_iso(START), "completed_at": None, "cancelled_by": None, "mode": "echo",
        "policy": echo_body()["policy"], "spend_usd": 0, "reason": None, "current": None,
    }  # fmt: skip
    assert await held.get(f"/v1/executions/{run_id}") == raw
    for path in raw["links"].values():
        assert (await held.http.get(path)).status_code == (404 if "receipts" in path else 200)


async def test_live_is_the_mode_of_a_run_that_names_none(held: Local) -> None:
    body = echo_body()
    del body["mode"]
    # An organization without any arm can have no live run.
    check(
        await held.http.post("/v1/executions", json=body, headers={"Idempotency-Key": "k"}), "data_class_not_available"
    )


async def test_a_policy_comes_back_with_its_own_digits_and_members(held: Local) -> None:
    content = (
        b'{"mode":"echo","task":{"objective":"x"},"policy":{"data_classes":["public","sandbox"],'
        b'"budget":{"max_cost_usd":0.10,"max_runtime_s":1e3},"note":"\\ud800"}}'
    )
    headers = {"Content-Type": "application/json; charset=utf-8", "Idempotency-Key": "k"}
    answer = await held.http.post("/v1/executions", content=content, headers=headers)
    assert answer.status_code == 200
    assert b'"max_cost_usd":0.10,"max_runtime_s":1e3},"note":"\\ud800"}' in answer.content
    assert loads(answer.content)["policy"] == loads(content)["policy"]


async def test_the_slice_being_worked_on_is_current(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    seen = []
    for _ in range(7):
        run = await held.get(f"/v1/executions/{run_id}")
        part = run["slices"][0]
        seen.append((run["status"], part["status"]))
        is_current = part["status"] == "running"
        assert run["current"] == ({"slice_id": part["slice_id"], "capability": "text.generate"} if is_current else None)
        assert set(part) == {"slice_id", "capability", "status"}
        if run["status"] != "completed":
            await step(held)
    assert seen == [
        ("accepted", "accepted"), ("queued", "queued"), ("running", "queued"), ("running", "running"),
        ("running", "running"), ("running", "completed"), ("completed", "completed"),
    ]  # fmt: skip


async def test_runs_are_listed_newest_first_page_by_page(held: Local) -> None:
    newest_first = [(await held.submit())["execution_id"] for _ in range(7)][::-1]
    page = await held.get("/v1/executions", limit=3)
    assert ids(page) == newest_first[:3]
    # A run that comes meanwhile moves nothing.
    await held.submit()
    page = await held.get("/v1/executions", limit=3, cursor=page["next_cursor"])
    assert ids(page) == newest_first[3:6]
    page = await held.get("/v1/executions", limit=3, cursor=page["next_cursor"])
    assert (ids(page), page["next_cursor"]) == (newest_first[6:], None)


async def test_a_page_that_ends_with_the_list_has_no_next_one(held: Local) -> None:
    for _ in range(3):
        await held.submit()
    page = await held.get("/v1/executions", limit=3)
    assert (len(ids(page)), page["next_cursor"]) == (3, None)


@pytest.mark.exhaustive
async def test_a_list_without_a_limit_has_fifty_items(held: Local) -> None:
    for _ in range(51):
        await held.submit()
    assert len(ids(await held.get("/v1/executions"))) == 50
    assert len(ids(await held.get("/v1/executions", limit=100))) == 51


async def test_an_empty_list_is_a_list(held: Local) -> None:
    assert await held.get("/v1/executions") == {"executions": [], "next_cursor": None}


async def test_runs_are_filtered_by_status_and_age(held: Local) -> None:
    clock = held.fake_clock
    old = (await held.submit(capped(1e6)))["execution_id"]
    await held.http.post(f"/v1/executions/{old}/cancel")
    clock.advance(3600)
    new = (await held.submit(capped(1e6)))["execution_id"]

    async def found(**query: Any) -> list[str]:
        return ids(await held.get("/v1/executions", **query))

    assert await found(status="cancelled") == [old]
    assert await found(status="accepted") == [new]
    assert await found(status="failed") == []
    assert await found(status="", since="", cursor="", limit="") == [new, old]
    assert await found(since=format_iso(START + timedelta(seconds=1))) == [new]
    assert await found(since="2026-11-21") == [new, old]
    assert await found(since="2026-11-21T14:00:00+02:00", status="cancelled") == [old]
    assert await found(since="2026-11-21T13:00:00.001") == []


async def test_events_behind_a_known_one_are_given_and_all_behind_an_unknown_one(local: Local) -> None:
    run_id = (await local.submit())["execution_id"]
    other = (await local.submit())["execution_id"]
    await local.finished(run_id)
    whole = await local.events(run_id)
    path = f"/v1/executions/{run_id}/events"
    for position, event in enumerate(whole):
        assert (await local.get(path, after=event["event_id"]))["events"] == whole[position + 1 :]
    foreign = (await local.events(other))[2]["event_id"]
    for after in ("", "ev_unknown", foreign):
        assert (await local.get(path, after=after))["events"] == whole


async def test_an_event_is_the_same_bytes_whenever_it_is_read(local: Local) -> None:
    run_id = (await local.submit())["execution_id"]
    await local.finished(run_id)
    stored = await local.context.database.read(event_bodies(run_id))
    answer = await local.http.get(f"/v1/executions/{run_id}/events")
    assert answer.text == f'{{"events":[{",".join(stored)}]}}'


async def test_an_event_of_the_run_itself_has_no_slice_member(local: Local) -> None:
    run_id = (await local.submit())["execution_id"]
    await local.finished(run_id)
    events = await local.events(run_id)
    assert [("slice_id" in event) for event in events] == [False, False, False, True, True, True, False]
    assert len({event["event_id"] for event in events}) == 7


async def test_a_test_run_has_no_result(local: Local) -> None:
    run_id = (await local.submit())["execution_id"]
    await local.finished(run_id)
    check(await local.http.get(f"/v1/executions/{run_id}/result"), "invalid_state")


async def test_the_account_counts_this_months_runs_and_those_that_are_live(held: Local) -> None:
    clock = held.fake_clock
    run_id = (await held.submit(capped(1e9)))["execution_id"]
    await held.submit(capped(1e9))
    await held.http.post(f"/v1/executions/{run_id}/cancel")
    account = await held.get("/v1/account")
    assert (account["quota"]["executions"]["used"], account["quota"]["concurrency"]["running"]) == (2, 1)
    assert (account["quota"]["executions"]["limit"], account["quota"]["rate_limit_rpm"]) == (None, None)
    clock.advance(timedelta(days=10).total_seconds())
    account = await held.get("/v1/account")
    assert (account["quota"]["executions"]["used"], account["quota"]["concurrency"]["running"]) == (0, 1)


async def test_the_account_is_a_record_without_flaws(held: Local) -> None:
    account = Account(await held.get("/v1/account"))
    assert not account.flaws()
    assert not account.unknown()
    assert account.billing is not None
    assert account.billing.funded_state == "sandbox"


@pytest.mark.parametrize("mode", ["echo", "live"])
@pytest.mark.parametrize(
    "inputs",
    [
        {"kind": "url", "url": "https://inputs.example/one.json"},
        {"kind": "url", "url": "http://169.254.169.254/latest/meta-data/"},
        {"kind": "url_list", "json": {"urls": ["https://inputs.example/one.json"]}},
    ],
)
async def test_inputs_that_would_have_to_be_fetched_are_refused_and_never_ignored(
    local: Local, mode: str, inputs: Json
) -> None:
    body = echo_body(mode=mode, task={"objective": "Say hello.", "inputs_ref": inputs})
    answer = await local.http.post("/v1/executions", json=body, headers={"Idempotency-Key": "k"})
    assert fields(check(answer, "validation_failed")) == ["task.inputs_ref.kind"]
    assert (await local.get("/v1/executions"))["executions"] == []


async def test_inputs_of_the_request_itself_are_accepted(local: Local) -> None:
    inputs = {"kind": "inline_json", "json": {"notes": ["one"]}}
    await local.submit(echo_body(task={"objective": "Say hello.", "inputs_ref": inputs}))
