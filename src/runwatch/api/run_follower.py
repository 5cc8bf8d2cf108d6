"""Driver of an event tail: reads what the tail asks for, stores the pages and passes them to the tail.

It neither waits nor gives up. The callers (``runs watch`` through :mod:`runwatch.store.live.stored_run_tail`, and the
console's scheduler through :mod:`runwatch.store.live.run_tails`) call :meth:`RunFollower.step`, wait where it says so,
and handle errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple, Protocol

from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError
from runwatch.api.run_tail import EndStep, PauseStep, ReadStep, RunTail
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run

LONG_PAGE: Final = 5_000
"""Pages of more events are processed in a thread, so that the event loop is not blocked."""

# The service or the key does not offer reads of single runs; the events alone have to do.
_STATUS_NOT_OFFERED: Final = frozenset({403, 405, 501})

_REFUSALS: Final = frozenset({400, 404, 410, 422})


class RunReads(Protocol):
    """The part of the client that a follower needs."""

    async def get_run(self, execution_id: str) -> Run: ...

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]: ...


Keep = Callable[[Page[RunEvent], str | None], Awaitable[list[RunEvent]]]
"""Stores a page requested after an event id, and returns its new events."""


class FollowedEvents(NamedTuple):
    """Result of one read.

    Attributes:
        new: The events not returned before, in the service's order.
        page: The page they came with; ``None`` after a status read.
        run: The run, after a status read that the service offers.
        has_ended: Whether the page holds the run's last event.
    """

    new: list[RunEvent]
    page: Page[RunEvent] | None = None
    run: Run | None = None
    has_ended: bool = False


class RunFollower:
    """Follows one run, one read at a time.

    Args:
        keep: Stores a page before it reaches the tail, and decides which events are new.
    """

    def __init__(self, client: RunReads, run_id: str, tail: RunTail, keep: Keep) -> None:
        self._client = client
        self._run_id = run_id
        self._tail = tail
        self._keep = keep

    async def step(self) -> FollowedEvents | PauseStep | EndStep:
        """Read what is due, or return how long to wait. After an exception the next call repeats the step.

        Raises:
            ApiError: As for :meth:`runwatch.api.client.Client.request`.
        """
        while isinstance(step := self._tail.next_read(), ReadStep):
            try:
                return await (self._read_status() if step.kind == "status" else self._read_events(step))
            except ApiError as error:
                if not _refuses_position(error, step) or not self._tail.forget_position():
                    raise
        return step

    async def _read_status(self) -> FollowedEvents:
        run: Run | None = None
        try:
            run = await self._client.get_run(self._run_id)
        except ApiProblem as error:
            if error.status not in _STATUS_NOT_OFFERED:
                raise
        self._tail.note_page([], None if run is None else run.status)
        return FollowedEvents([], run=run)

    async def _read_events(self, step: ReadStep) -> FollowedEvents:
        page = await self._client.list_events(self._run_id, after=step.after)
        new = await self._keep(page, step.after)
        note = partial(self._tail.note_page, page.records, new=new)
        has_ended = note() if len(page.records) <= LONG_PAGE else await asyncio.to_thread(note)
        return FollowedEvents(new, page, has_ended=has_ended)


def _refuses_position(error: ApiError, step: ReadStep) -> bool:
    """Return whether the event id may be the cause: unknown to the service, or impossible to send."""
    is_refusal = isinstance(error, ApiProblem) and error.status in _REFUSALS
    return step.after is not None and (is_refusal or isinstance(error, InvalidRequestError))
