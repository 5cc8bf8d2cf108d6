"""What connections serve: deployments, definitions, catalog entries, quotes."""

from __future__ import annotations

import pytest

from runwatch.base.json import loads
from tests.service.conftest import Json, Local, Serving
from tests.service.sourcing import post, save, save_sample, sync
from tests.support.model_server import ModelServer
from tests.support.problems import check, fields
from tests.support.scripted import Said

NOW = "2026-11-21T12:00:00.000Z"
PRICES = {"tiny-1": {"input_usd_per_million": "0.10", "output_usd_per_million": "0.40"}}


async def entries(local: Local) -> list[Json]:
    return list((await local.get("/v1/model-catalog"))["models"])


async def test_without_a_connection_everything_is_empty(local: Local) -> None:
    assert await local.get("/v1/model-catalog") == {
        "catalog_policy": "curated_tested_connection_filtered",
        "models": [],
    }
    assert await local.get("/v1/model-definitions") == {"schema_version": "1", "models": []}
    assert await local.get("/v1/model-deployments") == {"deployments": []}


async def test_a_catalog_entry_is_whole(local: Local) -> None:
    async with ModelServer(models=("tiny-1",)) as server:
        saved = await save(local, server, secret=None, prices=PRICES)
    (entry,) = await entries(local)
    row = saved.deployments["tiny-1"]
    connection_id = saved.connection["connection_id"]
    where = {"location": "local", "route": "direct", "pricing_basis": "estimated"}
    variant = {
        "served_variant_id": row["served_variant_id"], "source_id": "openai_compatible", "model_key": "unknown/tiny-1",
        "upstream_ref": "tiny-1", "release_assurance": "unknown", "assurance_evidence_ref": None,
    }  # fmt: skip
    certification = entry["offering"]["certification"]
    assert entry == {
        "model": {
            "model_key": "unknown/tiny-1", "publisher_id": "unknown", "family": "tiny-1", "release": "unknown",
            "capabilities": ["text.generate"], "lifecycle": "active",
            "release_license": {"identifier": "unknown", "commercial_use": "unknown", "evidence_ref": None},
        },
        "source": {"source_id": "openai_compatible", "source_kind": "gateway"},
        "offering": {
            "served_variant": variant, "protocol_profile": "openai_chat", "auth_scheme": "none",
            "data_classes": ["public", "sandbox", "tenant_internal"], "fallback_policy": "none", **where,
            "tested_at": None, "resolved_upstream_ref": None, "resolution_evidence_ref": None,
            "certification": {
                "certification_id": certification["certification_id"], "evidence_schema_version": "1", "standing": None,
                "generated_at": NOW,
                "subject": {
                    "model_key": "unknown/tiny-1", "served_variant_id": row["served_variant_id"],
                    "source_id": "openai_compatible", "protocol_profile": "openai_chat", "auth_scheme": "none", **where,
                },
            },
        },
        "connection": {
            "access_lane": "byok", "commercial_owner": "customer", "connection_id": connection_id,
            "display_name": "Lab",
        },
        "deployment": {name: value for name, value in row.items() if name != "connection_id"},
        "provenance": {
            "schema_version": "1",
            "requested": {
                "model_key": "unknown/tiny-1", "publisher_id": "unknown", "family": "tiny-1", "release": "unknown",
                "served_variant_id": row["served_variant_id"], "upstream_ref": "tiny-1",
                "resolution_evidence_ref": None,
            },
            "source": {
                "source_id": "openai_compatible", "source_kind": "gateway", "connection_id": connection_id,
                "access_lane": "byok", "commercial_owner": "customer", "auth_scheme": "none",
            },
            "deployment": {
                "model_deployment_id": row["model_deployment_id"], "protocol_profile": "openai_chat", **where,
                "fallback_policy": "none",
            },
            "resolved": None,
        },
        "arm_registration_template": {
            "kind": "model", "display_name": "tiny-1", "model_deployment_id": row["model_deployment_id"],
            "capability_tags": ["text.generate"], "data_class_grants": ["public", "sandbox", "tenant_internal"],
            "cost_class": "economy",
        },
    }  # fmt: skip
    assert certification["certification_id"].startswith("cert_")


@pytest.mark.exhaustive
async def test_the_template_of_an_entry_is_a_body_that_registers_it(local: Local) -> None:
    async with ModelServer() as server:
        await save(local, server, secret=None)
    (entry,) = await entries(local)
    assert (await post(local, "/v1/arms", entry["arm_registration_template"]))["status"] == "ready"


@pytest.mark.exhaustive
async def test_a_certification_keeps_its_id_until_what_it_certifies_changes(local: Local) -> None:
    async with ModelServer() as server:
        saved = await save(local, server, secret=None)
        ids = [entry["offering"]["certification"]["certification_id"] for entry in await entries(local)]
        await sync(local, saved.path)
        again = [entry["offering"]["certification"]["certification_id"] for entry in await entries(local)]
        assert again == ids
        priced = {"id": "tiny-1", "pricing": {"prompt": "0.000001", "completion": "0.00002"}}
        server.say("GET", ".*", Said(200, {"data": [priced]}))
        await sync(local, saved.path)
    (entry,) = await entries(local)
    assert entry["offering"]["pricing_basis"] == "source_reported"
    assert entry["offering"]["certification"]["certification_id"] not in ids
    assert entry["arm_registration_template"]["cost_class"] == "premium"


@pytest.mark.parametrize(
    ("usd", "cost_class"), [("1", "economy"), ("1.000001", "standard"), ("10", "standard"), ("10.5", "premium")]
)
async def test_the_cost_class_follows_the_price_of_output(local: Local, usd: str, cost_class: str) -> None:
    prices = {"*": {"input_usd_per_million": "99", "output_usd_per_million": usd}}
    async with ModelServer() as server:
        await save(local, server, secret=None, prices=prices)
    (entry,) = await entries(local)
    assert entry["arm_registration_template"]["cost_class"] == cost_class


async def test_the_owners_price_goes_before_that_of_the_list(local: Local) -> None:
    listed = {"id": "tiny-1", "pricing": {"prompt": "1", "completion": "1"}}
    async with ModelServer(models=(listed, {**listed, "id": "tiny-3"}, "tiny-2")) as server:
        saved = await save(local, server, secret=None, prices=PRICES)
    rows = saved.deployments
    bases = {name: row["pricing_basis"] for name, row in rows.items()}
    assert bases == {"tiny-1": "estimated", "tiny-3": "source_reported", "tiny-2": "estimated"}
    body = {
        "model_deployment_id": rows["tiny-1"]["model_deployment_id"],
        "input_tokens": 1_000_000,
        "output_tokens": 0,
    }
    assert (await post(local, "/v1/model-catalog/quote", body))["usd"] == 0.10


async def test_a_quote_has_the_exact_digits(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        saved = await save(local, server, secret=None, prices=PRICES)
    body: Json = {"input_tokens": 123_456_789, "output_tokens": 1}
    ids = {name: row["model_deployment_id"] for name, row in saved.deployments.items()}
    answer = await local.http.post("/v1/model-catalog/quote", json={**body, "model_deployment_id": ids["tiny-1"]})
    assert answer.status_code == 200
    told = loads(answer.content)
    assert (str(getattr(told["usd"], "literal", told["usd"])), told["pricing_basis"]) == (
        "12.3456793",
        "estimated",
    )
    free = await post(local, "/v1/model-catalog/quote", {**body, "model_deployment_id": ids["tiny-2"]})
    assert (free["usd"], free["pricing_basis"]) == (0, "estimated")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model_deployment_id": "mdep_unknown"}, ["model_deployment_id"]),
        ({"input_tokens": -1, "output_tokens": 1.5}, ["input_tokens", "output_tokens"]),
        ({"input_tokens": 10**13}, ["input_tokens"]),
    ],
)
async def test_a_quote_that_cannot_be_is_refused_by_field(local: Local, change: Json, named: list[str]) -> None:
    body = {"model_deployment_id": "mdep_1", "input_tokens": 1, "output_tokens": 1, **change}
    assert fields(check(await local.http.post("/v1/model-catalog/quote", json=body), "validation_failed")) == named


@pytest.mark.exhaustive
async def test_a_reader_may_ask_for_a_quote(local: Local) -> None:
    async with ModelServer() as server:
        saved = await save(local, server, secret=None)
    key, _ = await local.add_key(role="reader")
    body = {
        "model_deployment_id": saved.deployments["tiny-1"]["model_deployment_id"],
        "input_tokens": 1,
        "output_tokens": 1,
    }
    headers = {"Authorization": f"Bearer {key}"}
    assert (await local.http.post("/v1/model-catalog/quote", json=body, headers=headers)).status_code == 200


async def test_deployments_are_listed_newest_first_and_read_one_by_one(local: Local) -> None:
    async with ModelServer(models=("a", "b", "c")) as server:
        saved = await save(local, server, secret=None)
    listed = (await local.get("/v1/model-deployments"))["deployments"]
    assert [row["upstream_ref"] for row in listed] == ["c", "b", "a"]
    for row in listed:
        assert await local.get(f"/v1/model-deployments/{row['model_deployment_id']}") == row
        assert row["connection_id"] == saved.connection["connection_id"]
        assert row["model_deployment_id"].startswith("mdep_")


async def test_a_model_that_two_connections_serve_is_defined_once(local: Local) -> None:
    async with ModelServer(models=("a", "b")) as server:
        first = await save(local, server, secret=None)
        second = await save(local, server, secret=None, name="Second")
    definitions = (await local.get("/v1/model-definitions"))["models"]
    assert [definition["model_key"] for definition in definitions] == ["unknown/b", "unknown/a"]
    assert len(await entries(local)) == 4
    assert first.deployments["a"]["served_variant_id"] == second.deployments["a"]["served_variant_id"]
    assert first.deployments["a"]["model_deployment_id"] != second.deployments["a"]["model_deployment_id"]


@pytest.mark.exhaustive
async def test_the_sample_sources_serve_models_of_every_lifecycle_and_retired_ones_are_not_in_the_catalog(
    serving: Serving,
) -> None:
    async with serving(sample=True) as service:
        sources = (await service.get("/v1/model-source-profiles"))["sources"]
        for profile in sources:
            if profile["source_kind"] == "fixture":
                await save_sample(service, profile["source_id"])
        definitions = (await service.get("/v1/model-definitions"))["models"]
        assert {definition["lifecycle"] for definition in definitions} == {
            "preview",
            "active",
            "deprecated",
            "retired",
        }
        shown = await entries(service)
        assert len(shown) == len(definitions) - 1
        assert "retired" not in {entry["model"]["lifecycle"] for entry in shown}
        assert {entry["arm_registration_template"]["cost_class"] for entry in shown} == {
            "economy", "standard", "premium",
        }  # fmt: skip
        # What a sample model may be given is its own to say.
        assert {tuple(entry["offering"]["data_classes"]) for entry in shown} >= {("public",)}
