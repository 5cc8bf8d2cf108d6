"""First paint on a pty against a bare Textual app, and what each library adds to it: the import bill.

The bare app draws a bar, a table's heads and a status line with Textual's plainest widget. Its time is the floor of the
framework; runwatch stands on it, and whatever is imported before the first paint is paid for in full.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.performance.measure import Figure
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal

ROUNDS = 7
TARGET_HELP = 4.0

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static(" local  write", id="bar")
        yield Static(" status  run  age")
        yield Static(" READY")
Bare().run()
"""

BILL = {
    "the records and their base": "import runwatch.records.run, runwatch.records.event, runwatch.records.receipt",
    "the client without its HTTP library": "import runwatch.api.client",
    "the store (sqlite3)": ("from runwatch.store.repositories import event_store, journal, outbox"),
    "the view": "import runwatch.view.resources.registry",
    "httpx": "import httpx",
    "pydantic with the run request": "import runwatch.records.requests",
    "starlette, uvicorn and SQLAlchemy": "import starlette.applications, uvicorn, sqlalchemy",
}
"""What is imported beside the bare app, one at a time."""


def paint_seconds(command: Sequence[str], sign: str, home: Path) -> float:
    """Seconds from the start of a program to the moment its screen shows a sign."""
    start = time.perf_counter()
    with Terminal(command, env=clean_environment(home), columns=120, rows=36) as terminal:
        terminal.wait_for(sign)
        return time.perf_counter() - start


def run_seconds(command: Sequence[str], home: Path) -> float:
    """Seconds that a program takes from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=clean_environment(home))
    return time.perf_counter() - start


def figures() -> list[Figure]:
    """Measure in turns, and judge."""
    python = [sys.executable, "-c"]
    paints: dict[str, list[float]] = {"": [], **{name: [] for name in BILL}}
    calls: dict[str, list[float]] = {"pass": [], "--help": [], "--version": []}
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        for _ in range(ROUNDS):
            paints[""].append(paint_seconds([*python, BARE], "READY", home))
            for name, imports in BILL.items():
                paints[name].append(paint_seconds([*python, f"{imports}\n{BARE}"], "READY", home))
            calls["pass"].append(run_seconds([*python, "pass"], home))
            for flag in ("--help", "--version"):
                calls[flag].append(run_seconds([sys.executable, "-m", "runwatch", flag], home))
    bare = statistics.median(paints[""])
    nothing = statistics.median(calls["pass"])
    table = [Figure("first paint, bare Textual app", f"{bare * 1000:.0f} ms", "1.00")]
    for name in BILL:
        paint = statistics.median(paints[name])
        table.append(Figure(f"… with {name} imported first", f"{paint * 1000:.0f} ms", f"{paint / bare:.2f}"))
    for flag in ("--help", "--version"):
        call = statistics.median(calls[flag])
        ratio = call / nothing
        target = f"≤ {TARGET_HELP:g} × python -c pass"
        table.append(Figure(f"runwatch {flag}", f"{call * 1000:.0f} ms", f"{ratio:.2f}", target, ratio <= TARGET_HELP))
    return table
