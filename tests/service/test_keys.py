"""API keys: minted once, listed by prefix, labelled, revoked for good, and what each role may do."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.base.clock import format_iso
from runwatch.base.log import REDACTED, redact
from runwatch.base.network.service_file import write_service_file
from runwatch.base.secrets.secret import Secret
from runwatch.records.api_key import ApiKey
from runwatch.service.access import authentication
from runwatch.service.access.authentication import KEY_PREFIX, ActiveKeys, Principal, hash_secret
from runwatch.service.errors import RefusalError
from tests.service.conftest import Json, Local, Serving, bearing, echo_body, keyed, me, mint, other_tenant
from tests.support.clock import START, FakeClock
from tests.support.master_keys import MASTER_KEYS
from tests.support.postgres import on_file
from tests.support.problems import check, fields
from tests.support.timers import FakeTimers


async def listed(local: Local) -> list[Json]:
    return list((await local.get("/v1/api-keys"))["api_keys"])


async def test_a_minted_key_works_at_once_and_is_told_only_then(local: Local) -> None:
    minted = await mint(local, display_name="ci", role="runner")
    key = minted.pop("key")
    assert key.startswith(KEY_PREFIX)
    assert minted == {
        "api_key_id": minted["api_key_id"], "key_prefix": key[: len(minted["key_prefix"])], "display_name": "ci",
        "role": "runner", "status": "active", "created_at": format_iso(START), "revoked_at": None, "revoked_by": None,
        "expires_at": None, "last_used_at": None,
    }  # fmt: skip
    assert len(minted["key_prefix"]) < len(key) - 30
    assert not ApiKey(minted).flaws()
    assert not ApiKey(minted).unknown()
    assert await me(local, key) == minted["api_key_id"]
    answer = await local.http.get("/v1/api-keys")
    assert minted in [{**row, "last_used_at": None} for row in answer.json()["api_keys"]]
    assert key not in answer.text
    assert redact(f"the key {key}") == f"the key {REDACTED}"


async def test_a_key_is_minted_without_a_body_as_public_clients_do(local: Local) -> None:
    answer = await local.http.post("/v1/api-keys")
    assert answer.status_code == 200
    assert (answer.json()["role"], answer.json()["display_name"]) == ("owner", "API key")
    assert await me(local, answer.json()["key"]) == answer.json()["api_key_id"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"display_name": ""}, ["display_name"]),
        ({"display_name": " \n"}, ["display_name"]),
        ({"display_name": "x" * 201}, ["display_name"]),
        ({"display_name": 7, "role": "admin"}, ["display_name", "role"]),
        ([], ["body"]),
    ],
)
async def test_a_mint_with_a_bad_body_makes_no_key(local: Local, body: Any, named: list[str]) -> None:
    problem = check(await local.http.post("/v1/api-keys", json=body), "validation_failed")
    assert fields(problem) == named
    assert len(await listed(local)) == 1


async def test_a_repeated_mint_makes_one_key_and_does_not_tell_it_again(local: Local, data_dir: Path) -> None:
    first = await local.http.post("/v1/api-keys", json={"display_name": "ci"}, headers=keyed("k"))
    again = await local.http.post("/v1/api-keys", json={"display_name": "ci"}, headers=keyed("k"))
    told = first.json()
    key = told.pop("key")
    assert again.status_code == 200
    assert again.json() == {**told, "key_withheld": True}
    assert len(await listed(local)) == 2
    for file in data_dir.rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file


async def test_keys_are_listed_newest_first_and_only_to_their_organization(local: Local) -> None:
    local.fake_clock.advance(1)
    minted = await mint(local)
    assert [row["api_key_id"] for row in await listed(local)] == [minted["api_key_id"], await me(local)]
    bearer, key_id = await local.add_key(await other_tenant(local))
    others = await local.http.get("/v1/api-keys", headers=bearing(bearer))
    assert [row["api_key_id"] for row in others.json()["api_keys"]] == [key_id]


async def test_a_key_is_labelled_anew(local: Local) -> None:
    minted = await mint(local)
    path = f"/v1/api-keys/{minted['api_key_id']}"
    answer = await local.http.patch(path, json={"display_name": "laptop"}, headers=keyed("k"))
    again = await local.http.patch(path, json={"display_name": "laptop"}, headers=keyed("k"))
    del minted["key"]
    assert answer.json() == {**minted, "display_name": "laptop"}
    assert again.content == answer.content
    assert answer.json() in await listed(local)


@pytest.mark.parametrize(("body", "named"), [({}, "display_name"), ({"display_name": "\t"}, "display_name")])
async def test_a_label_needs_something_to_read(local: Local, body: Json, named: str) -> None:
    path = f"/v1/api-keys/{await me(local)}"
    assert fields(check(await local.http.patch(path, json=body), "validation_failed")) == [named]
    assert (await listed(local))[0]["display_name"] == "owner"


async def test_a_revoked_key_is_refused_from_then_on_and_stays_revoked(local: Local) -> None:
    minted = await mint(local)
    path = f"/v1/api-keys/{minted['api_key_id']}/revoke"
    answer = await local.http.post(path)
    assert answer.status_code == 200
    expected = {"status": "revoked", "revoked_at": format_iso(START), "revoked_by": await me(local)}
    assert {name: answer.json()[name] for name in expected} == expected
    assert "key" not in answer.json()
    check(await local.http.get("/v1/account", headers=bearing(minted["key"])), "unauthenticated")
    check(await local.http.post(path), "invalid_state")
    assert answer.json() in await listed(local)


async def test_a_revocation_outlasts_a_restart(serving: Serving) -> None:
    async with serving() as service:
        kept, ended = await mint(service), await mint(service)
        await service.http.post(f"/v1/api-keys/{ended['api_key_id']}/revoke")
    async with serving() as service:
        assert await me(service, kept["key"]) == kept["api_key_id"]
        check(await service.http.get("/v1/account", headers=bearing(ended["key"])), "unauthenticated")


async def test_the_key_that_calls_can_be_revoked_when_another_owner_is_left(local: Local) -> None:
    own = f"/v1/api-keys/{await me(local)}/revoke"
    await mint(local, role="runner")
    check(await local.http.post(own), "invalid_state")
    await me(local)
    other = await mint(local, role="owner")
    assert (await local.http.post(own)).status_code == 200
    check(await local.http.get("/v1/account"), "unauthenticated")
    check(await local.http.post(f"/v1/api-keys/{other['api_key_id']}/revoke", headers=bearing(other["key"])),
          "invalid_state")  # fmt: skip


async def test_a_restart_gives_the_owner_of_the_machine_a_key_and_leaves_all_others(serving: Serving) -> None:
    async with serving() as service:
        other = await mint(service)
        revoked = service.key
        await service.http.post(f"/v1/api-keys/{await me(service)}/revoke")
    async with serving() as service:
        assert service.key not in {revoked, other["key"]}
        await me(service)
        assert await me(service, other["key"]) == other["api_key_id"]


@pytest.mark.exhaustive
async def test_a_lost_file_ends_the_key_that_was_in_it_and_no_other(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        lost, other = service.key, await mint(service)
    (data_dir / "service.json").unlink()
    async with serving() as service:
        check(await service.http.get("/v1/account", headers=bearing(lost)), "unauthenticated")
        assert await me(service, other["key"]) == other["api_key_id"]


@pytest.mark.exhaustive
@on_file
async def test_a_database_from_before_the_files_key_was_noted_keeps_its_owner(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        first, tenant = service.key, (await service.get("/v1/account"))["tenant_id"]
    with closing(sqlite3.connect(data_dir / "service.db", isolation_level=None)) as database:
        database.execute("DELETE FROM local_owner")
    (data_dir / "service.json").unlink()
    async with serving() as service:
        assert (await service.get("/v1/account"))["tenant_id"] == tenant
        check(await service.http.get("/v1/account", headers=bearing(first)), "unauthenticated")


@pytest.mark.exhaustive
async def test_a_file_with_the_key_of_a_reader_is_given_an_owners(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        reader = await mint(service, role="reader")
        whole = service.running.file
    write_service_file(replace(whole, api_key=Secret(reader["key"])), MASTER_KEYS)
    async with serving() as service:
        assert service.key != reader["key"]
        await mint(service)


REFUSED: dict[str, list[tuple[str, str, Json | None]]] = {
    "reader": [
        ("POST", "/v1/executions", echo_body()),
        ("POST", "/v1/executions/{run}/cancel", None),
        ("POST", "/v1/api-keys", None),
        ("PATCH", "/v1/tenants/{tenant}", {"display_name": "x"}),
    ],
    "runner": [
        ("POST", "/v1/arms", {}),
        ("POST", "/v1/source-credential-handoffs", {}),
        ("POST", "/v1/api-keys", None),
        ("PATCH", "/v1/api-keys/{key}", {"display_name": "x"}),
        ("POST", "/v1/api-keys/{key}/revoke", None),
        ("PATCH", "/v1/tenants/{tenant}", {"display_name": "x"}),
        ("POST", "/v1/proposals/prop_unknown/approve", None),
        ("POST", "/v1/proposals/prop_unknown/reject", None),
        ("POST", "/v1/webhooks", {"url": "https://example.com", "event_types": ["execution.failed"]}),
        ("DELETE", "/v1/webhooks/wh_unknown", None),
        ("POST", "/v1/webhooks/wh_unknown/rotate-secret", None),
        ("POST", "/v1/webhooks/deliveries/whd_unknown/replay", None),
    ],
}


@pytest.mark.parametrize(
    ("role", "method", "path", "body"), [(role, *entry) for role, entries in REFUSED.items() for entry in entries]
)
async def test_a_role_may_do_no_more_than_it_permits(
    held: Local, role: str, method: str, path: str, body: Json | None
) -> None:
    bearer, key_id = await held.add_key(role=role)
    run = await held.submit()
    tenant = (await held.get("/v1/account"))["tenant_id"]
    path = path.format(run=run["execution_id"], key=key_id, tenant=tenant)
    answer = await held.http.request(method, path, json=body, headers=bearing(bearer, **keyed("k")))
    assert role in (check(answer, "permission_denied").detail or "")
    assert (await held.get(f"/v1/executions/{run['execution_id']}"))["status"] == "accepted"
    assert len(await listed(held)) == 2


@pytest.mark.parametrize("role", ["reader", "runner", "owner"])
async def test_every_role_reads(local: Local, role: str) -> None:
    bearer, _ = await local.add_key(role=role)
    paths = ("account", "executions", "receipts", "api-keys", "proposals", "webhooks", "usage", "eval-summary",
             "compliance-export")  # fmt: skip
    for path in paths:
        assert (await local.http.get(f"/v1/{path}", headers=bearing(bearer))).status_code == 200, path


async def test_a_runner_submits_and_cancels(held: Local) -> None:
    bearer, key_id = await held.add_key(role="runner")
    answer = await held.http.post("/v1/executions", json=echo_body(), headers=bearing(bearer, **keyed("k")))
    assert answer.status_code == 200
    path = f"/v1/executions/{answer.json()['execution_id']}/cancel"
    assert (await held.http.post(path, headers=bearing(bearer))).json()["cancelled_by"] == key_id


async def test_an_unknown_role_may_nothing(local: Local) -> None:
    bearer, _ = await local.add_key(role="member")
    check(await local.http.get("/v1/account", headers=bearing(bearer)), "permission_denied")


def test_a_key_that_was_revoked_before_it_was_taken_up_stays_out() -> None:
    keys = ActiveKeys([], FakeClock())
    keys.revoke("key_1")
    keys.add(hash_secret("solverapi_test_x"), Principal("ten_1", "key_1", "owner"))
    keys.add(hash_secret("solverapi_test_y"), Principal("ten_1", "key_2", "owner"))
    assert keys.principal_of(["Bearer solverapi_test_y"]).key_id == "key_2"
    with pytest.raises(RefusalError):
        keys.principal_of(["Bearer solverapi_test_x"])


@pytest.mark.exhaustive
async def test_many_keys_at_once_all_work(local: Local) -> None:
    answers: list[httpx.Response] = await asyncio.gather(*(local.http.post("/v1/api-keys") for _ in range(20)))
    assert len({await me(local, answer.json()["key"]) for answer in answers}) == 20


async def test_a_key_that_expires_works_until_then_and_is_dead_at_once(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as local:
        minted = await mint(local, role="reader", expires_in_s=30 * 86_400)
        assert minted["expires_at"] == format_iso(START + timedelta(days=30))
        clock.advance(30 * 86_400 - 0.001)
        await me(local, minted["key"])
        assert local.context.keys.holder_of(minted["api_key_id"]) is not None
        clock.advance(0.001)
        problem = check(await local.http.get("/v1/account", headers=bearing(minted["key"])), "unauthenticated")
        assert minted["expires_at"] in (problem.detail or "")
        assert local.context.keys.holder_of(minted["api_key_id"]) is None
        shown = next(row for row in await listed(local) if row["api_key_id"] == minted["api_key_id"])
        assert (shown["status"], shown["revoked_at"], shown["revoked_by"]) == ("revoked", minted["expires_at"], None)
        path = f"/v1/api-keys/{minted['api_key_id']}/revoke"
        check(await local.http.post(path), "invalid_state")
    async with serving(clock) as local:
        check(await local.http.get("/v1/account", headers=bearing(minted["key"])), "unauthenticated")


async def test_a_key_expires_after_a_restart_too(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as local:
        minted = await mint(local, expires_in_s=60)
    async with serving(clock) as local:
        await me(local, minted["key"])
        clock.advance(60)
        check(await local.http.get("/v1/account", headers=bearing(minted["key"])), "unauthenticated")


@pytest.mark.parametrize("seconds", [0, -1, 1.5, "60", True, 10 * 365 * 86_400 + 1])
async def test_a_time_to_live_is_a_whole_number_of_seconds_within_bounds(local: Local, seconds: object) -> None:
    answer = await local.http.post("/v1/api-keys", json={"expires_in_s": seconds})
    assert fields(check(answer, "validation_failed")) == ["expires_in_s"]


async def test_a_key_without_a_time_to_live_never_expires(local: Local) -> None:
    for body in ({}, {"expires_in_s": None}):
        assert (await mint(local, **body))["expires_at"] is None


async def test_an_owners_key_that_expires_does_not_stand_in_for_the_last_one(local: Local) -> None:
    own = await me(local)
    await mint(local, role="owner", expires_in_s=3600)
    problem = check(await local.http.post(f"/v1/api-keys/{own}/revoke"), "invalid_state")
    assert "does not expire" in (problem.detail or "")
    await mint(local, role="owner")
    assert (await local.http.post(f"/v1/api-keys/{own}/revoke")).status_code == 200


async def test_an_expiring_key_in_the_owners_file_does_not_become_the_owners(serving: Serving, data_dir: Path) -> None:
    async with serving() as local:
        minted = await mint(local, role="owner", expires_in_s=3600)
    file = data_dir / "service.json"
    file.write_text(file.read_text().replace(local.key, minted["key"]))
    async with serving() as local:
        assert local.key != minted["key"]
        assert (await mint(local))["expires_at"] is None


async def test_the_list_says_when_each_key_was_last_used_for_one_write_a_minute(serving: Serving) -> None:
    clock, timers = FakeClock(manual=True), FakeTimers()
    async with serving(clock, timers=timers) as local:
        minted = await mint(local, role="reader")
        assert await last_used(local, minted["api_key_id"]) is None
        writes = 0
        write = local.context.database.write

        async def counted(function: Any) -> Any:
            nonlocal writes
            writes += 1
            return await write(function)

        local.context.database.write = counted  # type: ignore[method-assign]
        for _ in range(20):
            clock.advance(1)
            await me(local, minted["key"])
        assert await last_used(local, minted["api_key_id"]) == format_iso(START + timedelta(seconds=20))
        assert writes == 0
        timers.advance(60)
        await local.context.key_uses.flush()
        assert writes == 1
        clock.advance(1)
        await me(local, minted["key"])
    async with serving(clock) as local:
        assert await last_used(local, minted["api_key_id"]) == format_iso(START + timedelta(seconds=21))


async def last_used(local: Local, key_id: str) -> str | None:
    last: str | None = next(row["last_used_at"] for row in await listed(local) if row["api_key_id"] == key_id)
    return last


async def test_the_hash_finds_the_key_among_very_many() -> None:
    keys = ActiveKeys([], FakeClock())
    for number in range(20_000):
        keys.add(f"{number:064x}", Principal("ten_1", f"key_{number}", "owner"))
    keys.add(hash_secret("solverapi_test_x"), Principal("ten_1", "key_x", "owner"))
    compared = []

    class Watched(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str(self) == other

        def __hash__(self) -> int:
            return hash(str(self))

    original = authentication.hash_secret
    authentication.hash_secret = lambda key: Watched(original(key))
    try:
        assert keys.principal_of(["Bearer solverapi_test_x"]).key_id == "key_x"
    finally:
        authentication.hash_secret = original
    assert len(compared) <= 2
