"""After any failure the console says what is wrong and what to do next, keeps its rows with their age, and goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch.records.problem import PROBLEM_TYPE
from tests.support.builders import account, event, problem, run
from tests.support.cli import Cli
from tests.support.console import KEY, console
from tests.support.fault_steps import Answer, html_502
from tests.support.faults import match, running_peer
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal

HOLD_S = 4
"""How long the service wants silence, in seconds."""

STATES = {"ex_live": "running", "ex_done": "completed", "ex_bad": "failed"}


def scripted() -> ScriptedService:
    """A service with three runs, for the one key of the tests."""
    return ScriptedService(
        runs=[run(run_id, state) for run_id, state in STATES.items()],
        events={run_id: [event(1, state, execution_id=run_id)] for run_id, state in STATES.items()},
        account=account(),
        key=KEY,
    )


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with running_service(scripted()) as running:
        yield running


def words(terminal: Terminal) -> str:
    """What the screen says, pane by pane, without frames and line breaks."""
    left, right, whole = [], [], []
    for row in terminal.screen.lines:
        parts = re.split("[┃│]", row)
        if len(parts) > 2:
            left.append(parts[1])
            right.append(" ".join(parts[2:]))
        else:
            whole.append(re.sub("[┏┓┗┛╭╮╰╯━─]", " ", row))
    return " ".join(" ".join([*whole, *left, *right]).split())


def says(terminal: Terminal, *texts: str) -> None:
    """Wait until the screen says all of this, wherever its lines break."""
    terminal.wait_until(lambda: all(text in words(terminal) for text in texts), " and ".join(texts))


def shows_runs(terminal: Terminal) -> None:
    says(terminal, "● running ex_live", "✓ completed ex_done", "✗ failed ex_bad")


def quits(terminal: Terminal) -> None:
    """Prove that the console still lives, by leaving it."""
    assert terminal.ends("ctrl+c", "ctrl+c") == 130
    assert b"Traceback" not in terminal.raw


@pytest.mark.parametrize("columns", [80, 120])
def test_a_wrong_key_is_named_with_its_source_and_asked_for_no_more(
    service: ScriptedService, tmp_path: Path, columns: int
) -> None:
    with console(tmp_path, base_url=service.base_url, key="rw_another_key", columns=columns, rows=24) as terminal:
        says(
            terminal, "✗ not authorised", "The API key is missing or not valid", "runwatch doctor", "until you press r"
        )
        instance = terminal.wait_for(re.compile(r"instance ([0-9a-f-]{36})"))[1]
        asked = len(service.heard)
        terminal.type("0", until="unauthenticated")
        # A narrow list shortens the id; the panel of the problem has all of it.
        # The account was read after the list, so its problem comes first.
        terminal.press("down", "enter")
        says(terminal, "unauthenticated", instance)
        assert len(service.heard) == asked, "nothing was read in the meantime"
        terminal.type("1", until="until you press r")
        terminal.type("r")
        terminal.wait_until(lambda: len(service.heard) > asked, "the list to be read once more", poll=True)
        assert b"rw_another_key" not in terminal.raw
        quits(terminal)


@pytest.mark.parametrize("columns", [80, 120])
def test_without_a_network_the_console_says_so_and_goes_on_by_itself(
    service: ScriptedService, tmp_path: Path, columns: int
) -> None:
    with running_peer(service.base_url) as peer:
        peer.refuse()
        with console(tmp_path, base_url=peer.base_url, columns=columns, rows=24) as terminal:
            says(
                terminal, "✗ offline", "Nothing responds at this address",
                "Nothing is read yet; r tries again now.",
            )  # fmt: skip
            peer.listen()
            terminal.type("r")
            shows_runs(terminal)
            terminal.wait_for("● live")
            quits(terminal)


@pytest.mark.exhaustive
def test_rows_of_before_stay_with_their_age_when_the_network_goes(service: ScriptedService, tmp_path: Path) -> None:
    with running_peer(service.base_url) as peer:
        with console(tmp_path, base_url=peer.base_url) as terminal:
            shows_runs(terminal)
            terminal.wait_for("● live")
            peer.refuse()
            says(terminal, "✗ offline", "data ", "r tries again now.")
            shows_runs(terminal)
            quits(terminal)
        with console(tmp_path, base_url=peer.base_url) as terminal:
            says(terminal, "✗ offline", "data")
            shows_runs(terminal)
            quits(terminal)


@pytest.mark.exhaustive
def test_html_in_place_of_a_problem_is_reported_as_what_it_is(service: ScriptedService, tmp_path: Path) -> None:
    with running_peer(service.base_url) as peer:
        peer.plan(match(), always=html_502())
        with console(tmp_path, base_url=peer.base_url) as terminal:
            says(terminal, "✗ no usable answer", "The answer did not come from the API (HTML)")
            terminal.type("0")
            says(terminal, "not_a_problem", "HTTP 502", "502 Bad Gateway", "Check the base URL and the proxy settings")
            quits(terminal)


@pytest.mark.exhaustive
@pytest.mark.parametrize("columns", [80, 120])
def test_a_429_is_counted_down_and_r_asks_anyway(service: ScriptedService, tmp_path: Path, columns: int) -> None:
    limited, long = problem("rate_limited", retry_after_s=HOLD_S), problem("rate_limited", retry_after_s=600)
    with (
        running_peer(service.base_url) as peer,
        console(tmp_path, base_url=peer.base_url, columns=columns, rows=24) as terminal,
    ):
        shows_runs(terminal)
        peer.plan(match(), Answer(429, limited.json().encode(), content_type=PROBLEM_TYPE))
        terminal.wait_for("429 rate_limited · reads again in 0:0")
        terminal.wait_for(re.compile(r"held 0:0\d ━"))
        shows_runs(terminal)
        held = len(peer.seen())
        terminal.wait_for("● live")
        peer.until_seen(held + 1)
        times_of = [seen.at for seen in peer.seen()]
        assert times_of[held] - times_of[held - 1] >= HOLD_S, "nothing is asked while the service wants silence"
        peer.plan(match(), Answer(429, long.json().encode(), content_type=PROBLEM_TYPE))
        terminal.wait_for("429 rate_limited · reads again in 9:")
        held = len(peer.seen())
        terminal.type("r")
        peer.until_seen(held + 1)
        terminal.wait_for("● live")
        quits(terminal)


@pytest.mark.exhaustive
@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_without_a_list_of_runs_gets_the_watch_list(tmp_path: Path, status: int) -> None:
    script = scripted()
    refusal = problem("not_found" if status == 404 else "method_not_allowed", status=status)
    script.say("GET", "/v1/executions", Said(status, refusal))
    with running_service(script) as service:
        with console(tmp_path, base_url=service.base_url) as terminal:
            says(terminal, "This service offers no list of runs.", "a adds ids")
            terminal.wait_for("● live")
            quits(terminal)
        added = Cli(tmp_path, base_url=service.base_url, api_key=KEY)("runs", "add", "ex_live", "ex_bad")
        assert added.code == 0, added.errors
        with console(tmp_path, base_url=service.base_url) as terminal:
            says(terminal, "● running ex_live", "✗ failed ex_bad", "no list of runs")
            assert "ex_done" not in terminal.screen.text
            quits(terminal)
