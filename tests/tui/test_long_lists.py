"""A list that is longer than its polled part goes on at its end."""

from __future__ import annotations

from pathlib import Path

from tests.support.builders import account, run
from tests.support.scripted import ScriptedService
from tests.tui.console import console
from tests.tui.noon import at


async def test_the_end_of_the_list_reads_the_next_page_until_nothing_follows(tmp_path: Path) -> None:
    runs = [run(f"ex_{number:04}", "completed", created_at=at(60 + number)) for number in range(250)]
    async with console(ScriptedService(runs=runs, account=account()), tmp_path, open_at="runs") as driven:
        await driven.shows("100+")
        await driven.press("G")
        await driven.comes("200+")
        await driven.press("G")
        await driven.comes("executions   250 ")
        await driven.press("G")
        await driven.shows("▸ ✓ completed  ex_0249")
