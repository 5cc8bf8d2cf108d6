"""Lists filtered by the service: the server filter is sent, and its response is stored separately.

The full list stays in the store, because other screens need it. Its rows are filtered locally until the response
arrives, and also if the service rejects the filter; the frame then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.live.list_continuation import ListContinuation
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.collection import Collection
    from runwatch.store.state.freshness import PaneState
    from runwatch.tui.sources.row_sources import RowSource
    from runwatch.view.query.expressions import Query

_REFUSED: Final = frozenset({400, 422})
"""Status codes of a service that does not accept the filter."""


class ServerFilterSource:
    """The rows of a list as filtered by the service; used like the source of the full list.

    ``asked`` returns the server filter as query parameters for every read, because relative times move on.
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
        """Query parameters to send now."""
        return self._asked(self.query, self._session.clock.now())

    @property
    def is_refused(self) -> bool:
        failure = self._collection.failure
        return failure is not None and failure.problem is not None and failure.problem.status in _REFUSED

    @property
    def is_answered(self) -> bool:
        """Whether the rows come from the service's filtered list."""
        return self._collection.read_at is not None and not self.is_refused

    def open(self) -> None:
        self._session.live.start_filtered_list(self._kind, self._name, lambda: self.parameters)

    def close(self) -> None:
        """Stop polling and remove the list from the store."""
        self._session.live.stop_filtered_list(self._name)
        self._session.store.forget(self._session.scope.profile, self._name)

    def continuations(self) -> Sequence[ListContinuation]:
        continuation = self._session.live.continuation(self._name)
        return () if continuation is None else (continuation,)

    def items(self) -> Sequence[Any]:
        """Return the service's filtered list; the full list until it arrives."""
        collection = self._collection
        if not self.is_answered:
            return self._whole.items()
        if collection.revision != self._revision:
            self._items, self._revision = collection.records, collection.revision
        return self._items

    def state(self) -> PaneState:
        """Return the state of the filtered list, unless the service rejected the filter."""
        if self.is_refused:
            return self._whole.state()
        live = self._session.live
        return live.state(self._collection, live.intervals.lists_s, job=f"list {self._name}")

    def end_is_proven(self) -> bool:
        """Return what the last response said."""
        return self._collection.end_is_proven if self.is_answered else self._whole.end_is_proven()

    async def read(self) -> None:
        await self._whole.read()

    @property
    def _collection(self) -> Collection:
        return self._session.store.collection(self._session.scope.profile, self._name)
