"""The canaries of ``test_canaries`` in the console: on every screen and its picture, in the list of processes, and in
all that is left when it ends in the worst way while a private page is named."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end.test_canaries import ADDRESS, KEY, TOKEN, assert_unkept, assert_unseen, careless_service
from tests.support import resources
from tests.support.builders import RUN_ID
from tests.support.environment import clean_environment
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal
from tests.tui.console import console
from tests.tui.every_screen import SCREENS
from tests.tui.flows.test_private_page import ask_for_page

ROOT: Final = Path(__file__).resolve().parents[2]
ENDS: Final = {
    # What this signal is to the console of the tests alone.
    "an exception": signal.SIGUSR1,
    "SIGKILL": signal.SIGKILL,
    "SIGQUIT": signal.SIGQUIT,
    "SIGHUP": signal.SIGHUP,
}


def careless() -> ScriptedService:
    """The careless service, with a list of output checks too."""
    made = careless_service()
    made.say("GET", "/v1/verifiers", Said(200, {"verifiers": [dict(resources.verifier().raw)]}))
    return made


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with running_service(careless()) as running:
        yield running


@pytest.mark.exhaustive
async def test_no_picture_of_any_screen_holds_the_key_or_an_address_that_was_told_once(tmp_path: Path) -> None:
    environment = {"RUNWATCH_API_KEY": KEY}
    async with console(careless(), tmp_path, size=(160, 40), open_at="verifiers", environment=environment) as driven:
        await ask_for_page(driven)
        await driven.shows(ADDRESS)
        await driven.press("escape")
        await driven.settle()
        pictures = 0
        for name in SCREENS:
            await driven.app.go_to(name)
            await driven.settle()
            for _ in range(2):
                picture = driven.app.export_screenshot()
                assert "●&#160;live" in picture, "the picture shows the screen"
                assert_unseen(picture.encode(), name)
                assert_unseen(repr(driven.app.screen).encode(), name)
                pictures += 1
                # The second one shows the record under the cursor raw, where the screen has one.
                await driven.press("v")
                await driven.settle()
        assert pictures == 2 * len(SCREENS)
    assert_unkept(tmp_path)


def open_page(terminal: Terminal) -> None:
    """Ask for the private page of the check's key."""
    terminal.wait_for("vrf_7c1e")
    terminal.type(".", until="Connect")
    terminal.press("down", "down", "enter")
    # The request is checked once it is shown, and only then goes on.
    terminal.wait_for('"kind": "no_expiration"')
    terminal.press("tab", "tab", "tab", "tab", "enter", until="Ask for the page")
    terminal.press("tab", "enter", until=TOKEN)


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_whatever_ends_the_console_while_a_private_page_is_named_leaves_no_trace_of_it(
    service: ScriptedService, tmp_path: Path, end: signal.Signals
) -> None:
    variables = {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": KEY}
    command = [sys.executable, "-m", "tests.tui.console_victim"]
    with Terminal(command, env=clean_environment(tmp_path, variables), columns=160, rows=40, cwd=ROOT) as terminal:
        terminal.wait_for(RUN_ID[-4:])
        terminal.type("5")
        open_page(terminal)
        arguments = subprocess.run(["ps", "-axww", "-o", "args="], capture_output=True, check=True).stdout
        assert b"tests.tui.console_victim" in arguments
        assert_unseen(arguments, "the arguments of processes")
        assert KEY.encode() not in terminal.raw
        terminal.signal(end)
        assert terminal.wait_exit() != 0
        assert KEY.encode() not in terminal.raw
        assert TOKEN not in terminal.screen.text or end is signal.SIGKILL
    assert_unkept(tmp_path)
