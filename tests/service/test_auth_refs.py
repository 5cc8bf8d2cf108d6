"""``endpoint.auth_ref`` names the key of that endpoint or a credential reference; anything else is refused."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.service.tables import verifiers_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Json, Local, other_tenant
from tests.service.test_verifier_connection import connect, endpoint
from tests.service.test_verifiers import changed, registered, verifier_body
from tests.support.dock import Dock
from tests.support.problems import check, fields

__all__ = ["endpoint"]

NOWHERE = "https://nowhere.invalid/x"
UNKNOWN = ("cred_ref_01", f"cred_v_{'0' * 32}", "vault://team/prod", " ")


async def noted(near: Local) -> str:
    """A credential reference of the organization."""
    answer = await near.http.post("/v1/credentials", json={"display_name": "Team key"})
    return str(answer.json()["credential_ref"])


async def repository(near: Local) -> None:
    intent = await near.http.post("/v1/github-connections/intents", json={"repository": "acme/widgets"})
    assert (await near.http.post(intent.json()["continue_url"], json={"on": "yes"})).status_code == 200


def writes(reference: str) -> list[tuple[str, Json]]:
    """The three registrations that take an ``auth_ref``."""
    place = {"url": NOWHERE, "auth_ref": reference}
    agent = {"kind": "agent", "display_name": "A", "capability_tags": [], "data_class_grants": ["public"]}
    review = {"repository": "acme/widgets", "display_name": "A", "max_runtime_s": 60}
    return [
        ("/v1/verifiers", verifier_body(endpoint=place)),
        ("/v1/arms", {**agent, "endpoint": place}),
        ("/v1/review-composer/agents", {**review, "endpoint": place}),
    ]


def refused(answer: Any) -> None:
    """The refusal names the field and says what to do."""
    problem = check(answer, "validation_failed")
    assert fields(problem) == ["endpoint.auth_ref"]
    assert "Leave it empty" in answer.text
    assert "private page" in answer.text


@pytest.mark.parametrize("reference", UNKNOWN)
async def test_a_reference_that_names_nothing_is_refused_at_every_registration(near: Local, reference: str) -> None:
    await repository(near)
    for place, body in writes(reference):
        refused(await near.http.post(place, json=body, headers={"Idempotency-Key": f"k-{place}"}))
    assert (await near.get("/v1/verifiers"))["verifiers"] == []
    assert (await near.get("/v1/arms"))["arms"] == []


@pytest.mark.parametrize("is_named", [False, True])
async def test_an_empty_reference_and_a_credential_reference_are_kept(near: Local, is_named: bool) -> None:
    await repository(near)
    reference = await noted(near) if is_named else ""
    for place, body in writes(reference):
        answer = await near.http.post(place, json=body, headers={"Idempotency-Key": f"k-{place}"})
        assert answer.status_code == 200, answer.text
    kept = [*(await near.get("/v1/verifiers"))["verifiers"], *(await near.get("/v1/arms"))["arms"]]
    assert [one["endpoint"] for one in kept] == [{"url": NOWHERE, "auth_ref": reference}] * 3


async def test_a_credential_reference_of_another_organization_names_nothing(near: Local) -> None:
    key, _ = await near.add_key(await other_tenant(near))
    other = {"Authorization": f"Bearer {key}"}
    made = await near.http.post("/v1/credentials", json={"display_name": "Theirs"}, headers=other)
    place, body = writes(made.json()["credential_ref"])[0]
    refused(await near.http.post(place, json=body))


async def test_a_check_may_name_its_own_key_and_no_other_check_may(near: Local, endpoint: Dock) -> None:
    mine = (await registered(near, endpoint.url))["verifier_id"]
    handle = (await connect(near, f"/v1/verifiers/{mine}"))["handle"]
    named = {"url": endpoint.url, "auth_ref": handle}
    assert (await changed(near, mine, endpoint=named))["endpoint"] == named
    theirs = (await registered(near, endpoint.url))["verifier_id"]
    refused(await near.http.patch(f"/v1/verifiers/{theirs}", json={"endpoint": named}))
    assert (await near.get(f"/v1/verifiers/{theirs}"))["endpoint"]["auth_ref"] == ""


async def test_a_key_that_stops_with_the_move_is_not_named_by_it(near: Local, endpoint: Dock) -> None:
    mine = (await registered(near, endpoint.url))["verifier_id"]
    handle = (await connect(near, f"/v1/verifiers/{mine}"))["handle"]
    moved = {"url": NOWHERE, "auth_ref": handle}
    refused(await near.http.patch(f"/v1/verifiers/{mine}", json={"endpoint": moved}))
    assert (await near.get(f"/v1/verifiers/{mine}/connection"))["status"] == "active"


async def test_an_agent_is_changed_by_the_same_rule(near: Local) -> None:
    place, body = writes("")[1]
    agent = (await near.http.post(place, json=body)).json()["arm_id"]
    unknown = {"endpoint": {"url": NOWHERE, "auth_ref": UNKNOWN[0]}}
    refused(await near.http.patch(f"/v1/arms/{agent}", json=unknown))
    reference = await noted(near)
    known = {"endpoint": {"url": NOWHERE, "auth_ref": reference}}
    assert (await near.http.patch(f"/v1/arms/{agent}", json=known)).json()["endpoint"]["auth_ref"] == reference


async def test_a_reference_that_an_earlier_version_kept_stays_while_other_members_change(near: Local) -> None:
    verifier_id = (await registered(near))["verifier_id"]
    old = {"url": NOWHERE, "auth_ref": "cred_ref_01"}

    def as_before(transaction: Transaction) -> None:
        transaction.change(verifiers_table, {"verifier_id": verifier_id}, endpoint=old)

    await near.context.database.write(as_before)
    assert (await changed(near, verifier_id, display_name="New name"))["endpoint"] == old
    assert (await changed(near, verifier_id, endpoint={"url": f"{NOWHERE}2"}))["endpoint"]["auth_ref"] == "cred_ref_01"
