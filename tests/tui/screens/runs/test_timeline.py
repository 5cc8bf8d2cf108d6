"""The timeline of the run under the cursor, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import noon
from tests.tui.console import Driven, console
from tests.tui.golden import check_golden


async def on_timeline(driven: Driven) -> None:
    """Open the timeline of the live run."""
    await driven.shows("9b7e")
    await driven.select(noon.LIVE)
    await driven.press("enter", ">", ">")
    await driven.comes("rejected 0.31")
    await driven.pass_time_to(12)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_timeline_fits_its_pane(size: tuple[int, int], tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=size) as driven:
        await on_timeline(driven)
        # Alone, because the list beside it depends on which receipts are read by now.
        await driven.press("z")
        check_golden(f"{size[0]}x{size[1]}/timeline", driven.text)


@pytest.mark.exhaustive
async def test_the_bar_of_a_live_run_grows(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(80, 24)) as driven:
        await on_timeline(driven)
        await driven.shows("51 s  ● progress")
        await driven.pass_time(5)
        await driven.shows("56 s  ● progress")
