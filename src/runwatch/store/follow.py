"""Following a run to its end through everything that can happen to the way there.

The follower reads pages into the event store and hands out what the store has, in the store's order, each event once.
So it goes on where an earlier one stopped, and events that another process stored meanwhile come through too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from runwatch.api.errors import ApiError, ApiProblem, Held, InvalidRequest, NoAnswer, UnusableAnswer
from runwatch.api.gate import DEFAULT_HOLD_S
from runwatch.api.tail import Done, Pause, Read, RunTail
from runwatch.base.clock import Clock
from runwatch.records.event import RunEvent
from runwatch.store.event_rows import usable_id
from runwatch.store.events import EventStore
from runwatch.store.identity import Scope

if TYPE_CHECKING:
    from runwatch.api.client import Client

FIRST_WAIT_S: Final = 0.5
"""The wait after the first failed read, doubled after each further one."""

LONGEST_WAIT_S: Final = 30.0
"""Where the waits stop growing."""

JITTER: Final = 0.2
"""How far chance moves a wait, up or down."""

WINDOW: Final = 500
"""How many stored events are in memory at once."""

# A service or a key without reads of single runs: the events alone have to do then.
_STATUS_NOT_OFFERED: Final = frozenset({403, 405, 501})

TroubleKind = Literal["offline", "server", "unreadable", "held"]
"""No answer · a 5XX or 408 · a success that cannot be read · a 429."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why no events come right now.

    Attributes:
        kind: What is the matter.
        seconds: How long until the next try.
        since: When the last good answer came.
        error: What the last try ended in.
    """

    kind: TroubleKind
    seconds: float
    since: datetime
    error: ApiError


async def follow(
    client: Client,
    scope: Scope,
    event_store: EventStore,
    run_id: str,
    *,
    clock: Clock,
    patience_s: float,
    on_trouble: Callable[[Trouble], None],
) -> AsyncIterator[RunEvent]:
    """The events of a run: those stored first, then new ones as they come, until its end.

    A service that is down, restarts or stumbles is asked again, after half a second and then ever more seldom, as long
    as its last good answer is no more than ``patience_s`` ago. A 429 is waited out, which takes no patience. Times
    without an answer are noted in the store.

    Args:
        client: Reads the run.
        scope: Whose run it is.
        event_store: Keeps the events.
        run_id: The run.
        clock: Waits.
        patience_s: How long to go without a good answer, in seconds; infinity is for ever.
        on_trouble: Told before each wait for a service that does not answer.

    Raises:
        ApiError: the first read failed, the service refused, or patience is at its end.
        DataError: the store is not usable.
    """
    position = 0
    while stored := await event_store.window(scope, run_id, position, WINDOW):
        position += len(stored)
        for event in stored:
            yield event
    if await event_store.is_complete(scope, run_id):
        return
    fresh: set[str | int] = set()
    tail = RunTail(await event_store.cursor(scope, run_id), is_new=lambda event: event_name(event) in fresh)
    patience = _Patience(clock, patience_s, on_trouble)
    while not isinstance(step := tail.next_read(), Done):
        if isinstance(step, Pause):
            await clock.sleep(step.seconds)
            continue
        try:
            events, status = await _read(client, run_id, step)
        except ApiError as error:
            if not refuses_position(error, step) or not tail.forget_position():
                await patience.bear(error)
            continue
        if (gap := patience.answered()) is not None:
            await event_store.note_gap(scope, run_id, *gap)
        fresh.clear()
        fresh.update(event_name(event) for event in await event_store.append(scope, run_id, events, after=step.after))
        while stored := await event_store.window(scope, run_id, position, WINDOW):
            position += len(stored)
            fresh.update(name for event in stored if (name := usable_id(event)) is not None)
            for event in stored:
                yield event
            if any(event.ends_run for event in stored):
                return
        tail.came(events, status)
    await event_store.mark_complete(scope, run_id)


async def _read(client: Client, run_id: str, step: Read) -> tuple[Sequence[RunEvent], str | None]:
    if step.kind == "status":
        try:
            return [], (await client.get_run(run_id)).status
        except ApiProblem as error:
            if error.status in _STATUS_NOT_OFFERED:
                return [], None
            raise
    return (await client.list_events(run_id, after=step.after)).records, None


def event_name(event: RunEvent) -> str | int:
    """What an event is told apart by within one page: its id, or which object it is."""
    return usable_id(event) or id(event)


def refuses_position(error: ApiError, step: Read) -> bool:
    """Whether it may be the event id that was asked after: unknown to the service, or nothing that can be sent."""
    is_refusal = isinstance(error, ApiProblem) and error.status in {400, 404, 410, 422}
    return step.after is not None and (is_refusal or isinstance(error, InvalidRequest))


class _Patience:
    """How long the service has been silent, and what to do about it."""

    def __init__(self, clock: Clock, patience_s: float, on_trouble: Callable[[Trouble], None]) -> None:
        self._clock = clock
        self._patience_s = patience_s
        self._on_trouble = on_trouble
        self._good_at: datetime | None = None
        self._deadline = 0.0
        self._wait_s = FIRST_WAIT_S
        self._is_in_trouble = False

    def answered(self) -> tuple[datetime, datetime] | None:
        """Take note of a good answer; gives the time without one where there was trouble before it."""
        now, since = self._clock.now(), self._good_at
        gap = (since, now) if since is not None and self._is_in_trouble else None
        self._good_at = now
        self._deadline = self._clock.monotonic() + self._patience_s
        self._wait_s = FIRST_WAIT_S
        self._is_in_trouble = False
        return gap

    async def bear(self, error: ApiError) -> None:
        """Wait until it makes sense to ask again, or raise the error where it does not."""
        kind = _kind(error)
        if self._good_at is None or kind is None:
            raise error
        if kind == "held":
            seconds = _held_s(error)
            self._deadline += seconds
        else:
            left_s = self._deadline - self._clock.monotonic()
            if left_s <= 0:
                raise error
            seconds = min(self._wait_s * (1 + JITTER * (2 * self._clock.chance() - 1)), left_s)
            self._wait_s = min(self._wait_s * 2, LONGEST_WAIT_S)
        self._is_in_trouble = True
        self._on_trouble(Trouble(kind, seconds, self._good_at, error))
        await self._clock.sleep(seconds)


def _kind(error: ApiError) -> TroubleKind | None:
    """What kind of trouble an error is; ``None`` for one that asking again does not mend."""
    match error:
        case Held() | ApiProblem(status=429):
            return "held"
        case ApiProblem(status=408):
            return "server"
        case ApiProblem(status=status) if status >= 500:
            return "server"
        case NoAnswer(retryable=True):
            return "offline"
        case UnusableAnswer():
            return "unreadable"
    return None


def _held_s(error: ApiError) -> float:
    if isinstance(error, Held):
        return error.seconds
    assert isinstance(error, ApiProblem)
    return DEFAULT_HOLD_S if error.wait_s is None else error.wait_s
