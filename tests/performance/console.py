"""The console before anybody has waited for it: its first paint, and a key until it is painted.

Each figure stands beside what the framework alone needs for the like: a bare app that paints as much, its plainest
list.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.performance import keys
from tests.performance.first_paint import BARE, ROUNDS
from tests.performance.measure import Figure
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

TARGET_PAINT: Final = 1.5


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        # Both sides run from compiled modules, as they do where they are installed.
        os.environ["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        return [*_first_paint(home), *keys.figures(home)]


# First paint.


def _first_paint(home: Path) -> list[Figure]:
    nobody = {"RUNWATCH_BASE_URL": "http://127.0.0.1:9", "RUNWATCH_API_KEY": "k"}
    ours, bare = [sys.executable, "-m", "runwatch"], [sys.executable, "-c", BARE]
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS + 1):
        times["bare"].append(_paint_seconds(bare, home, {}, "READY"))
        times["ours"].append(_paint_seconds(ours, home, nobody, "opening", "started", "help"))
    # The first of each has compiled its modules.
    floor, paint = (statistics.median(times[who][1:]) for who in ("bare", "ours"))
    ratio = paint / floor
    return [
        Figure("first paint, bare Textual app", f"{floor * 1000:.0f} ms", "1.00"),
        Figure("first paint, the console: context bar, column heads, status line", f"{paint * 1000:.0f} ms",
               f"{ratio:.2f}", f"≤ {TARGET_PAINT:g} × a bare app", ratio <= TARGET_PAINT),
    ]  # fmt: skip


def _paint_seconds(command: Sequence[str], home: Path, more: Mapping[str, str], *signs: str) -> float:
    wanted = [sign.encode() for sign in signs]
    start = time.perf_counter()
    with Terminal(command, env=clean_environment(home, more), columns=120, rows=36) as terminal:
        terminal.wait_until(lambda: all(sign in terminal.raw for sign in wanted), "the first paint")
        return time.perf_counter() - start
