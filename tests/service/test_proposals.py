"""Repair proposals: listed, read, decided once, expired by time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.records.proposal import Proposal
from runwatch.service.access.authentication import local_tenant
from runwatch.service.models.arms import artifact_hash
from runwatch.service.organization import proposals
from runwatch.service.tables import arms_table
from runwatch.service.transaction import Transaction
from tests.service.conftest import Json, Local, bearing, keyed, me
from tests.support.clock import START
from tests.support.problems import check, fields

EVIDENCE = {"verifier_id": "vrf_1", "is_correct": True, "quality_score": 0.8}


DRY, WARM = "Be dry.", "Be warm."


async def propose(
    local: Local, run_id: str, *, tenant_id: str | None = None, arm_id: str = "arm_1", **more: Any
) -> str:
    """Have a run propose a repair of a skill, which is registered where it is not yet, and return the proposal's id."""

    def effect(transaction: Transaction) -> str:
        tenant = tenant_id or local_tenant(transaction)
        if transaction.one(arms_table, {"arm_id": arm_id}) is None:
            register(transaction, tenant, arm_id)
        return proposals.add(
            transaction, tenant, execution_id=run_id, slice_id="sl_1", arm_id=arm_id,
            diff="@@ region:tone @@\n-dry\n+warm", verifier_evidence=EVIDENCE,
            **{
                "parent_artifact_id": artifact_hash(DRY), "candidate": WARM, "parent_score": 0.4,
                "candidate_score": 0.8, **more,
            },
        )  # fmt: skip

    return await local.context.database.write(effect)


def register(transaction: Transaction, tenant_id: str, arm_id: str) -> None:
    """Register a skill under a given id."""
    transaction.add(
        arms_table, arm_id=arm_id, tenant_id=tenant_id, kind="skill", display_name="Tone", status="ready",
        capability_tags=[], data_class_grants=["public"], artifact_hash=artifact_hash(DRY),
        artifact={"content": DRY, "version": "1", "editable_regions": ["tone"]},
        created_at=format_iso(transaction.now), updated_at=format_iso(transaction.now),
    )  # fmt: skip


async def skill_of(local: Local, arm_id: str = "arm_1") -> tuple[str, str, str]:
    """A skill's text, version and hash as they are stored."""
    row = await local.context.database.read(lambda transaction: transaction.one(arms_table, {"arm_id": arm_id}))
    assert row is not None
    return row["artifact"]["content"], row["artifact"]["version"], row["artifact_hash"]


async def proposed(local: Local, count: int = 1, **more: Any) -> list[str]:
    """Ids of proposals of one run, the oldest first."""
    run_id = (await local.submit())["execution_id"]
    return [await propose(local, run_id, **more) for _ in range(count)]


async def ids(local: Local, **query: Any) -> list[str]:
    return [row["proposal_id"] for row in (await local.get("/v1/proposals", **query))["proposals"]]


async def read(local: Local, proposal_id: str) -> Json:
    return await local.get(f"/v1/proposals/{proposal_id}")


async def test_a_proposal_is_a_whole_record_alone_and_a_short_one_in_the_list(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    proposal_id = await propose(held, run_id)
    raw = await read(held, proposal_id)
    assert raw == {
        "proposal_id": proposal_id, "status": "pending", "decision": None, "decided_by": None, "decided_at": None,
        "reason": None, "execution_id": run_id, "slice_id": "sl_1", "arm_id": "arm_1",
        "parent_artifact_id": artifact_hash(DRY), "candidate_artifact_id": artifact_hash(WARM), "parent_score": 0.4,
        "candidate_score": 0.8, "diff": "@@ region:tone @@\n-dry\n+warm", "verifier_evidence": EVIDENCE,
        "created_at": format_iso(START), "expires_at": format_iso(START + timedelta(days=30)),
    }  # fmt: skip
    assert not Proposal(raw).flaws()
    assert not Proposal(raw).unknown()
    page = await held.get("/v1/proposals")
    del raw["diff"], raw["verifier_evidence"], raw["candidate_artifact_id"]
    assert page == {"proposals": [raw], "next_cursor": None}


async def test_proposals_are_paged_newest_first_and_filtered(held: Local) -> None:
    first, second, third = await proposed(held, 3)
    (other_arm,) = await proposed(held, arm_id="arm_2")
    assert await ids(held) == [other_arm, third, second, first]
    page = await held.get("/v1/proposals", limit=2)
    assert [row["proposal_id"] for row in page["proposals"]] == [other_arm, third]
    page = await held.get("/v1/proposals", limit=2, cursor=page["next_cursor"])
    assert [row["proposal_id"] for row in page["proposals"]] == [second, first]
    assert page["next_cursor"] is None
    assert await ids(held, arm_id="arm_2") == [other_arm]
    await held.http.post(f"/v1/proposals/{second}/approve")
    await held.http.post(f"/v1/proposals/{third}/reject")
    assert await ids(held, status="approved") == [second]
    assert await ids(held, status="rejected") == [third]
    assert await ids(held, status="pending", arm_id="arm_1") == [first]
    assert await ids(held, status="expired") == []


@pytest.mark.parametrize(("name", "value"), [("status", "open"), ("limit", "0"), ("cursor", "x")])
async def test_a_filter_that_is_invalid_is_refused(local: Local, name: str, value: str) -> None:
    problem = check(await local.http.get("/v1/proposals", params={name: value}), "validation_failed")
    assert fields(problem) == [name]


@pytest.mark.parametrize(
    ("verb", "decision", "body", "reason"),
    [
        ("approve", "approved", None, None),
        ("reject", "rejected", None, None),
        ("reject", "rejected", {}, None),
        ("reject", "rejected", {"reason": "too warm"}, "too warm"),
    ],
)
async def test_a_decision_is_made_once(
    held: Local, verb: str, decision: str, body: Json | None, reason: str | None
) -> None:
    (proposal_id,) = await proposed(held)
    path = f"/v1/proposals/{proposal_id}/{verb}"
    answer = await held.http.post(path, json=body, headers=keyed("k"))
    assert answer.status_code == 200
    expected = {
        "status": decision, "decision": decision, "decided_by": await me(held), "decided_at": format_iso(START),
        "reason": reason, "diff": "@@ region:tone @@\n-dry\n+warm",
    }  # fmt: skip
    assert {name: answer.json()[name] for name in expected} == expected
    assert await read(held, proposal_id) == answer.json()
    assert (await held.http.post(path, json=body, headers=keyed("k"))).content == answer.content
    for other in ("approve", "reject"):
        check(await held.http.post(f"/v1/proposals/{proposal_id}/{other}"), "invalid_state")
    assert await read(held, proposal_id) == answer.json()


async def test_an_approved_repair_takes_the_place_of_the_skill(held: Local) -> None:
    (proposal_id,) = await proposed(held)
    assert await skill_of(held) == (DRY, "1", artifact_hash(DRY))
    await held.http.post(f"/v1/proposals/{proposal_id}/approve")
    assert await skill_of(held) == (WARM, "2", artifact_hash(WARM))
    assert (await held.get("/v1/arms/arm_1"))["artifact_hash"] == artifact_hash(WARM)
    log = (await held.get("/v1/compliance-export"))["decision_log"]
    assert [(row["kind"], row["resource"]["id"]) for row in log] == [
        ("registry_action", "arm_1"), ("proposal_decision", proposal_id),
    ]  # fmt: skip


async def test_a_rejected_and_an_expired_repair_leave_the_skill_as_it_is(held: Local) -> None:
    rejected, expired = await proposed(held, 2)
    await held.http.post(f"/v1/proposals/{rejected}/reject")
    held.fake_clock.advance(timedelta(days=31).total_seconds())
    check(await held.http.post(f"/v1/proposals/{expired}/approve"), "invalid_state")
    assert await skill_of(held) == (DRY, "1", artifact_hash(DRY))


async def test_a_repair_of_a_skill_that_has_changed_is_a_conflict_and_stays_pending(held: Local) -> None:
    first, second = await proposed(held, 2)
    await held.http.post(f"/v1/proposals/{first}/approve")
    problem = check(await held.http.post(f"/v1/proposals/{second}/approve"), "invalid_state")
    assert "has changed" in (problem.detail or "")
    assert (await read(held, second))["status"] == "pending"
    assert await skill_of(held) == (WARM, "2", artifact_hash(WARM))
    assert (await held.http.post(f"/v1/proposals/{second}/reject")).status_code == 200


async def test_a_repair_that_takes_out_a_declared_region_leaves_a_degraded_skill(held: Local) -> None:
    (proposal_id,) = await proposed(held, candidate="Write plainly.\n")
    await held.http.post(f"/v1/proposals/{proposal_id}/approve")
    row = await held.context.database.read(lambda transaction: transaction.one(arms_table, {"arm_id": "arm_1"}))
    assert row is not None
    assert row["status"] == "degraded"
    assert "'tone'" in row["status_reason"]


async def test_a_repair_of_a_disabled_skill_or_without_its_text_cannot_be_approved(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    old = await propose(held, run_id, candidate=None)
    problem = check(await held.http.post(f"/v1/proposals/{old}/approve"), "invalid_state")
    assert "not kept" in (problem.detail or "")
    new = await propose(held, run_id)
    await held.http.delete("/v1/arms/arm_1")
    check(await held.http.post(f"/v1/proposals/{new}/approve"), "invalid_state")
    assert await skill_of(held) == (DRY, "1", artifact_hash(DRY))


@pytest.mark.parametrize(
    ("version", "expected"), [("1", "2"), ("41", "42"), ("v1", "v1+prop_9"), ("v1+prop_8", "v1+prop_9")]
)
def test_a_repaired_skill_has_a_version_of_its_own(version: str, expected: str) -> None:
    assert proposals.next_version(version, "prop_9") == expected


@pytest.mark.parametrize("role", ["runner", "reader"])
async def test_only_those_who_may_decide_see_the_change_in_reading_and_in_the_export(held: Local, role: str) -> None:
    (proposal_id,) = await proposed(held)
    await held.http.post(f"/v1/proposals/{proposal_id}/approve")
    bearer, _ = await held.add_key(role=role)
    alone = (await held.http.get(f"/v1/proposals/{proposal_id}", headers=bearing(bearer))).json()
    assert alone["status"] == "approved"
    assert not {"diff", "verifier_evidence"} & set(alone)
    export = (await held.http.get("/v1/compliance-export", headers=bearing(bearer))).json()
    (told,) = [row["proposal"] for row in export["decision_log"] if "proposal" in row]
    assert told == alone
    whole = await read(held, proposal_id)
    assert {"diff", "verifier_evidence"} <= set(whole)
    (told,) = [
        row["proposal"] for row in (await held.get("/v1/compliance-export"))["decision_log"] if "proposal" in row
    ]
    assert told == whole


@pytest.mark.parametrize("reason", [7, "x" * 2001])
async def test_a_reason_that_is_none_decides_nothing(held: Local, reason: object) -> None:
    (proposal_id,) = await proposed(held)
    answer = await held.http.post(f"/v1/proposals/{proposal_id}/reject", json={"reason": reason})
    assert fields(check(answer, "validation_failed")) == ["reason"]
    assert (await read(held, proposal_id))["status"] == "pending"


async def test_a_proposal_that_nobody_decided_for_thirty_days_is_expired(held: Local) -> None:
    early, decided = await proposed(held, 2)
    await held.http.post(f"/v1/proposals/{decided}/approve")
    held.fake_clock.advance(timedelta(days=30).total_seconds())
    assert (await read(held, early))["status"] == "pending"
    assert await ids(held, status="pending") == [early]
    (late,) = await proposed(held)
    held.fake_clock.advance(0.001)
    shown = await read(held, early)
    assert (shown["status"], shown["decision"], shown["decided_at"]) == ("expired", None, None)
    for verb in ("approve", "reject"):
        check(await held.http.post(f"/v1/proposals/{early}/{verb}"), "invalid_state")
    assert await ids(held, status="expired") == [early]
    assert await ids(held, status="pending") == [late]
    assert await ids(held, status="approved") == [decided]
    assert {row["status"] for row in (await held.get("/v1/proposals"))["proposals"]} == {
        "expired", "approved", "pending",
    }  # fmt: skip
