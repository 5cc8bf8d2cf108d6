"""The sample organization's own checks keep to the contract of a dock, where they do not break it on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from starlette.types import Message

from runwatch.service.checks.sample_checks import (
    SAMPLE_CHECKS,
    SAMPLE_KEY,
    SLOW_S,
    has_five_bullets,
    is_json_object,
    is_not_empty,
)
from runwatch.service.http import sample_checks as docks_module
from runwatch.service.http.rate_limits import BytesInFlight
from runwatch.service.http.sample_checks import SampleCheckApp
from tests.support.clock import FakeClock

KEY = {"Authorization": f"Bearer {SAMPLE_KEY}"}
GOOD = ("non-empty", "five-bullets", "json-object", "protected")


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(SampleCheckApp(FakeClock()))
    async with httpx.AsyncClient(transport=transport, base_url="http://docks.test/docks/") as client:
        yield client


async def judged(http: httpx.AsyncClient, name: str, candidate: Any) -> dict[str, Any]:
    answer = await http.post(name, json={"candidate": candidate}, headers=KEY)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


PROBES = (
    {"solverapi_probe": "registration_preflight"},
    {"a": [{"b": {"solverapi_probe": 1}}]},
    '{"solverapi_probe": "x"}',
    ['{"deep": [{"solverapi_probe": 0}]}'],
)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("candidate", PROBES)
async def test_a_probe_is_never_judged(http: httpx.AsyncClient, name: str, candidate: Any) -> None:
    assert await judged(http, name, candidate) == {"is_correct": False, "quality_score": 0}


@pytest.mark.parametrize(
    ("check", "candidate", "is_correct", "score"),
    [
        (is_not_empty, "text", True, 1),
        (is_not_empty, " \n", False, 0),
        (is_not_empty, None, False, 0),
        (is_not_empty, {"a": 1}, True, 1),
        (has_five_bullets, "Title\n- a\n- b\n* c\n• d\n  - e\n", True, 1),
        (has_five_bullets, "- a\n- b", False, 0.4),
        (has_five_bullets, "- a\n" * 11, False, 0),
        (has_five_bullets, "- a\n- b\n- c\n- d\n-   ", False, 1),
        (has_five_bullets, "", False, 0),
        (is_json_object, '{"a": 1}', True, 1),
        (is_json_object, {"a": 1}, True, 1),
        (is_json_object, "{}", False, 0.5),
        (is_json_object, "[1]", False, 0),
        (is_json_object, '{"a": ', False, 0),
    ],
)
def test_a_check_judges_what_its_name_says(
    check: Callable[[Any], Any], candidate: Any, is_correct: bool, score: float
) -> None:
    verdict = check(candidate)
    assert (verdict.is_correct, verdict.quality_score) == (is_correct, score)
    assert verdict.is_correct == all(verdict.anchor_results.values())


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": SAMPLE_KEY}])
async def test_a_protected_check_wants_its_key_before_it_reads(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await http.post("protected", content=b"no JSON", headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        (b"", 400, "malformed_request"),
        (b"{", 400, "malformed_request"),
        (b"[]", 400, "missing_candidate"),
        (b"{}", 400, "missing_candidate"),
        (b" " * (1024 * 1024 + 1), 413, "request_too_large"),
    ],
    ids=["empty", "cut", "list", "no candidate", "too large"],
)
async def test_a_request_that_is_wrong_is_told_so(
    http: httpx.AsyncClient, content: bytes, status: int, error: str
) -> None:
    answer = await http.post("non-empty", content=content)
    assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_only_post_is_taken(http: httpx.AsyncClient) -> None:
    answer = await http.get("non-empty")
    assert (answer.status_code, answer.json()) == (405, {"error": "method_not_allowed"})
    assert answer.headers["allow"] == "POST"


async def test_other_names_are_nobodys(http: httpx.AsyncClient) -> None:
    assert (await http.post("nothing", json={"candidate": 1})).status_code == 404


async def test_the_broken_ones_break_the_contract_as_they_say(http: httpx.AsyncClient) -> None:
    body = {"candidate": "text"}
    assert (await http.post("unauthorised", json=body, headers=KEY)).status_code == 401
    assert (await http.post("http-500", json=body)).status_code == 500
    invalid = await http.post("invalid", json=body)
    assert (invalid.status_code, invalid.json()["is_correct"]) == (200, "yes")


async def test_a_slow_check_answers_when_its_time_is_over() -> None:
    clock = FakeClock(manual=True)
    transport = httpx.ASGITransport(SampleCheckApp(clock))
    async with httpx.AsyncClient(transport=transport, base_url="http://docks.test/docks/") as client:
        asked = asyncio.ensure_future(client.post("slow", json={"candidate": "text"}))
        await clock.until_sleeping()
        clock.advance(SLOW_S)
        assert (await asked).json()["is_correct"] is True


async def call(docks: SampleCheckApp, name: str, messages: list[Message]) -> list[Message]:
    """What a dock sends to a caller from whom these messages come, and then none any more."""
    sent: list[Message] = []

    async def receive() -> Message:
        if messages:
            return messages.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": f"/docks/{name}", "headers": [], "query_string": b""}
    await docks(scope, receive, send)
    return sent


async def test_nobody_waits_for_a_caller_who_has_gone() -> None:
    clock = FakeClock(manual=True)
    body: Message = {"type": "http.request", "body": b'{"candidate": "text"}', "more_body": False}
    assert await call(SampleCheckApp(clock), "slow", [body, {"type": "http.disconnect"}]) == []
    await asyncio.sleep(0)
    assert clock.sleeping == 0


async def test_a_caller_who_sends_too_slowly_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docks_module, "READ_S", 0.05)
    part: Message = {"type": "http.request", "body": b"{", "more_body": True}
    sent = await call(SampleCheckApp(FakeClock()), "non-empty", [part])
    assert sent[0]["status"] == 408


async def test_a_candidate_that_finds_no_room_is_refused() -> None:
    in_flight = BytesInFlight(10)
    whole: Message = {"type": "http.request", "body": b'{"candidate": "text"}', "more_body": False}
    sent = await call(SampleCheckApp(FakeClock(), in_flight), "non-empty", [whole])
    assert sent[0]["status"] == 429
    assert in_flight.reserved == 0


def test_every_dock_has_a_name_for_people() -> None:
    assert len({dock.display_name for dock in SAMPLE_CHECKS.values()}) == len(SAMPLE_CHECKS)
