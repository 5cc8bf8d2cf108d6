"""The lines in which the user writes about records; nothing of it is sent to the service."""

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
    """The keys that the user types, which can wait for what takes them."""

    def pause_for(self, opening: object) -> None:
        """What is typed from now on waits."""
        ...

    def resume_for(self, opening: object) -> None:
        """What is typed goes on."""
        ...


class NoteHost(Protocol):
    """What a line for notes needs of the app."""

    @property
    def key_queue(self) -> HeldKeys:
        """The queue of keys."""
        ...

    def notify_user(self, notice: str) -> None:
        """Say something for a while on the screen in front."""
        ...

    def warn(self, warning: str) -> None:
        """Say something that stays on the screen until the user hides it."""
        ...


class SaveResult(NamedTuple):
    """What came of writing down what was typed.

    Attributes:
        is_kept: Whether it stands; otherwise the user is asked, and ``enter`` writes it once more.
        words: What is said.
    """

    is_kept: bool
    words: SafeText


SaveNotes = Callable[[Mapping[str, str]], Awaitable[SaveResult]]
"""Writes the texts of the lines down, by their names."""


class NoteEditor(Overlay):
    """The lines. ``enter`` keeps what is typed, ``tab`` goes to the next line, ``esc`` leaves without a change.

    They stand until what was typed does: nothing of it is lost when it cannot be written, or when another console has
    written meanwhile and the user has to say which text is to stay.

    Args:
        console: Says what came of it, also when the screen is left.
        title: What it is about.
        texts: What stands in each line at first, by the line's name.
        keep: Writes down what was typed.
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
        """A line for each."""
        for name, text in self._texts.items():
            with Horizontal():
                yield Static(to_content(line(name), Role.QUIET), classes="name")
                yield LineInput(text, id=f"note-{name}")

    def on_mount(self) -> None:
        """Begin with the first line, behind what stands there."""
        # Keys typed at once can take the editor away again before its lines stand.
        for field in self.query(f"#note-{next(iter(self._texts))}").results(LineInput):
            field.cursor_position = len(field.value)
            field.focus()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Nobody else needs to know."""
        event.stop()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Keep it; what is typed meanwhile waits."""
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
