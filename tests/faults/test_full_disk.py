"""A disk that fills up while the console or the service runs: both say so, lose nothing, and go on once there is room.

Tests of a place that is full from the beginning are in ``test_bad_places``.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiProblem
from runwatch.base.json import encode_body
from tests.support.builders import RUN_ID, account, event, open_run, request_body
from tests.support.client_calls import follow, submit_run
from tests.support.console import KEY, console
from tests.support.limited import full_disk
from tests.support.scripted import ScriptedService, running_service
from tests.support.service import ServiceProcess

BODY: Final = encode_body(request_body())
RUNS: Final = 8


class Growing:
    """The events of one run, which come when a test says so."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def grow(self, count: int) -> None:
        """Add this many more."""
        self.ids += [f"ev_{number}" for number in range(len(self.ids), len(self.ids) + count)]

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        """The events after the named one."""
        first = self.ids.index(after) + 1 if after in self.ids else 0
        return [
            dict(event(number, "progress", event_id=name, execution_id=run_id, type=f"step {number}.").raw)
            for number, name in enumerate(self.ids)
            if number >= first
        ]


def notes_of(database: Path) -> list[str]:
    """What the user wrote, as it is on the disk."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM note")]


@pytest.mark.exhaustive
def test_a_console_whose_disk_fills_up_says_so_and_has_everything_once_there_is_room(tmp_path: Path) -> None:
    growing, database = Growing(), tmp_path / "runwatch-data" / "console.db"
    growing.grow(2)
    made = ScriptedService(runs=[open_run(RUN_ID, "running")], events=growing, account=account(), key=KEY)
    with running_service(made) as service, console(tmp_path, base_url=service.base_url, columns=160) as terminal:
        terminal.wait_for("step 1.")
        terminal.wait_for("● live")
        terminal.type("i", until="label ")
        terminal.type("kept before\r")
        terminal.wait_until(lambda: notes_of(database) == ["kept before"], "the label to be kept", poll=True)
        with full_disk(terminal.process.pid):
            growing.grow(2)
            terminal.wait_for("not kept: The console's data directory is not usable", timeout=90)
            terminal.type("i", until="note ")
            terminal.type(", and more\r", until="━ not saved: The console's data directory is not usable")
            # The list still works: it needs no disk.
            heard = len(service.requests("GET", "/v1/executions"))
            terminal.wait_until(
                lambda: len(service.requests("GET", "/v1/executions")) > heard, "the list to be read", poll=True
            )
            assert "step 2." not in terminal.screen.text
            assert notes_of(database) == ["kept before"]
        # The typed text is still in its editor.
        terminal.type("\r")
        terminal.wait_until(lambda: notes_of(database) == ["kept before, and more"], "it to be kept", poll=True)
        growing.grow(2)
        terminal.type("r")
        terminal.wait_for("step 5.", timeout=90)
        terminal.wait_gone("not kept:")
        terminal.type("qq")
        assert terminal.wait_exit() == 0

    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert [name for (name,) in connection.execute("SELECT event_id FROM event ORDER BY seq")] == growing.ids
    assert notes_of(database) == ["kept before, and more"]


async def test_a_service_whose_disk_fills_up_says_so_and_loses_no_run_that_it_acknowledged(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        async with Client(service.target, retries=0) as client:
            runs = [(await submit_run(client, BODY, key=f"before-{number}")).id for number in range(RUNS)]
            with full_disk(service.pid):
                for number in range(RUNS):
                    with pytest.raises(ApiProblem) as refused:
                        await submit_run(client, BODY, key=f"later-{number}")
                    assert (refused.value.status, refused.value.outcome_known) == (500, False)
                    assert "its disk may be full" in str(refused.value.detail)
                    assert refused.value.support_id
                # Reading needs no room.
                assert {run.id for run in (await client.page("getExecutions")).records} == set(runs)
            # The same keys again: what was refused had no effect, and what is acknowledged now is one run each.
            runs += [(await submit_run(client, BODY, key=f"later-{number}")).id for number in range(RUNS)]
        service.kill()
        service.start()
        async with Client(service.target) as client:
            listed = [run.id async for page in client.pages("getExecutions") for run in page.records]
            assert sorted(listed) == sorted(runs)
            for run_id in runs:
                events = [each async for each in follow(client, run_id)]
                assert events[-1].state == "completed"
                assert (await client.get_receipt(run_id)).status == "completed"
