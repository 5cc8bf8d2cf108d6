"""The lines in which a person writes a label and a note about records; nothing of it is sent to the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from runwatch.tui.draw import content, word
from runwatch.tui.widgets.line_input import LineInput
from runwatch.tui.widgets.overlay import Overlay
from runwatch.tui.widgets.pane import Edge
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import Role


class NoteEditor(Overlay):
    """The lines. ``enter`` keeps what is typed, ``tab`` goes to the other line, ``esc`` leaves without a change.

    Args:
        title: What it is about.
        label: The label as it stands.
        note: The note as it stands; ``None`` where several records get one label and their notes stay.
        seen: The texts of each record as they stand, by its id and what the text is for.
        id: The widget's id; ``None`` where one comes up while another leaves.
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

    @dataclass
    class Kept(Message):
        """A person keeps what is typed.

        Attributes:
            label: The label; empty takes it away.
            note: The note; ``None`` where it was not asked for.
            seen: The texts of each record as they were when the lines came up, by its id and what the text is for.
        """

        label: str
        note: str | None
        seen: Mapping[str, Mapping[str, str]]

    def __init__(
        self,
        title: Drawn,
        label: str,
        note: str | None,
        *,
        seen: Mapping[str, Mapping[str, str]],
        id: str | None = "note-editor",
    ) -> None:
        edge = Edge(title=title, age=_LOCAL, counters=_KEYS)
        super().__init__(edge=edge, id=id)
        self._label = label
        self._note = note
        self._seen = seen

    def compose(self) -> ComposeResult:
        """A line for each."""
        for name, text in (("label", self._label), ("note", self._note)):
            if text is not None:
                with Horizontal():
                    yield Static(content(line(name), Role.QUIET), classes="name")
                    yield LineInput(text, id=f"note-{name}")

    def on_mount(self) -> None:
        """Begin with the label, behind what stands there."""
        # Keys typed at once can take the editor away again before its lines stand.
        for field in self.query("#note-label").results(LineInput):
            field.cursor_position = len(self._label)
            field.focus()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Keep it, and leave."""
        event.stop()
        label = self.query_one("#note-label", LineInput).value.strip()
        note = None if self._note is None else self.query_one("#note-note", LineInput).value.strip()
        self.post_message(self.Kept(label, note, self._seen))
        self.leave()


_LOCAL = (word("kept on this machine, sent to nobody"),)
_KEYS = (word("enter keeps  tab moves  esc leaves"),)
