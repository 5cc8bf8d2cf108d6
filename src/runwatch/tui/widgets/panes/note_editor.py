"""The editor for local notes about records; nothing typed here is sent to the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, Final, NamedTuple, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.core.workers import start_worker
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.panes.overlay import Overlay
from runwatch.tui.widgets.panes.pane import BorderText
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line


class HeldKeys(Protocol):
    """Queue of typed keys that can be paused."""

    def pause_for(self, opening: object) -> None:
        """Queue keys from now on."""
        ...

    def resume_for(self, opening: object) -> None:
        """Deliver the queued keys."""
        ...


class NoteHost(Protocol):
    """What a note editor needs from the app."""

    @property
    def key_queue(self) -> HeldKeys:
        """The queue of keys."""
        ...

    def notify_user(self, notice: str) -> None:
        """Show a temporary notice on the front screen."""
        ...

    def warn(self, warning: str) -> None:
        """Show a warning until the user hides it."""
        ...


class SaveResult(NamedTuple):
    """Result of saving notes.

    Attributes:
        is_kept: Whether the notes were saved; if not, the user has to decide, and ``enter`` saves again.
        words: The message to show.
    """

    is_kept: bool
    words: SafeText


SaveNotes = Callable[[Mapping[str, str]], Awaitable[SaveResult]]
"""Saves the texts by line name."""


class NoteEditor(Overlay):
    """The lines of a note. ``enter`` saves, ``tab`` moves to the next line, ``esc`` leaves without a change.

    The editor stays open until the text is saved. Nothing is lost if saving fails, or if another console has changed
    the note and the user has to choose which text to keep.

    Args:
        console: Reports the outcome, even after the screen was left.
        title: What the note is about.
        texts: Initial texts by line name.
        keep: Saves the texts.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
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

    def __init__(self, console: NoteHost, title: SafeText, texts: Mapping[str, str], keep: SaveNotes) -> None:
        keys = "enter saves  tab moves  esc cancels" if len(texts) > 1 else "enter saves  esc cancels"
        super().__init__(edge=BorderText(title=title, age=_LOCAL, counters=(label_span(keys),)), id="note-editor")
        self._writer: Final = console
        self._texts: Final = texts
        self._keep: Final = keep
        self._is_keeping = False

    def compose(self) -> ComposeResult:
        """Create one line for each text."""
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
            kept = await self._keep(typed)
        except RunwatchError as error:
            kept = SaveResult(is_kept=False, words=line(f"not saved: {error}"))
        finally:
            self._is_keeping = False
            self._writer.key_queue.resume_for(self)
        stands = self.is_attached and not self.is_leaving
        if kept.is_kept:
            if stands:
                self.close()
            self._writer.notify_user(str(kept.words))
        elif stands:
            self.set_border_text(title=(label_span(str(kept.words), Role.WARN),))
        else:
            lost = ", ".join(f"{name} '{line(text, 40)}'" for name, text in typed.items() if text)
            self._writer.warn(f"{kept.words}; not saved: {lost or 'the empty text'}")


_LOCAL: Final = (label_span("stays on this machine"),)
