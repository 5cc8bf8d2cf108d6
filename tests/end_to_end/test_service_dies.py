"""A service that is killed in the middle of its work loses nothing that it has acknowledged (issue 2, Must show 3)."""

from __future__ import annotations

import asyncio
import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

from runwatch.api.client import Client
from runwatch.store.database import Database
from runwatch.store.identity import identify
from tests.end_to_end.fleet import Fleet, UpClock
from tests.support.cli import Cli
from tests.support.service import ServiceProcess

RUNS = 50
EVENTS_OF_A_RUN = 7
KILLS_AFTER = (10, 90, 170, 250, 330)
"""How many of the events of the fifty runs have been shown when the service is killed, for each of five times."""

SUBMIT = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say nothing.", "--data-class", "public"),
    *("--max-cost-usd", "1", "--max-runtime-s", "60"),
)


async def test_a_service_killed_five_times_under_fifty_runs_loses_none_and_doubles_none(tmp_path: Path) -> None:
    assert KILLS_AFTER[-1] < RUNS * EVENTS_OF_A_RUN
    clock = UpClock()
    service = await asyncio.to_thread(ServiceProcess(tmp_path / "service").start)
    database = Database.open(tmp_path / "console.db")
    try:
        async with Client(service.target, clock=clock) as client:
            fleet = Fleet(client, await identify(client, database), database, clock)
            for round_, shown in enumerate(KILLS_AFTER):
                mark = fleet.mark(shown)
                sailing = asyncio.create_task(fleet.sail(f"round-{round_}-{number}" for number in range(RUNS)))
                await mark.wait()
                assert not sailing.done()
                clock.up.clear()
                await asyncio.to_thread(service.kill)
                await asyncio.to_thread(service.start)
                clock.up.set()
                await sailing
            await _nothing_is_lost_or_doubled(client, fleet)
    finally:
        database.close()
        service.kill()


async def _nothing_is_lost_or_doubled(client: Client, fleet: Fleet) -> None:
    assert len(fleet.runs) == RUNS * len(KILLS_AFTER)
    for run in fleet.runs:
        recorded = (await client.list_events(run.run_id)).records
        assert run.event_ids == [event.id for event in recorded]
        assert len(set(run.event_ids)) == len(run.event_ids)
        assert [event.ends_run for event in run.events].count(True) == 1
        assert run.events[-1].ends_run
        receipt = await client.get_receipt(run.run_id)
        assert (receipt.status, receipt.mode) == (run.events[-1].state, "echo")
        assert (await client.get_run(run.run_id)).status == "completed"
    # One key is one run: there are as many runs as keys, those submitted again included.
    listed = [run.id async for page in client.pages("getExecutions") for run in page.records]
    assert sorted(listed) == sorted(run.run_id for run in fleet.runs)


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
