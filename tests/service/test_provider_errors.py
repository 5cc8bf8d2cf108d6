"""A provider's message for a refused call: shown with the run for a limited time, and stored nowhere else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from runwatch.records.run import Run
from runwatch.service.execution.live.live_rows import RETENTION, sweep
from runwatch.service.tables import provider_messages_table
from tests.service.conftest import Json, Serving
from tests.service.live_work import live_body, only_slice
from tests.service.sourcing import SECRET
from tests.service.test_live_wire import SAID, final, save_all
from tests.service.test_webhooks import add, settled
from tests.support.clock import START, FakeClock
from tests.support.model_server import ModelServer
from tests.support.receiver import Receiver
from tests.support.scripted import Said

CHAT = "/v1/chat/completions"
WORDS = "no model takes 'three rivers'"


def refusal(status: int = 400, message: object = WORDS) -> Said:
    """A refusal in the provider's own words."""
    return Said(status, json.dumps({"error": {"message": message}}).encode(), content_type="application/json")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A model server with two models, which wants a key."""
    async with ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as running:
        yield running


async def test_a_run_quotes_its_provider_and_nothing_else_does(serving: Serving, server: ModelServer) -> None:
    async with Receiver() as receiver, serving(allow_loopback_checks=True) as service:
        arms = await save_all(service, server)
        webhook = await add(service, receiver.url)
        server.say("POST", CHAT, refusal(message=f"{WORDS} {SECRET}"))
        run, receipt = await final(service, live_body([]))
        run_id = run["execution_id"]
        await settled(service, webhook["webhook_id"])
        period = {"from": "2026-01-01", "to": "2026-12-31"}
        others = [
            receipt, await service.get("/v1/executions"), await service.get(f"/v1/executions/{run_id}/events"),
            await service.get("/v1/receipts"), await service.get("/v1/compliance-export", **period),
            [taken.body.decode() for taken in receiver.taken],
        ]  # fmt: skip
    (error,) = run["provider_errors"]
    (attempt,) = only_slice(receipt)["attempts"]
    assert error == {
        "attempt": 1, "arm_id": arms[0], "at": attempt["ended_at"], "http_status": 400, "message": f"{WORDS} [removed]",
        "retention_expires_at": error["retention_expires_at"],
    }  # fmt: skip
    assert not Run(run).flaws()
    assert (attempt["reason"], attempt["failure_kind"]) == ("dispatch_internal_error", "request_refused")
    assert "three rivers" not in json.dumps(others)


@pytest.mark.parametrize(
    ("met", "told"),
    [
        (refusal(503, "try later"), (503, "try later")),
        (refusal(200, "no such model"), (None, "no such model")),
        (Said(400, b"<html>", content_type="text/html"), (400, None)),
        (Said(400, b"too long " * 500, content_type="text/plain"), (400, f"{('too long ' * 23)[:199]}…")),
    ],
)
async def test_status_and_words_are_reported_as_far_as_the_provider_gave_them(
    serving: Serving, server: ModelServer, met: Said, told: tuple[int | None, str | None]
) -> None:
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", CHAT, met)
        run, _ = await final(service, live_body([]))
    (error,) = run["provider_errors"]
    assert (error["http_status"], error["message"]) == told
    assert (error["retention_expires_at"] is None) is (told[1] is None)


@pytest.mark.exhaustive
async def test_attempt_and_error_say_how_long_the_provider_asked_to_wait(serving: Serving, server: ModelServer) -> None:
    busy = Said(429, b"{}", headers=(("Retry-After", "20"),))
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", CHAT, busy)
        run, receipt = await final(service, live_body([]))
        server.say("POST", CHAT, Said(200, b"<html>", content_type="text/html"))
        _, other = await final(service, live_body([]))
    (error,), (attempt,) = run["provider_errors"], only_slice(receipt)["attempts"]
    assert (error["retry_after_s"], attempt["retry_after_s"]) == (20, 20)
    assert not Run(run).flaws()
    (attempt,) = only_slice(other)["attempts"]
    assert (attempt["body_kind"], attempt["content_type"]) == ("html", "text/html")
    assert len(server.bodies) == 2


@pytest.mark.exhaustive
async def test_a_run_that_fell_back_quotes_the_first_provider(serving: Serving, server: ModelServer) -> None:
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", CHAT, refusal(), SAID)
        run, _ = await final(service, live_body(["fallback"]))
    assert run["status"] == "completed"
    assert [(error["attempt"], error["message"]) for error in run["provider_errors"]] == [(1, WORDS)]


@pytest.mark.exhaustive
async def test_a_run_without_a_refused_call_has_no_such_member(serving: Serving, server: ModelServer) -> None:
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", CHAT, SAID)
        run, _ = await final(service, live_body([]))
        test_run = await service.finished((await service.submit())["execution_id"])
    assert "provider_errors" not in {**run, **test_run}


async def test_the_words_are_forgotten_with_the_results_and_the_status_stays(
    serving: Serving, server: ModelServer
) -> None:
    async with serving() as service:
        await save_all(service, server)
        server.say("POST", CHAT, refusal())
        run, _ = await final(service, live_body([]))
        run_id = run["execution_id"]
    async with serving(FakeClock(START + RETENTION + timedelta(days=1))) as service:
        assert await told(service.get(f"/v1/executions/{run_id}")) == (400, None)
        await service.context.database.write(sweep)
        assert await service.context.database.read(lambda reading: reading.list_all(provider_messages_table, {})) == []
        assert await told(service.get(f"/v1/executions/{run_id}")) == (400, None)
    (error,) = run["provider_errors"]
    assert error["message"] == WORDS


async def told(reading: object) -> tuple[int | None, str | None]:
    """Status and words of the only error of a run."""
    run: Json = await reading  # type: ignore[misc]
    (error,) = run["provider_errors"]
    return error["http_status"], error["message"]
