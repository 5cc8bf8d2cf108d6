"""A pause of a test of the console ends when the app has nothing to do, however little of the processor it got."""

from __future__ import annotations

import asyncio

import pytest
from textual import _wait
from textual.app import App

from tests.tui.pauses import whole_pauses

STEPS = 200


class Stepping(App[None]):
    """An app that does one thing in each turn of the loop."""

    done = 0

    def step(self) -> None:
        self.done += 1
        if self.done < STEPS:
            asyncio.get_running_loop().call_soon(self.step)


class Waiting(App[None]):
    """An app that handles a message only after a pause of its own."""

    is_done = False

    async def work(self) -> None:
        await asyncio.sleep(0.01)
        self.is_done = True


async def test_a_pause_waits_for_a_message_that_is_being_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wait, "process_time", lambda: 0.0)
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 0.0)
    with whole_pauses():
        async with Waiting().run_test() as pilot:
            app = pilot.app
            assert isinstance(app, Waiting)
            app.call_later(app.work)
            await asyncio.sleep(0)
            await pilot.pause()
            assert app.is_done


async def test_a_pause_waits_for_what_a_process_without_a_processor_has_not_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_wait, "process_time", lambda: 0.0)
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 0.0)
    with whole_pauses():
        async with Stepping().run_test() as pilot:
            app = pilot.app
            assert isinstance(app, Stepping)
            app.step()
            await pilot.pause()
            assert app.done == STEPS
