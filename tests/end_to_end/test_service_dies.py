"""A service that is killed in the middle of its work loses nothing that it has acknowledged."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.client import Client
from runwatch.records.receipt import Receipt
from runwatch.store.db.database import Database
from runwatch.store.repositories.scope import read_scope
from tests.end_to_end.fleet import Fleet, Followed, UpClock
from tests.support.builders import request_body
from tests.support.cli import Cli
from tests.support.model_server import HANG, ModelServer
from tests.support.scripted import Said
from tests.support.service import ServiceProcess
from tests.support.warm_service import WarmService

KILLS: Final = 50
SEED: Final = 4
LONGEST: Final = 80
"""The most events that the runs show from one start of the service to its next death."""

CREWS: Final = 24
"""How many runs are under way at any moment: 16 test runs, 4 live runs that end, 4 that wait for the slow model."""

EVENTS_OF_A_RUN = 7

SUBMIT = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say nothing.", "--data-class", "public"),
    *("--max-cost-usd", "1", "--max-runtime-s", "60"),
)


class Harbour:
    """A service that dies at random moments, and the two model servers that its live runs call.

    The slow model never answers while there are deaths to come, so that each of them cuts off calls in progress; runs
    that may fall back from it go on with the quick one.
    """

    def __init__(self, home: Path, service: ServiceProcess) -> None:
        self.service: Final = service
        self.slow: Final = ModelServer(models=("slow-1",))
        self.quick: Final = ModelServer(models=("quick-1",))
        self.slow.say("POST", ".*", HANG)
        self._home = home
        self._arms: dict[str, ModelServer] = {}
        self._quick_arm = ""

    async def connect(self) -> None:
        """Save both models; the slow one is the older and goes first where both may run."""
        cli = Cli(self._home, base_url=self.service.base_url, api_key=self.service.api_key)
        for server in (self.slow, self.quick):
            words = ("sources", "connect", "--openai-compatible", server.base_url, "--json")
            done = await asyncio.to_thread(cli, *words)
            assert done.code == 0, done.errors
            (arm,) = done.json["arms"]
            self._arms[arm["arm_id"]] = server
            self._quick_arm = arm["arm_id"]

    def echo_run(self, _key: str) -> dict[str, Any]:
        return request_body()

    def live_run(self, key: str) -> dict[str, Any]:
        """A live run that only the quick model may do."""
        return self._live(key, routing={"required_arm_id": self._quick_arm})

    def falling_back(self, key: str) -> dict[str, Any]:
        """A live run that goes to the slow model first."""
        return self._live(key, policy={"on_eval": ["fallback"]})

    def _live(self, key: str, **over: Any) -> dict[str, Any]:
        budget = {"budget": {"max_cost_usd": 1, "max_runtime_s": 600}}
        policy = {**request_body()["policy"], **budget, **over.pop("policy", {})}
        return request_body("live", task={"objective": f"Say {key}."}, policy=policy, **over)

    def release(self) -> None:
        """Have the slow model answer from now on."""
        choices = [{"index": 0, "message": {"role": "assistant", "content": "Late."}}]
        self.slow.say("POST", ".*", Said(200, {"model": "slow-1", "choices": choices}))

    def calls(self) -> Counter[tuple[str, str]]:
        """How many calls were made with each objective, by arm and objective."""
        return Counter((arm_id, prompt) for arm_id, server in self._arms.items() for prompt in server.prompts)


@pytest.mark.exhaustive
async def test_a_service_killed_at_fifty_random_moments_under_load_loses_none_and_doubles_none(tmp_path: Path) -> None:
    chance, enough, clock = random.Random(SEED), asyncio.Event(), UpClock()
    database = Database.open(tmp_path / "console.db")
    with WarmService(tmp_path / "service") as service:
        harbour = Harbour(tmp_path, service)
        async with harbour.slow, harbour.quick, Client(service.target, clock=clock) as client:
            await harbour.connect()
            fleet = Fleet(client, await read_scope(client, database), database, clock)
            async with asyncio.TaskGroup() as sailing:
                for crew in range(CREWS):
                    kinds = (harbour.echo_run,) * 4 + (harbour.live_run, harbour.falling_back)
                    sailing.create_task(fleet.sail(f"crew-{crew}", kinds[crew % len(kinds)], enough))
                for death in range(KILLS):
                    await fleet.mark(chance.randint(1, LONGEST)).wait()
                    clock.up.clear()
                    service.kill()
                    if death == KILLS - 1:
                        harbour.release()
                        enough.set()
                    await asyncio.to_thread(service.start)
                    clock.up.set()
            await _nothing_is_lost_or_doubled(client, fleet, harbour)
    database.close()


async def _nothing_is_lost_or_doubled(client: Client, fleet: Fleet, harbour: Harbour) -> None:
    calls, outcomes = harbour.calls(), Counter[str]()
    for run in fleet.runs:
        receipt = await _ends_with_its_receipt(client, run)
        if receipt.mode == "live":
            outcomes.update(_tells_every_call(run, receipt, calls))
    # One key is one run, even if it was submitted again.
    listed = [run.id async for page in client.pages("getExecutions") for run in page.records]
    assert sorted(listed) == sorted(run.run_id for run in fleet.runs)
    assert not calls, "every call belongs to an attempt of a receipt"
    print(
        f"{KILLS} deaths under {len(fleet.runs)} runs: {outcomes['answered']} calls answered,"
        f" {outcomes['interrupted']} interrupted, each told by a receipt"
    )
    # Deaths did meet calls, and calls were answered in between.
    assert outcomes["interrupted"] > 0
    assert outcomes["answered"] > 0


async def _ends_with_its_receipt(client: Client, run: Followed) -> Receipt:
    recorded = (await client.list_events(run.run_id)).records
    assert run.event_ids == [event.id for event in recorded]
    assert len(set(run.event_ids)) == len(run.event_ids)
    assert [event.ends_run for event in run.events].count(True) == 1
    assert run.events[-1].ends_run
    receipt = await client.get_receipt(run.run_id)
    state = run.events[-1].state
    assert (receipt.status, receipt.mode) == (state, run.body["mode"])
    assert (await client.get_run(run.run_id)).status == state
    assert state == "completed" or run.body["mode"] == "live"
    return receipt


def _tells_every_call(run: Followed, receipt: Receipt, calls: Counter[tuple[str, str]]) -> list[str]:
    """Check that no call was made which the receipt does not tell of; return the outcomes of its attempts."""
    (part,) = receipt.raw["slices"]
    objective = run.body["task"]["objective"]
    attempts = part["attempts"]
    for attempt in attempts:
        made = calls.pop((attempt["arm_id"], objective), 0)
        if attempt["outcome"] == "answered":
            assert made == 1
        else:
            # The service died before the call went out, or before it knew the answer; it says which it cannot know.
            assert attempt["outcome"] == "interrupted"
            assert made <= 1
            assert attempt["usage"] == "unknown"
            assert "not known" in attempt["note"]
    is_answered = attempts[-1]["outcome"] == "answered"
    assert (receipt.status == "completed") == is_answered
    assert ("usage" in part["cost"]) == any(attempt["usage"] == "unknown" for attempt in attempts)
    return [attempt["outcome"] for attempt in attempts]


@pytest.mark.exhaustive
def test_commands_that_watch_print_every_event_once_over_the_death_of_the_service(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service, ExitStack() as stack:
        submits = []
        for number in range(4):
            home = tmp_path / f"home-{number}"
            home.mkdir()
            cli = Cli(home, base_url=service.base_url, api_key=service.api_key)
            submits.append(stack.enter_context(cli.running(*SUBMIT, "--watch", "--json")))
        first = [_line_of(submit) for submit in submits]
        service.kill()
        service.start()
        for submit, line in zip(submits, first, strict=True):
            stdout, stderr = submit.communicate(timeout=60)
            assert submit.returncode == 0, stderr.decode()
            events = [value for value in map(json.loads, [line, *stdout.splitlines()]) if "event_id" in value]
            ids = [event["event_id"] for event in events]
            assert len(set(ids)) == len(ids) == EVENTS_OF_A_RUN
            assert events[-1]["state"] == "completed"
        listed = Cli(tmp_path, base_url=service.base_url, api_key=service.api_key)("runs", "list", "--json").json
        assert len(listed) == len(submits)


def _line_of(process: subprocess.Popen[bytes]) -> bytes:
    """The first line that a command prints; the run is under way then."""
    assert process.stdout is not None
    return process.stdout.readline()
