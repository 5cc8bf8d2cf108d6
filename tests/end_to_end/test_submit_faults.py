"""``runwatch runs submit --watch`` over a faulty connection to the real service: codes, messages, effects.

These wait for real between attempts, half a second and a second, because the waits are the program's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.clock import SystemClock
from tests.service.conftest import serve_in_process
from tests.support.cli import Cli, Outcome
from tests.support.fault_steps import Cut, Pass, Reset, Step, failing, html_502, times, too_many
from tests.support.faults import PeerHandle, match, running_peer
from tests.support.screen import foreign_controls
from tests.support.threads import in_thread

KEY = "the-one-key"
SUBMIT = match("POST", "/v1/executions")
EVENTS = match("GET", "/v1/executions/[^/]+/events")
WORDS = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say nothing.", "--data-class", "public"),
    *("--max-cost-usd", "1", "--max-runtime-s", "60", "--idempotency-key", KEY, "--watch"),
)


@dataclass
class Faulty:
    """The command line, which calls the service through the peer."""

    peer: PeerHandle
    cli: Cli
    direct: Cli

    def submit(self, *more: str) -> Outcome:
        outcome = self.cli(*WORDS, *more)
        assert foreign_controls(outcome.stdout) == foreign_controls(outcome.stderr) == []
        return outcome

    def run_ids(self) -> list[str]:
        return [run["execution_id"] for run in self.direct("runs", "list", "--json").json]


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Faulty]:
    (tmp_path / "home").mkdir()
    (tmp_path / "direct").mkdir()
    with in_thread(serve_in_process(tmp_path / "service", SystemClock())) as (service, _):
        origin = service.running.file.base_url
        with running_peer(origin) as peer:
            yield Faulty(
                peer,
                Cli(tmp_path / "home", base_url=peer.base_url, api_key=service.key),
                Cli(tmp_path / "direct", base_url=origin, api_key=service.key),
            )


def events_of(outcome: Outcome) -> list[dict[str, Any]]:
    return [value for value in outcome.json_lines if "event_id" in value]


def failure_of(outcome: Outcome) -> dict[str, Any]:
    """The failure that ``--json`` tells on standard error, its last line."""
    failure: dict[str, Any] = json.loads(outcome.errors.splitlines()[-1])
    return failure


def assert_followed_to_its_end(outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.errors
    events = events_of(outcome)
    ids = [event["event_id"] for event in events]
    assert len(set(ids)) == len(ids) == 7
    assert (events[-1]["state"], "slice_id" in events[-1]) == ("completed", False)


PASSING: dict[str, Sequence[Step]] = {
    "503 twice": times(2, failing()),
    "a reset before the service has seen it": [Reset()],
    "a reset after the service has committed": [Reset(after="answer")],
    "a cut answer": [Cut(25)],
    "a proxy's HTML": [html_502(commits=True)],
}


@pytest.mark.parametrize("steps", PASSING.values(), ids=PASSING)
def test_a_submit_goes_through_and_is_one_run(faulty: Faulty, steps: Sequence[Step]) -> None:
    faulty.peer.plan(SUBMIT, *steps)
    outcome = faulty.submit("--json")
    assert_followed_to_its_end(outcome)
    assert len(faulty.run_ids()) == 1
    posts = faulty.peer.seen("POST")
    assert len(posts) == len(steps) + 1
    assert {post.key for post in posts} == {KEY}
    assert len({post.body for post in posts if post.body}) == 1


LASTING: dict[str, tuple[Sequence[Step], int]] = {
    "503 three times": (times(3, failing()), 0),
    "503 three times after the service has committed": (times(3, failing(commits=True)), 1),
    "three resets after the service has committed": (times(3, Reset(after="answer")), 1),
    "a proxy's HTML three times": (times(3, html_502()), 0),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("steps", "runs"), LASTING.values(), ids=LASTING)
def test_a_submit_of_unknown_outcome_says_so_and_is_settled_by_asking_again(
    faulty: Faulty, steps: Sequence[Step], runs: int
) -> None:
    faulty.peer.plan(SUBMIT, *steps)
    outcome = faulty.submit("--json")
    assert (outcome.code, outcome.stdout) == (3, b"")
    failure = failure_of(outcome)
    assert (failure["exit_code"], failure["attempts"], failure["outcome"]) == (3, 3, "unknown")
    assert failure["idempotency_key"] == KEY
    assert len(faulty.run_ids()) == runs
    again = faulty.cli("runs", "submit", "--resend", KEY, "--watch", "--json")
    assert_followed_to_its_end(again)
    assert len(faulty.run_ids()) == 1
    assert len({post.body for post in faulty.peer.seen("POST") if post.body}) == 1


@pytest.mark.exhaustive
def test_a_429_is_not_asked_again_and_tells_its_seconds(faulty: Faulty) -> None:
    faulty.peer.plan(SUBMIT, too_many(20))
    outcome = faulty.submit("--json")
    assert outcome.code == 5
    failure = failure_of(outcome)
    assert (failure["retry_after_s"], failure["outcome"], failure["attempts"]) == (20, "known", 1)
    assert len(faulty.peer.seen("POST")) == 1
    assert faulty.run_ids() == []


@pytest.mark.exhaustive
def test_nobody_listening_is_a_network_failure_without_effect(faulty: Faulty) -> None:
    faulty.peer.refuse()
    outcome = faulty.submit("--json")
    assert (outcome.code, outcome.stdout) == (3, b"")
    assert failure_of(outcome)["outcome"] == "known"
    assert faulty.run_ids() == []


def test_a_watch_through_faults_prints_each_event_once(faulty: Faulty) -> None:
    faults: list[Step] = [failing(), Pass(), Cut(30), Pass(), Reset(after="answer"), html_502()]
    faulty.peer.plan(EVENTS, *faults)
    assert_followed_to_its_end(faulty.submit("--json"))
    assert len(faulty.run_ids()) == 1


@pytest.mark.exhaustive
def test_a_watch_goes_on_after_the_service_was_out_of_reach_for_longer_than_a_read_is_retried(faulty: Faulty) -> None:
    faulty.peer.plan(EVENTS, Pass(), *times(4, failing()))
    assert_followed_to_its_end(faulty.submit("--json"))
