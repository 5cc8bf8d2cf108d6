"""Rows of requests and problems from the local journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.clock import Clock
from runwatch.store.state.freshness import PaneState, local_state
from runwatch.view.problems.journal_entries import (
    attach_problems,
    fold_unreached,
    problem_from_journal,
    request_from_journal,
)
from runwatch.view.spec.resource import ResourceSpec

if TYPE_CHECKING:
    from runwatch.store.repositories.journal import Journal, JournalPosition
    from runwatch.store.session import ServiceSession


MAX_JOURNAL_ROWS = 500
"""The newest journal rows that a screen shows."""


ALL_JOURNAL_ROWS = 20_000
"""More rows than the journal keeps."""


class JournalSource:
    """Problems or requests of this machine, newest first; problems of some profiles, or of all in the journal."""

    def __init__(
        self,
        spec: ResourceSpec[Any],
        clock: Clock,
        session: ServiceSession | None,
        *,
        profiles: Callable[[], Sequence[str] | None] = lambda: None,
    ) -> None:
        self._profiles = profiles
        self._spec = spec
        self._clock = clock
        self._session = session
        self._read_at: float | None = None
        self._items: Sequence[Any] = ()
        self._sought = ""
        self._found: Sequence[Any] | None = None
        self._limit = MAX_JOURNAL_ROWS
        self._end: JournalPosition | None = None
        self._is_folded = True

    def widen(self, *, everything: bool) -> bool:
        """From the next read on, list all rows or only the newest; return whether that is a change."""
        limit = ALL_JOURNAL_ROWS if everything else MAX_JOURNAL_ROWS
        is_other, self._limit = limit != self._limit, limit
        if is_other:
            # The rows read so far do not match the new limit, so start over.
            self._end = None
        return is_other

    def fold(self, *, is_folded: bool) -> bool:
        """From the next read on, show tries that reached nobody in one row or each in its own; return whether that is a
        change.
        """
        is_other, self._is_folded = is_folded != self._is_folded, is_folded
        if is_other:
            self._end = None
        return is_other

    def seek(self, text: str) -> None:
        """From the next read on, return all kept problems whose id occurs in a text; ``""`` ends it."""
        self._sought = text
        if not text:
            self._found = None

    def items(self) -> Sequence[Any]:
        """Return the newest rows, or those found by id."""
        return self._items if self._found is None else self._found

    def state(self) -> PaneState:
        return local_state(self._read_at, self._clock.monotonic(), is_empty=not self._items)

    def end_is_proven(self) -> bool:
        return self._found is not None or sum(getattr(each, "tries", None) or 1 for each in self._items) < self._limit

    async def read(self) -> None:
        if self._session is None:
            return
        journal = self._session.journal
        await journal.flush()
        if self._spec.kind == "problem":
            from runwatch.store.repositories.activity import list_latest_problems

            if self._sought:
                self._found = [problem_from_journal(line) for line in await journal.find(self._sought)]
            listed = await list_latest_problems(journal, self._profiles(), self._limit)
            items = [problem_from_journal(line) for line in listed]
            if items != self._items:
                self._items = items
        else:
            await self._read_requests(journal)
        self._read_at = self._clock.monotonic()

    async def _read_requests(self, journal: Journal) -> None:
        """Add the requests sent since the last read; a journal row never changes."""
        after = self._end
        sent = await journal.sent(limit=self._limit, after=after)
        if self._end is not after:
            # Another read has added these rows meanwhile, or the next one starts over.
            return
        known = () if after is None else self._items
        if sent.requests:
            new = attach_problems(map(request_from_journal, sent.requests), map(problem_from_journal, sent.problems))
            rows = [*new, *known]
            self._items = (fold_unreached(rows) if self._is_folded else rows)[: self._limit]
        self._end = sent.end
