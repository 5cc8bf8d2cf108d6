"""Ways to look back from any screen: around a moment, and a problem with everything around it as a bundle."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from runwatch.base.clock import iso
from runwatch.settings.session import View
from runwatch.tui.screens.base import RowScreen
from runwatch.tui.work import start_work
from runwatch.view.entries import ProblemEntry

if TYPE_CHECKING:
    from runwatch.tui.console import Console
    from runwatch.view.happenings import Happening

AROUND: Final = "around"
"""The name of the screen around a moment."""

_MOMENTS: Final = ("time", "completed_at", "last", "created_at", "at")
"""Members of a record that say when it happened, the best of them first."""


def look_around_row(console: Console) -> None:
    """Look around the moment of the row under the cursor; where there is none, ask for one."""
    moment = _moment_of(console)
    question = "" if moment is None else iso(moment)
    # Later, because a screen cannot wait for its own end.
    console.call_later(console.go_to_view, View(AROUND, filter=question))


async def look_around(console: Console, question: str) -> None:
    """Look around a moment that was typed, with what may stand behind it."""
    await console.go_to_view(View(AROUND, filter=question.strip()))


def write_bundle(screen: RowScreen, entry: ProblemEntry) -> None:
    """Write the support bundle of a problem into the folder of exports, and say where it is."""

    async def write() -> None:
        from runwatch.tui.exporting import write_export
        from runwatch.view.bundle import bundle, bundle_bytes, bundle_name

        console = screen.console
        near = await _near(console, entry)
        settings = [
            {"key": item.key, "value": item.value, "source": str(item.source)} for item in console.resolver.values()
        ]
        now = console.clock.now()
        content = bundle(entry, near, made_at=now, settings=settings)
        path = console.opening.paths.exports_dir / bundle_name(entry, now)
        write_export(screen, path, [bundle_bytes(content)], "support bundle")

    start_work(screen, write(), "support bundle", group="bundle", exclusive=True)


async def _near(console: Console, entry: ProblemEntry) -> list[Happening]:
    """What happened around a problem on this machine; nothing of a file, which has no journal."""
    if console.desk is None or entry.time is None:
        return []
    from runwatch.store.lookback import look_around as look
    from runwatch.view.around import Around
    from runwatch.view.happenings import happenings

    around = Around((entry.time,))
    return happenings(around, await look(console.desk.journal, around.windows))


def _moment_of(console: Console) -> datetime | None:
    screen = console.screen
    row = screen.row if isinstance(screen, RowScreen) else None
    if row is None:
        return None
    for name in _MOMENTS:
        moment = getattr(row.item, name, None)
        if isinstance(moment, datetime):
            return moment
    return None
