"""Sources and credential handoffs: which there are, how a secret gets in, and that it gets nowhere else."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import DIRECTORY
from tests.service.conftest import Json, Local, Serving
from tests.service.sourcing import SECRET, begin, completed, connection_body, enter, post, save
from tests.support.master_keys import MASTER_KEYS
from tests.support.model_server import ModelServer
from tests.support.problems import check, fields

HANDOFFS = "/v1/source-credential-handoffs"
URL = "http://127.0.0.1:9/v1"


async def profiles(local: Local) -> dict[str, Json]:
    return {profile["source_id"]: profile for profile in (await local.get("/v1/model-source-profiles"))["sources"]}


async def test_every_source_of_the_interface_is_listed_and_says_whether_it_is_served(local: Local) -> None:
    known = await profiles(local)
    assert {name for name, profile in known.items() if profile["served"]} == {
        "openai_direct", "anthropic_direct", "openrouter", "xai_direct", "moonshot_direct", "deepseek_direct",
        "fireworks", "openai_compatible", "anthropic_compatible",
    }  # fmt: skip
    assert {name for name, profile in known.items() if not profile["served"]} == {"gemini_developer_api", "aws_bedrock"}
    assert [name for name, profile in known.items() if profile["needs_endpoint"]] == [
        "openai_compatible",
        "anthropic_compatible",
    ]


async def test_a_profile_has_every_member_of_the_interface(local: Local) -> None:
    openai = (await profiles(local))["openai_direct"]
    assert openai == {
        "source_id": "openai_direct", "display_name": "OpenAI", "source_kind": "publisher_direct",
        "protocol_profiles": [{"id": "openai_responses", "version": "1"}, {"id": "openai_chat", "version": "1"}],
        "auth_schemes": [{"id": "api_key", "version": "1"}],
        "endpoint_policy": {"https_required": True, "redirects_allowed": False}, "access_lane": "byok",
        "credential_owner": "customer", "commercial_owner": "customer", "base_url": "https://api.openai.com/v1",
        "served": True, "needs_endpoint": False,
    }  # fmt: skip


async def test_sample_sources_are_listed_only_on_a_service_started_with_them(local: Local) -> None:
    assert not any(profile["source_kind"] == "fixture" for profile in (await profiles(local)).values())


async def test_a_service_with_sample_sources_lists_them(serving: Serving) -> None:
    async with serving(sample=True) as service:
        kinds = [profile["source_kind"] for profile in (await profiles(service)).values()]
    assert kinds.count("fixture") == 3


async def test_sources_of_the_provider_file_are_listed_and_can_be_connected(serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "providers.toml"
    file.write_text(
        '[[source]]\nsource_id = "lab"\nsource_kind = "self_hosted"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'protocol_profile = "openai_chat"\nauth_schemes = ["none"]\nlocation = "eu"\n'
    )
    async with serving(provider_config=file) as service:
        assert (await profiles(service))["lab"]["source_kind"] == "self_hosted"
        handoff = await post(service, HANDOFFS, {"source_id": "lab", "auth_scheme": "none"}, status=201)
        connection = await post(service, "/v1/source-connections", connection_body(handoff))
    endpoint = {"base_url": URL, "protocol_profile": "openai_chat", "location": "eu", "models": [], "prices": {}}
    assert connection["endpoint"] == endpoint


async def test_a_begun_handoff_is_a_whole_record_with_the_address_of_its_page(local: Local) -> None:
    handoff = await begin(local, f"{URL}/")
    origin = str(local.http.base_url).rstrip("/")
    address = handoff.pop("continue_url")
    assert address.startswith(f"{origin}/connect/source?intent=")
    assert handoff == {
        "handoff_intent_id": handoff["handoff_intent_id"], "source_id": "openai_compatible", "auth_scheme": "api_key",
        "state": "pending", "failure_code": None, "expires_at": "2026-11-21T12:10:00.000Z", "completed_at": None,
        "failed_at": None, "expired_at": None, "consumed_at": None, "created_at": "2026-11-21T12:00:00.000Z",
        "updated_at": "2026-11-21T12:00:00.000Z", "endpoint": {"base_url": URL, "protocol_profile": "openai_chat"},
    }  # fmt: skip
    assert handoff["handoff_intent_id"].startswith("hand_")
    assert await local.get(f"{HANDOFFS}/{handoff['handoff_intent_id']}") == handoff


async def test_the_page_takes_the_secret_once_and_completes_the_handoff(local: Local) -> None:
    handoff = await begin(local, URL)
    async with httpx.AsyncClient() as person:
        page = await person.get(handoff["continue_url"], headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert URL in page.text
    assert 'type="password"' in page.text
    answer = await enter(handoff["continue_url"])
    assert answer.json() == {"handoff_intent_id": handoff["handoff_intent_id"], "state": "completed"}
    read = await local.get(f"{HANDOFFS}/{handoff['handoff_intent_id']}")
    assert (read["state"], read["completed_at"]) == ("completed", "2026-11-21T12:00:00.000Z")
    assert read["source_scope"]["kind"] == "account"
    assert read["source_scope"]["account_ref"].startswith("acct_")
    check(await enter(handoff["continue_url"], "another-secret"), "invalid_state")


async def test_a_form_that_is_sent_twice_at_once_is_taken_once(local: Local) -> None:
    handoff = await begin(local, URL)
    async with httpx.AsyncClient(headers={"Accept": "text/html"}) as person:
        posts = [person.post(handoff["continue_url"], data={"secret": SECRET}) for _ in range(2)]
        answers = await asyncio.gather(*posts)
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    (refused,) = [answer for answer in answers if answer.status_code == 409]
    assert "already used" in refused.text
    assert len(list((local.context.options.data_dir / "secrets").iterdir())) == 1


async def test_a_browser_form_completes_the_handoff_too(local: Local) -> None:
    handoff = await begin(local, URL)
    async with httpx.AsyncClient(follow_redirects=True) as person:
        answer = await person.post(handoff["continue_url"], data={"secret": SECRET})
    assert answer.status_code == 200
    assert "The key is kept" in answer.text
    assert SECRET not in answer.text


@pytest.mark.parametrize("secret", ["", "   ", "two words", "not\nprintable", "x" * 4097])
async def test_what_is_no_secret_is_refused_and_the_page_works_on(local: Local, data_dir: Path, secret: str) -> None:
    handoff = await begin(local, URL)
    assert fields(check(await enter(handoff["continue_url"], secret), "validation_failed")) == ["secret"]
    assert not list((data_dir / DIRECTORY).glob("*")) or secret == ""
    assert (await enter(handoff["continue_url"])).status_code == 200


async def test_a_server_without_a_key_needs_no_page(local: Local) -> None:
    handoff = await begin(local, URL, keyless=True)
    assert (handoff["state"], handoff["continue_url"]) == ("completed", None)
    assert handoff["source_scope"]["account_ref"].startswith("acct_")


async def test_the_same_request_again_begins_nothing_and_is_answered_without_the_address(local: Local) -> None:
    body = {"source_id": "openai_compatible", "auth_scheme": "api_key", "endpoint": {"base_url": URL}}
    first = await post(local, HANDOFFS, body, key="k", status=201)
    assert (await enter(first["continue_url"])).status_code == 200
    again = await post(local, HANDOFFS, body, key="k", status=201)
    assert again == {**first, "continue_url": None}, "the recorded answer still says pending"
    other = {**body, "auth_scheme": "none"}
    check(await local.http.post(HANDOFFS, json=other, headers={"Idempotency-Key": "k"}), "idempotency_conflict")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, ["source_id", "auth_scheme"]),
        ({"source_id": "", "auth_scheme": 3}, ["source_id", "auth_scheme"]),
        ({"source_id": "nobody", "auth_scheme": "api_key"}, ["source_id"]),
        ({"source_id": "openai_direct", "auth_scheme": "none"}, ["auth_scheme"]),
        ({"source_id": "openai_direct", "auth_scheme": "api_key", "endpoint": {"base_url": "https://elsewhere.test"}},
         ["endpoint.base_url"]),
        ({"source_id": "openai_direct", "auth_scheme": "api_key", "endpoint": {"protocol_profile": "bedrock_converse"}},
         ["endpoint.protocol_profile"]),
        ({"source_id": "openai_compatible", "auth_scheme": "api_key"}, ["endpoint.base_url"]),
        ({"source_id": "openai_compatible", "auth_scheme": "none", "endpoint": {"base_url": "http://192.168.1.4"}},
         ["auth_scheme"]),
        ({"source_id": "openai_compatible", "auth_scheme": "none", "endpoint": {"base_url": "https://api.test"}},
         ["auth_scheme"]),
        ({"source_id": "openai_compatible", "auth_scheme": "api_key", "endpoint": {"base_url": "http://8.8.8.8/v1"}},
         ["endpoint.base_url"]),
        ({"source_id": "anthropic_compatible", "auth_scheme": "api_key",
          "endpoint": {"base_url": URL, "protocol_profile": "openai_chat"}}, ["endpoint.protocol_profile"]),
        ({"source_id": "openai_compatible", "auth_scheme": "none",
          "endpoint": {"base_url": URL, "prices": {"*": {"input_usd_per_million": "-1"}}}},
         ["endpoint.prices.*.input_usd_per_million", "endpoint.prices.*.output_usd_per_million"]),
    ],
)  # fmt: skip
async def test_a_handoff_that_cannot_be_is_refused_by_field(local: Local, body: Json, named: list[str]) -> None:
    assert fields(check(await local.http.post(HANDOFFS, json=body), "validation_failed")) == named


@pytest.mark.parametrize(
    ("source_id", "scheme"),
    [("gemini_developer_api", "api_key"), ("aws_bedrock", "api_key"), ("aws_bedrock", "aws_sts_sigv4")],
)
async def test_a_source_that_is_not_served_cannot_be_connected(local: Local, source_id: str, scheme: str) -> None:
    problem = check(
        await local.http.post(HANDOFFS, json={"source_id": source_id, "auth_scheme": scheme}), "invalid_state"
    )
    assert "not served by this service" in (problem.detail or "")


async def test_a_handoff_is_over_after_ten_minutes_whatever_its_state(held: Local, data_dir: Path) -> None:
    clock = held.fake_clock
    pending = await begin(held, URL)
    done = await completed(held, URL)
    assert len(list((data_dir / DIRECTORY).iterdir())) == 1
    clock.advance(600)
    for handoff in (pending, done):
        read = await held.get(f"{HANDOFFS}/{handoff['handoff_intent_id']}")
        assert (read["state"], read["expired_at"]) == ("expired", read["expires_at"])
    assert list((data_dir / DIRECTORY).iterdir()) == []
    check(await enter(pending["continue_url"]), "invalid_state")
    answer = await held.http.post("/v1/source-connections", json=connection_body(done))
    assert "expired" in (check(answer, "invalid_state").detail or "")


async def test_the_page_is_over_when_its_handoff_is(held: Local, data_dir: Path) -> None:
    clock = held.fake_clock
    handoff = await begin(held, URL)
    clock.advance(600)
    check(await enter(handoff["continue_url"]), "invalid_state")
    assert not (data_dir / DIRECTORY).exists()


async def test_a_secret_that_comes_too_late_is_not_kept(held: Local, data_dir: Path) -> None:
    clock = held.fake_clock
    handoff = await begin(held, URL)
    vault = held.context.vault
    put = vault.put

    async def put_slowly(secret: Secret) -> str:
        handle = await put(secret)
        clock.advance(600)
        return handle

    vault.put = put_slowly  # type: ignore[method-assign]
    check(await enter(handoff["continue_url"]), "invalid_state")
    assert list((data_dir / DIRECTORY).iterdir()) == []


async def test_the_next_handoff_removes_the_secret_of_one_that_is_over(held: Local, data_dir: Path) -> None:
    clock = held.fake_clock
    await completed(held, URL)
    clock.advance(599)
    await begin(held, URL)
    assert len(list((data_dir / DIRECTORY).iterdir())) == 1
    clock.advance(1)
    await begin(held, URL)
    assert list((data_dir / DIRECTORY).iterdir()) == []


async def test_a_page_of_another_api_key_is_refused(local: Local) -> None:
    handoff = await begin(local, URL)
    key, _ = await local.add_key()
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as person:
        check(await person.post(handoff["continue_url"], json={"secret": SECRET}), "permission_denied")
        check(await person.post(f"{handoff['continue_url']}x", json={"secret": SECRET}), "not_found")


async def test_a_secret_is_sealed_in_its_file_and_nowhere_else(
    local: Local, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers: list[Any] = []
    async with ModelServer(key=SECRET) as server:
        saved = await save(local, server)
        answers.append(saved.connection)
        answers += [
            await local.get(path)
            for path in (saved.path, "/v1/source-connections", "/v1/model-catalog", "/v1/model-deployments")
        ]
        # The server gets the secret, so its absence elsewhere proves something.
        assert {heard.head.header("authorization") for heard in server.heard} == {f"Bearer {SECRET}"}
        wrong = await enter((await begin(local, URL))["continue_url"], f"{SECRET} with space")
        answers.append(wrong.text)
    assert SECRET not in repr(answers)
    assert SECRET not in caplog.text
    with sqlite3.connect(data_dir / "service.db") as database:
        assert SECRET not in "\n".join(database.iterdump())
    database.close()
    assert [file for file in data_dir.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()] == []
    (sealed,) = (data_dir / DIRECTORY).iterdir()
    assert MASTER_KEYS.open(sealed.read_bytes(), sealed.name) == SECRET.encode()
    assert sealed.stat().st_mode & 0o777 == 0o600
