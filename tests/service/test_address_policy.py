"""Which organization reaches which addresses (manual: security, "Outbound calls")."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.base.network.addresses import Address
from runwatch.service.address_policy import PROVIDERS, PUBLIC, PUBLIC_OR_LOOPBACK, AddressPolicy, OrganizationPolicies
from runwatch.service.options import ServeOptions
from runwatch.service.outbound import OutboundClient, OutboundError, resolve_host
from tests.service.conftest import Json, Local, Serving, bearing
from tests.service.test_tenants import sign_up
from tests.support.dock import dock
from tests.support.master_keys import master_keys
from tests.support.model_server import ModelServer
from tests.support.problems import check, fields

OWNER, STRANGER = "ten_owner", "ten_signed_up"
ORIGIN = "http://127.0.0.1:4711"


def policy(**options: Any) -> OrganizationPolicies:
    return OrganizationPolicies(
        OWNER, ServeOptions(data_dir=Path("unused"), master_keys=master_keys, json=True, **options), ORIGIN
    )


def test_only_the_owner_reaches_more_than_public_addresses() -> None:
    closed, opened = policy(), policy(allow_loopback_checks=True)
    assert (closed.providers(OWNER), closed.providers(STRANGER)) == (PROVIDERS, PUBLIC)
    assert (closed.endpoints(OWNER), closed.endpoints(STRANGER)) == (PUBLIC, PUBLIC)
    assert (opened.endpoints(OWNER), opened.endpoints(STRANGER)) == (PUBLIC_OR_LOOPBACK, PUBLIC)
    assert opened.providers("") == PUBLIC


@pytest.mark.parametrize(
    "url",
    [
        f"{ORIGIN}/docks/../admin", f"{ORIGIN}/docks/%2e%2e/admin", f"{ORIGIN}/docks/..", f"{ORIGIN}/docks/",
        f"{ORIGIN}/docks//x", f"{ORIGIN}/docks/x/y", f"{ORIGIN}/docks/x\n", f"{ORIGIN}/docks/x?y",
        f"{ORIGIN}/docks/x;y", f"{ORIGIN}/docks\\x", f"{ORIGIN}/DOCKS/x", f"{ORIGIN}/other/docks/x",
        "http://127.0.0.1:4712/docks/non-empty", "http://127.0.0.1/docks/non-empty",
        "https://127.0.0.1:4711/docks/non-empty", "http://127.0.0.2:4711/docks/non-empty",
        "http://127.0.0.1:4711@127.0.0.1:9/docks/non-empty", "http://127a0b0.1:4711/docks/non-empty",
    ],
)  # fmt: skip
def test_no_other_address_of_this_machine_is_a_sample_check(url: str) -> None:
    assert policy(sample=True).check(STRANGER, url) == PUBLIC
    assert policy(sample=True).check(OWNER, url) == PUBLIC


def test_a_sample_check_of_this_service_is_called_where_there_are_samples() -> None:
    assert policy(sample=True).check(STRANGER, f"{ORIGIN}/docks/non-empty") == PROVIDERS
    assert policy().check(OWNER, f"{ORIGIN}/docks/non-empty") == PUBLIC


@pytest.fixture
async def out() -> AsyncIterator[OutboundClient]:
    made = OutboundClient()
    yield made
    await made.close()


async def refusal(out: OutboundClient, url: str, reach: AddressPolicy) -> str:
    with pytest.raises(OutboundError) as caught:
        await out.send("GET", url, reach=reach, timeout_s=30)
    assert not caught.value.was_sent
    return caught.value.kind


@pytest.mark.parametrize("reach", [PUBLIC, PUBLIC_OR_LOOPBACK, PROVIDERS])
@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
        "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fec0::1]",
        "[2002:a9fe:a9fe::]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]", "[fe80::1%25lo]",
        "100.100.100.200", "192.0.0.192", "168.63.129.16", "0.0.0.0", "[::]", "224.0.0.1", "255.255.255.255",
    ],
)  # fmt: skip
async def test_a_metadata_address_is_refused_in_every_spelling(
    out: OutboundClient, host: str, reach: AddressPolicy
) -> None:
    # Not every system takes every spelling for an address.
    refused = {"private_range_rejected", "dns_resolution_failed", "scheme_rejected"}
    assert await refusal(out, f"https://{host}/", reach) in refused
    assert await refusal(out, f"http://{host}/", reach) in refused


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "127.1", "[::ffff:7f00:1]", "localhost", "localhost."])
async def test_an_odd_spelling_of_this_machine_is_judged_by_where_it_leads(out: OutboundClient, host: str) -> None:
    assert await refusal(out, f"https://{host}/", PUBLIC) in {"private_range_rejected", "dns_resolution_failed"}


async def test_the_name_that_is_looked_up_is_the_name_that_is_sent() -> None:
    asked: list[str] = []

    async def look_up(host: str, _: int) -> list[Address]:
        asked.append(host)
        return [ip_address("10.0.0.1")]

    out = OutboundClient(look_up)
    assert await refusal(out, "https://straße.example/", PUBLIC) == "private_range_rejected"
    assert asked == ["xn--strae-oqa.example"]
    await out.close()


async def test_a_name_is_looked_up_once_and_the_judged_address_is_called() -> None:
    answers = ["127.0.0.1", "169.254.169.254"]

    async def rebinding(*_: object) -> list[Address]:
        return [ip_address(answers.pop(0))]

    out = OutboundClient(rebinding)
    async with ModelServer(models=("tiny-1",)) as server:
        port = httpx.URL(server.base_url).port
        answer = await out.send("GET", f"http://two-faced.example:{port}/v1/models", reach=PROVIDERS, timeout_s=30)
    await out.close()
    assert (answer.status, answers) == (200, ["169.254.169.254"])


async def test_a_scope_is_no_part_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(*_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1%lo", 80, 0, 1))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
    assert await resolve_host("printer.example", 80) == [ip_address("fe80::1")]


async def joined(local: Local) -> dict[str, str]:
    """The header of an organization that has signed up."""
    return bearing((await sign_up(local, {"display_name": "Fabrikam"})).json()["api_key"]["key"])


def verifier(url: str) -> Json:
    return {
        "display_name": "Check", "version": "1", "kind": "endpoint", "endpoint": {"url": url},
        "input_data_classes": ["public"], "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
    }  # fmt: skip


async def test_a_signed_up_organization_calls_nothing_of_this_machine(serving: Serving) -> None:
    async with (
        serving(allow_signup=True, allow_loopback_checks=True) as local,
        dock() as endpoint,
        ModelServer(models=("tiny-1",)) as server,
    ):
        key = await joined(local)
        own = (await local.http.post("/v1/verifiers", json=verifier(endpoint.url))).json()
        assert own["preflight"]["outcome"] == "reachable"
        heads = len(endpoint.heads)
        other = (await local.http.post("/v1/verifiers", json=verifier(endpoint.url), headers=key)).json()
        assert (other["preflight"]["outcome"], other["preflight"]["reason_code"]) == ("unreachable", "scheme_rejected")
        agent = {
            "kind": "agent", "display_name": "A", "capability_tags": [], "data_class_grants": ["public"],
            "endpoint": {"url": endpoint.url},
        }  # fmt: skip
        registered = (await local.http.post("/v1/arms", json=agent, headers=key)).json()
        assert registered["preflight"]["reason_code"] == "scheme_rejected"
        hook = {"url": endpoint.url, "event_types": ["execution.completed"]}
        assert "url" in fields(
            check(await local.http.post("/v1/webhooks", json=hook, headers=key), "validation_failed")
        )
        assert (await local.http.post("/v1/webhooks", json=hook)).status_code == 200
        assert len(endpoint.heads) == heads
        check(await local.http.post("/v1/model-server-searches", headers=key), "permission_denied")
        wanted = {
            "source_id": "openai_compatible", "auth_scheme": "none",
            "endpoint": {"base_url": server.base_url},
        }  # fmt: skip
        refused = await local.http.post("/v1/source-credential-handoffs", json=wanted, headers=key)
        assert "endpoint.base_url" in fields(check(refused, "validation_failed"))
        assert (await local.http.post("/v1/source-credential-handoffs", json=wanted)).status_code == 201
        # Over https the address is judged when it is called.
        wanted["endpoint"] = {"base_url": server.base_url.replace("http:", "https:")}
        handoff = (await local.http.post("/v1/source-credential-handoffs", json=wanted, headers=key)).json()
        connection = await local.http.post(
            "/v1/source-connections",
            json={
                "display_name": "Lab", "source_id": handoff["source_id"], "auth_scheme": "none",
                "handoff_intent_id": handoff["handoff_intent_id"], "source_scope": handoff["source_scope"],
            },
            headers=key,
        )  # fmt: skip
        place = f"/v1/source-connections/{connection.json()['connection_id']}"
        assert (await local.http.post(f"{place}/test", headers=key)).json()["test_failure"] == "egress_rejected"
        assert server.heard == []


async def test_the_sample_checks_obey_the_host_and_origin_checks(serving: Serving) -> None:
    async with serving(sample=True) as local:
        url, body = "/docks/non-empty", {"candidate": "text"}
        assert (await local.http.post(url, json=body)).json()["is_correct"] is True
        foreign = await local.http.post(url, json=body, headers={"Host": "evil.example"})
        assert "Host" in fields(check(foreign, "validation_failed"))
        check(await local.http.post(url, json=body, headers={"Origin": "http://evil.example"}), "permission_denied")
