"""What the tests of the console clean up after themselves."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.tui.frames import handlers_found_once, sheets_read_once
from tests.tui.pauses import whole_pauses


@pytest.fixture(scope="session", autouse=True)
def _sheets_and_handlers_are_read_once() -> Iterator[None]:
    with sheets_read_once(), handlers_found_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def _pauses_are_whole() -> Iterator[None]:
    with whole_pauses():
        yield


@pytest.fixture(autouse=True)
def _log_ends_with_the_test() -> Iterator[None]:
    """Close the log files that a console opened, and give the package's logger back as it was."""
    logger = logging.getLogger("runwatch")
    before, level, propagates = list(logger.handlers), logger.level, logger.propagate
    yield
    for handler in [handler for handler in logger.handlers if handler not in before]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)
    logger.propagate = propagates
