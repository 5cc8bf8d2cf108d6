"""The parts that the past is made of: its clock, its plan, its calls, and the text of its models."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from random import Random

import pytest

from runwatch.base.json import loads
from runwatch.records.requests.run import RunRequest
from runwatch.service.address_policy import PUBLIC
from runwatch.service.checks.sample_checks import BULLETS, has_five_bullets, is_json_object
from runwatch.service.ids import new_id, random_word, seeded_ids
from runwatch.service.models.providers.sample_provider import BULLETS_WANTED, OBJECT_WANTED, make_text
from runwatch.service.outbound import OutboundError
from runwatch.service.sample.check_calls import AGENT_URL, SampleCheckClient
from runwatch.service.sample.history import DAYS, MARGIN, plan_incident, plan_runs
from runwatch.service.sample.run_kinds import BACKGROUND, HISTORY, INCIDENT, RunKind, build_request
from runwatch.service.sample.simulated_clock import SimulatedClock
from tests.support.clock import START

DIGEST = bytes(range(32))


async def test_a_sleep_in_the_past_moves_its_time_on_at_once() -> None:
    clock = SimulatedClock(START)
    await clock.sleep(90)
    assert (clock.now() - START, clock.monotonic()) == (timedelta(seconds=90), 90)
    await clock.sleep(-1)
    clock.move_to(START)
    assert clock.monotonic() == 90, "time does not go back"


async def test_something_can_happen_in_the_middle_of_a_sleep_and_end_it() -> None:
    clock = SimulatedClock(START)
    happened: list[float] = []

    async def act() -> None:
        happened.append(clock.monotonic())
        sleeper.cancel()

    clock.interrupt_at(START + timedelta(seconds=3), act)
    sleeper = asyncio.create_task(clock.sleep(20))
    with pytest.raises(asyncio.CancelledError):
        await sleeper
    assert happened == [3]
    assert clock.monotonic() == 3
    await clock.sleep(20)
    assert happened == [3], "it happens once"


async def test_what_no_sleep_reaches_can_be_forgotten() -> None:
    clock = SimulatedClock(START)

    async def act() -> None:
        raise AssertionError

    clock.interrupt_at(START + timedelta(seconds=3), act)
    await clock.sleep(2)
    clock.let_be()
    await clock.sleep(2)


async def test_no_sleep_leads_behind_the_end_that_was_set() -> None:
    clock = SimulatedClock(START)
    clock.until = START + timedelta(seconds=5)
    await clock.sleep(5)
    with pytest.raises(TimeoutError):
        await clock.sleep(0.1)
    assert clock.monotonic() == 5


def test_ids_follow_from_a_seed_only_within_the_block() -> None:
    def some() -> list[str]:
        return [new_id("ex", START), random_word(16)]

    with seeded_ids(7):
        first = some()
    with seeded_ids(7):
        assert some() == first
    with seeded_ids(8):
        assert some() != first
    assert some() != some()


def test_a_plan_has_the_least_of_every_kind_within_the_month_in_order() -> None:
    planned = plan_runs(HISTORY, 120, START, Random(1))
    assert len(planned) == 120
    moments = [each.at for each in planned]
    assert moments == sorted(moments)
    assert START - timedelta(days=DAYS) < moments[0]
    assert moments[-1] < START - MARGIN
    counted = Counter(each.work.name for each in planned)
    assert all(counted[work.name] >= work.least for work in HISTORY)
    assert plan_runs(HISTORY, 120, START, Random(1)) == planned
    assert plan_runs(HISTORY, 120, START, Random(2)) != planned
    assert len(plan_runs(HISTORY, 3, START, Random(1))) == 3
    assert plan_runs(HISTORY, 0, START, Random(1)) == []


def test_the_last_hour_has_an_incident_where_the_past_has_room_for_it() -> None:
    least = sum(work.least for work in HISTORY)
    assert plan_incident(HISTORY, least + len(INCIDENT) - 1, START) == []
    late = plan_incident(HISTORY, least + len(INCIDENT), START)
    assert all(START - timedelta(minutes=70) < each.at < START for each in late)
    assert [each.at for each in late] == sorted(each.at for each in late)
    failed = [each for each in late if each.work.reason == "dispatch_network_error"]
    assert len(failed) > len([each for each in late if each.work.arm == failed[0].work.arm]) / 2


@pytest.mark.parametrize("work", [*HISTORY, *BACKGROUND], ids=lambda work: work.name)
def test_every_kind_of_run_is_a_request_that_can_be_submitted(work: RunKind) -> None:
    arms = {} if work.arm is None else {work.arm: "arm_1"}
    checks = {} if work.check is None else {work.check: "vrf_1"}
    body = build_request(work, Random(1), arms, checks)
    request = RunRequest.model_validate(body)
    assert not request.breaks_echo_rule
    assert "sample" in request.task.objective
    assert (request.verifier_id is None) == (work.check is None)
    assert (request.review_composer is not None) == work.is_review
    assert (request.routing is None) == (work.arm is None or work.is_review)


async def test_sample_checks_answer_without_a_network() -> None:
    clock = SimulatedClock(START)
    calls = SampleCheckClient(clock)

    async def ask(path: str, body: bytes = b'{"candidate":"text"}', **headers: str) -> tuple[int, object]:
        answer = await calls.send("POST", f"http://x{path}", reach=PUBLIC, timeout_s=10, headers=headers, body=body)
        return answer.status, loads(answer.content)

    status, verdict = await ask("/docks/non-empty")
    assert status == 200
    assert isinstance(verdict, dict)
    assert verdict["is_correct"] is True
    assert (await ask("/docks/protected"))[0] == 401
    assert (await ask("/docks/protected", Authorization="Bearer sample-endpoint-key"))[0] == 200
    assert (await ask("/docks/http-500"))[0] == 500
    for path, kind in (("/docks/slow", "timeout"), ("/elsewhere", "network")):
        with pytest.raises(OutboundError) as caught:
            await ask(path)
        assert caught.value.kind == kind


async def test_sample_agents_are_there_or_gone_and_nobody_is_called() -> None:
    calls = SampleCheckClient(SimulatedClock(START))
    assert (await calls.send("HEAD", f"{AGENT_URL}/reviewer", reach=PUBLIC, timeout_s=3)).status == 405
    with pytest.raises(OutboundError):
        await calls.send("HEAD", f"{AGENT_URL}/gone", reach=PUBLIC, timeout_s=3)


def test_sample_models_keep_to_the_form_that_is_asked_for() -> None:
    bullets = make_text("Sample", f"Sort it. Answer with {BULLETS_WANTED}.", DIGEST, 1)
    assert len(bullets.splitlines()) == BULLETS
    assert has_five_bullets(bullets).is_correct
    assert is_json_object(make_text("Sample", f"Answer with {OBJECT_WANTED}.", DIGEST, 1)).is_correct
    plain = make_text("Sample", f"Answer with {OBJECT_WANTED}.", DIGEST, 1, keeps_form=False)
    assert not is_json_object(plain).is_correct
    assert "sample" in plain.lower()


def test_sample_models_rewrite_a_region_into_what_the_check_missed() -> None:
    asked = "An output check rejected … These points of the check failed: {}. Rewrite the text of the region 'form' …"
    for missed, wanted in (("five_bullets", BULLETS_WANTED), ("members, object", OBJECT_WANTED)):
        assert wanted in make_text("Sample", asked.format(missed), DIGEST, 1)
