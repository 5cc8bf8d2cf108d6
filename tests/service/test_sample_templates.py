"""The templates of the sample organization: two are blocked, and following their next actions opens them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal

import httpx
import pytest

from runwatch.records.requests.organization import TOP_UP_USD
from tests.service.conftest import Json, Local, Serving, echo_body
from tests.service.sourcing import post, save_sample
from tests.service.test_templates import (
    APPLICATIONS,
    PLANS,
    SELECTION,
    application,
    apply,
    blocked_by,
    plan,
    resume,
    templates,
)
from tests.service.test_wallet import balance, set_limits
from tests.support.clock import FakeClock
from tests.support.problems import check

TOP_UPS = "/v1/account/top-up-intents"


@pytest.fixture
async def sample(serving: Serving) -> AsyncIterator[Local]:
    """A service that began with the sample organization."""
    async with serving(sample=True, sample_runs=1) as service:
        yield service


async def top_up(local: Local, amount: float = 5) -> Json:
    """Add sample credit as the user does on its page."""
    begun = await post(local, TOP_UPS, {"amount_usd": amount})
    async with httpx.AsyncClient(timeout=30) as person:
        answer = await person.post(begun["continue_url"], json={})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_one_template_is_eligible_and_two_are_blocked_for_a_reason(sample: Local) -> None:
    assert await blocked_by(sample, "starter") == []
    assert await blocked_by(sample, "pooled-open-model") == [("pool_not_entitled", "top_up_in_billing")]
    assert await blocked_by(sample) == [("connection_test_required", "test_source_connection")]
    assert {each["catalog_row"] for each in (await templates(sample)).values()} == {None}


@pytest.mark.exhaustive
async def test_testing_and_syncing_the_untested_connection_opens_the_byok_template(sample: Local) -> None:
    connections = (await sample.get("/v1/source-connections"))["connections"]
    (untested,) = [each for each in connections if each["test_state"] == "untested"]
    assert (untested["source_id"], untested["auth_scheme"]) == ("sample_cloud", "api_key")
    path = f"/v1/source-connections/{untested['connection_id']}"
    tested = await post(sample, f"{path}/test")
    assert tested["usable"], tested
    assert await blocked_by(sample) == [("deployment_required", "sync_source_deployments")]
    await post(sample, f"{path}/deployments/sync", {})
    assert await blocked_by(sample) == []
    row = (await templates(sample))["byok-open-model"]["catalog_row"]
    assert row["connection"] == {
        "access_lane": "byok", "commercial_owner": "customer", "connection_id": untested["connection_id"],
        "display_name": untested["display_name"],
    }  # fmt: skip
    begun = await apply(sample, template_id="byok-open-model")
    proved = await application(sample, begun["application_id"])
    assert (proved["state"], proved["next_action"]["type"]) == ("echo_proved", "authorize_byok_live_proof")


async def test_sample_credit_opens_the_pool_up_to_a_selected_model(sample: Local) -> None:
    outcome = await top_up(sample)
    assert outcome["balance_usd"] == 5
    assert await blocked_by(sample, "pooled-open-model") == []
    row = (await templates(sample))["pooled-open-model"]["catalog_row"]
    assert row["connection"] == {"access_lane": "millwork_pool", "commercial_owner": "millwork"}
    assert "connection_id" not in row["provenance"]["source"]
    assert await blocked_by(sample) == [("connection_test_required", "test_source_connection")], "byok is not opened"

    begun = await apply(sample, template_id="pooled-open-model")
    assert begun["selected_model_deployment_id"] == row["deployment"]["model_deployment_id"]
    proved = await application(sample, begun["application_id"])
    assert (proved["state"], proved["next_action"]["type"]) == ("echo_proved", "authorize_pool_live_proof")
    issued = proved["live_proof"]
    refreshed = await resume(sample, begun["application_id"], "refresh_pool_readiness", key="again")
    assert refreshed["live_proof"] is not None
    digest = refreshed["live_proof"]["digest"]
    assert issued is not None
    await resume(sample, begun["application_id"], "authorize_live_proof", key="go", live_proof_digest=digest)
    done = await application(sample, begun["application_id"])
    assert (done["state"], done["next_action"]["type"]) == ("ready", "select_model")
    receipt = await sample.get(done["receipt"]["href"])
    selected = receipt["slices"][0]["route"]["selected"]
    assert (selected["access_lane"], "connection_id" in selected) == ("millwork_pool", False)
    assert Decimal(await balance(sample)) < 5, "the live proof was paid from the credit"
    chosen = await post(sample, SELECTION, {"application_id": begun["application_id"]}, key="select")
    assert (chosen["template_id"], chosen["managed_arm_id"]) == ("pooled-open-model", done["managed_arm_id"])
    check(
        await sample.http.post(
            f"{APPLICATIONS}/{begun['application_id']}/resume",
            json={"action": "refresh_byok_readiness"},
            headers={"Idempotency-Key": "other lane"},
        ),
        "invalid_state",
    )


@pytest.mark.exhaustive
async def test_too_little_credit_leaves_the_pool_closed(sample: Local) -> None:
    await top_up(sample, 0.2)
    assert await blocked_by(sample, "pooled-open-model") == [("pool_not_entitled", "top_up_in_billing")]
    made = await plan(sample, template_id="pooled-open-model")
    assert (made["application_supported"], made["next_action"]["type"]) == (False, "top_up_in_billing")
    await top_up(sample, 0.05)
    assert await blocked_by(sample, "pooled-open-model") == []


@pytest.mark.exhaustive
async def test_a_frozen_balance_covers_nothing(sample: Local) -> None:
    await top_up(sample)
    await set_limits(sample, is_frozen=True)
    assert await blocked_by(sample, "pooled-open-model") == [("pool_not_entitled", "top_up_in_billing")]


@pytest.mark.exhaustive
async def test_the_plan_for_the_pool_names_no_account_of_the_customers(sample: Local) -> None:
    await top_up(sample)
    made = await plan(sample, template_id="pooled-open-model")
    assert (made["application_supported"], made["access_lane"]) == (True, "millwork_pool")
    assert (made["byok_source"], made["byok_offerings"], made["maximum_spend_usd"]) == (None, [], 0.25)
    offering = {"source_id": "sample_north", "auth_scheme": "none", "served_variant_id": "sv_1"}
    body = {"template_id": "pooled-open-model", "byok_offering": offering}
    check(await sample.http.post(PLANS, json=body), "validation_failed")
    named = await plan(sample, template_id="pooled-open-model", model_deployment_id=made["model_deployment_id"])
    assert named["model_deployment_id"] == made["model_deployment_id"]


@pytest.mark.exhaustive
async def test_the_page_says_that_no_money_moves_and_works_once(sample: Local) -> None:
    begun = await post(sample, TOP_UPS, {"amount_usd": 2.5})
    assert set(begun) == {"intent_id", "continue_url", "expires_at"}
    async with httpx.AsyncClient(timeout=30, headers={"Accept": "text/html"}, follow_redirects=True) as person:
        page = await person.get(begun["continue_url"])
        assert "No money moves." in page.text
        assert "2.5 US dollars" in page.text
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        done = await person.post(begun["continue_url"], content=b"", headers=form)
        assert done.status_code == 200, done.text
        assert "2.5 US dollars of sample credit were added" in done.text
        again = await person.post(begun["continue_url"], content=b"", headers=form)
        assert again.status_code == 409
    assert await balance(sample) == "2.5"
    account = await sample.get("/v1/account")
    assert [each["description"] for each in account["balance"]["credit_activity"]] == ["Sample credit"]
    assert account["billing"]["funded_state"] == "funded"


@pytest.mark.parametrize("amount", [0, -1, TOP_UP_USD + 1, "5", None])
async def test_an_amount_that_cannot_be_is_refused(sample: Local, amount: object) -> None:
    check(await sample.http.post(TOP_UPS, json={"amount_usd": amount}), "validation_failed")


async def test_without_sample_sources_there_is_nothing_to_top_up(local: Local) -> None:
    check(await local.http.post(TOP_UPS, json={"amount_usd": 5}), "invalid_state")
    assert await blocked_by(local, "pooled-open-model") == [("pool_not_entitled", "approve_plan")]


async def test_a_keyless_sample_connection_is_nobodys_own_account(serving: Serving) -> None:
    async with serving(FakeClock(), sample=True) as local:
        await save_sample(local, "sample_north")
        assert await blocked_by(local) == [("connection_required", "connect_source")]
        assert await blocked_by(local, "pooled-open-model") == [("pool_not_entitled", "top_up_in_billing")]


@pytest.mark.exhaustive
async def test_live_runs_are_taken_from_the_credit_once_there_is_some(sample: Local) -> None:
    free = await sample.finished((await sample.submit(echo_body(mode="live")))["execution_id"])
    assert free["status"] == "completed"
    await top_up(sample, 1)
    paid = await sample.finished((await sample.submit(echo_body(mode="live")))["execution_id"])
    assert Decimal(str(paid["spend_usd"])) > 0
    assert Decimal(await balance(sample)) == 1 - Decimal(str(paid["spend_usd"]))
