"""The line in which the value of a setting is changed, checked while a person types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from runwatch.settings.setting import Unfit
from runwatch.tui.actions import KeyMap
from runwatch.tui.draw import content
from runwatch.tui.kit import kit
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.line_input import LineInput
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import Role
from runwatch.view.settings_rows import SettingsRow, wanted


class ValueEditor(Horizontal):
    """The line. ``enter`` writes it, ``esc`` leaves, ``↑`` and ``↓`` go through choices.

    Args:
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("down", "step(1)", "next", show=False),
        Binding("up", "step(-1)", "previous", show=False),
    ]
    DEFAULT_CSS = """
    ValueEditor {
        height: 1;
        background: $surface;
        padding: 0 1;
        & > #value-key {
            width: auto;
            max-width: 50%;
        }
        & > LineInput {
            width: 1fr;
        }
        & > #value-state {
            width: auto;
            max-width: 50%;
            height: 1;
            padding: 0 0 0 2;
        }
    }
    """

    @dataclass
    class Kept(Message):
        """A person wants a value written.

        Attributes:
            editor: The line.
            key: The dotted key.
            value: The value; ``None`` for the default.
        """

        editor: ValueEditor
        key: str
        value: str | None

        @property
        def control(self) -> Widget:
            """The line."""
            return self.editor

    @dataclass
    class Left(Message):
        """A person leaves the line.

        Attributes:
            editor: The line.
        """

        editor: ValueEditor

        @property
        def control(self) -> Widget:
            """The line."""
            return self.editor

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._row: SettingsRow | None = None

    def compose(self) -> ComposeResult:
        """The key, the input, what it takes or what is wrong."""
        yield Static(id="value-key")
        yield LineInput(id="value-text")
        yield Static(id="value-state")

    def edit(self, row: SettingsRow) -> None:
        """Take the focus and change the value of a row."""
        self._row = row
        self.query_one("#value-key", Static).update(content(((line(f"{row.edits}{'.' * row.adds} "), ACCENT),)))
        self._put(row.text)
        self._input.focus()

    def refuse(self, reason: Drawn) -> None:
        """Say why it was not written."""
        self._input.add_class("-invalid")
        self._say(line(f"{kit(self).glyphs.bad} {reason}"), Role.BAD)

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Check what is typed."""
        event.stop()
        self._read()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Have it written if it can be."""
        event.stop()
        found = self._read()
        if found is not None:
            self.post_message(self.Kept(self, *found))

    def action_step(self, step: int) -> None:
        """Go to the next choice, round the end."""
        choices = self._row.choices if self._row is not None else ()
        if choices:
            value = self._input.value
            place = choices.index(value) + step if value in choices else 0
            self._put(choices[place % len(choices)])

    def action_leave(self) -> None:
        """Leave the value as it was."""
        self.post_message(self.Left(self))

    @property
    def _input(self) -> LineInput:
        return self.query_one(LineInput)

    def _put(self, text: str) -> None:
        with self.prevent(LineInput.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        self._read()

    def _read(self) -> tuple[str, str | None] | None:
        """The key and the value as they would be written; ``None`` when they cannot be, with the reason shown."""
        row = self._row
        if row is None:
            return None
        try:
            key, value = wanted(row, self._input.value)
            _check_keys(key, value)
        except Unfit as error:
            if row.adds and not self._input.value:
                self._say(line("NAME = VALUE   esc leaves"), Role.QUIET)
            else:
                self.refuse(line(str(error)))
            return None
        self._input.remove_class("-invalid")
        steps = "up and down choose   " if row.choices else ""
        empty = "enter puts the default back" if value is None else "enter writes it"
        self._say(line(f"{steps}{empty}   esc leaves"), Role.QUIET)
        return key, value

    def _say(self, text: Drawn, role: str) -> None:
        self.query_one("#value-state", Static).update(content(text, role))


def _check_keys(key: str, value: str | None) -> None:
    """Refuse keys for an action that cannot have them.

    Raises:
        Unfit: there is no such action, or no such key, or it belongs to another action.
    """
    table, _, action = key.partition(".")
    if table == "keys" and value is not None:
        problems = KeyMap({action: value}).problems
        if problems:
            raise Unfit(problems[0])
