"""The line that edits a setting's value and checks it while the user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from runwatch.settings.setting import InvalidValueError
from runwatch.tui.core.rendering import to_content
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.view.settings.page import parse_edit
from runwatch.view.settings.rows import SettingsRow
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line


class ValueEditor(Vertical):
    """The value line. ``enter`` saves the value, ``esc`` leaves it unchanged.

    Attributes:
        hints: Hints of the status bar while the user types, which say what ``enter`` does with the value as it is.

    Args:
        fault: Takes a dotted key and a value of valid form and returns what else is wrong with it, or an empty text.
        write: Writes a value to a key; ``None`` for the default.
        leave: Closes the editor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
    ]
    DEFAULT_CSS = """
    ValueEditor {
        height: auto;
        background: $surface;
        padding: 0 1;
        & > #value-line {
            height: 1;
        }
        & #value-key {
            width: auto;
            max-width: 50%;
        }
        & LineInput {
            width: 1fr;
        }
        & > #value-state {
            height: auto;
            min-height: 1;
            max-height: 3;
        }
    }
    """

    class HintsChanged(Message):
        """``enter`` does something else than before."""

    def __init__(
        self,
        fault: Callable[[str, str], str],
        write: Callable[[str, str | None], object],
        leave: Callable[[], object],
    ) -> None:
        super().__init__(id="settings-value")
        self._fault = fault
        self._write = write
        self._leave = leave
        self._row: SettingsRow | None = None
        self.hints: tuple[tuple[str, str], ...] = ()

    def compose(self) -> ComposeResult:
        with Horizontal(id="value-line"):
            yield Static(id="value-key")
            yield LineInput(id="value-text")
        yield Static(id="value-state")

    def edit(self, row: SettingsRow) -> None:
        self._row = row
        self.query_one("#value-key", Static).update(
            to_content(((line(f"{row.edits}{'.' * bool(row.example)} "), ACCENT),))
        )
        self._put(row.text)
        self._input.focus()

    def refuse(self, reason: SafeText) -> None:
        self._input.add_class("-invalid")
        self._say(line(f"{get_app(self).glyphs.bad} {reason}"), Role.BAD)

    def on_input_changed(self, event: LineInput.Changed) -> None:
        event.stop()
        self._read()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        found = self._read()
        if found is not None:
            self._write(*found)

    def action_leave(self) -> None:
        self._leave()

    @property
    def _input(self) -> LineInput:
        return self.query_one(LineInput)

    def _put(self, text: str) -> None:
        with self.prevent(LineInput.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        self._read()

    def _read(self) -> tuple[str, str | None] | None:
        """Return key and value to save, or show the reason and return ``None``."""
        row = self._row
        if row is None:
            return None
        try:
            key, value = parse_edit(row, self._input.value)
            fault = self._fault(key, value) if value is not None else ""
        except InvalidValueError as error:
            if row.example and not self._input.value:
                self._say(line(row.example), Role.QUIET)
            else:
                self.refuse(line(str(error)))
            self._offer()
            return None
        if fault:
            self.refuse(line(fault))
            self._offer()
            return None
        self._input.remove_class("-invalid")
        self._say(line(""), Role.QUIET)
        self._offer("write" if value is not None else "remove from the file" if row.removes else "keep the default")
        return key, value

    def _offer(self, does: str = "") -> None:
        """Offer what enter does, if anything, and the way out."""
        self.hints = (*([("enter", does)] if does else []), ("escape", "cancel"))
        self.post_message(self.HintsChanged())

    def _say(self, text: SafeText, role: str) -> None:
        self.query_one("#value-state", Static).update(to_content(text, role))
