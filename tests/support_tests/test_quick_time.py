"""The quick time of consoles under test: no pause ends before the work in it, and none takes its time."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from runwatch.store.db.database import Database
from tests.tui.quick_time import quick_time, work_of_loop

HOUR_S = 3600.0


async def test_a_pause_ends_after_the_work_in_it_and_takes_no_time() -> None:
    async with quick_time():
        job = asyncio.ensure_future(asyncio.to_thread(time.sleep, 0.05))
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(HOUR_S)
        assert job.done()
        assert asyncio.get_running_loop().time() - began >= HOUR_S


async def test_a_write_that_nobody_waits_for_is_work_too(tmp_path: Path) -> None:
    async with quick_time():
        database = await asyncio.to_thread(Database.open, tmp_path / "console.db")
        done: list[bool] = []
        database.write_soon(lambda _: done.append(True))
        assert not work_of_loop().is_idle
        await asyncio.sleep(1)
        assert done == [True]
        assert work_of_loop().is_idle
        database.close()
