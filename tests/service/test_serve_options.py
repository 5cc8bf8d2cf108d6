"""Options of ``runwatch serve`` that say what an organization may do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from runwatch import cli
from runwatch.base.files import private_directory
from runwatch.base.network.service_file import SAMPLE_KEYS, service_lock
from runwatch.service.options import ServeOptions
from runwatch.service.process import sample_note
from tests.support import postgres
from tests.support.master_keys import master_keys
from tests.support.problems import check
from tests.support.service import ServiceProcess


def test_limits_and_sign_ups_are_set_on_the_command_line(tmp_path: Path) -> None:
    options = ("--balance-usd", "2.50", "--quota-executions", "3", "--concurrency", "2", "--allow-signup")
    with ServiceProcess(tmp_path / "service", *options) as service:
        headers = {"Authorization": f"Bearer {service.api_key}"}
        account = httpx.get(f"{service.base_url}/v1/account", headers=headers, timeout=60).json()
        assert account["balance"]["balance_usd"] == 2.5
        assert account["quota"]["executions"]["limit"] == 3
        assert account["quota"]["concurrency"]["limit"] == 2
        answer = httpx.post(f"{service.base_url}/v1/tenants", json={"display_name": "Fabrikam"}, timeout=60)
        assert answer.status_code == 200


@pytest.mark.exhaustive
def test_a_spent_quota_is_met_with_an_option_that_the_help_shows(tmp_path: Path) -> None:
    policy = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60}}
    body = {"mode": "echo", "task": {"objective": "Say hello"}, "policy": policy}
    with ServiceProcess(tmp_path / "service", "--quota-executions", "1") as service:
        for key, status in (("first", 200), ("second", 429)):
            headers = {"Authorization": f"Bearer {service.api_key}", "Idempotency-Key": key}
            answer = httpx.post(f"{service.base_url}/v1/executions", json=body, headers=headers, timeout=60)
            assert answer.status_code == status, answer.text
        check(answer, "quota_exceeded")


@pytest.mark.exhaustive
def test_without_options_nobody_signs_up_and_nothing_is_limited(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        headers = {"Authorization": f"Bearer {service.api_key}"}
        account = httpx.get(f"{service.base_url}/v1/account", headers=headers, timeout=60).json()
        assert account["quota"]["executions"]["limit"] is None
        assert account["quota"]["concurrency"]["limit"] is None
        answer = httpx.post(f"{service.base_url}/v1/tenants", json={"display_name": "Fabrikam"}, timeout=60)
        check(answer, "permission_denied")


def test_the_sample_organization_is_there_at_once_and_its_keys_are_in_no_log(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service", "--sample", "--sample-runs", "5") as service:
        headers = {"Authorization": f"Bearer {service.api_key}"}
        account = httpx.get(f"{service.base_url}/v1/account", headers=headers, timeout=60).json()
        assert account["display_name"] == "Sample Organization"
        runs = httpx.get(f"{service.base_url}/v1/executions", headers=headers, timeout=60).json()["executions"]
        assert len([run for run in runs if run["completed_at"] is not None]) >= 5
    told = json.loads((service.data_dir / "sample-keys.json").read_text("ascii"))["keys"]
    log = (service.data_dir / "log" / "service.log").read_text("utf-8") + service.errors
    assert [key["api_key"] for key in told if key["api_key"] in log] == []
    assert service.api_key not in log


def test_a_worker_prints_no_key(tmp_path: Path) -> None:
    env = {"RUNWATCH_DATABASE": postgres.database_for(tmp_path).reveal()}
    try:
        with ServiceProcess(tmp_path / "service", "--worker-only", env=env) as worker:
            assert worker.line["base_url"]
            assert "api_key" not in worker.line
    finally:
        postgres.drop_database(tmp_path)


def test_the_user_is_told_where_the_sample_keys_are_or_that_there_is_no_sample(tmp_path: Path) -> None:
    options = ServeOptions(data_dir=tmp_path, master_keys=master_keys, json=False)
    assert sample_note(options) is None
    asked = replace(options, sample=True, sample_runs=5)
    assert "no sample organization" in str(sample_note(asked))
    (tmp_path / SAMPLE_KEYS).touch()
    assert str(tmp_path / SAMPLE_KEYS) in str(sample_note(asked))


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--api-only",), "--database"),
        (("--api-only", "--worker-only"), "a process does both"),
        (("--worker-only", "--sample"), "process with the interface"),
        (("--worker-only", "--public-url", "https://a.example"), "processes with the interface"),
        (("--worker-only", "--concurrency", "0"), "1 or more"),
    ],
)
def test_the_work_of_a_process_can_be_divided_only_in_a_database(
    options: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if len(options) > 1:
        monkeypatch.setenv("RUNWATCH_DATABASE", "postgresql://h/d")
    assert cli.run(["serve", *options]) == 2
    assert hint in capsys.readouterr().err


def test_a_stop_without_a_directory_names_the_team_service_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNWATCH_DATA_DIR", str(tmp_path))
    lock = service_lock(private_directory(tmp_path / "team-worker"))
    assert lock.acquire(wait=False)
    assert cli.run(["serve", "--stop"]) == 0
    told = capsys.readouterr().err
    assert "no local service was running" in told
    assert f"runwatch serve --stop --data-dir {tmp_path / 'team-worker'}" in told
    assert cli.run(["serve", "--stop", "--data-dir", str(tmp_path / "other")]) == 0
    assert "team-worker" not in capsys.readouterr().err
    lock.release()
