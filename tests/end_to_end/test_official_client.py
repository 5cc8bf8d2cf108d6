"""The official Python client against the local service: what others rely on, judged by code that is not ours."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from millwork_solver import AsyncSolver, Solver

from tests.support.service import ServiceProcess
from tests.support.team import running_service

BODY = {
    "mode": "echo",
    "task": {"objective": "Say hello"},
    "policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60}},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with running_service(tmp_path_factory.mktemp("official") / "data") as running:
        yield running


@pytest.fixture
def solver(service: ServiceProcess) -> Iterator[Any]:
    with Solver(api_key=service.api_key, base_url=service.base_url) as client:
        yield client


@pytest.fixture
async def async_solver(service: ServiceProcess) -> AsyncIterator[Any]:
    async with AsyncSolver(api_key=service.api_key, base_url=f"{service.base_url}/v1") as client:
        yield client


def check_receipt(receipt: Any, execution_id: str) -> None:
    """Every constant of a test run's receipt (manual: interface, "Receipt fields", "Examples")."""
    (part,) = receipt["slices"]
    assert receipt["execution_id"] == execution_id
    assert receipt["mode"] == "echo"
    assert receipt["status"] == "completed"
    assert part["route"]["ranking"] == "skipped_platform_proof"
    assert part["verifier"]["identity"] == "platform.echo"
    assert part["cost"]["waiver"]["reason"] == "sandbox_echo_d9"
    assert part["recorded_check"]["state"] == "platform_test"
    assert part["recorded_check"]["identity"] == "platform.echo"
    assert receipt["totals"]["usd"] == 0
    assert receipt["totals"]["platform_fee_usd"] == 0
    assert receipt["totals"]["runtime_s"] > 0


def check_events(events: list[Any]) -> None:
    """From accepted to completed, each event once, run-level ones without a slice."""
    run_level = [event["state"] for event in events if "slice_id" not in event]
    assert run_level == ["accepted", "queued", "running", "completed"]
    assert len({event["event_id"] for event in events}) == len(events)
    assert all(event.get("slice_id", "set") is not None for event in events)
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)


def test_the_client_submits_follows_and_reads_the_receipt(solver: Any) -> None:
    run = solver.request("postExecutions", body=BODY, idempotency_key=str(uuid.uuid4()))
    place = {"executionId": run["execution_id"]}
    check_events(list(solver.events(path_parameters=place, poll_interval_seconds=0.05)))
    check_receipt(solver.request("getReceiptsByExecutionId", path_parameters=place), run["execution_id"])
    assert solver.request("getExecutionsByExecutionId", path_parameters=place)["status"] == "completed"


async def test_the_asynchronous_client_does_the_same(async_solver: Any) -> None:
    run = await async_solver.request("postExecutions", body=BODY, idempotency_key=str(uuid.uuid4()))
    place = {"executionId": run["execution_id"]}
    events = [event async for event in async_solver.events(path_parameters=place, poll_interval_seconds=0.05)]
    check_events(events)
    check_receipt(await async_solver.request("getReceiptsByExecutionId", path_parameters=place), run["execution_id"])


def test_the_account_names_the_key_in_the_form_that_the_peer_needs(solver: Any) -> None:
    account = solver.request("getAccount")
    assert account["authenticated_principal_id"].startswith("key_")
    assert account["authenticated_principal_id"].removeprefix("key_").isalnum()
