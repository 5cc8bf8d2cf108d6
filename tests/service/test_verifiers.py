"""Output checks: registered, read, changed, tested and retired."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from runwatch.service.tables import audit_table
from tests.service.conftest import Json, Local, Serving
from tests.support.dock import Dock, dock
from tests.support.problems import check, fields

PATH = "/v1/verifiers"


def verifier_body(url: str = "https://nowhere.invalid/check", **more: Any) -> Json:
    """The body that registers a check, with members replaced."""
    return {
        "display_name": "Release notes", "version": "1.2.0", "kind": "endpoint",
        "endpoint": {"url": url, "auth_ref": ""}, "input_data_classes": ["public"],
        "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"}, **more,
    }  # fmt: skip


@pytest.fixture
async def endpoint() -> AsyncIterator[Dock]:
    """A good check on this machine."""
    async with dock() as made:
        yield made


async def registered(near: Local, url: str = "https://nowhere.invalid/check", **more: Any) -> Json:
    answer = await near.http.post(PATH, json=verifier_body(url, **more))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def changed(near: Local, verifier_id: str, **patch: Any) -> Json:
    answer = await near.http.patch(f"{PATH}/{verifier_id}", json=patch)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_good_check_is_registered_as_ready_and_answered_with_record_and_outcome(
    near: Local, endpoint: Dock
) -> None:
    outcome = await registered(near, endpoint.url)
    assert outcome["verifier_id"].startswith("vrf_")
    assert (outcome["status"], outcome["status_reason"], outcome["revision"]) == ("ready", None, 1)
    assert outcome["hash"].startswith("sha256:")
    assert outcome["correctness_declaration"] == {"status": "not_declared", "statement": "Not declared"}
    preflight = outcome.pop("preflight")
    assert preflight["contract"]["validated"] is True
    assert await near.get(f"{PATH}/{outcome['verifier_id']}") == outcome
    sent = verifier_body(endpoint.url)
    assert {name: outcome[name] for name in sent} == sent
    assert outcome["connection"]["status"] == "unbound"


async def test_a_failing_probe_registers_the_check_all_the_same(near: Local) -> None:
    outcome = await registered(near)
    assert (outcome["status"], outcome["status_reason"]) == ("degraded", "endpoint_unreachable")
    assert outcome["preflight"]["reason_code"] == "dns_resolution_failed"
    assert (await near.get(f"{PATH}/{outcome['verifier_id']}"))["status"] == "degraded"


async def test_plain_http_beyond_this_machine_is_registered_and_told_by_the_probe(near: Local) -> None:
    outcome = await registered(near, "http://93.184.215.14/check")
    assert outcome["preflight"]["reason_code"] == "scheme_rejected"


async def test_checks_on_this_machine_are_not_called_unless_that_is_allowed(local: Local, endpoint: Dock) -> None:
    outcome = await registered(local, endpoint.url)
    assert outcome["preflight"]["reason_code"] == "scheme_rejected"
    assert endpoint.heads == []


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"display_name": ""}, "display_name"),
        ({"display_name": " "}, "display_name"),
        ({"display_name": "n" * 201}, "display_name"),
        ({"kind": "function"}, "kind"),
        ({"endpoint": {"url": "check"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test:port/"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://user:word@a.test/"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test/#part"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test/ b"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test/" + "p" * 2000}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test/", "auth_ref": "solverapi_live_x"}}, "endpoint.auth_ref"),
        ({"endpoint": {"url": "https://a.test/", "api_key": "x"}}, "endpoint"),
        ({"secret": "x"}, "body"),
        ({"input_data_classes": []}, "input_data_classes"),
        ({"input_data_classes": ["public", "public"]}, "input_data_classes"),
        ({"input_data_classes": [""]}, "input_data_classes[0]"),
        ({"scoring": {"correctness": "vibes", "quality": "scalar_0_1"}}, "scoring.correctness"),
        ({"correctness_declaration": {"method": "mostly"}}, "correctness_declaration.method"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_a_body_that_is_wrong_is_refused_by_field(local: Local, over: Json, named: str) -> None:
    answer = await local.http.post(PATH, json=verifier_body(**over))
    assert fields(check(answer, "validation_failed")) == [named]
    assert (await local.get(PATH))["verifiers"] == []


async def test_checks_are_listed_newest_first_a_page_at_a_time(local: Local) -> None:
    ids = [(await registered(local, display_name=f"check {number}"))["verifier_id"] for number in range(5)]
    first = await local.get(PATH, limit=2)
    assert [entry["verifier_id"] for entry in first["verifiers"]] == ids[:2:-1]
    second = await local.get(PATH, limit=2, cursor=first["next_cursor"])
    third = await local.get(PATH, limit=2, cursor=second["next_cursor"])
    assert [entry["verifier_id"] for entry in third["verifiers"]] == ids[:1]
    assert third["next_cursor"] is None
    for wrong in ("0", "101", "x", "-1", "1.5"):
        check(await local.http.get(PATH, params={"limit": wrong}), "validation_failed")
    check(await local.http.get(PATH, params={"cursor": "!"}), "validation_failed")


async def test_a_change_raises_the_revision_and_nothing_else_does(near: Local, endpoint: Dock) -> None:
    before = await registered(near, endpoint.url)
    verifier_id = before["verifier_id"]
    renamed = await changed(near, verifier_id, display_name="Other")
    assert (renamed["display_name"], renamed["revision"], renamed["hash"]) == ("Other", 2, before["hash"])
    same = await changed(near, verifier_id, display_name="Other")
    assert same == renamed
    assert await changed(near, verifier_id) == renamed
    newer = await changed(near, verifier_id, version="2")
    assert (newer["version"], newer["revision"]) == ("2", 3)
    assert newer["hash"] != before["hash"]
    await near.http.post(f"{PATH}/{verifier_id}/test")
    assert (await near.get(f"{PATH}/{verifier_id}"))["revision"] == 3


async def test_a_declaration_is_made_kept_and_withdrawn_without_touching_the_hash(local: Local) -> None:
    before = await registered(local)
    verifier_id = before["verifier_id"]
    declared = await changed(local, verifier_id, correctness_declaration={"method": "deterministic"})
    assert declared["correctness_declaration"] == {
        "status": "declared", "method": "deterministic", "declared_at": "2026-11-21T12:00:00.000Z",
        "statement": "Tenant declared deterministic correctness; not independently verified",
    }  # fmt: skip
    assert (declared["revision"], declared["hash"]) == (2, before["hash"])
    local.fake_clock.advance(60)
    again = await changed(local, verifier_id, correctness_declaration={"method": "deterministic"})
    assert again == declared
    withdrawn = await changed(local, verifier_id, correctness_declaration=None)
    assert withdrawn["correctness_declaration"] == {"status": "not_declared", "statement": "Not declared"}
    assert withdrawn["revision"] == 3


async def test_a_check_may_be_declared_when_it_is_registered(local: Local) -> None:
    outcome = await registered(local, correctness_declaration={"method": "deterministic"})
    assert outcome["correctness_declaration"]["status"] == "declared"


async def test_a_new_endpoint_is_probed(near: Local, endpoint: Dock) -> None:
    verifier_id = (await registered(near))["verifier_id"]
    moved = await changed(near, verifier_id, endpoint={"url": endpoint.url})
    assert (moved["status"], moved["status_reason"], moved["revision"]) == ("ready", None, 2)
    assert moved["endpoint"] == {"url": endpoint.url, "auth_ref": ""}


async def test_a_reference_stays_when_only_the_address_changes(local: Local) -> None:
    url = "https://nowhere.invalid/check"
    noted = (await local.http.post("/v1/credentials", json={"display_name": "Team key"})).json()["credential_ref"]
    verifier_id = (await registered(local, endpoint={"url": url, "auth_ref": noted}))["verifier_id"]
    moved = await changed(local, verifier_id, endpoint={"url": f"{url}2"})
    assert moved["endpoint"] == {"url": f"{url}2", "auth_ref": noted}


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        ({"endpoint": {"url": "x"}}, "endpoint.url"),
        ({"endpoint": {"url": "https://a.test/", "secret": "x"}}, "endpoint"),
        ({"kind": "endpoint"}, "body"),
        ({"scoring": {}}, "body"),
        ({"input_data_classes": ["public"]}, "body"),
        ({"token": "x"}, "body"),
        ({"correctness_declaration": {}}, "correctness_declaration.method"),
    ],
    ids=str,
)
async def test_a_change_that_is_wrong_is_refused_by_field(local: Local, patch: Any, named: str) -> None:
    before = await registered(local)
    before.pop("preflight")
    answer = await local.http.patch(f"{PATH}/{before['verifier_id']}", json=patch)
    assert fields(check(answer, "validation_failed")) == [named]
    assert await local.get(f"{PATH}/{before['verifier_id']}") == before


async def test_a_test_tells_and_keeps_what_it_found(near: Local, endpoint: Dock) -> None:
    verifier_id = (await registered(near, endpoint.url))["verifier_id"]
    endpoint.status = 500
    answer = await near.http.post(f"{PATH}/{verifier_id}/test")
    report = answer.json()
    assert sorted(report) == ["correctness_declaration", "probe", "status", "status_reason", "verifier_id"]
    assert (report["status"], report["status_reason"]) == ("degraded", "response_incompatible")
    assert report["probe"]["http_status"] == 500
    assert (await near.get(f"{PATH}/{verifier_id}"))["status"] == "degraded"
    endpoint.status = 200
    assert (await near.http.post(f"{PATH}/{verifier_id}/test")).json()["status"] == "ready"


async def test_a_retired_check_is_gone_and_can_be_retired_again(local: Local) -> None:
    verifier_id = (await registered(local))["verifier_id"]
    for _ in range(2):
        answer = await local.http.delete(f"{PATH}/{verifier_id}")
        assert (answer.status_code, answer.content) == (204, b"")
    place = f"{PATH}/{verifier_id}"
    assert (await local.get(PATH))["verifiers"] == []
    check(await local.http.get(place), "not_found")
    check(await local.http.patch(place, json={"version": "2"}), "not_found")
    check(await local.http.post(f"{place}/test"), "not_found")
    check(await local.http.get(f"{place}/connection"), "not_found")


async def test_a_repeated_registration_with_the_same_key_is_one_check(near: Local, endpoint: Dock) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await near.http.post(PATH, json=verifier_body(endpoint.url), headers=headers)
    again = await near.http.post(PATH, json=verifier_body(endpoint.url), headers=headers)
    assert again.content == first.content
    assert len(endpoint.heads) == 1
    other = await near.http.post(PATH, json=verifier_body(endpoint.url, version="2"), headers=headers)
    check(other, "idempotency_conflict")


async def test_what_is_done_to_a_check_is_in_the_decision_log(local: Local) -> None:
    verifier_id = (await registered(local))["verifier_id"]
    await changed(local, verifier_id, version="2")
    await local.http.delete(f"{PATH}/{verifier_id}")
    await local.http.delete(f"{PATH}/{verifier_id}")
    rows = await local.context.database.read(
        lambda transaction: transaction.oldest(audit_table, {"resource_id": verifier_id})
    )
    assert [(row["kind"], row["action"], row["resource_type"]) for row in rows] == [
        ("registry_action", action, "verifier") for action in ("registered", "updated", "retired")
    ]
    assert all(row["acted_by"].startswith("key_") for row in rows)


async def test_checks_survive_a_restart(serving: Serving) -> None:
    async with serving() as first:
        verifier_id = (await registered(first))["verifier_id"]
        before = await first.get(f"{PATH}/{verifier_id}")
    async with serving() as second:
        assert await second.get(f"{PATH}/{verifier_id}") == before


async def test_a_sample_service_serves_checks_of_its_own(serving: Serving) -> None:
    async with serving(sample=True) as sample:
        origin = sample.running.file.base_url
        good = await registered(sample, f"{origin}/docks/five-bullets")
        assert (good["status"], good["preflight"]["detail"]) == ("ready", None)
        broken = await registered(sample, f"{origin}/docks/invalid")
        assert (broken["status"], broken["status_reason"]) == ("degraded", "response_incompatible")
        refused = await registered(sample, f"{origin}/docks/unauthorised")
        assert refused["status_reason"] == "authentication_failed"
        elsewhere = await registered(sample, f"{origin}/v1/account")
        assert elsewhere["preflight"]["reason_code"] == "scheme_rejected"


async def test_without_a_sample_there_are_no_docks(local: Local) -> None:
    check(await local.http.post("/docks/non-empty", json={"candidate": "x"}), "not_found")
