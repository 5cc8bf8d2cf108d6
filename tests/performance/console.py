"""The console's start and its keys: time to the first paint, to the first rows, and from a key to its paint.

Each figure is compared with the framework alone: a bare app that paints as much, and its plainest list.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tests.performance import keys
from tests.performance.first_paint import BARE, ROUNDS
from tests.performance.measure import Figure, find_peer
from tests.support import builders
from tests.support.environment import clean_environment
from tests.support.scripted import ScriptedService, running_service
from tests.support.terminal import Terminal

TARGET_PAINT: Final = 1.25
TARGET_ROWS: Final = 1.4
TARGET_CACHED: Final = 1.1
TARGET_DEMO: Final = 2.5

PAINTED: Final = "started"
"""A column's head, on the screen from the first paint on."""

LIVE: Final = "● live"
"""What the header says with the rows of the first answer."""

PEERS: Final = {"posting": "Send", "harlequin": "Query"}
"""Other programs made with Textual, where they are installed, each with a word of its first picture."""

_PAINT_NOTE: Final = (
    "First paint: most of what comes on top of the bare app are imports of 130 modules of the console's own, whose list"
    " a test holds; the rest is the table, four bars and their style sheets, which the bare app has not. Textual's"
    " command palette and its widgets are left out; patterns are compiled when they are used; the detail, the input of"
    " filters, notices and explanations come later; style sheets are parsed once, and styles found once."
)
_ROWS_NOTE: Final = (
    "From the start to rows: the lists of the last session are read from the database in a thread beside the first"
    " paint, and are in it. A service that is read for the first time needs the client and its HTTP library: imports"
    " are two thirds of what lies between (35 ms the client and the store, 27 httpx and httpcore, 15 anyio, with the"
    " first request); done before the first paint, they would delay that as much. The two requests, one for whose data"
    " it is, take 3 ms without it, so sending both at once gains nothing here. httpcore without"
    " httpx takes 25 ms off, and needs 75 lines of our own for proxies, certificates and headers; plain http with h11"
    " alone came near the target, and would be a second HTTP client beside the one that https needs. The service is"
    " opened as soon as the first paint is written, and the detail is made after the rows."
)
_DEMO_NOTE: Final = (
    "Demo: its service starts at the same time as the console. Half of its start are imports (SQLAlchemy alone a"
    " tenth, pydantic, uvicorn), the other half 60 runs that its own code makes, in order, before it listens: their"
    " list and its cursors follow the order of making, so the newest cannot be made first. They are one transaction."
    " Statements go to SQLite's driver as they were compiled once, JSON is read without looking for its ends, and the"
    " collector is off during imports; the console imports its client and makes its database meanwhile. Building the"
    " models of requests at their first use gains nothing, because making the runs uses them."
)


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        return [*_first_paint(home), *keys.figures(home)]


# First paint.


def _first_paint(home: Path) -> list[Figure]:
    program, bare = [sys.executable, "-m", "runwatch"], [sys.executable, "-c", BARE]
    runs = [builders.run(f"ex_{number}", "completed") for number in range(50)]
    times: dict[str, list[float]] = {"bare": [], "ours": [], "rows": [], "cached": [], "demo": []}
    peers: dict[str, list[float]] = {name: [] for name in PEERS if find_peer(name)}
    with running_service(ScriptedService(runs=runs)) as service:
        used = {"RUNWATCH_BASE_URL": service.base_url, "RUNWATCH_API_KEY": "k"}
        for turn in range(ROUNDS + 1):
            new = used | {"RUNWATCH_DATA_DIR": str(home / f"data-{turn}")}
            times["bare"].append(_paint_seconds(bare, home, {}, "READY")[0])
            paint, rows = _paint_seconds(program, home, new, PAINTED, "ex_1")
            times["ours"].append(paint)
            times["rows"].append(rows)
            times["cached"].append(_paint_seconds(program, home, new, "ex_1")[0])
            times["demo"].append(_paint_seconds([*program, "demo"], home, {}, PAINTED, LIVE)[1])
            for name in tuple(peers):
                try:
                    peers[name].append(_paint_seconds([str(find_peer(name))], home, {}, PEERS[name])[0])
                except TimeoutError as error:
                    # An installation that does not start says nothing about this program: its row is left out.
                    print(f"{name} is left out: {error}", file=sys.stderr)
                    del peers[name]
    # The first start of each reads its modules from the disk.
    floor, paint, rows, cached, demo = (statistics.median(each[1:]) for each in times.values())
    return [
        Figure("first paint, bare Textual app", f"{floor * 1000:.0f} ms", "1.00"),
        _figure("first paint, the console: context bar, column heads, status line", paint, floor, TARGET_PAINT,
                "a bare app", _PAINT_NOTE),
        *(_peer(name, taken, floor) for name, taken in peers.items()),
        _figure("from the start to rows, of a service that runs", rows, paint, TARGET_ROWS, "the first paint",
                _ROWS_NOTE),
        _figure("… of the lists of the last session", cached, paint, TARGET_CACHED, "the first paint", _ROWS_NOTE),
        _figure("from the start of the demo to rows", demo, paint, TARGET_DEMO, "the first paint", _DEMO_NOTE),
    ]  # fmt: skip


def _figure(what: str, taken: float, beside: float, target: float, than: str, note: str) -> Figure:
    ratio = taken / beside
    return Figure(what, f"{taken * 1000:.0f} ms", f"{ratio:.2f}", f"≤ {target:g} × {than}", ratio <= target, note)


def _peer(name: str, taken: Sequence[float], beside: float) -> Figure:
    paint = statistics.median(taken[1:])
    return Figure(f"first paint, {name}", f"{paint * 1000:.0f} ms", f"{paint / beside:.2f}")


def _paint_seconds(command: Sequence[str], home: Path, more: Mapping[str, str], *signs: str) -> list[float]:
    """Return the seconds from the start of a program until each sign in turn is painted."""
    start, taken = time.perf_counter(), []
    with Terminal(command, env=clean_environment(home, more), columns=120, rows=36, cwd=home) as terminal:
        for sign in signs:
            terminal.wait_until(partial(terminal.raw.__contains__, sign.encode()), f"the sign {sign}")
            taken.append(time.perf_counter() - start)
        # Quit properly: lists are cached then, and the demo's service ends too.
        terminal.process.terminate()
        terminal.process.wait()
        return taken
