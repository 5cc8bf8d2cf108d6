"""Key queue: each key is passed on only after all effects of the previous one.

Textual passes keys on as they arrive, but what a key opens gets the focus only a few messages later. The rest of a
burst of keys would go to the list below, where letters are commands.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from textual import events
from textual.app import App
from textual.errors import NoWidget
from textual.message import Message
from textual.message_pump import MessagePump

MAX_WAIT_S: Final = 1.0
"""Longest wait for the previous key at a widget that is gone: it never reports that it handled its own."""

MAX_WAITS: Final = 10
"""How often to wait so long for a widget that is there and only slow, as on a busy machine."""

MAX_ROUNDS: Final = 4
"""How many times the message queues are passed after a key: a widget messages its pane, the pane its screen, and that
moves the focus.
"""

ANSWER_S: Final = 0.15
"""How long after a key was handled everything that is drawn counts as its answer."""

_INTERRUPT: Final = "ctrl+c"


@dataclass(eq=False)
class KeyHandled(Message, bubble=True, verbose=True):
    """Passes the message queues for so many rounds after a key, and tells the app when every widget has handled it."""

    turn: int
    rounds: int = MAX_ROUNDS


class KeyQueue:
    """Queue of keys and pastes, which wait for each other and for what a click before them does.

    ``hand_on`` passes an event to the widgets as Textual does.
    """

    def __init__(self, app: App[Any], hand_on: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app: Final = app
        self._hand_on: Final = hand_on
        self._line: Final[deque[events.Event]] = deque()
        self._holders: Final[set[object]] = {self}
        self._awaited: MessagePump | None = None
        self._turn = 0
        self._is_out = False
        self._handled_at = 0.0
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether what is drawn now is the answer to what the user did."""
        return self._is_out or time.monotonic() - self._handled_at < ANSWER_S

    async def begin(self) -> None:
        """Start passing on events; until the first screen exists, all input waits."""
        await self._let_go(self)

    async def take(self, event: events.Event) -> None:
        """Queue an event. Only keys and pastes wait for each other; an interrupt waits for nothing."""
        has_begun = self not in self._holders
        waits = isinstance(event, events.Key | events.Paste)
        if has_begun and (not waits or (isinstance(event, events.Key) and event.key == _INTERRUPT)):
            clicked = self._widget_at(event) if isinstance(event, events.MouseUp) else None
            await self._hand_on(event)
            self._handled_at = time.monotonic()
            # A key that is still at work ends its own turn.
            if clicked is not None and not self._is_out:
                self._begin_turn()
                self._follow(clicked)
            return
        self._line.append(event)
        await self._next()

    def pause_for(self, opening: object) -> None:
        """Pause keys for something that is opening and will take the keyboard."""
        self._holders.add(opening)
        self._expect(self._turn)

    def resume_for(self, opening: object) -> None:
        """Release the keys paused for it; harmless if none are."""
        self._app.call_later(self._let_go, opening)

    async def taken(self, message: KeyHandled) -> None:
        """Pass on the next key once all messages caused by this one are handled."""
        if message.turn != self._turn:
            return
        if message.rounds:
            self._follow(self._target(), message.rounds - 1)
        else:
            await self._end_turn(message.turn)

    def _target(self) -> MessagePump:
        return self._app.focused or self._app.screen

    async def _let_go(self, opening: object) -> None:
        self._holders.discard(opening)
        await self._next()

    async def _end_turn(self, turn: int) -> None:
        if turn == self._turn:
            self._is_out = False
            self._handled_at = time.monotonic()
            await self._next()

    async def _next(self) -> None:
        while self._line and not self._is_out and not self._holders:
            event = self._line.popleft()
            if not isinstance(event, events.Key | events.Paste):
                await self._hand_on(event)
                continue
            target = self._target()
            self._begin_turn()
            await self._hand_on(event)
            self._follow(target)

    def _begin_turn(self) -> None:
        """Let keys wait from now on for an event that is passed on."""
        self._turn += 1
        self._is_out = True
        self._expect(self._turn)

    def _follow(self, target: MessagePump, rounds: int = MAX_ROUNDS) -> None:
        self._awaited = target
        target.post_message(KeyHandled(self._turn, rounds))

    def _widget_at(self, event: events.MouseUp) -> MessagePump:
        try:
            return self._app.get_widget_at(*event.screen_offset)[0]
        except NoWidget:
            return self._target()

    def _expect(self, turn: int, waits: int = 1) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(MAX_WAIT_S, self._app.call_later, self._give_up, turn, waits)

    async def _give_up(self, turn: int, waits: int) -> None:
        """Go on without what is gone, or has taken too long."""
        if turn != self._turn:
            return
        is_over = waits >= MAX_WAITS
        self._holders.difference_update(
            [holder for holder in self._holders if holder is not self and (is_over or not _is_there(holder))]
        )
        if not is_over and (self._holders - {self} or (self._is_out and _is_there(self._awaited))):
            self._expect(turn, waits + 1)
            return
        await self._end_turn(turn)


def _is_there(opening: object) -> bool:
    """Whether a widget is or will be on the screen, and so handles its messages."""
    return isinstance(opening, MessagePump) and opening.is_attached
