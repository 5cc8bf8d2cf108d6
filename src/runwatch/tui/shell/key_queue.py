"""What is typed, one key after the other: each is given to the widgets once the one before has done all that it does.

The framework hands keys on as they come, and what a key opens has the focus only some messages later. Of keys that come
in a burst, those behind it would go to the list below, where letters are commands.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

MAX_WAIT_S: Final = 1.0
"""The longest that a key waits for the one before: a widget that is gone never tells that it has taken its own."""

MAX_ROUNDS: Final = 4
"""How often the queues are gone through behind a key: a widget tells its pane, the pane its screen, and that moves the
focus."""

_INTERRUPT: Final = "ctrl+c"


@dataclass(eq=False)
class KeyHandled(Message, bubble=True, verbose=True):
    """Follows a key from queue to queue, and so tells the app when everybody has seen it.

    Attributes:
        turn: Which key it follows.
        rounds: How often it goes round again.
    """

    turn: int
    rounds: int = MAX_ROUNDS


class KeyQueue:
    """The line that keys and pastes wait in.

    Args:
        app: Whose keys they are.
        hand_on: Gives an event to the widgets, as the framework does.
    """

    def __init__(self, app: App[Any], hand_on: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app: Final = app
        self._hand_on: Final = hand_on
        self._line: Final[deque[events.Event]] = deque()
        self._holders: Final[set[object]] = {self}
        self._turn = 0
        self._is_out = False
        self._deadline: asyncio.TimerHandle | None = None

    async def begin(self) -> None:
        """There is a screen now; until then everything that the user does waits for it."""
        await self._let_go(self)

    async def take(self, event: events.Event) -> None:
        """Give an event its turn. Only keys and pastes wait for each other, and an interruption waits for nothing."""
        has_begun = self not in self._holders
        waits = isinstance(event, events.Key | events.Paste)
        if has_begun and (not waits or (isinstance(event, events.Key) and event.key == _INTERRUPT)):
            await self._hand_on(event)
            return
        self._line.append(event)
        await self._next()

    def pause_for(self, opening: object) -> None:
        """Something opens that takes the keyboard: what is typed from now on is for it."""
        self._holders.add(opening)
        self._expect(self._turn)

    def resume_for(self, opening: object) -> None:
        """It stands, or is gone again; harmless when nothing was held for it."""
        self._app.call_later(self._let_go, opening)

    async def taken(self, message: KeyHandled) -> None:
        """Everybody has seen a key; what they tell each other because of it comes before the next one."""
        if message.turn != self._turn:
            return
        if message.rounds:
            self._target().post_message(KeyHandled(message.turn, message.rounds - 1))
        else:
            await self._go_on(message.turn)

    def _target(self) -> MessagePump:
        return self._app.focused or self._app.screen

    async def _let_go(self, opening: object) -> None:
        self._holders.discard(opening)
        await self._next()

    async def _go_on(self, turn: int) -> None:
        if turn == self._turn:
            self._is_out = False
            await self._next()

    async def _next(self) -> None:
        while self._line and not self._is_out and not self._holders:
            event = self._line.popleft()
            if not isinstance(event, events.Key | events.Paste):
                await self._hand_on(event)
                continue
            self._turn += 1
            self._is_out = True
            target = self._target()
            self._expect(self._turn)
            await self._hand_on(event)
            target.post_message(KeyHandled(self._turn))

    def _expect(self, turn: int) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(MAX_WAIT_S, self._app.call_later, self._give_up, turn)

    async def _give_up(self, turn: int) -> None:
        self._holders.intersection_update({self})
        await self._go_on(turn)
