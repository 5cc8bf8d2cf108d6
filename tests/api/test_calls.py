"""Calls: attempts, waits, failures, and what an observer sees (manual: decisions, "Client and retries")."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.api.client import Client
from runwatch.api.errors import (
    ApiProblem,
    InvalidRequestError,
    NoResponseError,
    RateLimitedError,
    ReadOnlyError,
    UnusableResponseError,
)
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.api.conftest import (
    CANARY,
    Connection,
    RawServer,
    Step,
    json_answer,
    problem_answer,
    stall,
    then_close,
    then_reset,
)
from tests.support.client_calls import cancel_run, submit_run
from tests.support.clock import FakeClock
from tests.support.http1 import answer_bytes, answer_head

Connect = Callable[..., Client]

RUN = {"execution_id": "ex_1", "status": "accepted"}
OK = json_answer(RUN)
DOWN = problem_answer("upstream_unavailable", 503)
CUT = then_close(answer_head(200, [("Content-Length", "99")]) + b'{"exec')
HTML = answer_bytes(200, b"<!doctype html><p>hello", content_type="text/html")
BODY = b'{"mode": "echo"}'
PLAN = Operation("postPlans", "POST", "/v1/plans", "Make a plan")


async def failure(client: Client, operation: str | Operation = "getAccount", **more: Any) -> Any:
    with pytest.raises((ApiProblem, NoResponseError, UnusableResponseError, RateLimitedError)) as caught:
        await client.request(operation, **more)
    return caught.value


async def submit(client: Client, key: str | None = "k1") -> Any:
    return await failure(client, "postExecutions", body=BODY, key=key)


@pytest.mark.parametrize("step", [DOWN, then_reset(), CUT, answer_bytes(502, b"<html>", content_type="text/html")])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_read_survives_two_failures_and_waits_half_a_second_and_a_second(
    server: RawServer, client: Client, clock: FakeClock, step: Step, times: int
) -> None:
    server.script(*[step] * times, OK)
    answer = await client.request("getExecutionsByExecutionId", path={"execution_id": "ex_1"})
    assert answer.value == RUN
    assert answer.attempts == times + 1
    assert clock.sleeps == [0.5, 1.0][:times]
    assert answer.elapsed_s == sum(clock.sleeps)


async def test_the_third_failure_is_the_last(server: RawServer, client: Client, clock: FakeClock) -> None:
    server.script(DOWN)
    problem = await failure(client)
    assert (problem.status, problem.code, problem.attempts) == (503, "upstream_unavailable", 3)
    assert problem.retryable
    assert problem.support_id == problem.problem.instance
    assert len(server.heard) == 3
    assert clock.sleeps == [0.5, 1.0]


async def test_waits_are_lengthened_by_chance(server: RawServer, client: Client, clock: FakeClock) -> None:
    clock.set_chances(0.8, 0.4)
    server.script(DOWN)
    await failure(client)
    assert clock.sleeps == pytest.approx([0.6, 1.1])


async def test_retries_can_be_set(server: RawServer, connect: Connect) -> None:
    server.script(DOWN)
    assert (await failure(connect(retries=0))).attempts == 1
    assert (await failure(connect(retries=4))).attempts == 5


async def test_a_write_with_a_key_is_sent_again_with_the_same_key_and_bytes(server: RawServer, client: Client) -> None:
    server.script(then_reset(), DOWN, OK)
    answer = await client.request("postExecutions", body=BODY, key="k1")
    assert answer.attempts == 3
    assert {heard.body for heard in server.heard} == {BODY}
    assert {heard.head.header("idempotency-key") for heard in server.heard} == {"k1"}


@pytest.mark.parametrize("step", [DOWN, then_reset(), CUT])
@pytest.mark.parametrize("key", [None, "", "  "])
async def test_a_write_without_a_key_is_sent_once(
    server: RawServer, client: Client, clock: FakeClock, step: Step, key: str | None
) -> None:
    server.script(step)
    error = await submit(client, key=key)
    assert (error.attempts, error.outcome_known, error.key) == (1, False, None)
    assert "Look" in error.hint
    assert len(server.heard) == 1
    assert server.heard[0].head.header("idempotency-key") is None
    assert clock.sleeps == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 422, 429])
async def test_no_4xx_is_sent_again(server: RawServer, client: Client, status: int) -> None:
    server.script(problem_answer("validation_failed", status))
    assert (await failure(client)).attempts == 1
    assert len(server.heard) == 1


async def test_a_success_that_came_whole_and_cannot_be_read_is_not_sent_again(
    server: RawServer, client: Client
) -> None:
    server.script(HTML)
    error = await failure(client)
    assert isinstance(error, UnusableResponseError)
    assert (error.status, error.attempts, error.outcome_known) == (200, 1, True)
    assert "text/html" in (error.detail or "")
    assert "<!doctype html>" in (error.detail or "")
    assert len(server.heard) == 1


async def test_what_the_body_says_of_the_status_is_shown_but_not_trusted(server: RawServer, client: Client) -> None:
    server.script(problem_answer("not_found", 503))
    problem = await failure(client)
    assert (problem.status, problem.problem.status, problem.attempts) == (503, 404, 3)
    server.script(answer_bytes(404, b'{"title": "T", "status": 500}', content_type="application/problem+json"))
    problem = await failure(client)
    assert (problem.status, problem.problem.status, problem.attempts) == (404, 500, 1)
    assert problem.detail == "the body says status 500, HTTP says 404"


async def test_a_problem_without_a_title_is_named_by_its_status(server: RawServer, client: Client) -> None:
    server.script(answer_bytes(418, b"{}", content_type="application/problem+json"))
    assert (await failure(client)).title == "The service responded with status 418"


async def test_title_and_detail_of_a_problem_read_as_one_line(server: RawServer, client: Client) -> None:
    server.script(problem_answer("not_found", title="No such run.", detail="It was removed."))
    problem = await failure(client)
    assert str(problem) == "No such run: It was removed."
    assert problem.problem.title == "No such run."


async def test_a_redirect_is_refused_and_not_sent_again(server: RawServer, client: Client) -> None:
    server.script(answer_head(302, [("Location", "https://elsewhere.test/"), ("Content-Length", "0")]))
    problem = await failure(client)
    assert (problem.status, problem.is_synthetic, problem.support_id, problem.attempts) == (302, True, None, 1)
    assert "elsewhere.test" in (problem.detail or "")


def urn_answer(http_status: int, **members: Any) -> Step:
    """A Problem of an unknown type, with some members exchanged or, where they are ``None``, left out."""
    whole = {"type": "urn:example:over-limit", "title": "Over the limit", "status": http_status, "instance": "i-1"}
    body = {name: value for name, value in (whole | members).items() if value is not None}
    return answer_bytes(http_status, json.dumps(body).encode(), content_type="application/problem+json")


async def test_a_problem_of_an_unknown_type_keeps_that_type(server: RawServer, client: Client) -> None:
    server.script(urn_answer(409))
    problem = await failure(client)
    assert (problem.code, problem.is_synthetic, problem.support_id) == ("urn:example:over-limit", False, "i-1")


async def test_a_call_that_a_429_holds_back_names_the_instance_of_that_429(server: RawServer, client: Client) -> None:
    server.script(urn_answer(429))
    refused = await failure(client)
    with pytest.raises(RateLimitedError) as held:
        await submit_run(client, BODY, key="k1")
    assert held.value.support_id == refused.support_id == "i-1"


class TestOutcomes:
    """What each failure leaves known about a submit, with everything that came before it."""

    @pytest.mark.parametrize(
        ("steps", "known", "attempts"),
        [
            ([problem_answer("validation_failed")], True, 1),
            ([problem_answer("insufficient_credit")], True, 1),
            ([problem_answer("quota_exceeded")], True, 1),
            ([problem_answer("idempotency_conflict")], True, 1),
            ([problem_answer("unauthenticated")], True, 1),
            ([problem_answer("permission_denied")], True, 1),
            ([problem_answer("rate_limited")], True, 1),
            ([answer_bytes(403, b"<html>", content_type="text/html")], True, 1),
            ([problem_answer("request_too_large")], True, 1),
            ([urn_answer(409)], True, 1),
            ([urn_answer(409, instance=None)], True, 1),
            ([urn_answer(422, instance=None, type=None)], True, 1),
            ([urn_answer(422, instance=None, title=None)], True, 1),
            ([urn_answer(422, instance=None, type=None, title=None)], False, 1),
            ([urn_answer(422, instance=None, type=5, title=["x"])], False, 1),
            ([urn_answer(422, instance=None, status=None)], False, 1),
            ([answer_bytes(422, b'{"title": "No", "status": 422}')], True, 1),
            ([answer_bytes(422, b'{"error": "No", "status": 422}')], False, 1),
            ([answer_bytes(422, b'{"title": "No", "sta')], False, 1),
            ([urn_answer(409, status=422)], False, 1),
            ([urn_answer(408)], False, 1),
            ([then_reset(), urn_answer(409)], False, 2),
            ([answer_bytes(404, b"<html>", content_type="text/html")], False, 1),
            ([problem_answer("not_found", 408)], False, 1),
            ([DOWN], False, 3),
            ([then_reset()], False, 3),
            ([CUT], False, 3),
            ([HTML], False, 1),
            ([answer_head(303, [("Content-Length", "0")])], False, 1),
            ([then_reset(), problem_answer("validation_failed")], True, 2),
            ([then_reset(), problem_answer("quota_exceeded")], True, 2),
            ([then_reset(), problem_answer("idempotency_conflict")], True, 2),
            ([then_reset(), problem_answer("unauthenticated")], False, 2),
            ([DOWN, problem_answer("permission_denied")], False, 2),
            ([DOWN, DOWN, problem_answer("rate_limited")], False, 3),
        ],
    )
    async def test_of_a_submit(
        self, server: RawServer, client: Client, steps: list[Step], known: bool, attempts: int
    ) -> None:
        server.script(*steps)
        with pytest.raises((ApiProblem, NoResponseError, UnusableResponseError)) as caught:
            await submit_run(client, BODY, key="k1")
        error = caught.value
        assert (error.outcome_known, error.attempts, error.key) == (known, attempts, "k1")
        assert ("same idempotency key" in (error.hint or "")) is not known

    async def test_nobody_listening_on_any_attempt_is_known_to_have_done_nothing(self, connect: Connect) -> None:
        client = connect(target=Target("test", "http://127.0.0.1:1", Secret(CANARY)))
        error = await submit(client)
        assert isinstance(error, NoResponseError)
        assert (error.kind, error.was_sent, error.outcome_known, error.attempts) == ("refused", False, True, 3)
        assert error.detail == "http://127.0.0.1:1, 3 attempts"
        assert error.retryable

    async def test_nobody_listening_after_a_reset_is_not(self, server: RawServer, client: Client) -> None:
        async def reset_for_ever(connection: Connection) -> None:
            server.stop_listening()
            connection.reset()

        server.script(reset_for_ever)
        error = await submit(client)
        assert (error.kind, error.was_sent, error.outcome_known, error.attempts) == ("refused", True, False, 3)
        assert len(server.heard) == 1

    @pytest.mark.parametrize("step", [DOWN, then_reset(), CUT, HTML])
    async def test_of_a_read_is_always_known(self, server: RawServer, client: Client, step: Step) -> None:
        server.script(step)
        assert (await failure(client)).outcome_known

    async def test_of_a_posted_plan_that_changes_nothing_is_always_known(
        self, server: RawServer, client: Client
    ) -> None:
        server.script(then_reset())
        error = await failure(client, PLAN, body=b"{}")
        assert (error.outcome_known, error.attempts) == (True, 1)


class TestTheGate:
    """A 429 holds calls back before anything is sent."""

    async def test_a_rate_limit_holds_everything_until_its_time_is_over(
        self, server: RawServer, client: Client, clock: FakeClock
    ) -> None:
        server.script(problem_answer("rate_limited", retry_after_s=20), OK)
        problem = await failure(client)
        assert (problem.status, problem.attempts, problem.wait_s) == (429, 1, 20)
        assert "20 s" in (problem.hint or "")
        clock.advance(19)
        held = await failure(client, "getExecutions")
        assert isinstance(held, RateLimitedError)
        assert held.seconds == pytest.approx(1)
        assert len(server.heard) == 1
        clock.advance(1)
        await client.request("getAccount")
        assert len(server.heard) == 2
        assert clock.sleeps == []

    async def test_a_spent_quota_holds_only_its_operation(
        self, server: RawServer, client: Client, clock: FakeClock
    ) -> None:
        server.script(problem_answer("quota_exceeded", retry_after_s=3600), OK)
        assert (await submit(client)).code == "quota_exceeded"
        await client.request("getAccount")
        held = await submit(client)
        assert isinstance(held, RateLimitedError)
        assert (held.key, held.attempts, held.outcome_known) == ("k1", 0, True)
        clock.advance(3600)
        await client.request("postExecutions", body=BODY, key="k1")

    @pytest.mark.parametrize(
        "answer",
        [
            problem_answer("something_new", 429),
            answer_bytes(429, b"<html>slow down", content_type="text/html"),
            answer_bytes(429, b"{}", content_type="application/problem+json"),
        ],
    )
    async def test_any_other_429_counts_as_a_rate_limit_of_a_minute(
        self, server: RawServer, client: Client, answer: bytes
    ) -> None:
        server.script(answer)
        assert (await failure(client)).wait_s == 60
        assert (await failure(client, "getExecutions")).seconds == pytest.approx(60)

    async def test_a_gate_that_closes_between_two_attempts_ends_the_call_with_the_failure_it_has(
        self, server: RawServer, connect: Connect, clock: FakeClock
    ) -> None:
        client: Client = connect(observe=lambda _: client.gate.close(None, 30))
        server.script(DOWN)
        error = await submit(client)
        assert (error.status, error.attempts, error.outcome_known) == (503, 1, False)
        assert len(server.heard) == 1

    async def test_fifty_callers_send_nothing_while_it_is_closed(self, server: RawServer, client: Client) -> None:
        server.script(problem_answer("rate_limited", retry_after_s=20), OK)
        await failure(client)
        errors = await asyncio.gather(*[failure(client) for _ in range(50)])
        assert {type(error) for error in errors} == {RateLimitedError}
        assert len(server.heard) == 1


class TestReadOnly:
    """One check covers every write (manual: decisions, "Read-only mode")."""

    async def test_what_mutates_is_refused_before_anything_is_sent(self, server: RawServer, connect: Connect) -> None:
        client = connect(read_only=True)
        with pytest.raises(ReadOnlyError) as refused:
            await submit_run(client, BODY, key="k1")
        assert (refused.value.operation, refused.value.attempts) == ("postExecutions", 0)
        with pytest.raises(ReadOnlyError):
            await cancel_run(client, "ex_1", key="k1")
        with pytest.raises(ReadOnlyError):
            await client.request(Operation("deleteX", "DELETE", "/v1/x", "Delete", mutates=True))
        assert not server.heard

    async def test_reads_and_plans_go_through(self, server: RawServer, connect: Connect) -> None:
        server.script(OK)
        client = connect(read_only=True)
        await client.get_run("ex_1")
        await client.request(PLAN, body=b"{}")
        assert len(server.heard) == 2

    def test_exactly_the_operations_that_change_something_mutate(self) -> None:
        asks = {"postTenantTemplatePlans", "postModelCatalogQuote", "postModelServerSearches"}
        for operation in OPERATIONS.values():
            assert operation.mutates == (operation.method != "GET" and operation.id not in asks), operation.id


class TestTheObserver:
    """Every attempt is reported once."""

    async def test_each_attempt_is_one_exchange(self, server: RawServer, connect: Connect, clock: FakeClock) -> None:
        told: list[RequestAttempt] = []
        client = connect(observe=told.append)
        server.script(DOWN, then_reset(), OK)
        await client.request("postExecutions", body=BODY, key="k1")
        assert [(each.attempt, each.status, each.error) for each in told] == [
            (1, 503, None),
            (2, None, "reset"),
            (3, 200, None),
        ]
        first = told[0]
        assert (first.operation, first.method, first.path, first.query) == (
            "postExecutions", "POST", "/v1/executions", "",
        )  # fmt: skip
        assert (first.key, first.sent_bytes, first.profile, first.origin) == ("k1", len(BODY), "test", server.base_url)
        assert first.problem is not None
        assert first.problem.code == "upstream_unavailable"
        assert told[2].received_bytes == len(OK.partition(b"\r\n\r\n")[2])
        assert told[2].problem is None
        assert told[2].at == clock.now()

    async def test_the_path_and_query_are_those_that_were_sent(self, server: RawServer, connect: Connect) -> None:
        told: list[RequestAttempt] = []
        server.script(json_answer({"events": []}))
        await connect(observe=told.append).list_events("a/b", after="c d")
        assert (told[0].path, told[0].query) == ("/v1/executions/a%2Fb/events", "after=c%20d")

    async def test_an_unusable_answer_and_a_cancelled_call_are_reported_as_such(
        self, server: RawServer, connect: Connect
    ) -> None:
        told: list[RequestAttempt] = []
        client = connect(observe=told.append)
        server.script(HTML, stall)
        await failure(client)
        task = asyncio.create_task(client.request("getAccount"))
        while len(server.heard) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [(each.status, each.error) for each in told] == [(200, "unusable"), (None, "cancelled")]

    async def test_calls_that_send_nothing_are_not_reported(self, server: RawServer, connect: Connect) -> None:
        told: list[RequestAttempt] = []
        client = connect(observe=told.append, read_only=True)
        client.gate.close(None, 5)
        await failure(client)
        with pytest.raises(ReadOnlyError):
            await cancel_run(client, "x", key="k")
        with pytest.raises(InvalidRequestError):
            await client.get_run("")
        assert told == []

    async def test_an_observer_that_fails_is_logged_and_harms_nobody(
        self, server: RawServer, connect: Connect, caplog: pytest.LogCaptureFixture
    ) -> None:
        def observe(_: RequestAttempt) -> None:
            raise ZeroDivisionError

        server.script(OK)
        with caplog.at_level(logging.ERROR, "runwatch.api"):
            assert (await connect(observe=observe).request("getAccount")).value == RUN
        assert "observer" in caplog.text
