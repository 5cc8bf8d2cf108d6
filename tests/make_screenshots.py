"""Makes the pictures of the running console: ``python -m tests.make_screenshots [NAME…]``.

Those of :data:`NOON` show the same noon (:mod:`tests.tui.noon`) on a stopped clock, so that two runs of this
script differ in nothing but the console. Those of :data:`SAMPLE` show every other screen on the sample organization of
a real local service, whose ids and times differ from run to run. ``web.png`` is made by
:mod:`tests.end_to_end.test_console_in_browser`.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from json import dumps, loads
from pathlib import Path
from typing import Any, Final

from textual.pilot import Pilot

from runwatch.settings import local_service
from runwatch.settings.resolver import SettingOptions
from runwatch.settings.temporary_service import IDLE_EXIT_S, temporary_paths
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.table.rows import RecordRow
from tests.support import resources
from tests.support.builders import account
from tests.support.scripted import Said
from tests.tui import noon
from tests.tui.console import Driven, console
from tests.tui.samples import NOON as NOON_TIME

SCREENSHOTS: Final = Path(__file__).resolve().parents[1] / "screenshots"
SIZE: Final = (120, 36)

_UNIQUE: Final = re.compile(r"terminal-\d+")
_RATE: Final = re.compile(r"\d+/min&#160;of&#160;60&#160;left&#160;\d+")
_LEFT: Final = re.compile(r"within&#160;\d+&#160;requests")
_PORT: Final = re.compile(r"127\.0\.0\.1:\d{5}")


async def _select(driven: Driven, run_id: str) -> None:
    await driven.select(run_id)
    screen: Any = driven.app.screen
    await driven.until(lambda: screen._shown == run_id, "the detail to follow")
    await driven.settle()


async def _runs(driven: Driven) -> None:
    await _select(driven, noon.LIVE)


async def _receipt(driven: Driven) -> None:
    await _select(driven, noon.DONE)
    await driven.reaches("Receipts hold neither prompt nor output", "enter", ">", ">", ">", ">", ">")


async def _timeline(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches("rejected 0.31", "enter", ">", ">")


async def _replay(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches("REPLAY", "m")
    await driven.reaches("event 6 of 8", "home", *("right",) * 5)


async def _wall(driven: Driven) -> None:
    await driven.press(*("space",) * 9, "asterisk")
    for _ in range(20):
        await driven.pass_time(1)
    await driven.hides("reading its events")


async def _split(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.press("|", *"{{{")
    await driven.settle()


async def _jump(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches("type the letters of a label", ";")


async def _pins(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches("1 run 8f21", "b")
    await _select(driven, noon.DONE)
    await driven.reaches("2 run 3fd2", "b")
    await driven.press("/", *"is:problem", "enter")
    await driven.hides("8f21c0aa")
    await driven.reaches("Pin", "b")
    await driven.reaches("3 runs is:problem", "down", "enter")
    run = next(run for run in driven.service.runs if run["execution_id"] == noon.LIVE)
    run.update(status="failed", reason="fallback_exhausted", completed_at=noon.at(0))
    await driven.comes("1 ± run 8f21", 60)
    await driven.press("B")
    await driven.settle()


async def _notice(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches("1 run 8f21", "b")
    run = next(run for run in driven.service.runs if run["execution_id"] == noon.LIVE)
    run.update(status="failed", reason="fallback_exhausted", completed_at=noon.at(0))
    await driven.comes("has ended", 60)
    await driven.settle()


async def _undo(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.press("/", *"is:live", "enter")
    await driven.hides("3fd2")
    await driven.reaches("is cleared again", "backspace")
    await driven.settle()


async def _own_command(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.reaches('"max_runtime_s": 60', "f7")


async def _selection(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    table = driven.table
    await driven.pilot.mouse_down(table, offset=(15, 2))
    await driven.pilot.hover(table, offset=(40, 4))
    await driven.pilot.mouse_up(table, offset=(50, 4))
    await driven.shows("copies the selected text")


def _month_of_usage() -> dict[str, Any]:
    """What was used in 30 days, by three keys."""
    days = [(NOON_TIME.date() - timedelta(days=29 - number)).isoformat() for number in range(30)]
    shares = {"ci": (7, 3), "support": (5, 4), "nightly": (11, 2)}
    spent = {
        key: [Decimal((number * factor) % 13 + least) / 10 for number in range(30)]
        for key, (factor, least) in shares.items()
    }
    whole = [sum(values, Decimal(0)) for values in zip(*spent.values(), strict=True)]
    keys = [
        {"api_key_id": key, "executions": 300, "usd": sum(values), "by_day": [
            {"date": day, "usd": usd} for day, usd in zip(days, values, strict=True)
        ]}
        for key, values in spent.items()
    ]  # fmt: skip
    by_day = [{"date": day, "executions": 30, "usd": usd} for day, usd in zip(days, whole, strict=True)]
    report = resources.usage(by_day=by_day, by_key=keys, period={"from": days[0], "to": days[-1]})
    return dict(loads(dumps(report.raw, default=float)))


async def _plot(driven: Driven) -> None:
    driven.service.say("GET", "/v1/usage", Said(200, _month_of_usage()))
    await driven.press("U", ">", "z")
    await driven.comes("not grouped")
    await driven.click_text("not grouped")
    await driven.press("s", *("right",) * 9)
    await driven.settle()


async def _form(driven: Driven) -> None:
    await driven.reaches("Request, exactly as sent", "+")
    await driven.press(*"Say hello")
    await driven.settle()


async def _cancel(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.opens(ConfirmDialog, "space", "space", "X")
    await driven.settle()


async def _help(driven: Driven) -> None:
    await driven.reaches("Symbols, filters, files", "?")


async def _command(driven: Driven) -> None:
    await driven.press(":")
    await driven.press(*"re")
    await driven.settle()


NOON: Final[dict[str, Callable[[Driven], Awaitable[None]]]] = {
    "runs": _runs, "timeline": _timeline, "replay": _replay, "wall": _wall, "split": _split, "jump": _jump,
    "pins": _pins, "notice": _notice, "undo": _undo, "own-command": _own_command, "selection": _selection,
    "plot": _plot, "receipt": _receipt, "run-form": _form, "cancel": _cancel, "help": _help, "command-line": _command,
}  # fmt: skip


SETTINGS: Final = {
    "notice": "notice = true\n",
    "own-command": """
[commands.policy]
run = ["jq", "--sort-keys", ".policy"]
key = "f7"
input = "json"
output = "pane"
""",
}
"""The settings file of a picture of :data:`NOON`, where it has one."""

SAMPLE: Final = (
    "overview", "receipts", "models", "arms", "verifiers", "templates", "agents", "credentials", "github", "sources",
    "proposals", "keys", "webhooks", "usage", "compliance", "problems", "requests", "settings",
)  # fmt: skip
"""Screens by name, each of which is its own picture."""

SELECTED: Final = {"receipts": "failed", "templates": "blocked"}
"""The text of the row to put the cursor on, if not the first."""


def stable(svg: str) -> str:
    """The picture without what differs from one run of this script to the next."""
    svg = _UNIQUE.sub("terminal-0", svg)
    svg = _PORT.sub("127.0.0.1:40213", svg)
    svg = _LEFT.sub("within&#160;42&#160;requests", svg)
    return _RATE.sub("18/min&#160;of&#160;60&#160;left&#160;42", svg)


def _write(app: ConsoleApp, name: str) -> None:
    svg = stable(app.export_screenshot(title="runwatch"))
    (SCREENSHOTS / f"{name}.svg").write_text(svg, "utf-8")


async def make_noon(name: str) -> None:
    """Make one picture of :data:`NOON`."""
    with tempfile.TemporaryDirectory() as home:
        async with console(
            noon.service(account=account()), Path(home), size=SIZE, settings=SETTINGS.get(name, "")
        ) as driven:
            await driven.shows("77ab")
            await NOON[name](driven)
            _write(driven.app, name)


async def make_samples(names: Sequence[str]) -> None:
    """Make pictures of :data:`SAMPLE`, all on one local service."""
    with temporary_paths() as paths:
        start = partial(
            local_service.ensure_running, settings_file=paths.settings_file, idle_exit_s=IDLE_EXIT_S,
            more=("--sample", "--sample-runs", "60"),
        )  # fmt: skip
        app = ConsoleApp(LaunchOptions(paths, {}, SettingOptions(local=True), start_local=start))
        async with app.run_test(size=SIZE) as pilot:
            await _until(lambda: app.session is not None, pilot)
            await _look_around(app, pilot)
            for name in names:
                await app.go_to(name)
                await _until(lambda: _is_full(app), pilot)
                _choose(app, SELECTED.get(name, ""))
                await _rest(pilot)
                _write(app, name)


async def _look_around(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """See every list once and meet a problem, so that the screens of this machine's own journal have something."""
    for name in ("receipts", "arms", "verifiers", "sources", "templates"):
        await app.go_to(name)
        await _until(lambda: _is_full(app), pilot)
    await app.open_record("run", "ex_of_another_service")
    await _rest(pilot)
    # The notice about it stays above the hints until the user hides it.
    await pilot.press("escape")


def _is_full(app: ConsoleApp) -> bool:
    screen = app.screen
    return not isinstance(screen, ListScreen) or bool(screen.table.rows) or screen.spec.name in {"github", "webhooks"}


def _choose(app: ConsoleApp, word: str) -> None:
    screen = app.screen
    if isinstance(screen, ListScreen) and word:
        for row in screen.table.rows:
            if isinstance(row, RecordRow) and any(
                word in str(row.value(column.id) or "") for column in screen.spec.columns
            ):
                screen.table.select(row.key)
                return


async def _rest(pilot: Pilot[None]) -> None:
    """Let what was asked for come and be drawn: nothing tells when a screen is complete."""
    for _ in range(12):
        await pilot.pause(0.1)


async def _until(condition: Callable[[], bool], pilot: Pilot[None]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await pilot.pause(0.05)


def main() -> None:
    """Make the named pictures, or all."""
    SCREENSHOTS.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or [*NOON, *SAMPLE]
    for name in wanted:
        if name in NOON:
            asyncio.run(make_noon(name))
    samples = [name for name in wanted if name in SAMPLE]
    if samples:
        asyncio.run(make_samples(samples))


if __name__ == "__main__":
    main()
