"""Live runs over real connections: a model server and a check on this machine, saved and registered by requests."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from runwatch.service.tables import results_table
from tests.service.conftest import Json, Local, Serving
from tests.service.live_work import in_short, live_body, only_slice, outcomes
from tests.service.sourcing import SECRET, model_arm, post, save
from tests.support.clock import FakeClock
from tests.support.dock import Dock, dock
from tests.support.model_server import DROP, HANG, ModelServer
from tests.support.postgres import on_file
from tests.support.problems import check
from tests.support.scripted import Said

SAID = Said(
    200,
    json.dumps(
        {
            "choices": [{"message": {"content": "sentinel-output"}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 5},
        }
    ).encode(),
    content_type="application/json",
)
"""An answer that can be used."""


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A model server with two models, which wants a key."""
    async with ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as running:
        running.answer("sentinel-output")
        yield running


@pytest.fixture
async def judge() -> AsyncIterator[Dock]:
    """An output check that accepts."""
    async with dock() as running:
        yield running


async def save_all(service: Local, server: ModelServer) -> list[str]:
    """Save the server's models, the first of them as the cheaper; their arms' ids."""
    prices = {"*": {"input_usd_per_million": "1000", "output_usd_per_million": "2000"}}
    saved = await save(service, server, prices=prices)
    arms = []
    for model, cost_class in (("tiny-1", "economy"), ("tiny-2", "standard")):
        arm = await model_arm(service, saved.deployments[model], cost_class=cost_class)
        arms.append(str(arm["arm_id"]))
    return arms


async def register(service: Local, judge: Dock) -> str:
    body = {
        "display_name": "Check",
        "version": "1",
        "kind": "endpoint",
        "endpoint": {"url": judge.url, "auth_ref": ""},
        "input_data_classes": ["public"],
        "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
    }
    verifier = await post(service, "/v1/verifiers", body)
    judge.says(is_correct=True, quality_score=0.5, anchor_results={"fits": True})
    return str(verifier["verifier_id"])


async def final(service: Local, body: Json) -> tuple[Json, Json]:
    """Submit a run; it and its receipt once it is final."""
    run = await service.finished((await service.submit(body))["execution_id"])
    return run, await service.get(f"/v1/receipts/{run['execution_id']}")


async def test_a_model_is_called_and_its_output_checked(serving: Serving, server: ModelServer, judge: Dock) -> None:
    async with serving(allow_loopback_checks=True) as service:
        arms = await save_all(service, server)
        run, receipt = await final(service, live_body(["gate"], verifier_id=await register(service, judge)))
        assert run["status"] == "completed"
        result = await service.get(f"/v1/executions/{run['execution_id']}/result")
    assert result["final_text"] == "sentinel-output"
    assert judge.bodies[-1] == {"candidate": "sentinel-output"}
    (prompt,) = server.prompts
    assert prompt.startswith("sentinel-objective")
    assert "sentinel-inputs" in prompt
    part = only_slice(receipt)
    assert part["route"]["selected"]["arm_id"] == arms[0]
    assert part["model_provenance"]["requested"]["upstream_ref"] == "tiny-1"
    # 12 tokens in and 5 out, at a thousand and two thousand dollars a million.
    assert part["cost"] == {
        "usd": 0.022, "input_tokens": 12, "output_tokens": 5, "calls": 1, "pricing_basis": "estimated",
        "estimated_calls": 1,
    }  # fmt: skip
    assert part["recorded_check"]["anchor_results"] == {"fits": True}
    assert part["acted_on_eval"] == {"action": "gate", "outcome": "passed_gate"}


@pytest.mark.exhaustive
async def test_a_server_that_hangs_up_is_followed_by_the_next_model(
    serving: Serving, server: ModelServer, judge: Dock
) -> None:
    async with serving(allow_loopback_checks=True) as service:
        await save_all(service, server)
        server.say("POST", "/v1/chat/completions", DROP)
        # Two lost calls may have cost eight dollars each.
        run, receipt = await final(service, live_body(["fallback"], max_cost_usd=100))
    assert (run["status"], run["reason"]) == ("failed", "fallback_exhausted")
    attempts = only_slice(receipt)["attempts"]
    assert [(entry["reason"], entry["failure_kind"]) for entry in attempts] == [
        ("dispatch_network_error", "network")
    ] * 2
    assert [body["model"] for body in server.bodies] == ["tiny-1", "tiny-2"]


async def test_a_lost_call_that_may_have_cost_the_whole_budget_is_followed_by_none(
    serving: Serving, server: ModelServer, judge: Dock
) -> None:
    async with serving(allow_loopback_checks=True) as service:
        await save_all(service, server)
        server.say("POST", "/v1/chat/completions", DROP)
        run, receipt = await final(service, live_body(["fallback"]))
    assert (run["status"], run["reason"]) == ("failed", "cost_budget_exhausted")
    assert (run["spend_usd"], run["known_spend_usd"], run["unknown_calls"]) == (None, 0, 1)
    assert (receipt["totals"]["usd"], receipt["totals"]["unknown_calls"]) == (0, 1)
    assert [body["model"] for body in server.bodies] == ["tiny-1"]


def answer(status: int, value: object) -> Said:
    return Said(status, json.dumps(value).encode(), content_type="application/json")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "said", [answer(408, {"error": {"message": "Slow."}}), answer(200, {"error": {"code": 408}})], ids=["408", "200"]
)
@pytest.mark.parametrize("max_runtime_s", [60, 3600])
async def test_a_provider_that_says_its_time_is_over_expires_nothing_and_fallback_goes_on(
    serving: Serving, server: ModelServer, said: Said, max_runtime_s: int
) -> None:
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", "/v1/chat/completions", said, SAID)
        body = live_body(["fallback"], max_runtime_s=max_runtime_s, max_cost_usd=100)
        run, receipt = await final(service, body)
    assert (run["status"], run["reason"]) == ("completed", None)
    assert outcomes(receipt) == [("candidate", "failed"), ("candidate", "answered")]
    first, second = only_slice(receipt)["attempts"]
    assert (first["reason"], first["failure_kind"], first["usd"]) == ("dispatch_internal_error", "source_timeout", None)
    # The second call's 12 tokens in and 5 out are known; the first one's cost is not.
    assert (second["usd"], receipt["totals"]["usd"], receipt["totals"]["unknown_calls"]) == (0.022, 0.022, 1)
    assert (run["spend_usd"], run["known_spend_usd"], run["unknown_calls"]) == (None, 0.022, 1)


@pytest.mark.exhaustive
async def test_usage_that_comes_with_an_answer_without_choices_is_counted(
    serving: Serving, server: ModelServer
) -> None:
    async with serving() as service:
        await save_all(service, server)
        usage = {"prompt_tokens": 12, "completion_tokens": 5}
        server.say("POST", "/v1/chat/completions", answer(200, {"choices": [], "usage": usage}))
        run, receipt = await final(service, live_body())
    assert (run["status"], run["reason"], run["spend_usd"]) == ("failed", "dispatch_internal_error", 0.022)
    cost = only_slice(receipt)["cost"]
    assert (cost["usd"], cost["input_tokens"], cost["output_tokens"], cost["calls"]) == (0.022, 12, 5, 1)
    assert receipt["totals"]["usd"] == 0.022
    assert "unknown_calls" not in receipt["totals"]


async def test_a_model_without_a_price_behind_a_key_costs_an_unknown_amount(
    serving: Serving, server: ModelServer
) -> None:
    async with serving() as service:
        saved = await save(service, server)
        await model_arm(service, saved.deployments["tiny-1"])
        run, receipt = await final(service, live_body())
    assert (run["status"], run["spend_usd"], run["unknown_calls"]) == ("completed", None, 1)
    part = only_slice(receipt)
    assert part["model_provenance"]["deployment"]["pricing_basis"] == "unknown"
    assert (part["attempts"][0]["usd"], part["attempts"][0]["usage"]) == (None, "known")
    assert part["cost"] == {"usd": 0, "input_tokens": 12, "output_tokens": 5, "calls": 1, "unknown_calls": 1}


@pytest.mark.exhaustive
async def test_a_check_that_fails_stops_the_run(serving: Serving, server: ModelServer, judge: Dock) -> None:
    async with serving(allow_loopback_checks=True) as service:
        await save_all(service, server)
        verifier_id = await register(service, judge)
        judge.status = 500
        run, receipt = await final(service, live_body(["gate"], verifier_id=verifier_id))
        events = in_short(await service.events(run["execution_id"]))
    assert (run["status"], run["reason"], run["spend_usd"]) == ("failed", "check_unavailable", 0.022)
    assert only_slice(receipt)["recorded_check"]["failure_class"] == "http_error"
    assert events[-3:] == ["slice customer_unavailable", "slice failed check_unavailable", "failed check_unavailable"]


async def test_a_call_under_way_is_hung_up_by_a_cancel_and_by_a_stop(serving: Serving, server: ModelServer) -> None:
    clock = FakeClock()
    async with serving(clock) as service:
        await save_all(service, server)
        heard = len(server.heard)
        server.say("POST", "/v1/chat/completions", HANG)
        first = (await service.submit(live_body()))["execution_id"]
        await server.until_heard(heard + 1)
        await post(service, f"/v1/executions/{first}/cancel")
        await service.context.engine.settled()
        receipt = await service.get(f"/v1/receipts/{first}")
        assert outcomes(receipt) == [("candidate", "cancelled_in_flight")]
        second = (await service.submit(live_body()))["execution_id"]
        await server.until_heard(heard + 2)
    async with serving(clock) as service:
        run = await service.finished(second)
        assert (run["status"], run["reason"]) == ("failed", "dispatch_internal_error")
        assert outcomes(await service.get(f"/v1/receipts/{second}")) == [("candidate", "interrupted")]
    assert len(server.heard) == heard + 2


@on_file
async def test_key_prompt_and_output_stay_where_they_belong(
    serving: Serving, server: ModelServer, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    clock = FakeClock()
    async with serving(clock) as service:
        await save_all(service, server)
        run, receipt = await final(service, live_body())
        assert run["status"] == "completed"
        shown = [run, receipt, await service.events(run["execution_id"])]
    assert "sentinel" not in f"{shown}{caplog.text}"
    database = data_dir / "service.db"
    assert b"sentinel-output" in database.read_bytes()
    assert b"sentinel-objective" not in database.read_bytes()
    clock.advance(8 * 24 * 3600)
    async with serving(clock) as service:
        assert await service.context.database.read(lambda transaction: transaction.list_all(results_table, {})) == []
    assert b"sentinel" not in database.read_bytes()


@on_file
async def test_a_statement_that_fails_is_reported_without_its_values(
    serving: Serving, server: ModelServer, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as service:
        await save_all(service, server)
        with closing(sqlite3.connect(data_dir / "service.db", isolation_level=None)) as other:
            other.execute("DROP TABLE tasks")
        answer = await service.http.post("/v1/executions", json=live_body(), headers={"Idempotency-Key": "k"})
        problem = check(answer, "internal")
        stored = await service.stored_problem(problem.instance or "")
    assert stored is not None
    assert "tasks" in stored["cause"]
    assert "sentinel" not in f"{answer.text}{stored['cause']}{caplog.text}"
