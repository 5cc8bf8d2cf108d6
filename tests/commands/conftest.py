"""What the tests of the commands share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.here import Here
from tests.support.builders import account, echo_events, echo_receipt, ended_receipt, live_receipt, open_run, run
from tests.support.builders import result as result_of
from tests.support.scripted import ScriptedService, running_service

ECHO, LIVE, FAILED, RUNNING = "ex_echo", "ex_live", "ex_failed", "ex_running"


@pytest.fixture
def runwatch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Here]:
    """The command line, with nothing configured; the log that its commands open is closed again."""
    logger = logging.getLogger("runwatch")
    before = (list(logger.handlers), logger.level, logger.propagate)
    yield Here(monkeypatch, tmp_path)
    for handler in [handler for handler in logger.handlers if handler not in before[0]]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(before[1])
    logger.propagate = before[2]


@pytest.fixture
def service(runwatch: Here) -> Iterator[ScriptedService]:
    """A service with a run of every kind, which the command line calls."""
    script = ScriptedService(
        runs=[
            run(RUNNING, "running"),
            open_run(ECHO, "completed", mode="echo"),
            open_run(LIVE, "completed", mode="live"),
            open_run(FAILED, "failed", mode="live"),
        ],
        events={ECHO: echo_events(ECHO), LIVE: echo_events(LIVE), FAILED: echo_events(FAILED, final="failed")},
        receipts=[echo_receipt(ECHO), live_receipt(LIVE), ended_receipt("failed", execution_id=FAILED)],
        results={LIVE: result_of(LIVE)}, account=account(),
    )  # fmt: skip
    with running_service(script) as running:
        runwatch.use(running.base_url)
        yield running
