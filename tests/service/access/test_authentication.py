"""Who may call, what another organization sees, and how the owner's key is kept."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import httpx
import pytest

from runwatch.service.access.authentication import KEY_PREFIX, ActiveKeys
from runwatch.service.tables import api_keys_table
from tests.service.conftest import Local, Serving, other_tenant
from tests.support.master_keys import opened_service_file
from tests.support.problems import check

NO_KEYS = (
    None, "", "Bearer", "Bearer ", "Basic {key}", "{key}", "Bearer {key}x", "Bearer solverapi_test_", "Bearer \xff",
    "Bearer {key},{key}",
)  # fmt: skip


@pytest.mark.parametrize("header", NO_KEYS)
async def test_without_a_key_that_is_known_nothing_is_answered(local: Local, header: str | None) -> None:
    run = await local.submit()
    headers = [] if header is None else [(b"Authorization", header.format(key=local.key).strip().encode("latin-1"))]
    async with httpx.AsyncClient(base_url=local.http.base_url) as stranger:
        for path in ("/v1/account", "/v1/nothing", f"/v1/executions/{run['execution_id']}"):
            answer = await stranger.get(path, headers=headers)
            problem = check(answer, "unauthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"
            kept = await local.stored_problem(problem.instance or "")
            assert kept is not None
            assert kept["principal_id"] is None
            assert local.key not in json.dumps(dict(kept))


async def test_two_authorization_headers_are_no_key(local: Local) -> None:
    bearer = f"Bearer {local.key}"
    headers = [("Authorization", bearer), ("Authorization", bearer)]
    async with httpx.AsyncClient(base_url=local.http.base_url) as client:
        check(await client.get("/v1/account", headers=headers), "unauthenticated")


async def test_the_scheme_is_read_in_any_case(local: Local) -> None:
    assert (await local.http.get("/v1/account", headers={"Authorization": f"bEaReR {local.key}"})).status_code == 200


async def test_a_revoked_key_is_refused(local: Local) -> None:
    bearer, key_id = await local.add_key()
    as_second = {"Authorization": f"Bearer {bearer}"}
    account = (await local.http.get("/v1/account", headers=as_second)).json()
    assert account["authenticated_principal_id"] == key_id
    database = local.context.database
    await database.write(
        lambda transaction: transaction.change(api_keys_table, {"api_key_id": key_id}, status="revoked")
    )
    local.context.keys = await database.read(partial(ActiveKeys.load, clock=local.clock))
    check(await local.http.get("/v1/account", headers=as_second), "unauthenticated")


async def test_the_account_of_another_organization_is_its_own(local: Local) -> None:
    await local.submit()
    bearer, key_id = await local.add_key(await other_tenant(local))
    local.http.headers["Authorization"] = f"Bearer {bearer}"
    account = await local.get("/v1/account")
    assert (account["tenant_id"], account["authenticated_principal_id"]) == ("ten_2", key_id)
    assert account["quota"]["executions"]["used"] == 0


async def test_a_key_has_the_form_that_public_clients_know_and_only_its_hash_is_stored(
    local: Local, data_dir: Path
) -> None:
    assert local.key.startswith(KEY_PREFIX)
    assert len(local.key) > len(KEY_PREFIX) + 40
    me = (await local.get("/v1/account"))["authenticated_principal_id"]
    assert me.removeprefix("key_").isalnum()
    assert me.startswith("key_")
    for file in data_dir.glob("service.db*"):
        assert local.key.encode() not in file.read_bytes()
    assert local.key not in (data_dir / "service.json").read_text()
    assert (data_dir / "service.json").stat().st_mode & 0o777 == 0o600


async def test_the_key_stays_over_restarts(serving: Serving) -> None:
    async with serving() as service:
        key, account = service.key, await service.get("/v1/account")
    async with serving() as service:
        assert (service.key, await service.get("/v1/account")) == (key, account)


async def test_a_lost_file_gives_a_new_key_and_ends_the_old_one(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        old, run = service.key, await service.submit()
    (data_dir / "service.json").unlink()
    async with serving() as service:
        assert service.key != old
        check(await service.http.get("/v1/account", headers={"Authorization": f"Bearer {old}"}), "unauthenticated")
        await service.get(f"/v1/executions/{run['execution_id']}")


async def test_a_file_that_others_could_read_gives_a_new_key(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        old = service.key
    (data_dir / "service.json").chmod(0o644)
    async with serving() as service:
        assert service.key != old
        check(await service.http.get("/v1/account", headers={"Authorization": f"Bearer {old}"}), "unauthenticated")
    assert (data_dir / "service.json").stat().st_mode & 0o777 == 0o600


async def test_a_lost_database_keeps_the_key(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        key = service.key
    for file in data_dir.glob("service.db*"):
        file.unlink()
    async with serving() as service:
        assert service.key == key
        assert (await service.get("/v1/executions"))["executions"] == []


async def test_a_revoked_owner_key_is_replaced_and_never_taken_back(serving: Serving, data_dir: Path) -> None:
    async with serving() as service:
        old = service.key
        await service.context.database.write(
            lambda transaction: transaction.change(api_keys_table, {"role": "owner"}, status="revoked")
        )
    async with serving() as service:
        assert service.key != old
        file = opened_service_file(data_dir)
        assert file is not None
        assert file.api_key.reveal() == service.key
        check(await service.http.get("/v1/account", headers={"Authorization": f"Bearer {old}"}), "unauthenticated")


async def test_a_file_with_a_key_of_another_form_gets_a_new_one(serving: Serving, data_dir: Path) -> None:
    data_dir.mkdir()
    content = {"base_url": "http://127.0.0.1:nonsense", "api_key": "guess", "data_dir": "x", "pid": 1}
    (data_dir / "service.json").write_text(json.dumps(content))
    (data_dir / "service.json").chmod(0o600)
    async with serving() as service:
        assert service.key.startswith(KEY_PREFIX)
