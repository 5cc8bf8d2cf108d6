"""The generator keeps its rate, repeats itself by its seed, and ends every run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import pytest

from runwatch.records.event import RunEvent
from tests.support.clock import FakeClock
from tests.support.environment import clean_environment
from tests.support.generator import GeneratedService, Produced, RunGenerator


def by_run(produced: list[Produced]) -> dict[str, list[RunEvent]]:
    runs: dict[str, list[RunEvent]] = defaultdict(list)
    for one in produced:
        runs[one.run_id].append(RunEvent(one.event))
    return runs


def test_events_come_at_the_named_rate_in_the_order_of_their_time() -> None:
    produced = list(RunGenerator(runs=20, rate=500, seconds=2))
    assert len(produced) == 1000
    assert produced[0].at_s == 0
    assert all(later.at_s - earlier.at_s == pytest.approx(1 / 500) for earlier, later in pairwise(produced))


def test_the_same_seed_gives_the_same_events_and_another_seed_others() -> None:
    assert list(RunGenerator(runs=5, rate=50, seconds=1)) == list(RunGenerator(runs=5, rate=50, seconds=1))
    assert list(RunGenerator(runs=5, rate=50, seconds=1)) != list(RunGenerator(runs=5, rate=50, seconds=1, seed=2))


def test_ids_are_unique() -> None:
    produced = list(RunGenerator(runs=20, rate=500, seconds=2))
    assert len({one.event["event_id"] for one in produced}) == len(produced)


def test_every_run_has_exactly_one_final_event_and_it_is_its_last() -> None:
    runs = by_run(list(RunGenerator(runs=20, rate=500, seconds=2)))
    assert len(runs) == 20
    for events in runs.values():
        assert [event.ends_run for event in events] == [False] * (len(events) - 1) + [True]


def test_all_kinds_of_event_occur_and_all_are_well_formed() -> None:
    produced = list(RunGenerator(runs=3, rate=100, seconds=1))
    assert {one.event["type"] for one in produced} == {
        "lifecycle",
        "verification_check",
        "recorded_check",
        "tool_call",
    }
    assert not [one for one in produced if RunEvent(one.event).flaws()]


def test_a_short_time_still_lets_every_run_end() -> None:
    runs = by_run(list(RunGenerator(runs=10, rate=10, seconds=1)))
    assert all(events[-1].ends_run for events in runs.values())


def ids(service: GeneratedService, run_id: str, after: str | None = None) -> list[str]:
    events = service.feed.events(run_id, after)
    assert events is not None
    return [event["event_id"] for event in events]


def test_a_generated_service_shows_what_has_happened_by_now(clock: FakeClock) -> None:
    generator = RunGenerator(runs=4, rate=40, seconds=5)
    service = GeneratedService(generator, clock=clock)
    run_id = generator.run_ids[0]
    expected = [one.event["event_id"] for one in generator if one.run_id == run_id]
    assert len(ids(service, run_id)) <= 1
    clock.advance(2)
    half = ids(service, run_id)
    assert len(half) in {20, 21}
    clock.advance(3)
    assert half + ids(service, run_id, half[-1]) == expected
    assert ids(service, run_id, expected[-1]) == []
    assert ids(service, run_id, "ev_of_somebody_else") == expected
    assert {run["status"] for run in service.current_runs()} == {"completed"}


def test_a_generated_service_can_keep_its_answers_short(clock: FakeClock) -> None:
    generator = RunGenerator(runs=1, rate=10, seconds=5)
    service = GeneratedService(generator, clock=clock, most=7)
    clock.advance(10)
    read: list[str] = []
    while more := ids(service, generator.run_ids[0], read[-1] if read else None):
        assert len(more) <= 7
        read += more
    assert len(read) == generator.total


def test_the_generator_serves_as_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.generator", "--runs", "2", "--rate", "1000", "--seconds", "0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment(tmp_path)) as process:
        try:
            assert process.stdout is not None
            line = json.loads(process.stdout.readline())
            assert line["events"] == 20
            with urlopen(f"{line['base_url']}/v1/account", timeout=60) as answer:
                assert json.load(answer)["tenant_id"] == "ten_01"
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()
