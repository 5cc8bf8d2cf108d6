"""Several processes of one service, which share nothing but a PostgreSQL database."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from runwatch import cli
from runwatch.base.clock import SystemClock
from runwatch.base.errors import DataError, LocalServiceError
from runwatch.base.secrets.sealing import MasterKey, MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.service import database as database_module
from runwatch.service.backends import postgresql
from runwatch.service.backends.job_queue import JobQueue
from runwatch.service.backends.postgresql import PostgresDatabase
from runwatch.service.backends.team_status import read_status
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import DatabaseUnreachableError, RefusalError
from runwatch.service.execution import submission
from runwatch.service.http import app
from runwatch.service.migrations import upgrade
from runwatch.service.options import ServeOptions
from runwatch.service.organization.wallet import set_limits
from runwatch.service.server import reseal_data_dir
from runwatch.service.tables import SCHEMA_VERSION, api_keys_table, tenants_table
from runwatch.service.transaction import Transaction
from runwatch.settings.master_key import find_master_keys
from tests.service.conftest import Local, bearing, echo_body, keyed, serve_in_process
from tests.service.live_work import LiveWork, add_model, live_body, scripted
from tests.service.test_job_engine import Scripted, ended, patient
from tests.service.test_webhooks import add as add_webhook
from tests.service.test_webhooks import settled as settled_deliveries
from tests.support import postgres
from tests.support.clock import FakeClock
from tests.support.master_keys import master_keys
from tests.support.problems import check
from tests.support.receiver import Receiver

__all__ = ["patient", "scripted"]


class Team:
    """One database and the processes that a test starts on it."""

    def __init__(self, directory: Path, stack: AsyncExitStack) -> None:
        self.directory = directory
        self.database = postgres.database_for(directory)
        self._stack = stack
        self._count = 0

    async def start(self, *, max_runs: int = 0, **options: Any) -> Local:
        """Start a process with its own data directory; without places it serves the interface alone."""
        self._count += 1
        return await self._stack.enter_async_context(
            serve_in_process(
                self.directory / str(self._count),
                SystemClock(),
                database=self.database,
                max_runs=max_runs,
                **options,
            )
        )

    def backend(self, name: str, queue: JobQueue | None, keys: MasterKeys | None = None) -> PostgresDatabase:
        data_dir = self.directory / name
        data_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
        return PostgresDatabase(self.database, data_dir, queue, keys=keys)


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    async with AsyncExitStack() as stack:
        yield Team(tmp_path, stack)
    postgres.drop_database(tmp_path)


async def test_a_worker_drives_what_an_interface_has_accepted_with_secrets_of_the_database(
    team: Team, scripted: Scripted
) -> None:
    api, worker = await team.start(), await team.start(max_runs=4, has_interface=False)
    work = LiveWork(api, *scripted)
    await work.having(add_model, "ember")
    run_id = (await api.submit(live_body(["gate"])))["execution_id"]
    assert (await ended(api, run_id))["status"] == "completed"
    handle = await api.context.vault.put(Secret("sk-shared"))
    assert await worker.context.vault.get(handle) == Secret("sk-shared")
    assert (await worker.http.get("/v1/account")).status_code == 404
    for process in (api, worker):
        async with httpx.AsyncClient(base_url=process.running.file.base_url) as stranger:
            answers = [(await stranger.get(path)).json()["status"] for path in ("/healthz", "/readyz")]
        assert answers == ["ok", "ready"]


async def test_a_process_whose_database_is_away_lives_and_is_not_ready(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await team.start()

    async def fail(_: object) -> None:
        raise DataError("away")

    with monkeypatch.context() as away:
        away.setattr(api.context.database, "read", fail)
        answers = [await api.http.get(path) for path in ("/healthz", "/readyz")]
    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [(200, "ok"), (503, "unavailable")]


async def test_nobody_waits_for_a_database_that_hangs(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    api = await team.start()
    principal = api.context.keys.principal_of([f"Bearer {api.key}"])
    written = []

    async def hang(_: object) -> None:
        await asyncio.Event().wait()

    async def fail(write: object = None) -> None:
        written.append(write)
        raise DatabaseUnreachableError("it hangs")

    with monkeypatch.context() as hanging:
        hanging.setattr(app, "PATIENCE_S", 0.0)
        for method, replacement in (("read", hang), ("write", fail), ("ping", fail)):
            hanging.setattr(api.context.database, method, replacement)
        check(await api.http.get("/v1/account"), "service_unavailable")
        check(await api.http.post("/v1/executions", json=echo_body(), headers=keyed("k")), "service_unavailable")
        # Whether the write of the second one was begun is a matter of chance.
        written.clear()
        await api.context.problems.respond(RefusalError("service_unavailable"), principal=principal)
        assert written == []
    assert (await api.http.get("/v1/account")).status_code == 200


async def test_a_key_counts_in_every_process_as_soon_as_one_has_made_or_revoked_it(team: Team) -> None:
    first, second = await team.start(), await team.start()
    assert first.key != second.key
    names = {key["display_name"] for key in (await first.get("/v1/api-keys"))["api_keys"]}
    host = os.uname().nodename.partition(".")[0]
    assert names == {f"owner of {host}, {team.directory.name}/{number}" for number in (1, 2)}
    made = (await first.http.post("/v1/api-keys", json={"role": "runner", "display_name": "new"})).json()
    headers = bearing(made["key"])
    assert (await second.http.get("/v1/account", headers=headers)).status_code == 200
    await first.http.post(f"/v1/api-keys/{made['api_key_id']}/revoke")
    check(await second.http.get("/v1/account", headers=headers), "unauthenticated")


async def test_one_idempotency_key_starts_one_run_whichever_process_it_reaches(team: Team) -> None:
    processes = [await team.start(), await team.start()]
    headers = {**bearing(processes[0].key), **keyed("once")}
    answers = await asyncio.gather(
        *(processes[turn % 2].http.post("/v1/executions", json=echo_body(), headers=headers) for turn in range(8))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["execution_id"] for answer in answers}) == 1
    assert len((await processes[1].get("/v1/executions"))["executions"]) == 1
    for body in (echo_body(verifier_id="other"), {"mode": "none"}):
        check(await processes[1].http.post("/v1/executions", json=body, headers=headers), "idempotency_conflict")


async def test_a_rate_limit_and_a_quota_hold_for_all_processes_together(team: Team) -> None:
    processes = [await team.start(rate_limit_rpm=6, quota_executions=2) for _ in range(2)]
    statuses = []
    for turn in range(8):
        headers = {**bearing(processes[0].key), **keyed(str(turn))}
        answer = await processes[turn % 2].http.post("/v1/executions", json=echo_body(), headers=headers)
        statuses.append(answer.json().get("type", "accepted").rpartition("/")[2])
    assert statuses == ["accepted"] * 2 + ["quota_exceeded"] * 4 + ["rate_limited"] * 2


async def test_a_cursor_of_one_process_is_good_in_another(team: Team) -> None:
    first, second = await team.start(), await team.start()
    ids = [(await first.submit())["execution_id"] for _ in range(3)]
    page = await first.get("/v1/executions", limit=2)
    rest = await second.get("/v1/executions", limit=2, cursor=page["next_cursor"])
    assert [run["execution_id"] for run in (*page["executions"], *rest["executions"])] == ids[::-1]


async def test_a_webhook_is_reported_once_by_all_processes_together(team: Team) -> None:
    workers = [await team.start(max_runs=2, allow_loopback_checks=True) for _ in range(3)]
    async with Receiver() as receiver:
        hook = await add_webhook(workers[0], receiver.url)
        ids = [(await workers[0].submit())["execution_id"] for _ in range(6)]
        await settled_deliveries(workers[1], hook["webhook_id"], len(ids))
        assert sorted(taken.headers["runwatch-delivery"] for taken in receiver.taken) == sorted(
            {taken.headers["runwatch-delivery"] for taken in receiver.taken}
        )
        assert len(receiver.taken) == len(ids)


async def test_the_status_of_a_database_says_who_is_there_and_what_waits(team: Team) -> None:
    with pytest.raises(DataError, match="No team service"):
        read_status(team.database)
    api = await team.start()
    database, tenant_id = api.context.database, (await api.get("/v1/account"))["tenant_id"]
    await database.write(partial(set_limits, tenant_id=tenant_id, concurrency=0))
    first, second = [(await api.submit())["execution_id"] for _ in range(2)]
    await team.start(max_runs=1, has_interface=False)
    while (status := read_status(team.database)).limited < 2:
        await asyncio.sleep(0.02)
    assert [process.role for process in status.processes] == ["interface", "worker"]
    assert (status.driven, status.waiting, status.stalled, status.oldest_waiting) == (0, 0, 0, first)
    await database.write(partial(submission.cancel, tenant_id=tenant_id, key_id="key", execution_id=first))
    assert read_status(team.database).oldest_waiting == second


async def test_a_process_whose_connection_was_lost_is_there_again_without_work_and_as_old_as_before(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "RENEW_S", 0.05)
    await team.start()
    name = team.database.reveal().partition("?")[0].rpartition("/")[2]
    (before,) = read_status(team.database).processes
    sessions = f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}' AND application_name LIKE 'runwatch%'"
    lost = [row[0] for row in postgres.run_sql(sessions)]
    postgres.run_sql(f"SELECT pg_terminate_backend(pid, 60000) FROM ({sessions}) AS found")
    while (now := read_status(team.database).processes) == ():
        await asyncio.sleep(0.02)
    assert now == (before,)
    assert lost


async def test_a_service_of_one_process_and_one_of_several_keep_out_of_each_others_database(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for holds, comes in ((None, JobQueue()), (JobQueue(), None)):
        holder = ServiceDatabase.open(team.backend("holder", holds), FakeClock())
        with monkeypatch.context() as hurried:
            hurried.setattr(postgresql, "LOCK_WAIT_S", 0.0)
            with pytest.raises(LocalServiceError, match="Another service uses this database"):
                ServiceDatabase.open(team.backend("other", comes), FakeClock())
        holder.close()


async def test_a_newer_version_waits_until_no_older_process_is_left(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = ServiceDatabase.open(team.backend("older", JobQueue()), FakeClock())
    with monkeypatch.context() as newer:
        newer.setattr(database_module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
        with pytest.raises(LocalServiceError, match="older version") as refused:
            ServiceDatabase.open(team.backend("newer", JobQueue()), FakeClock())
        assert "is held by runwatch-" in (refused.value.detail or "")
    older.close()
    with monkeypatch.context() as newer:
        newer.setattr(database_module, "SCHEMA_VERSION", SCHEMA_VERSION - 1)
        with pytest.raises(DataError, match="newer version"):
            ServiceDatabase.open(team.backend("older", JobQueue()), FakeClock())


async def test_no_older_process_comes_back_while_a_newer_version_migrates(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    ServiceDatabase.open(team.backend("older", JobQueue()), FakeClock()).close()
    monkeypatch.setattr(postgresql, "WATCH_S", 0.0)
    monkeypatch.setattr(postgresql, "LOCK_WAIT_S", 0.0)
    met: list[str] = []

    def come_back(*_: object) -> None:
        with pytest.raises(LocalServiceError) as refused:
            team.backend("older", JobQueue()).open_writer(SCHEMA_VERSION)
        met.append(refused.value.title)

    monkeypatch.setattr(upgrade, "apply_revisions", come_back)
    newer = team.backend("newer", JobQueue())
    newer.open_writer(SCHEMA_VERSION + 1)
    newer.close()
    assert met == ["Another service uses this database"]


async def test_processes_seal_with_the_newest_master_key_that_all_have_and_start_beside_no_other(team: Team) -> None:
    old = master_keys()
    new = old.with_new_key()

    def start(keys: MasterKeys) -> tuple[MasterKey, ServiceDatabase]:
        backend = team.backend("any", JobQueue(), keys)
        opened = ServiceDatabase.open(backend, FakeClock())
        return (backend.keys or keys).keys[0], opened

    _, before = start(old)
    for keys in (MasterKeys.new(), MasterKeys(new.keys[:1])):
        with pytest.raises(LocalServiceError, match="another master key") as refused:
            start(keys)
        assert "is held by runwatch-" in (refused.value.detail or "")
    used, first = start(new)
    assert used is old.keys[0]
    before.close()
    # The first one still seals with the earlier key.
    with pytest.raises(LocalServiceError, match="another master key"):
        start(MasterKeys(new.keys[:1]))
    used, second = start(new)
    assert used is new.keys[0]
    with pytest.raises(LocalServiceError, match="another master key"):
        start(old)
    for opened in (first, second):
        opened.close()


async def test_the_master_key_is_rotated_only_while_no_process_uses_the_database(
    team: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = team.directory / "settings.toml"
    monkeypatch.setenv("RUNWATCH_CONFIG", str(settings))
    monkeypatch.setenv("RUNWATCH_DATABASE", team.database.reveal())
    words = ["serve", "--rotate-master-key", "--data-dir", str(team.directory / "key")]
    backend = team.backend("holder", JobQueue())
    backend.open_writer(SCHEMA_VERSION)
    before = find_master_keys(settings)
    assert await asyncio.to_thread(cli.run, words) != 0
    assert f"process {os.getpid()} on" in capsys.readouterr().err
    backend.close()
    assert find_master_keys(settings) == before
    # A session that its process has closed lives on in the server for a moment.
    deadline = time.monotonic() + 30
    while await asyncio.to_thread(cli.run, words) != 0:
        assert time.monotonic() < deadline
    assert "bring it to every machine" in capsys.readouterr().err
    assert find_master_keys(settings).keys[1:] == before.keys


async def test_a_start_with_a_wrong_master_key_is_refused_until_a_rotation_gives_the_right_one_up(team: Team) -> None:
    first, lost = await team.start(), MasterKeys.new()
    handle = await first.context.vault.put(Secret("sk-lost"))
    keys_before = await first.context.database.read(lambda transaction: transaction.count(api_keys_table, {}))
    await first.running.context.close()
    with pytest.raises(LocalServiceError, match="No master key here opens") as refused:
        await team.start(master_keys=lambda: lost)
    assert "--rotate-master-key" in (refused.value.hint or "")
    options = ServeOptions(
        data_dir=team.directory / "rotated", master_keys=lambda: lost, json=True, database=team.database
    )
    assert await reseal_data_dir(options, SystemClock()) == 1
    second = await team.start(master_keys=lambda: lost)
    assert second.context.closed_handles == {handle}
    assert (
        await second.context.database.read(lambda transaction: transaction.count(api_keys_table, {})) == keys_before + 1
    )
    await second.running.context.close()
    assert await (await team.start()).context.vault.get(handle) == Secret("sk-lost")


async def test_a_process_that_stops_in_a_write_loses_its_turn_and_the_write(team: Team) -> None:
    first = ServiceDatabase.open(team.backend("first", JobQueue()), FakeClock())
    second = ServiceDatabase.open(team.backend("second", JobQueue()), FakeClock())
    begun, goes_on = threading.Event(), threading.Event()

    def stop(transaction: Transaction) -> None:
        transaction.count(tenants_table, {})
        begun.set()
        goes_on.wait()

    stopped = asyncio.ensure_future(first.write(stop))
    await asyncio.to_thread(begun.wait)
    waiting = asyncio.ensure_future(second.write(lambda _: None))
    with psycopg.connect(team.database.reveal(), autocommit=True) as upkeep:
        # Once, because the process that has its turn next may be silent for a moment too.
        while not waiting.done() and not upkeep.execute(postgresql.END_SILENT_TURNS, {"silent_s": 0}).fetchall():
            await asyncio.sleep(0.02)
    await waiting
    goes_on.set()
    with pytest.raises(DataError, match="cannot be reached"):
        await stopped
    await first.write(lambda _: None)
    first.close()
    second.close()
