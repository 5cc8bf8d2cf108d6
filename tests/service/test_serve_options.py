"""Options of ``runwatch serve`` that say what an organization may do."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.service.test_problems import check
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


def test_without_options_nobody_signs_up_and_nothing_is_limited(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        headers = {"Authorization": f"Bearer {service.api_key}"}
        account = httpx.get(f"{service.base_url}/v1/account", headers=headers, timeout=60).json()
        assert account["quota"]["executions"]["limit"] is None
        assert account["quota"]["concurrency"]["limit"] is None
        answer = httpx.post(f"{service.base_url}/v1/tenants", json={"display_name": "Fabrikam"}, timeout=60)
        check(answer, "permission_denied")
