"""The data directory of version 0.1.0: it opens with its secrets, which are sealed from then on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.secrets.sealing import MAGIC, MasterKeys
from runwatch.records.account import Account
from runwatch.service.checks import bindings
from runwatch.service.tables import connections_table, webhooks_table
from runwatch.service.transaction import Transaction
from runwatch.settings.master_key import find_master_keys
from tests.make_data_of_0_1_0 import RUNS, unpack
from tests.service.conftest import Json, Local, Serving, other_tenant
from tests.support.environment import clean_environment
from tests.support.master_keys import MASTER_KEYS
from tests.support.postgres import on_file

pytestmark = on_file

SECRETS = ("source_key", "check_key", "webhook_secret")


@pytest.fixture
def told(data_dir: Path) -> Json:
    """What a caller of that version was told; the data directory is in its place."""
    return unpack(data_dir)


def sealed_files(data_dir: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (data_dir / "secrets").iterdir()}


def plain_files(data_dir: Path, *values: str) -> list[str]:
    """The files of the data directory that hold one of these values as it is."""
    files = [file for file in data_dir.rglob("*") if file.is_file()]
    return [file.name for file in files if any(value.encode() in file.read_bytes() for value in values)]


async def kept_secrets(service: Local, told: Json) -> tuple[str, ...]:
    """The secrets as the service uses them: of the source, the check and the webhook."""

    def handles(transaction: Transaction) -> tuple[Any, ...]:
        source = transaction.one(connections_table, {"connection_id": told["connection_id"]})
        webhook = transaction.one(webhooks_table, {"webhook_id": told["webhook_id"]})
        assert source is not None
        assert webhook is not None
        check = bindings.find_secret_handle(transaction, told["verifier_id"], transaction.now)
        return source["secret_handle"], check, webhook["secret_handle"]

    found = [await service.context.vault.get(handle) for handle in await service.context.database.read(handles)]
    return tuple("" if secret is None else secret.reveal() for secret in found)


async def closed_of(service: Local) -> set[str]:
    """The ids of the records that the account names, because no master key opens their secret."""
    account = Account(await service.get("/v1/account"))
    return {secret.resource_id or "" for secret in account.closed_secrets or ()}


async def test_it_opens_with_its_secrets_its_keys_and_its_runs(serving: Serving, data_dir: Path, told: Json) -> None:
    assert len(plain_files(data_dir, *(told[name] for name in SECRETS))) == len(SECRETS)
    async with serving() as service:
        assert service.key == told["owner_key"]
        assert await kept_secrets(service, told) == tuple(told[name] for name in SECRETS)
        assert service.context.closed_secrets == ()
        assert "closed_secrets" not in await service.get("/v1/account")
        listed = await service.get("/v1/executions")
        assert {run["execution_id"] for run in listed["executions"]} == set(told["runs"])
        assert len((await service.get("/v1/receipts"))["receipts"]) == RUNS
        second = {"Authorization": f"Bearer {told['second_key']}"}
        assert (await service.http.get("/v1/account", headers=second)).status_code == 200


@pytest.mark.exhaustive
async def test_a_skill_that_it_called_ready_is_judged_by_its_text(serving: Serving, told: Json) -> None:
    async with serving() as service:
        skill = await service.get(f"/v1/arms/{told['skill_id']}")
        assert skill["status"] == "degraded"
        assert skill["status_reason"].startswith("The text does not mark these editable regions: 'body'.")


async def test_its_secrets_are_sealed_at_the_first_start_and_stay_as_they_are_then(
    serving: Serving, data_dir: Path, told: Json
) -> None:
    async with serving():
        pass
    first = sealed_files(data_dir)
    assert all(content.startswith(MAGIC) for content in first.values())
    assert plain_files(data_dir, told["owner_key"], *(told[name] for name in SECRETS)) == []
    async with serving() as service:
        assert await kept_secrets(service, told) == tuple(told[name] for name in SECRETS)
    assert sealed_files(data_dir) == first


@pytest.mark.exhaustive
async def test_a_plain_rest_of_a_write_that_was_cut_off_is_removed(
    serving: Serving, data_dir: Path, told: Json
) -> None:
    rest = data_dir / "secrets" / f".cred_v_{'0' * 32}.abc123_x"
    rest.write_text(told["source_key"])
    async with serving():
        pass
    assert not rest.exists()
    assert len(sealed_files(data_dir)) == len(SECRETS)


async def test_without_the_master_key_it_starts_names_what_is_closed_and_deletes_nothing(
    serving: Serving, data_dir: Path, told: Json
) -> None:
    async with serving():
        pass
    sealed = sealed_files(data_dir)
    async with serving(master_keys=MasterKeys.new) as service:
        closed = "\n".join(service.context.closed_secrets)
        assert f"runwatch sources rotate {told['connection_id']}" in closed
        assert f"runwatch verifiers connect {told['verifier_id']}" in closed
        assert f"runwatch webhooks rotate {told['webhook_id']}" in closed
        assert "the key of the owner" in closed
        assert await closed_of(service) == {told["connection_id"], told["verifier_id"], told["webhook_id"]}
        stranger, _ = await service.add_key(await other_tenant(service))
        answer = await service.http.get("/v1/account", headers={"Authorization": f"Bearer {stranger}"})
        assert "closed_secrets" not in answer.json()
        owner = {"Authorization": f"Bearer {told['owner_key']}"}
        assert (await service.http.get("/v1/account", headers=owner)).status_code == 401
        assert await kept_secrets(service, told) == ("", "", "")
        assert (await service.http.get("/v1/account")).status_code == 200
        tested = await service.http.post(f"/v1/source-connections/{told['connection_id']}/test")
        assert tested.status_code < 500, tested.text
        rotated = await service.http.post(f"/v1/webhooks/{told['webhook_id']}/rotate-secret")
        assert rotated.status_code == 200
        assert await closed_of(service) == {told["connection_id"], told["verifier_id"]}
    left = sealed_files(data_dir)
    assert len([name for name in sealed if left.get(name) == sealed[name]]) == len(SECRETS) - 1  # one was replaced
    async with serving() as service:
        assert (await kept_secrets(service, told))[:2] == (told["source_key"], told["check_key"])


async def test_a_sealed_secret_under_another_name_is_not_opened(serving: Serving, data_dir: Path, told: Json) -> None:
    async with serving():
        pass
    names = sorted(sealed_files(data_dir))
    shutil.copy(data_dir / "secrets" / names[0], data_dir / "secrets" / names[1])
    async with serving() as service:
        assert "" in await kept_secrets(service, told)
        assert len(service.context.closed_secrets) == 1


def run_serve(data_dir: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``runwatch serve`` on the data directory, with the settings of a home."""
    command = [sys.executable, "-m", "runwatch", "serve", "--data-dir", str(data_dir), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment(home), timeout=60)


async def test_a_rotation_seals_everything_with_a_new_key_and_the_old_one_opens_nothing(
    serving: Serving, data_dir: Path, told: Json, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    first = find_master_keys(home / "settings.toml")
    async with serving(master_keys=lambda: first):
        refused = run_serve(data_dir, home, "--rotate-master-key")
        assert refused.returncode != 0
        assert "serve --stop" in refused.stderr
        assert find_master_keys(home / "settings.toml") == first
    done = run_serve(data_dir, home, "--rotate-master-key")
    assert done.returncode == 0, done.stderr
    assert "sealed with the new master key" in done.stderr
    rotated = find_master_keys(home / "settings.toml")
    assert rotated.keys[1:] == first.keys
    assert all(rotated.is_newest(content) for content in sealed_files(data_dir).values())
    assert len(sealed_files(data_dir)) == len(SECRETS)
    async with serving(master_keys=lambda: MasterKeys(rotated.keys[:1])) as service:
        assert service.key == told["owner_key"]
        assert await kept_secrets(service, told) == tuple(told[name] for name in SECRETS)


async def test_keys_and_secrets_made_with_an_idempotency_key_are_nowhere_in_plain(
    serving: Serving, data_dir: Path, told: Json
) -> None:
    async with serving() as service:
        made = await service.http.post(
            "/v1/webhooks",
            json={"url": "https://hooks.example.test/2", "event_types": ["execution.completed"]},
            headers={"Idempotency-Key": "once"},
        )
        key = await service.http.post(
            "/v1/api-keys", json={"role": "reader", "display_name": "third"}, headers={"Idempotency-Key": "twice"}
        )
        assert (made.status_code, key.status_code) == (200, 200), (made.text, key.text)
        values = made.json()["secret"], key.json()["key"]
        assert plain_files(data_dir, *values) == []
    assert plain_files(data_dir, *values) == []


@pytest.mark.exhaustive
def test_a_start_says_what_cannot_be_opened(data_dir: Path, told: Json, tmp_path: Path) -> None:
    for file in (data_dir / "secrets").iterdir():
        file.write_bytes(MASTER_KEYS.seal(file.read_bytes(), file.name))
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    ended = run_serve(data_dir, home, "--idle-exit-s", "0")
    assert ended.returncode == 0, ended.stderr
    assert "3 secrets cannot be opened, because their master key is missing" in ended.stderr
    assert told["webhook_id"] in ended.stderr
