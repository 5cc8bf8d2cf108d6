"""The compliance export: receipts word for word, decisions with who made them, and a digest that can be checked."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.records.compliance import ComplianceExport
from runwatch.service import decision_log
from runwatch.service.access.authentication import local_tenant
from runwatch.service.http.lists.streamed_lists import PART_ROWS
from tests.service.conftest import Local, bearing, keyed, me, mint, other_tenant
from tests.service.http.test_streamed_lists import keep as keep_many
from tests.service.http.test_streamed_lists import receipt_text
from tests.service.test_proposals import propose
from tests.service.test_usage import RECEIPTS, keep
from tests.support.clock import START


async def test_an_export_holds_receipts_usage_and_a_digest_over_the_receipts(local: Local) -> None:
    for raw in RECEIPTS:
        await keep(local, raw)
    answer = await local.http.get("/v1/compliance-export", params={"period": "2026-11"})
    raw = loads(answer.content)
    shown = ComplianceExport(raw)
    assert not shown.flaws()
    assert not shown.unknown()
    assert raw["schema_version"] == "aud2.v1"
    assert raw["period"] == {"from": "2026-11-01", "to": "2026-11-30"}
    assert raw["content_policy"] == {"receipts": "content_free", "proposals": "role_scoped_d8b"}
    text = raw["receipts_ndjson"]
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    assert raw["attestation"] == {"algorithm": "sha256", "digest": digest}
    lines = text.splitlines()
    assert text == "".join(f"{line}\n" for line in lines)
    assert [loads(line)["execution_id"] for line in lines] == ["ex_1", "ex_2", "ex_3"]
    assert lines[0] == (await local.http.get("/v1/receipts/ex_1")).text
    assert raw["usage_totals"] == loads((await local.http.get("/v1/usage")).content)["totals"]
    assert raw["decision_log"] == []


async def test_reports_over_more_receipts_than_one_part_holds_are_whole(local: Local) -> None:
    count = 2 * PART_ROWS + 1
    await keep_many(local, range(count))
    raw = await local.get("/v1/compliance-export", period="2026-11")
    text = raw["receipts_ndjson"]
    assert text == "".join(f"{receipt_text(number)}\n" for number in range(count))
    assert raw["attestation"]["digest"] == hashlib.sha256(text.encode()).hexdigest()
    assert raw["usage_totals"]["executions"] == count
    assert (await local.get("/v1/usage", period="2026-11"))["totals"] == raw["usage_totals"]


async def test_every_decision_is_reported_in_order_with_who_made_it(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    proposal_id = await propose(held, run_id)
    key_id = (await mint(held))["api_key_id"]
    await held.http.post(f"/v1/executions/{run_id}/cancel", headers=keyed("k"))
    await held.http.post(f"/v1/executions/{run_id}/cancel", headers=keyed("k"))
    await held.http.post(f"/v1/executions/{run_id}/cancel")
    held.fake_clock.advance(1)
    await held.http.post(f"/v1/proposals/{proposal_id}/reject", json={"reason": "no"})
    await held.http.post(f"/v1/api-keys/{key_id}/revoke")
    await held.context.database.write(
        lambda transaction: decision_log.record_decision(
            transaction, local_tenant(transaction), "registry_action", "disabled", "arm", "arm_1", None
        )
    )
    log = (await held.get("/v1/compliance-export"))["decision_log"]
    owner = await me(held)
    told = [(row["kind"], row["action"], row["resource"]["type"], row["resource"]["id"], row["acted_by"])
            for row in log]  # fmt: skip
    assert told == [
        ("execution_cancellation", "cancelled", "execution", run_id, owner),
        ("proposal_decision", "rejected", "proposal", proposal_id, owner),
        ("api_key_revocation", "revoked", "api_key", key_id, owner),
        ("registry_action", "disabled", "arm", "arm_1", None),
    ]
    assert [row["at"] for row in log] == [format_iso(START)] + [format_iso(START + timedelta(seconds=1))] * 3
    assert len({row["decision_id"] for row in log}) == 4
    assert [("proposal" in row) for row in log] == [False, True, False, False]
    assert log[1]["proposal"] == await held.get(f"/v1/proposals/{proposal_id}")


async def test_decisions_of_another_time_or_organization_are_left_out(held: Local) -> None:
    bearer, foreign = await held.add_key(await other_tenant(held))
    await held.http.post("/v1/api-keys", headers=bearing(bearer))
    await held.http.post(f"/v1/api-keys/{foreign}/revoke", headers=bearing(bearer))
    await held.http.post(f"/v1/api-keys/{(await mint(held))['api_key_id']}/revoke")
    assert len((await held.get("/v1/compliance-export"))["decision_log"]) == 1
    assert (await held.get("/v1/compliance-export", period="2026-10"))["decision_log"] == []
    held.fake_clock.advance(timedelta(days=30).total_seconds())
    assert (await held.get("/v1/compliance-export"))["decision_log"] == []
    assert len((await held.get("/v1/compliance-export", period="2026-11"))["decision_log"]) == 1


async def test_a_decision_that_fails_is_not_in_the_log(held: Local) -> None:
    await held.http.post(f"/v1/api-keys/{await me(held)}/revoke")
    assert (await held.get("/v1/compliance-export"))["decision_log"] == []
