"""The input for a filter. It applies while the user types; an invalid filter is not applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.widgets.inputs.line_input import LineInput

Completer = Callable[[str], str | None]
"""Completes a filter's text, or returns ``None``."""

FILTER_HINTS: Final = (("enter", "apply"), ("tab", "complete"), ("escape", "clear"))
"""Hints of the status bar while a filter is typed."""

OTHER_CELLS: Final = 5
"""Cells beside the mark, the text and its state: margins and gaps."""


class FilterBar(Horizontal):
    """The filter input, followed by the number of matching rows or an error.

    ``enter`` keeps the filter, ``esc`` clears and leaves it, ``→`` and ``tab`` accept the completion, as on the command
    line. Its children are mounted when it is first used, because few screens are filtered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("tab", "complete", "complete", show=False),
    ]
    MARK: ClassVar[str] = "/"
    """What is shown before the input."""
    HINTS: ClassVar[Sequence[tuple[str, str]]] = FILTER_HINTS
    """Hints of the status bar while the user types."""

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        background: $surface;
        padding: 0 1;
        & > #filter-mark {
            width: auto;
            padding: 0 1 0 0;
        }
        & > LineInput {
            width: 1fr;
        }
        & > #filter-state {
            width: auto;
            max-width: 75%;
            height: 1;
            padding: 0 0 0 2;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        &.-wrapped {
            height: auto;
            layout: grid;
            grid-size: 2;
            grid-columns: auto 1fr;
            grid-rows: auto;
            & > #filter-state {
                column-span: 2;
                width: 100%;
                max-width: 100%;
                height: auto;
                max-height: 3;
                padding: 0;
                text-wrap: wrap;
            }
        }
    }
    """

    @dataclass(eq=False, repr=False)
    class Changed(Message):
        text: str

    @dataclass(eq=False, repr=False)
    class Submitted(Message):
        """The user keeps the filter and returns to the rows."""

        text: str

    class Cancelled(Message):
        """The user leaves the filter bar and clears the filter."""

    def __init__(self, complete: Completer | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._complete = complete
        self._is_made = False

    def input_class(self) -> type[LineInput]:
        """Return the class of the input, which is imported then too."""
        from runwatch.tui.widgets.inputs.line_input import FilterInput

        return FilterInput

    @property
    def hints(self) -> Sequence[tuple[str, str]]:
        """The hints, without that to complete where nothing is completed."""
        return [hint for hint in self.HINTS if self._complete is not None or hint[0] != "tab"]

    @property
    def text(self) -> str:
        return self._input.value if self._is_made else ""

    def edit(self, text: str) -> None:
        """Take the focus and edit this text."""
        self._make()
        field = self._input
        with self.prevent(field.Changed):
            field.value = text
        field.cursor_position = len(text)
        field.focus()

    def select_all(self) -> None:
        """Select the text, so that typing replaces it."""
        self._input.select_all()

    def show_count(self, matching: SafeText) -> None:
        """Show how many rows match, such as ``14/212``. Does nothing before the bar is first used."""
        if self._is_made:
            self._input.remove_class("-invalid")
            self.remove_class("-wrapped")
            self._state.update(to_content(matching, Role.QUIET))

    def show_meaning(self, meaning: SafeText) -> None:
        self._make()
        self._input.remove_class("-invalid")
        self._show_state(meaning, Role.QUIET)

    def show_error(self, reason: SafeText) -> None:
        self._make()
        self._input.add_class("-invalid")
        self._show_state(line(f"{get_app(self).glyphs.bad} {reason}"), Role.BAD)

    def _show_state(self, shown: SafeText, role: Role) -> None:
        """Show a text, on lines of its own if the line of the filter has no room for it."""
        typed = cell_len(self._input.value) + 1
        room = self.size.width - OTHER_CELLS - cell_len(self.MARK) - typed
        self.set_class(cell_len(shown) > min(room, self.size.width * 3 // 4 - OTHER_CELLS), "-wrapped")
        self._state.update(to_content(shown, role))

    def on_input_changed(self, event: LineInput.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(event.value))

    def action_complete(self) -> None:
        completion = None if self._complete is None else self._complete(self._input.value)
        if completion is not None:
            self._input.value = completion
            self._input.cursor_position = len(completion)

    def action_leave(self) -> None:
        with self.prevent(self._input.Changed):
            self._input.value = ""
        self.post_message(self.Cancelled())

    def _make(self) -> None:
        if not self._is_made:
            self._is_made = True
            self.mount(
                Static(to_content((label_span(self.MARK, ACCENT),)), id="filter-mark"),
                self.input_class()(complete=self._complete, id="filter-text"),
                Static(id="filter-state"),
            )

    @property
    def _input(self) -> LineInput:
        return cast("LineInput", self.query_one("#filter-text"))

    @property
    def _state(self) -> Static:
        return self.query_one("#filter-state", Static)


def make_filter_suggester(fields: Mapping[str, Sequence[SafeText]], flags: Sequence[str] = ()) -> Completer:
    """Return a completer for the last word of a filter: field names, values after ``:`` and ``=``, flags after ``is:``.

    The values of a field are looked up only while they are completed.
    """
    return lambda text: next(complete_filter(text, fields, flags), None)


def complete_filter(text: str, fields: Mapping[str, Sequence[SafeText]], flags: Sequence[str] = ()) -> Iterator[str]:
    """Yield a filter with each word that its last one may become; as for :func:`make_filter_suggester`."""
    words: dict[str, Sequence[str]] = {"is": flags, "has": tuple(fields)}
    begun = text.rpartition(" ")[2].lstrip("!")
    if not begun:
        return
    name, sign, part = begun.partition(":" if ":" in begun else "=")
    if sign:
        candidates = words[name] if name in words else fields.get(name, ())
    else:
        part, candidates = begun, [f"{name}:" for name in (*fields, *words)]
    for candidate in candidates:
        # A value with spaces would end at the first one.
        if candidate.startswith(part) and candidate != part and " " not in candidate:
            yield text[: len(text) - len(part)] + candidate
