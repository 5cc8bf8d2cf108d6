"""What a live run costs, as the official Python client and the commands read it."""

from __future__ import annotations

import csv
import re
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from millwork_solver import Solver

from tests.support.cli import Cli
from tests.support.model_server import DROP, ModelServer
from tests.support.service import ServiceProcess
from tests.support.threads import in_thread

LIVE: Final = (
    *("--mode", "live", "--objective", "Say hello.", "--data-class", "public"),
    *("--max-cost-usd", "0.1", "--max-runtime-s", "60"),
)


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
