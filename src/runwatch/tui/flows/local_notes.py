"""Local notes about a record: labels and notes of runs, a reviewer's decision on a template. None is sent.

Another console may write about the same record; its text is not overwritten until the user has seen it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from runwatch.base.errors import RunwatchError
from runwatch.records.digest import compute_digest
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.template import Template
from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.shell.undo_stack import LocalChange
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.tui.widgets.panes.overlay import Overlay
from runwatch.tui.widgets.panes.pane import BorderText
from runwatch.view.templates.decisions import ReviewDecision, Verdict, parse_decision
from runwatch.view.text.format import grouped_number, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.repositories.notes import NotePurpose
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.view.runs.run_facts import RunFacts

_PURPOSES: Final[tuple[NotePurpose, ...]] = ("label", "note")


class SaveResult(NamedTuple):
    """Whether notes were saved, and what to say; if not, the user has to decide, and ``enter`` saves again."""

    is_kept: bool
    text: SafeText


SaveNotes = Callable[[Mapping[str, str]], Awaitable[SaveResult]]
"""Saves the texts by line name."""


class NoteEditor(Overlay):
    """The lines of a note. ``enter`` saves, ``tab`` moves to its next line, ``esc`` leaves without a change.

    The editor stays open until the text is saved. Nothing is lost if saving fails, or if another console has changed
    the note and the user has to choose which text to keep.

    Args:
        console: Reports the outcome, even after the screen was left.
        texts: Initial texts by line name.
        keep: Saves the texts.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_line", show=False),
        Binding("shift+tab", "previous_line", show=False),
    ]
    DEFAULT_CSS = """
    NoteEditor {
        & Horizontal {
            height: 1;
            padding: 0 1;
        }
        & .name {
            width: 8;
        }
        & LineInput {
            width: 1fr;
            background: $background;
        }
    }
    """

    def __init__(self, console: Console, title: SafeText, texts: Mapping[str, str], keep: SaveNotes) -> None:
        keys = "enter saves  tab moves  esc closes" if len(texts) > 1 else "enter saves  esc closes"
        super().__init__(edge=BorderText(title=title, age=_LOCAL, counters=(label_span(keys),)), id="note-editor")
        self._writer: Final = console
        self._texts: Final = texts
        self._save: Final = keep
        self._is_keeping = False

    def compose(self) -> ComposeResult:
        for name, text in self._texts.items():
            with Horizontal():
                yield Static(to_content(line(name), Role.QUIET), classes="name")
                yield LineInput(text, id=f"note-{name}")

    def on_mount(self) -> None:
        """Focus the first line, with the cursor after its text."""
        # Queued keys may close the editor before its lines are mounted.
        for field in self.query(f"#note-{next(iter(self._texts))}").results(LineInput):
            field.cursor_position = len(field.value)
            field.focus()

    def action_next_line(self) -> None:
        """Move to the next line, and from the last to the first: a widget outside would close the editor unsaved."""
        self.screen.focus_next("NoteEditor LineInput")

    def action_previous_line(self) -> None:
        self.screen.focus_previous("NoteEditor LineInput")

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Stop the event: no parent needs it."""
        event.stop()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Save; keys typed in the meantime are queued."""
        event.stop()
        if self._is_keeping:
            return
        self._is_keeping = True
        self._writer.key_queue.pause_for(self)
        typed = {name: self.query_one(f"#note-{name}", LineInput).value.strip() for name in self._texts}
        start_worker(self.app, self._write(typed), "saving", group="notes")

    async def _write(self, typed: Mapping[str, str]) -> None:
        try:
            result = await self._save(typed)
        except RunwatchError as error:
            result = SaveResult(is_kept=False, text=line(f"not saved: {error}"))
        finally:
            self._is_keeping = False
            self._writer.key_queue.resume_for(self)
        is_open = self.is_attached and not self.is_leaving
        if result.is_kept:
            if is_open:
                self.close()
            self._writer.notify_user(str(result.text))
        elif is_open:
            self.set_border_text(title=(label_span(str(result.text), Role.WARN),))
        else:
            lost = ", ".join(f"{name} '{line(text, 40)}'" for name, text in typed.items() if text)
            self._writer.warn(f"{result.text}; not saved: {lost or 'the empty text'}")


_LOCAL: Final = (label_span("stays on this machine"),)


def open_run_notes(screen: RecordScreen, *runs: RunFacts) -> None:
    """Open the editor for one run's label and note, or for one label of several runs; show why that fails."""
    session = screen.connected_session()
    if session is None:
        return
    if not runs:
        screen.refuse_key("No run is selected.")
        return
    screen.open_overlay_when_loaded(partial(_editor, screen, session, [run.id for run in runs]), "reading the label")


async def _editor(screen: RecordScreen, session: ServiceSession, run_ids: Sequence[str]) -> NoteEditor:
    notes = {
        (note.record_id, note.purpose): note.text for note in await session.notes.list_for(session.scope, Run.KIND)
    }
    seen = {run_id: {purpose: notes.get((run_id, purpose), "") for purpose in _PURPOSES} for run_id in run_ids}
    labelling = _Labelling(screen, session, seen)
    return NoteEditor(screen.console, line(f"Label of {labelling.about}"), labelling.texts, labelling.keep)


class _Written(NamedTuple):
    """A text that was replaced, and by which one."""

    kind: str
    record_id: str
    purpose: NotePurpose
    before: str
    after: str


def _make_undoable(console: Console, session: ServiceSession, name: str, written: Sequence[_Written]) -> None:
    """Make written texts undoable, except those that somebody has changed again by then."""

    async def undo() -> str:
        stay = 0
        for kind, record_id, purpose, before, after in written:
            other = await session.notes.write(session.scope, kind, record_id, purpose, before, seen=after)
            stay += other is not None
        screen = console.screen
        if isinstance(screen, RecordScreen):
            screen.read_source()
        return f"{name}: {stay} of {len(written)} changed meanwhile and stay" if stay else ""

    console.undo.push(LocalChange(name, undo))


class _Labelling:
    """An edit of run labels and notes, from the texts that the user has seen, by run id and purpose."""

    def __init__(self, screen: RecordScreen, session: ServiceSession, seen: dict[str, dict[NotePurpose, str]]) -> None:
        self._screen: Final = screen
        self._session: Final = session
        self._seen: Final = seen

    @property
    def about(self) -> SafeText:
        """The run's id, or the number of runs."""
        if len(self._seen) == 1:
            return short_id(next(iter(self._seen)), self._screen.console.glyphs)
        return line(f"{grouped_number(len(self._seen))} runs")

    @property
    def texts(self) -> Mapping[str, str]:
        """Initial texts; several runs share one label and keep their notes."""
        first = next(iter(self._seen.values()))
        return {purpose: text for purpose, text in first.items() if purpose == "label" or len(self._seen) == 1}

    async def keep(self, typed: Mapping[str, str]) -> SaveResult:
        """Save the user's changes; do not overwrite another console's text the user has not seen.

        Raises:
            DataError: The write failed; texts written before that stay.
        """
        others: list[str] = []
        written: list[_Written] = []
        try:
            for run_id, seen in self._seen.items():
                for purpose in _PURPOSES:
                    text = typed.get(purpose, seen[purpose])
                    if text == seen[purpose]:
                        continue
                    other = await self._session.notes.write(
                        self._session.scope, Run.KIND, run_id, purpose, text, seen=seen[purpose]
                    )
                    if other is None:
                        written.append(_Written(Run.KIND, run_id, purpose, seen[purpose], text))
                    seen[purpose] = text if other is None else other
                    if other is not None:
                        others.append(f"{purpose} '{line(other, 14)}'" if other else f"no {purpose}")
        finally:
            if self._screen.is_attached:
                self._screen.read_source()
            if written:
                purposes = " and ".join(dict.fromkeys(change.purpose for change in written))
                _make_undoable(self._screen.console, self._session, f"{purposes} of {self.about}", written)
        if not others:
            return SaveResult(is_kept=True, text=line("kept on this machine"))
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        words = f"{self.about}: another console wrote {others[0]}{more}; enter overwrites it"
        return SaveResult(is_kept=False, text=line(words))


def open_decision_menu(screen: ConsoleScreen, record: Record, on_saved: Callable[[], None]) -> None:
    """Open the menu for a decision on a record; ``on_saved`` is called after it was saved."""
    session = screen.connected_session()
    if session is None:
        return
    screen.open_overlay_when_loaded(partial(_menu, screen, session, record, on_saved), "reading the decision")


async def _menu(screen: ConsoleScreen, session: ServiceSession, record: Record, on_saved: Callable[[], None]) -> Menu:
    notes = await session.notes.list_for(session.scope, record.KIND)
    written = (note.text for note in notes if (note.record_id, note.purpose) == (record.id, "decision"))
    deciding = _Deciding(screen, session, record, next(written, ""), on_saved)
    name = short_id(record.id, screen.console.glyphs)
    title = (label_span("Decide   ", Role.PLAIN), label_span(f"{name}; stays on this machine"))
    return Menu(title, deciding.choices(), id="decide-menu")


class _Deciding:
    """An edit of a decision, from the stored one that the user has seen; empty for none."""

    def __init__(
        self, screen: ConsoleScreen, session: ServiceSession, record: Record, seen: str, on_saved: Callable[[], None]
    ) -> None:
        self._screen: Final = screen
        self._session: Final = session
        self._record: Final = record
        self._seen = seen
        self._on_saved: Final = on_saved

    @property
    def _present(self) -> ReviewDecision | None:
        return parse_decision(self._seen, self._session.clock.now()) if self._seen else None

    def choices(self) -> list[MenuItem]:
        items = [
            MenuItem(line("Go"), partial(self._ask, "go"), line("then give a reason")),
            MenuItem(line("No-go"), partial(self._ask, "no-go"), line("then give a reason")),
        ]
        if self._seen:
            verdict = (
                f"currently {self._present.verdict}" if self._present is not None else "not readable by this version"
            )
            items.append(MenuItem(line("Take it back"), self._take_back, line(verdict)))
        return items

    def _ask(self, verdict: Verdict) -> None:
        try:
            digest = compute_digest(self._record)
        except ValueError:
            self._screen.notify_user("The record nests too deeply to be decided on.", Role.BAD)
            return

        async def keep(typed: Mapping[str, str]) -> SaveResult:
            if not typed["reason"]:
                return SaveResult(is_kept=False, text=line(f"not saved: {verdict} needs a reason"))
            decision = ReviewDecision(verdict, typed["reason"], digest, self._session.clock.now())
            return await self._write(decision.text, f"Decided: {verdict}.")

        reason = self._present.reason if self._present is not None else ""
        is_blocked = isinstance(self._record, Template) and self._record.eligible is False
        title = line(f"Reason for {verdict}{', although it is blocked' if is_blocked and verdict == 'go' else ''}")
        self._screen.open_overlay(NoteEditor(self._screen.console, title, {"reason": reason}, keep))

    def _take_back(self) -> None:
        async def take_back() -> None:
            result = await self._write("", "Decision removed.")
            self._screen.console.notify_user(str(result.text), Role.PLAIN if result.is_kept else Role.WARN)

        start_worker(self._screen, take_back(), "deciding")

    async def _write(self, text: str, message: str) -> SaveResult:
        """Save the decision, or remove it; do not overwrite another console's decision the user has not seen.

        Raises:
            DataError: The write failed.
        """
        other = await self._session.notes.write(
            self._session.scope, self._record.KIND, self._record.id, "decision", text, seen=self._seen
        )
        if other is None:
            change = _Written(self._record.KIND, self._record.id, "decision", self._seen, text)
            about = short_id(self._record.id, self._screen.console.glyphs)
            _make_undoable(self._screen.console, self._session, f"decision on {about}", [change])
        else:
            self._seen = other
        if self._screen.is_attached:
            self._on_saved()
        if other is None:
            return SaveResult(is_kept=True, text=line(message))
        verdict = f" {self._present.verdict}" if self._present is not None else ""
        did = f"decided{verdict}" if other else "removed the decision"
        then = "enter overwrites it" if text else "its decision stays"
        return SaveResult(is_kept=False, text=line(f"Another console {did} meanwhile; {then}"))
