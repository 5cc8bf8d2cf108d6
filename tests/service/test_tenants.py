"""Organizations: made by users who may sign up, named by their owners, separate from each other."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from runwatch.base.clock import format_iso
from runwatch.service.errors import RefusalError
from runwatch.service.http.rate_limits import ALL_SIGN_UPS_PER_HOUR, SIGN_UPS_PER_HOUR, AnonymousLimits
from runwatch.service.routes import tenants as tenant_routes
from tests.service.conftest import Local, Serving, bearing, echo_body, keyed, mint
from tests.support.clock import START, FakeClock
from tests.support.problems import check, fields


async def sign_up(local: Local, body: Any, **headers: str) -> httpx.Response:
    """Ask for an organization without a key."""
    async with httpx.AsyncClient(base_url=local.http.base_url) as stranger:
        return await stranger.post("/v1/tenants", json=body, headers=headers)


async def test_a_signed_up_organization_has_a_key_that_opens_it_and_nothing_else(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), allow_signup=True) as local:
        run_id = (await local.submit())["execution_id"]
        answer = await sign_up(local, {"display_name": "Fabrikam"})
        assert answer.status_code == 200
        made = answer.json()
        assert set(made) == {"tenant_id", "display_name", "created_at", "api_key"}
        assert (made["display_name"], made["created_at"]) == ("Fabrikam", format_iso(START))
        key = bearing(made["api_key"]["key"])
        account = (await local.http.get("/v1/account", headers=key)).json()
        assert (account["tenant_id"], account["display_name"]) == (made["tenant_id"], "Fabrikam")
        assert account["authenticated_principal_id"] == made["api_key"]["api_key_id"]
        assert made["api_key"]["role"] == "owner"
        check(await local.http.get(f"/v1/executions/{run_id}", headers=key), "not_found")
        keys = (await local.http.get("/v1/api-keys", headers=key)).json()["api_keys"]
        assert [row["api_key_id"] for row in keys] == [made["api_key"]["api_key_id"]]
        assert (await local.get("/v1/account"))["tenant_id"] != made["tenant_id"]


async def test_sign_ups_with_the_same_idempotency_key_are_strangers_to_each_other(serving: Serving) -> None:
    async with serving(allow_signup=True) as local:
        answers = [await sign_up(local, {"display_name": "x"}, **keyed("k")) for _ in range(2)]
        first, second = (answer.json() for answer in answers)
        assert first["tenant_id"] != second["tenant_id"]
        assert first["api_key"]["key"] != second["api_key"]["key"]


async def test_a_signed_up_organization_outlasts_a_restart_whose_owner_file_is_lost(
    serving: Serving, data_dir: Any
) -> None:
    async with serving(allow_signup=True) as local:
        made = (await sign_up(local, {"display_name": "Fabrikam"})).json()
        owner = (await local.get("/v1/account"))["tenant_id"]
    (data_dir / "service.json").unlink()
    async with serving() as local:
        answer = await local.http.get("/v1/account", headers=bearing(made["api_key"]["key"]))
        assert answer.json()["tenant_id"] == made["tenant_id"]
        assert (await local.get("/v1/account"))["tenant_id"] == owner


async def test_without_the_option_nobody_signs_up(local: Local) -> None:
    problem = check(await sign_up(local, {"display_name": "Fabrikam"}), "permission_denied")
    assert "--allow-signup" in (problem.detail or "")
    check(await local.http.post("/v1/tenants", json={"display_name": "Fabrikam"}), "permission_denied")


@pytest.mark.parametrize(
    ("body", "named"),
    [({}, ["display_name"]), ({"display_name": "   "}, ["display_name"]), ({"display_name": None}, ["display_name"])],
)
async def test_an_organization_needs_a_name(serving: Serving, body: Any, named: list[str]) -> None:
    async with serving(allow_signup=True) as local:
        assert fields(check(await sign_up(local, body), "validation_failed")) == named
        tenant = (await local.get("/v1/account"))["tenant_id"]
        assert fields(check(await local.http.patch(f"/v1/tenants/{tenant}", json=body), "validation_failed")) == named


async def test_a_key_that_is_sent_to_the_open_route_has_to_be_a_good_one(serving: Serving) -> None:
    async with serving(allow_signup=True) as local:
        check(await sign_up(local, {"display_name": "x"}, **bearing("solverapi_test_guess")), "unauthenticated")


async def test_an_owner_renames_the_organization(local: Local) -> None:
    tenant = (await local.get("/v1/account"))["tenant_id"]
    path = f"/v1/tenants/{tenant}"
    answer = await local.http.patch(path, json={"display_name": "Contoso"}, headers=keyed("k"))
    again = await local.http.patch(path, json={"display_name": "Contoso"}, headers=keyed("k"))
    assert answer.json() == {"tenant_id": tenant, "display_name": "Contoso", "created_at": format_iso(START)}
    assert again.content == answer.content
    assert (await local.get("/v1/account"))["display_name"] == "Contoso"


async def test_the_limit_of_requests_holds_for_those_without_a_key_too(serving: Serving) -> None:
    async with serving(allow_signup=True, rate_limit_rpm=2) as local:
        for _ in range(2):
            assert (await sign_up(local, {"display_name": "x"})).status_code == 200
        check(await sign_up(local, {"display_name": "x"}), "rate_limited")
        await mint(local)


async def test_organizations_have_no_idempotency_keys_in_common(serving: Serving) -> None:
    async with serving(allow_signup=True) as local:
        key = (await sign_up(local, {"display_name": "Fabrikam"})).json()["api_key"]["key"]
        own = await local.submit(key="k")
        answer = await local.http.post("/v1/executions", json=echo_body(), headers=bearing(key, **keyed("k")))
        assert answer.status_code == 200
        assert answer.json()["execution_id"] != own["execution_id"]


async def test_sign_ups_of_one_address_have_a_bound_an_hour(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), allow_signup=True) as local:
        for _ in range(SIGN_UPS_PER_HOUR):
            assert (await sign_up(local, {"display_name": "x"})).status_code == 200
        problem = check(await sign_up(local, {"display_name": "x"}), "rate_limited")
        assert problem.retry_after_s == 3600
        local.fake_clock.advance(3600)
        assert (await sign_up(local, {"display_name": "x"})).status_code == 200


def test_sign_ups_of_all_addresses_have_a_bound_an_hour() -> None:
    strangers = AnonymousLimits(FakeClock())
    for number in range(ALL_SIGN_UPS_PER_HOUR):
        strangers.sign_up(f"192.0.2.{number}")
    with pytest.raises(RefusalError) as caught:
        strangers.sign_up("192.0.2.250")
    assert caught.value.retry_after_s == 3600


async def test_a_service_with_many_organizations_takes_no_more(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_routes, "TENANTS", 2)
    async with serving(allow_signup=True) as local:
        assert (await sign_up(local, {"display_name": "x"})).status_code == 200
        problem = check(await sign_up(local, {"display_name": "x"}), "quota_exceeded")
        assert problem.retry_after_s == tenant_routes.FULL_S
