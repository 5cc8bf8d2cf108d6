"""Time of an event loop that goes by only when nothing is left to do, and then at once.

A console waits for timers: to gather changes, to draw, to rest after a key. Under a test their time is not that of the
machine: it stands still as long as the loop or a thread is busy, goes by as on a wall while a request or a program is
under way, and jumps to the next timer when there is nothing else to wait for. So a pause ends when everything that is
due in it has been done, however slow the machine is, and no machine waits.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import pytest
from textual import _time, app, pilot
from textual.app import App

from tests.support.real_work import RealWork, real_work

PAUSE_S: Final = 0.02
"""How long a pause is on the loop's clock: everything that is due by then has been done when it ends."""

STUCK_S: Final = 1.0
"""How long threads may be busy until time goes by nevertheless, because a thread may wait for the loop."""


class _Jumping:
    """A selector that does not wait for timers.

    Args:
        selector: The loop's own one.
        loop: The loop.
        work: What threads and requests are doing.
    """

    def __init__(self, selector: selectors.BaseSelector, loop: asyncio.AbstractEventLoop, work: RealWork) -> None:
        self._selector = selector
        self.work = work
        self.now = loop.time()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._selector, name)

    def time(self) -> float:
        """Seconds of the loop's clock."""
        return self.now

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; when nothing is and nothing is busy, let the time until the next timer go by."""
        if timeout is None or timeout <= 0:
            return self._selector.select(timeout)
        ready = self._selector.select(0)
        while not ready and self.work.threads and self.work.quiet_s < STUCK_S:
            ready = self._selector.select(STUCK_S)
        if ready:
            return ready
        if self.work.programs or not self.work.is_idle:
            began = time.monotonic()
            ready = self._selector.select(timeout)
            timeout = min(timeout, time.monotonic() - began) if ready else timeout
        self.now += timeout
        return ready


async def _pause(*_: float) -> None:
    await asyncio.sleep(PAUSE_S)


async def _all_have_heard(_: pilot.Pilot[Any], timeout: float = 0.0) -> bool:
    """Wait for every widget, without a message to each: time goes by when none has one."""
    await asyncio.sleep(PAUSE_S)
    return True


def work_of_loop() -> RealWork:
    """What is under way on the running loop; nothing is counted where its time is that of the machine."""
    selector = getattr(asyncio.get_running_loop(), "_selector", None)
    return selector.work if isinstance(selector, _Jumping) else RealWork()


@asynccontextmanager
async def quick_time() -> AsyncIterator[None]:
    """Let the running loop and Textual live in such a time."""
    loop: Any = asyncio.get_running_loop()
    if isinstance(loop._selector, _Jumping):
        yield
        return
    async with real_work() as work:
        jumping = _Jumping(loop._selector, loop, work)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "_selector", jumping)
            loop.time = jumping.time
            patch.setattr(_time, "get_time", jumping.time)
            patch.setattr(app, "wait_for_idle", _pause)
            patch.setattr(pilot, "wait_for_idle", _pause)
            patch.setattr(pilot.Pilot, "_wait_for_screen", _all_have_heard)
            try:
                yield
            finally:
                # What is scheduled still counts from there.
                ahead = jumping.now - time.monotonic()
                loop.time = lambda: time.monotonic() + ahead


@contextmanager
def apps_in_quick_time() -> Iterator[None]:
    """Give every app under test such a time."""
    run_test = App.run_test

    @asynccontextmanager
    async def quick_run_test(self: App[Any], **given: Any) -> AsyncIterator[pilot.Pilot[Any]]:
        async with quick_time(), run_test(self, **given) as one:
            yield one

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(App, "run_test", quick_run_test)
        yield
