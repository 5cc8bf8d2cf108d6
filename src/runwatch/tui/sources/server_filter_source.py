"""Lists that the service filters: the part of a filter that it knows is sent, and what comes is kept by itself.

The whole list stays as it is, because other screens are made of it. Until the narrower answer is there the rows of the
whole list are filtered here; so they are when the service refuses the filter, and the frame says so then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from runwatch.store.state.freshness import PaneState, pane_state

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.collection import Collection
    from runwatch.tui.sources.row_sources import RowSource
    from runwatch.view.query.expressions import Query

_REFUSED: Final = frozenset({400, 422})
"""Statuses with which a service says that it cannot filter like that."""


class ServerFilterSource:
    """The rows of a list as the service filters it; a source like that of the whole list.

    Args:
        whole: The source of the whole list.
        kind: The kind of record.
        session: Reads it.
        query: The filter.
        asked: The part of a filter that the service does, as query parameters; worked out anew for every read,
            because spans of time move on.

    Attributes:
        query: The filter.
    """

    def __init__(
        self,
        whole: RowSource,
        kind: type[Record],
        session: ServiceSession,
        query: Query,
        asked: Callable[[Query, datetime], Mapping[str, str]],
    ) -> None:
        self.query: Final = query
        self._whole = whole
        self._kind = kind
        self._session = session
        self._asked = asked
        self._name = f"{kind.KIND} where {query.text}"
        self._items: Sequence[Any] = ()
        self._revision = -1
        self.open()

    @property
    def parameters(self) -> Mapping[str, str]:
        """What the service is asked for now."""
        return self._asked(self.query, self._session.clock.now())

    @property
    def is_refused(self) -> bool:
        """Whether the service does not take the filter."""
        failure = self._collection.failure
        return failure is not None and failure.problem is not None and failure.problem.status in _REFUSED

    @property
    def is_answered(self) -> bool:
        """Whether the rows are what the service kept."""
        return self._collection.read_at is not None and not self.is_refused

    def open(self) -> None:
        """Read it now, and from now on."""
        self._session.live.start_filtered_list(self._kind, self._name, lambda: self.parameters)

    def close(self) -> None:
        """Read it no longer, and forget it."""
        self._session.live.stop_filtered_list(self._name)
        self._session.store.forget(self._session.scope.profile, self._name)

    def items(self) -> Sequence[Any]:
        """What the service kept; the whole list until then."""
        collection = self._collection
        if not self.is_answered:
            return self._whole.items()
        if collection.revision != self._revision:
            self._items, self._revision = collection.records, collection.revision
        return self._items

    def state(self) -> PaneState:
        """Of the narrower list, unless the service does not give one."""
        if self.is_refused:
            return self._whole.state()
        clock, live = self._session.clock, self._session.live
        return pane_state(
            self._collection,
            now=clock.now(),
            monotonic=clock.monotonic(),
            interval_s=live.intervals.lists_s,
            held_s=live.held_s,
        )

    def end_is_proven(self) -> bool:
        """As the last answer said."""
        return self._collection.end_is_proven if self.is_answered else self._whole.end_is_proven()

    async def read(self) -> None:
        """What the whole list needs."""
        await self._whole.read()

    @property
    def _collection(self) -> Collection:
        return self._session.store.collection(self._session.scope.profile, self._name)
