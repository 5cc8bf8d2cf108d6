"""Makes the pictures of the running console: ``python -m tests.make_screenshots``.

Every picture shows the same noon (:mod:`tests.tui.noon`) on a clock that stands still, so that two runs of this script
differ in nothing but the console.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from runwatch.tui.widgets.sheet import Sheet
from tests.tui import noon
from tests.tui.console import Driven, console

SCREENSHOTS: Final = Path(__file__).resolve().parents[1] / "screenshots"
SIZE: Final = (120, 36)

_UNIQUE: Final = re.compile(r"terminal-\d+")
_RATE: Final = re.compile(r"\d+/min&#160;of&#160;60&#160;left&#160;\d+")
_LEFT: Final = re.compile(r"within&#160;\d+&#160;requests")
_PORT: Final = re.compile(r"127\.0\.0\.1:\d{5}")


async def _select(driven: Driven, run_id: str) -> None:
    driven.table.select(run_id)
    screen: Any = driven.app.screen
    await driven.until(lambda: screen._shown == run_id, "the detail to follow")
    await driven.settle()


async def _runs(driven: Driven) -> None:
    await _select(driven, noon.LIVE)


async def _receipt(driven: Driven) -> None:
    await _select(driven, noon.DONE)
    await driven.press("enter", ">", ">", ">", ">")
    await driven.shows("Receipts hold neither prompt nor output")


async def _form(driven: Driven) -> None:
    await driven.press("+")
    await driven.shows("Request, exactly as sent")
    await driven.press(*"Say hello")
    await driven.settle()


async def _cancel(driven: Driven) -> None:
    await _select(driven, noon.LIVE)
    await driven.press("space", "space", "X")
    await driven.until(lambda: isinstance(driven.app.screen, Sheet), "the sheet")
    await driven.settle()


async def _help(driven: Driven) -> None:
    await driven.press("?")
    await driven.shows("Signs, filters, places")


async def _command(driven: Driven) -> None:
    await driven.press(":")
    await driven.press(*"re")
    await driven.settle()


PICTURES: Final[dict[str, Callable[[Driven], Awaitable[None]]]] = {
    "runs": _runs,
    "receipt": _receipt,
    "run-form": _form,
    "cancel": _cancel,
    "help": _help,
    "command-line": _command,
}


def stable(svg: str) -> str:
    """The picture without what differs from one run of this script to the next."""
    svg = _UNIQUE.sub("terminal-0", svg)
    svg = _PORT.sub("127.0.0.1:40213", svg)
    svg = _LEFT.sub("within&#160;42&#160;requests", svg)
    return _RATE.sub("18/min&#160;of&#160;60&#160;left&#160;42", svg)


async def make(name: str) -> None:
    """Make one picture."""
    with tempfile.TemporaryDirectory() as home:
        async with console(noon.service(), Path(home), size=SIZE) as driven:
            await driven.shows("77ab…02d1")
            await PICTURES[name](driven)
            (SCREENSHOTS / f"{name}.svg").write_text(stable(driven.app.export_screenshot(title="runwatch")), "utf-8")


def main() -> None:
    """Make all pictures."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for name in PICTURES:
        asyncio.run(make(name))


if __name__ == "__main__":
    main()
