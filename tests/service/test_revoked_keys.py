"""What a revoked key began ends with it: pages, handoffs, staged keys, sessions, and requests that were under way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
import pytest

from runwatch.base.json import dumps
from runwatch.service.access.api_keys import revoke
from runwatch.service.access.browser_sessions import PATH
from runwatch.service.tables import api_keys_table, sessions_table
from tests.service.conftest import Json, Local, Serving
from tests.service.models.test_github import browser, signed_in
from tests.service.sourcing import begin, connection_body, enter, post
from tests.service.test_verifier_connection import FOREVER, SECRET, kept_secrets, promote, stage
from tests.service.test_verifiers import PATH as VERIFIERS
from tests.service.test_verifiers import registered
from tests.support.clock import FakeClock
from tests.support.dock import dock
from tests.support.problems import check

URL = "https://models.example.com/v1"
HANDOFFS = "/v1/source-credential-handoffs"


@contextlib.asynccontextmanager
async def second_key(near: Local) -> AsyncIterator[tuple[str, str]]:
    """Another owner's key, with which the service is called while the block runs; the key and its id."""
    first = near.http.headers["Authorization"]
    key, key_id = await near.add_key()
    near.http.headers["Authorization"] = f"Bearer {key}"
    try:
        yield key, key_id
    finally:
        near.http.headers["Authorization"] = first


async def page_of(near: Local, kind: str) -> str:
    if kind == "source":
        return str((await begin(near, URL))["continue_url"])
    if kind == "github":
        return str((await post(near, f"{PATH}/intents", {"repository": "acme/widgets"}))["continue_url"])
    place = f"{VERIFIERS}/{(await registered(near))['verifier_id']}"
    return str((await post(near, f"{place}/connection-intents", {"stop_choice": FOREVER}))["continue_url"])


@pytest.mark.parametrize("kind", ["source", "github", "verifier"])
async def test_the_pages_of_a_revoked_key_are_dead_at_once(near: Local, kind: str) -> None:
    async with second_key(near) as (_, key_id):
        address = await page_of(near, kind)
    await post(near, f"/v1/api-keys/{key_id}/revoke")
    async with httpx.AsyncClient() as person:
        for answer in (await person.get(address), await person.post(address, json={"secret": SECRET})):
            assert "not active" in (check(answer, "invalid_state").detail or "")
    assert kept_secrets(near) == 0


async def test_the_pages_of_an_expired_key_are_dead_at_once(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as near:
        minted = await post(near, "/v1/api-keys", {"expires_in_s": 60})
        headers = {"Authorization": f"Bearer {minted['key']}", "Idempotency-Key": "k"}
        begun = await near.http.post(f"{PATH}/intents", json={"repository": "acme/widgets"}, headers=headers)
        async with httpx.AsyncClient() as visitor:
            assert (await visitor.get(begun.json()["continue_url"])).status_code == 200
            clock.advance(60)
            check(await visitor.get(begun.json()["continue_url"]), "invalid_state")


async def test_a_page_asks_the_database_whether_its_key_is_active(near: Local) -> None:
    async with second_key(near) as (_, key_id):
        address = await page_of(near, "github")
    owner = near.context.keys.principal_of([f"Bearer {near.key}"])
    await near.context.database.write(lambda transaction: revoke(transaction, owner, key_id))
    check(await near.http.get(address), "invalid_state")


async def test_a_key_that_was_entered_for_a_revoked_key_cannot_be_used_and_is_destroyed(near: Local) -> None:
    async with second_key(near) as (_, key_id):
        handoff = await begin(near, URL)
        assert (await enter(handoff["continue_url"])).status_code == 200
        path = f"{HANDOFFS}/{handoff['handoff_intent_id']}"
        completed = await near.get(path)
    assert (completed["state"], kept_secrets(near)) == ("completed", 1)
    await post(near, f"/v1/api-keys/{key_id}/revoke")
    assert kept_secrets(near) == 0
    check(await near.http.post("/v1/source-connections", json=connection_body(completed)), "invalid_state")
    assert (await near.get(path))["state"] == "expired"


async def test_a_key_that_waits_for_its_test_goes_with_the_key_that_began_it(near: Local) -> None:
    async with dock() as endpoint:
        endpoint.keys = {SECRET}
        place = f"{VERIFIERS}/{(await registered(near, endpoint.url))['verifier_id']}"
        async with second_key(near) as (_, key_id):
            staged = await stage(near, place)
        await post(near, f"/v1/api-keys/{key_id}/revoke")
        assert kept_secrets(near) == 0
        check(await promote(near, place, staged), "invalid_state")
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["pending_key"]) == ("unbound", None)
    assert [(key["state"], key["reason"]) for key in view["retired_keys"]] == [("destroyed", "revoked")]


async def test_a_key_in_use_stays_in_use_when_the_key_that_began_it_is_revoked(near: Local) -> None:
    async with dock() as endpoint:
        endpoint.keys = {SECRET}
        place = f"{VERIFIERS}/{(await registered(near, endpoint.url))['verifier_id']}"
        async with second_key(near) as (_, key_id):
            assert (await promote(near, place, await stage(near, place))).status_code == 200
        await post(near, f"/v1/api-keys/{key_id}/revoke")
    assert (await near.get(f"{place}/connection"))["status"] == "active"
    assert kept_secrets(near) == 1


async def test_the_sessions_of_a_revoked_key_are_forgotten(near: Local) -> None:
    key, key_id = await near.add_key()
    async with browser(near) as person:
        await signed_in(near, person, key)
        await post(near, f"/v1/api-keys/{key_id}/revoke")
        start: Json = {"json": {"repository": "acme/widgets"}, "headers": {"Accept": "*/*"}}
        check(await person.post(f"{PATH}/intents", **start), "unauthenticated")
    assert await near.context.database.read(lambda transaction: transaction.count(sessions_table, {})) == 0


async def test_a_request_whose_body_comes_after_the_revocation_has_no_effect(near: Local) -> None:
    key, key_id = await near.add_key()
    body = dumps({"display_name": "kept back", "role": "owner"}).encode()
    head = (
        f"POST /v1/api-keys HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(*near.address)
    try:
        writer.write(head.encode() + body[:1])
        await writer.drain()
        await near.get("/v1/account")
        await post(near, f"/v1/api-keys/{key_id}/revoke")
        writer.write(body[1:])
        await writer.drain()
        answer = await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 401 ")
    names = await near.context.database.read(
        lambda transaction: [row["display_name"] for row in transaction.list_all(api_keys_table, {})]
    )
    assert "kept back" not in names
