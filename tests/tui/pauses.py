"""Pauses of tests that end when an app has nothing to do, also on a busy machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from textual._queue import Queue
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot

QUIET_TURNS: Final = 3
"""Turns of the loop with nothing else to do before an app counts as idle."""

LONGEST_S: Final = 0.5
"""How long a pause waits for an app that always has something to do."""

_pause, _wait_for_screen = Pilot.pause, Pilot._wait_for_screen


def _waits_for_messages(pump: MessagePump) -> bool:
    """Whether a widget has handled every message it got."""
    queue: Queue[Message | None] = pump._message_queue
    return queue.empty() and bool(queue.ready_event._waiters) and not pump._next_callbacks


async def _wait_for_busy_screen(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait for the screen unless all its widgets wait for messages.

    Textual sends each of them a message even then, which takes a tenth of the time of a console's test.
    """
    app = pilot.app
    if app._screen_stack and all(map(_waits_for_messages, (app, *app.screen.walk_children(with_self=True)))):
        return True
    return await _wait_for_screen(pilot, timeout)


async def _whole_pause(pilot: Pilot[Any], delay: float | None = None) -> None:
    await _pause(pilot, delay)
    if delay is not None:
        return
    loop, end = asyncio.get_running_loop(), time.monotonic() + LONGEST_S
    # The pause ends with a layout; what follows from that, and from what came late, belongs to it.
    await pilot._wait_for_screen()
    quiet = 0
    while quiet < QUIET_TURNS and time.monotonic() < end:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1  # type: ignore[attr-defined]


@contextmanager
def whole_pauses() -> Iterator[None]:
    """Have each pause go on while the loop has something to do.

    Textual takes a process that uses little of the processor for idle, and one that gets none uses none.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pilot, "pause", _whole_pause)
        patch.setattr(Pilot, "_wait_for_screen", _wait_for_busy_screen)
        yield
