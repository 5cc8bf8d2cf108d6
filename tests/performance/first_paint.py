"""First paint on a pty against a bare Textual app, and what each library adds to it: the import bill.

The bare app draws a bar, a table's heads and a status line with Textual's plainest widget: no Textual program can start
faster. Everything that runwatch imports before its first paint comes on top.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.performance.measure import Figure
from tests.support import builders
from tests.support.environment import clean_environment
from tests.support.scripted import ScriptedService, running_service
from tests.support.terminal import Terminal

ROUNDS = 7
TARGET_HELP = 4.0
TARGET_VERB = 1.8

_VERB_NOTE = (
    "A verb: httpx is the larger half; the rest is the command line, settings, the journal (sqlite3), asyncio and"
    " the request itself, each needed for a request that can be told of later."
)

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
    "pydantic with the run request": "import runwatch.records.requests.run",
    "starlette, uvicorn and SQLAlchemy": "import starlette.applications, uvicorn, sqlalchemy",
}
"""Libraries imported into the bare app, one at a time."""


def paint_seconds(command: Sequence[str], sign: str, home: Path) -> float:
    """Return the seconds from the start of a program until its screen shows a sign."""
    start = time.perf_counter()
    with Terminal(command, env=clean_environment(home), columns=120, rows=36) as terminal:
        terminal.wait_for(sign)
        return time.perf_counter() - start


def run_seconds(command: Sequence[str], home: Path) -> float:
    """Return the seconds that a program takes from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=clean_environment(home))
    return time.perf_counter() - start


def cpu_seconds_of(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the processor time of a program from start to end, in seconds."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def _verb(home: Path) -> list[Figure]:
    """Compare a command that reads one page of a running service with the import of the HTTP library alone."""
    runs = [builders.run(f"ex_{number}", "completed") for number in range(50)]
    verb, alone = [sys.executable, "-m", "runwatch", "runs", "list"], [sys.executable, "-c", "import httpx"]
    taken: dict[str, list[float]] = {"verb": [], "alone": []}
    with running_service(ScriptedService(runs=runs)) as service:
        env = clean_environment(home, {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": "k"})
        for _ in range(2 * ROUNDS):
            taken["alone"].append(cpu_seconds_of(alone, env))
            taken["verb"].append(cpu_seconds_of(verb, env))
    httpx, call = min(taken["alone"]), min(taken["verb"])
    ratio = call / httpx
    return [
        Figure("import httpx, processor time", f"{httpx * 1000:.0f} ms", "1.00"),
        Figure("runwatch runs list, one page of a running service", f"{call * 1000:.0f} ms", f"{ratio:.2f}",
               f"≤ {TARGET_VERB:g} × import httpx", ratio <= TARGET_VERB, _VERB_NOTE),
    ]  # fmt: skip


def figures() -> list[Figure]:
    """Measure in turns, and judge."""
    python = [sys.executable, "-c"]
    paints: dict[str, list[float]] = {"": [], **{name: [] for name in BILL}}
    calls: dict[str, list[float]] = {"pass": [], "--help": [], "--version": []}
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        verb = _verb(home)
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
    return [*table, *verb]
