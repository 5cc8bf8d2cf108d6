"""The console on its own terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

KEY = "solverapi_test_console_key"


@contextmanager
def console(
    home: Path, *words: str, base_url: str = "", key: str = KEY, columns: int = 120, rows: int = 36
) -> Iterator[Terminal]:
    """``runwatch`` while the block runs.

    Args:
        home: Where its settings and data are.
        words: Its arguments.
        base_url: The service that the environment names; without one nothing is configured.
        key: The key that goes with it.
        columns: The terminal's width.
        rows: The terminal's height.
    """
    more = {"RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": key} if base_url else {}
    command = [sys.executable, "-m", "runwatch", *words]
    with Terminal(command, env=clean_environment(home, more), columns=columns, rows=rows) as terminal:
        yield terminal
