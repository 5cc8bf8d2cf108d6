"""Writing a label and a note about runs: they stay on this machine, where another console may write about them too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.records.run import Run
from runwatch.tui.widgets.panes.note_editor import NoteEditor, SaveResult
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.repositories.notes import NotePurpose
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console_screen import RowScreen

_PURPOSES: Final[tuple[NotePurpose, ...]] = ("label", "note")


def open_run_notes(screen: RowScreen, run_ids: Sequence[str]) -> None:
    """Let the user write about one run, or give several the same label; why that cannot be is said on the screen.

    Args:
        screen: The list of runs.
        run_ids: Which of them.
    """
    session = screen.connected_session()
    if session is None:
        return
    if not run_ids:
        screen.notify_user("There is no run to write about.", Role.WARN)
        return
    screen.open_overlay_when_loaded(partial(_editor, screen, session, run_ids), "reading the label")


async def _editor(screen: RowScreen, session: ServiceSession, run_ids: Sequence[str]) -> NoteEditor:
    notes = {
        (note.record_id, note.purpose): note.text for note in await session.notes.list_for(session.scope, Run.KIND)
    }
    seen = {run_id: {purpose: notes.get((run_id, purpose), "") for purpose in _PURPOSES} for run_id in run_ids}
    labelling = _Labelling(screen, session, seen)
    return NoteEditor(screen.console, line(f"Label of {labelling.about}"), labelling.texts, labelling.keep)


class _Labelling:
    """What the user is about to write about runs.

    Args:
        screen: The list that shows it.
        session: What keeps it.
        seen: The texts about each run that the person has seen, by its id and what they are for.
    """

    def __init__(self, screen: RowScreen, session: ServiceSession, seen: dict[str, dict[NotePurpose, str]]) -> None:
        self._screen: Final = screen
        self._session: Final = session
        self._seen: Final = seen

    @property
    def about(self) -> SafeText:
        """The run, or how many they are."""
        if len(self._seen) == 1:
            return short_id(next(iter(self._seen)), self._screen.console.glyphs)
        return line(f"{len(self._seen)} runs")

    @property
    def texts(self) -> Mapping[str, str]:
        """What stands there at first; several runs get one label, and their notes stay."""
        first = next(iter(self._seen.values()))
        return {purpose: text for purpose, text in first.items() if purpose == "label" or len(self._seen) == 1}

    async def keep(self, typed: Mapping[str, str]) -> SaveResult:
        """Write what the user changed. What another console wrote meanwhile stays until the person has seen it.

        Raises:
            DataError: it cannot be written; what was written before that stands.
        """
        others: list[str] = []
        try:
            for run_id, seen in self._seen.items():
                for purpose in _PURPOSES:
                    text = typed.get(purpose, seen[purpose])
                    if text == seen[purpose]:
                        continue
                    other = await self._session.notes.write(
                        self._session.scope, Run.KIND, run_id, purpose, text, seen=seen[purpose]
                    )
                    seen[purpose] = text if other is None else other
                    if other is not None:
                        others.append(f"{purpose} '{line(other, 14)}'" if other else f"no {purpose}")
        finally:
            if self._screen.is_attached:
                self._screen.read_source()
        if not others:
            return SaveResult(is_kept=True, words=line("kept on this machine"))
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        words = f"{self.about}: another console wrote {others[0]}{more}; enter writes over it"
        return SaveResult(is_kept=False, words=line(words))
