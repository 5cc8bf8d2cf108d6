"""The official Python client on what belongs to an organization: keys, usage, reports, proposals, webhooks."""

from __future__ import annotations

import csv
import re
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from millwork_solver import ProblemError, Solver

from tests.support.cli import Cli
from tests.support.model_server import DROP, ModelServer
from tests.support.service import ServiceProcess
from tests.support.team import running_service
from tests.support.threads import in_thread

LIVE: Final = (
    *("--mode", "live", "--objective", "Say hello.", "--data-class", "public"),
    *("--max-cost-usd", "0.1", "--max-runtime-s", "60"),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with running_service(tmp_path_factory.mktemp("organization") / "data", "--allow-signup") as running:
        yield running


@pytest.fixture
def solver(service: ServiceProcess) -> Iterator[Any]:
    with Solver(api_key=service.api_key, base_url=service.base_url) as client:
        yield client


def test_keys_are_minted_used_labelled_and_revoked(service: ServiceProcess, solver: Any) -> None:
    minted = solver.request("postApiKeys", idempotency_key="mint")
    place = {"apiKeyId": minted["api_key_id"]}
    with Solver(api_key=minted["key"], base_url=service.base_url) as other:
        assert other.request("getAccount")["authenticated_principal_id"] == minted["api_key_id"]
        labelled = solver.request("patchApiKeysByApiKeyId", path_parameters=place, body={"display_name": "laptop"})
        assert labelled["display_name"] == "laptop"
        assert solver.request("postApiKeysByApiKeyIdRevoke", path_parameters=place)["status"] == "revoked"
        with pytest.raises(ProblemError) as caught:
            other.request("getAccount")
        assert caught.value.status == 401
    listed = {row["api_key_id"]: row for row in solver.request("getApiKeys")["api_keys"]}
    assert "key" not in listed[minted["api_key_id"]]


def test_reports_have_the_members_that_the_references_name(solver: Any) -> None:
    usage = solver.request("getUsage", query={"period": "2026-11"})
    assert set(usage) == {"period", "totals", "by_arm", "by_day", "by_key"}
    assert set(solver.request("getEvalSummary")) == {"window", "pass_rate_trend", "repair_history"}
    export = solver.request("getComplianceExport", query={"from": "2026-11-01", "to": "2026-11-30"})
    assert export["schema_version"] == "aud2.v1"
    assert set(export["usage_totals"]) == set(usage["totals"])


def test_proposals_are_read_page_by_page(solver: Any) -> None:
    pages = list(solver.pages("getProposals", item_field="proposals", query={"status": "pending"}))
    assert [list(page.items) for page in pages] == [[]]
    with pytest.raises(ProblemError) as caught:
        solver.request("postProposalsByProposalIdApprove", path_parameters={"proposalId": "prop_unknown"})
    assert caught.value.status == 404


def test_webhooks_are_added_and_their_secrets_rotated(solver: Any) -> None:
    body = {"url": "https://hooks.example.test/runs", "event_types": ["execution.completed"]}
    made = solver.request("postWebhooks", body=body)
    place = {"webhookId": made["webhook_id"]}
    rotated = solver.request("postWebhooksByWebhookIdRotateSecret", path_parameters=place)
    assert rotated["secret"] != made["secret"]
    assert [row["webhook_id"] for row in solver.request("getWebhooks")["webhooks"]] == [made["webhook_id"]]
    assert solver.request("getWebhooksByWebhookIdDeliveries", path_parameters=place)["deliveries"] == []


def test_an_organization_is_made_and_opened(service: ServiceProcess, solver: Any) -> None:
    made = solver.request("postTenants", body={"display_name": "Fabrikam"})
    with Solver(api_key=made["api_key"]["key"], base_url=service.base_url) as other:
        assert other.request("getAccount")["tenant_id"] == made["tenant_id"]


@pytest.mark.exhaustive
def test_spend_that_is_not_known_is_the_known_part_with_a_count_beside_it(tmp_path: Path) -> None:
    with ExitStack() as stack:
        models = ModelServer(models=("tiny-1",))
        stack.enter_context(in_thread(models))
        running = stack.enter_context(ServiceProcess(tmp_path / "data"))
        cli = Cli(tmp_path, base_url=running.base_url, api_key=running.api_key)
        prices = ("--price-input", "1", "--price-output", "2")
        connected = cli("sources", "connect", "--openai-compatible", models.base_url, "--model", "tiny-1", *prices)
        assert connected.code == 0, connected.errors
        client = stack.enter_context(Solver(api_key=running.api_key, base_url=running.base_url))
        body = {
            "mode": "live",
            "task": {"objective": "Say hello."},
            "policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60}},
        }

        def finished() -> tuple[Any, Any]:
            run = client.request("postExecutions", body=body, idempotency_key=str(uuid.uuid4()))
            place = {"executionId": run["execution_id"]}
            list(client.events(path_parameters=place, poll_interval_seconds=0.05))
            ended = client.request("getExecutionsByExecutionId", path_parameters=place)
            return ended, client.request("getReceiptsByExecutionId", path_parameters=place)

        run, receipt = finished()
        known = receipt["totals"]["usd"]
        assert known == run["spend_usd"] > 0
        assert "unknown_calls" not in receipt["totals"]
        models.say("POST", ".*", DROP)
        run, receipt = finished()
        assert (run["status"], run["spend_usd"], run["known_spend_usd"], run["unknown_calls"]) == ("failed", None, 0, 1)
        assert (receipt["totals"]["usd"], receipt["totals"]["unknown_calls"]) == (0, 1)
        usage = client.request("getUsage", query={})
        assert (usage["totals"]["usd"], usage["totals"]["unknown_calls"]) == (known, 1)
        export = client.request("getComplianceExport", query={})
        assert export["usage_totals"] == usage["totals"]
        assert "spend unknown" in cli("runs", "submit", *LIVE, "--watch").errors
        shown = cli("runs", "show", run["execution_id"]).text
        assert re.search(r"cost_usd +unknown", shown)
        table = cli("runs", "list", "--format", "csv").text
        assert [row["spend_usd"] for row in csv.DictReader(table.splitlines())].count("unknown") == 2
