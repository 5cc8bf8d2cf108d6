"""GitHub connections, and unfinished intents to connect a repository that were started here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from runwatch.base.json import loads
from runwatch.records.github import GithubConnection
from runwatch.store.repositories.notes import LocalNote
from runwatch.store.session import ServiceSession
from runwatch.store.state.freshness import PaneState
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.resources.reviews import GITHUB
from runwatch.view.text.values import parse_time

LOCAL_INTENT_STATUS = "begun here"
"""Status of an intent. Not a value of the service, which lists no intents."""


class GithubScreen(ResourceScreen):
    """The screen. The service lists only connections, so intents come from local notes."""

    def __init__(self, source: RowSource) -> None:
        super().__init__(GITHUB, _WithIntents(source, lambda: self.console.session))

    def use(self, source: RowSource) -> None:
        super().use(_WithIntents(source, lambda: self.console.session))


class _WithIntents:
    """Connections, preceded by the intents that have not led to one yet, which are in the notes of the session."""

    def __init__(self, connections: RowSource, session: Callable[[], ServiceSession | None]) -> None:
        self._connections = connections
        self._session = session
        self._notes: list[LocalNote] = []
        self._made_of: tuple[Sequence[Any], list[LocalNote]] | None = None
        self._items: Sequence[Any] = ()

    def items(self) -> Sequence[Any]:
        """Return the intents, then the connections."""
        listed = self._connections.items()
        if self._made_of is None or self._made_of[0] is not listed or self._made_of[1] is not self._notes:
            connected = {connection.repository for connection in listed if isinstance(connection, GithubConnection)}
            begun = [intent for note in self._notes if (intent := parse_intent(note)) is not None]
            self._items = [*(connection for connection in begun if connection.repository not in connected), *listed]
            self._made_of = (listed, self._notes)
        return self._items

    def state(self) -> PaneState:
        return self._connections.state()

    def end_is_proven(self) -> bool:
        return self._connections.end_is_proven()

    async def read(self) -> None:
        """Read the intents too, and delete those whose page has expired."""
        await self._connections.read()
        session = self._session()
        if session is None:
            return
        kept = []
        for note in await session.notes.list_for(session.scope, GithubConnection.KIND):
            if note.purpose != "intent":
                continue
            if is_expired(note, session.clock.now()):
                await session.notes.write(session.scope, GithubConnection.KIND, note.record_id, "intent", "")
            else:
                kept.append(note)
        if kept != self._notes:
            self._notes = kept


def parse_intent(note: LocalNote) -> GithubConnection | None:
    """Return an intent as a row; ``None`` if the note cannot be parsed."""
    facts = _facts(note)
    if facts is None:
        return None
    return GithubConnection({**facts, "connection_id": note.record_id, "status": LOCAL_INTENT_STATUS})


def is_expired(note: LocalNote, now: datetime) -> bool:
    """Return whether an intent's page has expired; without an expiry time, an intent is kept for a day."""
    until = (_facts(note) or {}).get("expires_at")
    expires = parse_time(until) if isinstance(until, str) else None
    if expires is not None:
        return expires <= now
    return (now - note.at).total_seconds() > 24 * 3600


def _facts(note: LocalNote) -> dict[str, Any] | None:
    try:
        facts = loads(note.text)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None
