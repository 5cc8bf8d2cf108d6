"""README's first command in a terminal: the console opens, runs move, and what was started for it goes or stays."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from runwatch.base.network.service_file import ServiceFile, is_running, read_service_file
from runwatch.settings import local_service
from tests.support.console import console
from tests.support.terminal import Terminal

MOVING = 60.0
"""Seconds that a wait for slow runs may take on a busy machine."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose local service, if one runs at the end, is stopped."""
    yield tmp_path
    local_service.stop_running(tmp_path / "runwatch-data" / "local-service")


@pytest.mark.exhaustive
def test_with_nothing_configured_the_console_opens_and_runs_a_test_run_to_its_receipt(home: Path) -> None:
    with console(home) as terminal:
        terminal.wait_for("No service is configured")
        terminal.wait_for("No runs yet.")
        terminal.type("+", until="New run")
        # The rules are loaded once they are seen to hold.
        terminal.paste("x" * 4001)
        terminal.wait_for(re.compile("✗ .*4000"))
        terminal.press("ctrl+u", until='"objective": ""')
        terminal.type("Say hello.", until='"objective": "Say hello."')
        terminal.wait_gone(re.compile("✗ .*4000"))
        terminal.click_until("Start…", re.compile(r'Starts a test run[^$]*"objective": "Say[^$]*Start the run'))
        terminal.click_until("Start the run", "done")
        terminal.wait_for("✓ completed")
        terminal.wait_for(re.compile(r"lifecycle +✓ completed"))
        terminal.type(">>>>>", until="neither prompt nor output")
        terminal.press("esc", until="┏━ Runs")
        terminal.type("qq")
        assert terminal.wait_exit() == 0
        assert terminal.flags == terminal.flags_before
    assert is_running(home / "runwatch-data" / "local-service"), "the service outlives the console"


@contextmanager
def demo(home: Path) -> Iterator[Terminal]:
    """``runwatch demo`` on a terminal, with its temporary files in the home, once runs are there."""
    temporary = home / "tmp"
    temporary.mkdir()
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    try:
        with console(home, "demo") as terminal:
            terminal.wait_for("This is the demo")
            terminal.wait_for(re.compile(r"✓ completed"), MOVING)
            yield terminal
    finally:
        del os.environ["TMPDIR"]
        if before is not None:
            os.environ["TMPDIR"] = before


def service_of(home: Path) -> ServiceFile:
    (place,) = (home / "tmp").iterdir()
    written = read_service_file(place / "local-service")
    assert written is not None
    assert answers(written)
    return written


def answers(service: ServiceFile) -> bool:
    """Whether the service still accepts connections."""
    address = urlsplit(service.base_url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=5).close()
    except OSError:
        return False
    return True


@pytest.mark.exhaustive
def test_the_demo_moves_runs_by_itself_and_leaves_nothing_behind(home: Path) -> None:
    with demo(home) as terminal:
        service = service_of(home)
        terminal.wait_for(re.compile(r"● (accepted|queued|running)"), MOVING)
        terminal.wait_for(re.compile(r"✗ failed|⊘ cancelled|◷ expired"), MOVING)
        terminal.type("3")
        terminal.wait_for("sample/ember-small", MOVING)
        terminal.type("6")
        terminal.wait_for("connection_test_required", MOVING)
        terminal.type("[", until="━ Models ")
        terminal.type("[", until="━ Runs ")
        terminal.type("qq")
        assert terminal.wait_exit() == 0
        assert terminal.flags == terminal.flags_before
    assert not answers(service)
    assert list((home / "tmp").iterdir()) == []
    assert not (home / "runwatch-data").exists(), "nothing of the person's own is touched"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGQUIT, 131)]
)
def test_a_demo_that_is_ended_by_a_signal_leaves_nothing_behind_either(
    home: Path, number: signal.Signals, code: int
) -> None:
    with demo(home) as terminal:
        service = service_of(home)
        terminal.signal(number)
        assert terminal.wait_exit() == code
        assert b"Traceback" not in terminal.raw
        assert b"Warning" not in terminal.raw
    assert not answers(service)
    assert list((home / "tmp").iterdir()) == []


@pytest.mark.exhaustive
def test_a_closed_terminal_ends_the_demo_with_everything_it_made(home: Path) -> None:
    with demo(home) as terminal:
        service = service_of(home)
        terminal.hang_up()
        assert terminal.wait_exit() == 129
    assert not answers(service)
    assert list((home / "tmp").iterdir()) == []
