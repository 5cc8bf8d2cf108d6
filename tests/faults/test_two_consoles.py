"""Two consoles and several commands at once on one data directory: everything that each of them writes is kept."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.builders import account, event, run
from tests.support.cli import Cli
from tests.support.console import KEY, console
from tests.support.fault_steps import Reset
from tests.support.faults import match, running_peer
from tests.support.scripted import ScriptedService, running_service
from tests.support.terminal import Terminal

ROUNDS: Final = 4
SUBMITS: Final = 6
RUNS: Final = ("ex_first_0001", "ex_second_002")
SUBMIT: Final = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say nothing.", "--data-class", "public"),
    *("--max-cost-usd", "1", "--max-runtime-s", "60", "--idempotency-key"),
)


def write(terminal: Terminal, text: str) -> None:
    """Add a text to label and note of the run under the cursor, and wait until its list shows it."""
    terminal.type("i", until="note ")
    terminal.type(text)
    terminal.press("tab")
    terminal.type(text)
    terminal.press("enter")
    terminal.wait_gone("note ")


@pytest.mark.exhaustive
def test_two_consoles_and_verbs_on_one_data_directory_lose_nothing_of_each_other(tmp_path: Path) -> None:
    made = ScriptedService(
        runs=[run(run_id, "running") for run_id in RUNS],
        events={run_id: [event(1, "running", execution_id=run_id)] for run_id in RUNS}, account=account(), key=KEY,
    )  # fmt: skip
    with running_service(made) as service, running_peer(service.base_url) as peer:
        # Every other submit loses its answer however often it asks.
        peer.plan(match("POST"), always=Reset(after="answer"))
        ways = [Cli(tmp_path, base_url=each, api_key=KEY) for each in (service.base_url, peer.base_url)]
        with (
            console(tmp_path, base_url=service.base_url, columns=160) as first,
            console(tmp_path, base_url=service.base_url, columns=160) as second,
        ):
            for terminal in (first, second):
                terminal.wait_for("● live")
                terminal.wait_for("_002")
            second.press("down")
            with contextlib.ExitStack() as stack:
                submits = [
                    stack.enter_context(ways[number % 2].running(*SUBMIT, f"key-{number}", "--json"))
                    for number in range(SUBMITS)
                ]
                for number in range(ROUNDS):
                    write(first, f"a{number}")
                    write(second, f"b{number}")
                told = [submit.communicate(timeout=120) for submit in submits]
                codes = [submit.returncode for submit in submits]
            for terminal in (first, second):
                terminal.type("qq")
                assert terminal.wait_exit() == 0
                assert b"Traceback" not in terminal.raw
                assert b"busy" not in terminal.raw
    assert codes == [0, 3] * (SUBMITS // 2), told
    database = tmp_path / "runwatch-data" / "console.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        notes = connection.execute("SELECT record_id, purpose, text FROM note").fetchall()
        kept = {key for (key,) in connection.execute("SELECT key FROM outbox")}
        watched = connection.execute("SELECT count(*) FROM watch WHERE source = 'submitted'").fetchone()[0]
        events = connection.execute("SELECT run, event_id, count(*) FROM event GROUP BY run, event_id").fetchall()
    texts = ["".join(f"{letter}{number}" for number in range(ROUNDS)) for letter in "ab"]
    cursors = sorted({record_id for record_id, _, _ in notes})
    assert cursors == sorted(RUNS)
    assert {(purpose, text) for _, purpose, text in notes} == {
        (purpose, text) for purpose in ("label", "note") for text in texts
    }
    # A submit is either answered and watched, or kept to be asked again.
    assert kept == {f"key-{number}" for number in range(1, SUBMITS, 2)}
    assert watched == SUBMITS // 2
    assert [count for _, _, count in events] == [1] * len(events)
    log = tmp_path / "runwatch-data" / "log" / "runwatch.log"
    assert not log.exists() or '"level": "error"' not in log.read_text("utf-8")


@pytest.mark.exhaustive
def test_verbs_that_change_settings_at_once_lose_no_setting(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    changes = {"theme": "runwatch-light", "time": "utc", "retries": "1", "mouse": "false", "bell": "true"}
    started = [
        subprocess.Popen(cli.command("config", "set", *change), env=cli.environment, stderr=subprocess.PIPE)
        for change in changes.items()
    ]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    for name, value in changes.items():
        shown = cli("config", "get", name)
        assert shown.text.strip() == value, shown.errors
