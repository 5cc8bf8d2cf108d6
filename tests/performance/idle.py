"""What the console costs when nothing happens: every screen, each in its own process, all at the same time.

The service has records of every kind, and none of them changes. The system tells what each process used, so many can be
measured at once. They start a few at a time and settle before measuring begins.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runwatch.view.resources.registry import RESOURCES
from tests.performance.measure import Figure
from tests.support import resources
from tests.support.builders import account
from tests.support.console import console
from tests.support.process_use import cpu_seconds
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal
from tests.tui import noon
from tests.tui.every_screen import REPORTED, SCREENS

SECONDS: Final = 60.0
AT_ONCE: Final = 4
"""How many consoles start at the same time."""

SETTLE_S: Final = 60.0
"""Seconds from the start of the last console until measuring begins: until then, ages are seconds and change often."""

START_S: Final = 120.0
LOOK_S: Final = 0.2
"""How often the terminals are read."""

TARGET: Final = 0.003

_NOTE: Final = (
    "Idle: a list that shows no change costs the list of runs, read every two seconds, whose answer is compared with"
    " what is known, and the second's tick. What each second brings happens at one moment: the process wakes two to"
    " five times a second, and each time its code is no longer in the processor's caches; the same code in a row takes"
    " a fraction. So what helps is code that does not run at all: the journal writes reads together every five seconds,"
    " and a second on Runs updates the times of live runs alone. What is left on Runs is a third reads, a quarter those"
    " times, a tenth drawing (the requests of the last minute, and when events were read), and Textual's timers and"
    " messages. Reads of plain http with h11 alone instead of httpx took a quarter off, and were not worth a second"
    " HTTP client. Recognizing an unchanged answer by its bytes would save a fiftieth. The wall reads the events of its"
    " runs every five seconds. Nothing is drawn that looks the same."
)
NO_LIMIT_RPM: Final = 1_000_000

_REPORTS: Final = {
    "/v1/usage": "usage", "/v1/eval-summary": "eval_summary", "/v1/compliance-export": "compliance_export",
}  # fmt: skip


def quiet_service() -> ScriptedService:
    """Run a service with records of every kind, on which nothing changes."""
    quota = dict(account().raw["quota"]) | {"rate_limit_rpm": NO_LIMIT_RPM}
    service = noon.service(account=account(quota=quota))
    for spec in RESOURCES:
        wire = spec.record.WIRE
        if wire is None or not wire.items or spec.kind not in resources.LISTS:
            continue
        records = [dict(record.raw) for record in resources.LISTS[spec.kind]()]
        path = re.sub(r"\{[^}]*\}", "[^/]*", wire.path)
        service.say("GET", path, Said(200, {wire.items: records} | ({"next_cursor": None} if wire.paged else {})))
    reports = {record.KIND: make for record, make in REPORTED.items()}
    for path, kind in _REPORTS.items():
        service.say("GET", path, Said(200, reports[kind]()))
    return service


@dataclass(frozen=True, slots=True)
class Idle:
    """What a screen costs while the user does nothing.

    Attributes:
        cpu: How much of a core its process uses.
        sent: Bytes a second that it writes to the terminal.
    """

    cpu: float
    sent: float


def idle(home: Path, screens: Sequence[str] = SCREENS, seconds: float = SECONDS) -> dict[str, Idle]:
    """Return what each screen costs."""
    with running_service(quiet_service()) as service, ExitStack() as stack:
        opened: dict[str, Terminal] = {}
        for name in screens:
            (home / name).mkdir(parents=True)
            opened[name] = stack.enter_context(console(home / name, "--open", name, base_url=service.base_url))
            _wait_for(list(opened.values())[:-AT_ONCE])
        _wait_for(opened.values())
        _read_on(opened, SETTLE_S)
        before, start = _used(opened), time.perf_counter()
        sent = _read_on(opened, seconds)
        taken = time.perf_counter() - start
        used = _used(opened)
        return {name: Idle((used[name] - before[name]) / taken, sent[name] / taken) for name in opened}


def _wait_for(terminals: Iterable[Terminal]) -> None:
    for terminal in terminals:
        terminal.wait_for("● live", START_S)


def _read_on(opened: dict[str, Terminal], seconds: float) -> dict[str, int]:
    """Read every terminal for this long, and return how many bytes each was sent."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(LOOK_S)
        for terminal in opened.values():
            terminal.take_in()
    sent = {name: len(terminal.raw) for name, terminal in opened.items()}
    for terminal in opened.values():
        del terminal.raw[:]
    return sent


def _used(opened: dict[str, Terminal]) -> dict[str, float]:
    return {name: cpu_seconds(terminal.process.pid) for name, terminal in opened.items()}


def figures() -> list[Figure]:
    """Measure, and judge the worst."""
    with tempfile.TemporaryDirectory() as directory:
        found = idle(Path(directory))
    worst, loudest = max(found, key=lambda name: found[name].cpu), max(found, key=lambda name: found[name].sent)
    median = statistics.median(each.cpu for each in found.values())
    return [
        Figure(f"idle for {SECONDS:.0f} s, each of {len(found)} screens: the worst, {worst}",
               f"{found[worst].cpu:.2%} of a core", "", f"≤ {TARGET:.1%}", found[worst].cpu <= TARGET, _NOTE),
        Figure("… the median", f"{median:.2%} of a core", "", f"≤ {TARGET:.1%}", median <= TARGET, _NOTE),
        Figure("… bytes written to the terminal a second, median and most",
               f"{statistics.median(each.sent for each in found.values()):.0f}, {found[loudest].sent:.0f} ({loudest})"),
    ]  # fmt: skip
