"""Where a filter is typed: it works while the user types, and a mistake never takes the rows away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Static

from runwatch.tui.core.messages import WidgetMessage
from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

Completer = Callable[[str], str | None]
"""Completes a filter's text, or answers ``None``."""


class FilterBar(Horizontal):
    """The line with the input, and behind it how many rows match or what is wrong.

    ``enter`` keeps the filter, ``esc`` leaves without one, ``→`` takes the completion. Its parts are made behind
    the screen's first paint, which they would hold up.

    Args:
        complete: Completes what is typed; see :func:`make_filter_suggester`.
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]
    INPUT: ClassVar[type[LineInput]] = LineInput
    """What the user types into."""

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        background: $surface;
        padding: 0 1;
        & > #filter-mark {
            width: 2;
        }
        & > LineInput {
            width: 1fr;
        }
        & > #filter-state {
            width: auto;
            max-width: 60%;
            height: 1;
            padding: 0 0 0 2;
        }
    }
    """

    @dataclass(eq=False, repr=False)
    class Changed(WidgetMessage):
        """The text of a filter changed while the user types.

        Attributes:
            text: The text as it stands.
        """

        widget: FilterBar
        text: str

    @dataclass(eq=False, repr=False)
    class Submitted(WidgetMessage):
        """The user keeps the filter and goes back to the rows.

        Attributes:
            text: The filter.
        """

        widget: FilterBar
        text: str

    @dataclass(eq=False, repr=False)
    class Cancelled(WidgetMessage):
        """The user leaves the filter bar, and with it the filter."""

        widget: FilterBar

    def __init__(self, complete: Completer | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._suggester = _Completion(complete) if complete is not None else None
        self._is_made = False

    def on_mount(self) -> None:
        """Make the parts once the screen stands, so that they are there when somebody types."""
        self.call_after_refresh(self._make)

    @property
    def text(self) -> str:
        """What is typed."""
        return self._input.value if self._is_made else ""

    def edit(self, text: str) -> None:
        """Take the focus and go on with this text."""
        self._make()
        field = self._input
        with self.prevent(LineInput.Changed):
            field.value = text
        field.cursor_position = len(text)
        field.focus()

    def show_count(self, matching: SafeText) -> None:
        """Say how many rows match, such as ``14/212``; nothing as long as it has no parts."""
        if not self._is_made:
            return
        self._input.remove_class("-invalid")
        self._state.update(to_content(matching, Role.QUIET))

    def show_error(self, reason: SafeText) -> None:
        """Say what is wrong; the last filter that could be read stays applied."""
        self._make()
        self._input.add_class("-invalid")
        self._state.update(to_content(line(f"{get_app(self).glyphs.bad} {reason}"), Role.BAD))

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Tell the screen at once."""
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Keep the filter."""
        event.stop()
        self.post_message(self.Submitted(self, event.value))

    def action_leave(self) -> None:
        """Leave, and take the filter away."""
        with self.prevent(LineInput.Changed):
            self._input.value = ""
        self.post_message(self.Cancelled(self))

    def _make(self) -> None:
        # Its screen may have gone before its first refresh.
        if not self._is_made and self.is_attached:
            self._is_made = True
            self.mount(
                Static(to_content((label_span("/", ACCENT),)), id="filter-mark"),
                self.INPUT(suggester=self._suggester, id="filter-text"),
                Static(id="filter-state"),
            )

    @property
    def _input(self) -> LineInput:
        return self.query_one(LineInput)

    @property
    def _state(self) -> Static:
        return self.query_one("#filter-state", Static)


class _Completion(Suggester):
    def __init__(self, complete: Completer) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value)


def make_filter_suggester(fields: Mapping[str, Sequence[SafeText]], flags: Sequence[str] = ()) -> Completer:
    """Completes the last word of a filter: names of fields, behind ``:`` and ``=`` values, behind ``is:`` flags.

    Args:
        fields: The values seen so far by the field's name; asked for one field's only when they are wanted.
        flags: What ``is:`` knows.
    """
    words: dict[str, Sequence[str]] = {"is": flags, "has": tuple(fields)}

    def complete(text: str) -> str | None:
        begun = text.rpartition(" ")[2].lstrip("!")
        if not begun:
            return None
        for sign in (":", "="):
            name, found, part = begun.partition(sign)
            if found:
                fitting = _first(part, words[name] if name in words else fields.get(name, ()))
                # A value with blanks would end at the first of them.
                return None if fitting is None or " " in fitting else text[: len(text) - len(part)] + fitting
        name_found = _first(begun, [f"{name}:" for name in (*fields, *words)])
        return None if name_found is None else text[: len(text) - len(begun)] + name_found

    return complete


def _first(begun: str, candidates: Sequence[str]) -> str | None:
    return next((candidate for candidate in candidates if candidate.startswith(begun) and candidate != begun), None)
