"""The past of the sample organization: whole, made up, the same every time, and made once."""

from __future__ import annotations

import contextlib
import socket
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from runwatch.base.clock import format_iso
from runwatch.base.errors import DataError
from runwatch.base.network.service_file import SAMPLE_KEYS
from runwatch.records.states import is_final
from runwatch.service.execution import live_steps
from runwatch.service.sample import history
from runwatch.service.sample.run_kinds import HISTORY, REPAIR
from tests.service.conftest import Json, Local, Serving, echo_body, serve_in_process
from tests.service.sampling import LEAST, all_runs, make, told_keys
from tests.service.sourcing import post
from tests.support.clock import START, FakeClock
from tests.support.postgres import on_file

shared_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sample(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Local]:
    """A service that began with the sample organization, for tests that only look at it."""
    directory = tmp_path_factory.mktemp("sample") / "service"
    async with serve_in_process(directory, FakeClock(), sample=True, sample_runs=LEAST) as service:
        yield service


async def listed(local: Local, path: str, member: str) -> list[Json]:
    return list((await local.get(path))[member])


@shared_loop
async def test_every_kind_of_run_ends_as_it_says(sample: Local) -> None:
    expected = Counter({(REPAIR.mode, REPAIR.status, REPAIR.reason): 1})
    for work in HISTORY:
        expected[work.mode, work.status, work.reason] += work.least
    runs = await all_runs(sample)
    assert Counter((run["mode"], run["status"], run["reason"]) for run in runs) == expected
    assert {run["status"] for run in runs} == {"completed", "failed", "cancelled", "expired"}
    assert {run["reason"] for run in runs} >= {
        "cancelled", "no_eligible_arms", "arm_not_ready", "runtime_exceeded", "cost_budget_exhausted",
        "fallback_exhausted", "dispatch_timeout", "dispatch_network_error", "dispatch_internal_error",
        "candidate_too_large", "response_too_large", "check_unavailable",
    }  # fmt: skip


@shared_loop
async def test_the_past_goes_back_a_month_and_every_run_has_its_receipt(sample: Local) -> None:
    runs = await all_runs(sample)
    moments = [run["created_at"] for run in runs]
    assert moments == sorted(moments, reverse=True)
    assert moments[0] < format_iso(START)
    assert format_iso(START - timedelta(days=31)) < moments[-1] < format_iso(START - timedelta(days=30))
    for run in runs:
        assert is_final(run["status"])
        receipt = await sample.get(run["links"]["receipt"])
        assert receipt["status"] == run["status"]
        assert all(call["connection_id"] for part in receipt["slices"] for call in part.get("attempts", ()))
        ended = datetime.fromisoformat(run["completed_at"]) - datetime.fromisoformat(run["created_at"])
        assert timedelta(0) <= ended < timedelta(minutes=15)


@shared_loop
async def test_checks_gate_fall_back_repair_and_fail_technically(sample: Local) -> None:
    reactions, failures, verdicts = set(), set(), set()
    for run in await all_runs(sample):
        for part in (await sample.get(run["links"]["receipt"]))["slices"]:
            if "acted_on_eval" in part:
                reactions.add((part["acted_on_eval"]["action"], part["acted_on_eval"]["outcome"]))
            for each in part.get("verification_checks", ()):
                failures.add(each["failure_class"])
                verdicts.add((each["activity"], each["is_correct"]))
    assert reactions == {
        ("gate", "passed_gate"), ("fallback", "fell_back"), ("repair_retry", "skill_accepted"),
        ("repair_retry", "proposal_created"), ("repair_retry", "repair_rejected"),
    }  # fmt: skip
    assert failures == {
        None, "timeout", "invalid_response", "authentication", "http_error", "credential_unavailable",
    }  # fmt: skip
    assert verdicts >= {("customer", True), ("customer", False), ("customer", None), ("platform_baseline", True)}


@shared_loop
async def test_the_catalog_has_models_of_three_sources_and_every_lifecycle(sample: Local) -> None:
    rows = await listed(sample, "/v1/model-catalog", "models")
    assert len(rows) >= 8
    assert len({row["source"]["source_id"] for row in rows}) == 3
    assert {row["connection"]["access_lane"] for row in rows} == {"millwork_pool"}
    assert all("connection_id" not in row["connection"] for row in rows)
    served = await listed(sample, "/v1/model-definitions", "models")
    assert {row["lifecycle"] for row in served} == {"preview", "active", "deprecated", "retired"}


@shared_loop
async def test_there_are_options_of_every_kind_and_state(sample: Local) -> None:
    arms = await listed(sample, "/v1/arms", "arms")
    states = {(arm["kind"], arm["status"]) for arm in arms}
    assert states == {
        ("model", "ready"), ("model", "degraded"), ("model", "disabled"), ("skill", "ready"),
        ("agent", "ready"), ("agent", "degraded"), ("agent", "disabled"),
    }  # fmt: skip
    assert all(arm["display_name"].startswith("Sample") for arm in arms)
    agents = await listed(sample, "/v1/review-composer/agents", "agents")
    assert {agent["status_reason"] for agent in agents} >= {"", "connection_revoked", "connection_expired"}
    connections = await listed(sample, "/v1/source-connections", "connections")
    assert {row["test_state"] for row in connections} == {"passed", "failed", "untested"}
    assert [row["revoked_at"] is not None for row in connections].count(True) == 1


@shared_loop
async def test_there_are_checks_that_work_and_checks_that_do_not(sample: Local) -> None:
    checks = await listed(sample, "/v1/verifiers", "verifiers")
    assert {check["status"] for check in checks} == {"ready", "degraded"}
    assert {check["status_reason"] for check in checks} == {
        None, "endpoint_unreachable", "response_incompatible", "authentication_failed", "connection_revoked",
    }  # fmt: skip
    assert {check["connection"]["status"] for check in checks} == {"unbound", "active", "revoked"}
    assert {check["correctness_declaration"]["status"] for check in checks} == {"declared", "not_declared"}
    origin = sample.context.origin
    assert all(check["endpoint"]["url"].startswith(f"{origin}/docks/") for check in checks)
    assert await listed(sample, "/v1/credentials", "credentials")
    assert await listed(sample, "/v1/github-connections", "connections")


@shared_loop
async def test_there_are_proposals_in_every_state(sample: Local) -> None:
    proposals = await listed(sample, "/v1/proposals", "proposals")
    assert {row["status"] for row in proposals} == {"pending", "approved", "rejected", "expired"}
    one = await sample.get(f"/v1/proposals/{proposals[0]['proposal_id']}")
    assert "+Answer with exactly five bullet points, and with nothing else." in one["diff"]


@shared_loop
async def test_reports_tell_of_the_whole_month(sample: Local) -> None:
    days = {"from": (START - timedelta(days=31)).date().isoformat(), "to": START.date().isoformat()}
    usage = await sample.get("/v1/usage", **days)
    assert usage["totals"]["executions"] == LEAST
    assert len(usage["by_day"]) > 10
    assert usage["totals"]["usd"] > 0
    assert len(usage["by_key"]) == 2
    summary = await sample.get("/v1/eval-summary", **days)
    assert len(summary["pass_rate_trend"]) > 5
    assert {row["status"] for row in summary["repair_history"]} == {"pending", "approved", "rejected", "expired"}
    export = await sample.get("/v1/compliance-export", **days)
    assert len(export["receipts_ndjson"].splitlines()) == LEAST
    assert {row["kind"] for row in export["decision_log"]} == {
        "proposal_decision", "execution_cancellation", "api_key_revocation", "registry_action",
    }  # fmt: skip


@shared_loop
async def test_each_organization_has_a_key_that_opens_it_alone(sample: Local) -> None:
    names = {"Sample Organization": set(), "Sample Labs": set(), "Sample Newcomers": set()}  # type: dict[str, set[str]]
    for told in told_keys(sample.context.options.data_dir):
        headers = {"Authorization": f"Bearer {told['api_key']}"}
        account = (await sample.http.get("/v1/account", headers=headers)).json()
        assert account["tenant_id"] == told["tenant_id"]
        assert account["is_demo"] is True
        assert account["display_name"] == told["organization"]
        runs = (await sample.http.get("/v1/executions?limit=100", headers=headers)).json()["executions"]
        assert len(runs) == {"Sample Labs": history.LABS_RUNS, "Sample Newcomers": 0}.get(told["organization"], LEAST)
        names[told["organization"]].add(told["role"])
    assert names == {
        "Sample Organization": {"runner", "reader"},
        "Sample Labs": {"owner"},
        "Sample Newcomers": {"owner"},
    }
    keys = await listed(sample, "/v1/api-keys", "api_keys")
    assert {(key["role"], key["status"]) for key in keys} == {
        ("owner", "active"), ("runner", "active"), ("reader", "active"), ("runner", "revoked"),
    }  # fmt: skip


@on_file
@shared_loop
async def test_keys_are_in_one_private_file_and_nowhere_else(sample: Local) -> None:
    directory = sample.context.options.data_dir
    assert (directory / SAMPLE_KEYS).stat().st_mode & 0o777 == 0o600
    secrets = [told["api_key"] for told in told_keys(directory)] + [sample.key]
    assert len(set(secrets)) == 5
    for file in directory.rglob("*"):
        if file.is_file() and file.name not in {SAMPLE_KEYS, "service.json"}:
            content = file.read_bytes()
            assert not [key for key in secrets if key.encode() in content], file
    assert b"sample-source-key" not in (directory / "service.db").read_bytes()


@pytest.mark.exhaustive
async def test_the_same_seed_makes_the_same_past_and_another_seed_another(tmp_path: Path) -> None:
    first = await make(tmp_path / "one")
    names = {key["api_key_id"]: key["display_name"] for key in first["api_keys"]}
    used = {names[row["api_key_id"]]: row["last_used_at"] for row in first["key_uses"]}
    submitted = [run["created_at"] for run in first["runs"]]
    assert used["Sample automation"] in submitted, "keys were last used for runs of theirs"
    assert used["Sample former colleague"] < used["Sample automation"] <= max(submitted) <= used["Sample dashboard"]
    assert await make(tmp_path / "two") == first
    other = await make(tmp_path / "three", seed=5)
    assert other["runs"] != first["runs"]
    assert len(other["runs"]) == len(first["runs"]) == LEAST + history.LABS_RUNS


@pytest.mark.exhaustive
async def test_a_past_that_comes_to_no_end_is_not_begun_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(live_steps, "take_live_step", fail)
    with pytest.raises(DataError):
        await make(tmp_path / "one", runs=1)
    assert not (tmp_path / "one" / "service.db").exists()


async def test_a_past_is_made_once_and_what_came_later_stays(serving: Serving) -> None:
    clock = FakeClock()
    async with serving(clock, sample=True, sample_runs=1) as local:
        before = await all_runs(local)
        mine = await local.finished((await local.submit())["execution_id"])
        account = await local.get("/v1/account")
        key = local.key
    async with serving(clock, sample=True, sample_runs=1) as local:
        assert local.key == key
        assert await local.get("/v1/account") == account
        assert await all_runs(local) == [mine, *before]


@on_file
async def test_a_start_that_was_interrupted_leaves_nothing_half(serving: Serving, data_dir: Path) -> None:
    data_dir.mkdir()
    for name in ("sample.db", "sample.db-wal", "sample.db-shm"):
        (data_dir / name).write_bytes(b"half of it")
    async with serving(sample=True, sample_runs=1) as local:
        assert len(await all_runs(local)) == 1
    assert not list(data_dir.glob("sample.db*"))


async def test_without_the_sample_nothing_is_made(serving: Serving, data_dir: Path) -> None:
    async with serving(sample_runs=5) as local:
        assert await all_runs(local) == []
        assert await listed(local, "/v1/arms", "arms") == []
    assert not (data_dir / SAMPLE_KEYS).exists()


async def test_a_directory_that_is_in_use_gets_no_past(serving: Serving) -> None:
    async with serving() as local:
        mine = await local.finished((await local.submit())["execution_id"])
    async with serving(sample=True, sample_runs=5, sample_trickle=True) as local:
        assert await all_runs(local) == [mine]


async def test_checks_follow_the_service_to_another_port(serving: Serving) -> None:
    def by_name(checks: list[Json]) -> dict[str, Json]:
        return {check["display_name"]: check for check in checks}

    name = "Sample: not empty, behind a key"
    async with serving(sample=True, sample_runs=1) as local:
        before = by_name(await listed(local, "/v1/verifiers", "verifiers"))[name]
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    async with serving(sample=True, sample_runs=1, port=port) as local:
        checks = by_name(await listed(local, "/v1/verifiers", "verifiers"))
        assert {httpx.URL(check["endpoint"]["url"]).port for check in checks.values()} == {port}
        after = checks[name]
        assert after["revision"] == before["revision"] + 1
        assert after["hash"] != before["hash"]
        tested = await post(local, f"/v1/verifiers/{after['verifier_id']}/test", {})
        assert tested["probe"]["contract"]["validated"], tested
        body = echo_body(mode="live", verifier_id=after["verifier_id"])
        run = await local.finished((await local.submit(body))["execution_id"])
        receipt = await local.get(f"/v1/receipts/{run['execution_id']}")
        assert receipt["slices"][0]["recorded_check"]["state"] == "customer_verdict"
    async with serving(sample=True, sample_runs=1, port=port) as local:
        assert by_name(await listed(local, "/v1/verifiers", "verifiers"))[name]["revision"] == after["revision"]
