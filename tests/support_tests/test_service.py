"""The real service starts, dies, comes back on the same data and port, and stops."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.support.builders import request_body
from tests.support.service import ServiceProcess


def ask(service: ServiceProcess, path: str, body: bytes | None = None) -> dict[str, object]:
    headers = {
        "Authorization": f"Bearer {service.api_key}",
        "Content-Type": "application/json",
        "Idempotency-Key": "k1",
    }
    with urlopen(Request(service.base_url + path, data=body, headers=headers), timeout=60) as answer:
        value: dict[str, object] = json.load(answer)
        return value


def test_a_killed_service_comes_back_with_its_data_on_its_port(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        line, pid = dict(service.line), service.pid
        assert set(line) == {"base_url", "api_key", "data_dir", "pid", "socket"}
        run = ask(service, "/v1/executions", json.dumps(request_body()).encode())
        service.kill()
        with pytest.raises(OSError):
            ask(service, "/v1/account")
        service.start()
        assert (service.base_url, service.api_key) == (line["base_url"], line["api_key"])
        assert service.pid != pid
        assert ask(service, f"/v1/executions/{run['execution_id']}")["execution_id"] == run["execution_id"]


def test_a_stopped_service_ends_in_good_order(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        assert service.stop() == 0
        with pytest.raises(OSError):
            ask(service, "/v1/account")


def test_a_service_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"did not start(?s:.*)0\.0\.0\.0"):
        ServiceProcess(tmp_path / "service", "--host", "0.0.0.0").start()


def test_the_target_carries_address_and_key_but_does_not_show_the_key(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        assert service.target.origin == service.base_url
        assert service.target.key is not None
        assert service.target.key.reveal() == service.api_key
        assert service.api_key not in repr(service.target)
