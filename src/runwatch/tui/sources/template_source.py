"""Templates with local data: decisions, earlier versions, applications begun on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.records.template import Template
from runwatch.store.state.freshness import PaneState
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.templates.applications import NO_APPLICATION, ApplicationNote, decode_application_note
from runwatch.view.templates.decisions import ReviewDecision, group_decisions
from runwatch.view.templates.eligibility import TemplateFacts

if TYPE_CHECKING:
    from runwatch.store.repositories.notes import LocalNote
    from runwatch.store.repositories.record_versions import RecordVersion
    from runwatch.store.session import ServiceSession


class TemplateSource:
    """A source of templates with their local data."""

    def __init__(self, inner: RowSource, session: Callable[[], ServiceSession | None]) -> None:
        self._inner = inner
        self._session = session
        self._notes: list[LocalNote] = []
        self._decisions: dict[str, ReviewDecision] = {}
        self._applications: dict[str, ApplicationNote] = {}
        self._versions: dict[str, list[RecordVersion[Template]]] = {}
        self._made_of: Sequence[Any] | None = None
        self._items: Sequence[Any] = ()

    def items(self) -> Sequence[Any]:
        inner = self._inner.items()
        if inner is not self._made_of:
            self._made_of = inner
            self._items = [self._facts(item) if isinstance(item, Template) else item for item in inner]
        return self._items

    def state(self) -> PaneState:
        return self._inner.state()

    def end_is_proven(self) -> bool:
        return self._inner.end_is_proven()

    async def read(self) -> None:
        await self._inner.read()
        session = self._session()
        if session is None:
            return
        await self.read_notes()
        self._versions = await session.versions.of(session.scope, Template)
        self._made_of = None

    async def read_notes(self) -> None:
        """Read decisions and applications made in this or another console on this machine."""
        session = self._session()
        if session is None:
            return
        notes = await session.notes.list_for(session.scope, Template.KIND)
        if notes != self._notes:
            self._notes = notes
            self._decisions = group_decisions(notes)
            self._applications = {
                note.record_id: decode_application_note(note.text) for note in notes if note.purpose == "intent"
            }
            self._made_of = None

    def _facts(self, template: Template) -> TemplateFacts:
        known = template.id
        return TemplateFacts(
            template,
            self._decisions.get(known),
            tuple(self._versions.get(known, ())),
            self._applications.get(known, NO_APPLICATION),
        )
