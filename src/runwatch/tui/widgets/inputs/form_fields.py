"""The fields of a form: label, input, and a hint or an error below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from runwatch.tui.core.rendering import to_content
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.inputs.line_input import FieldMark, LineInput
from runwatch.tui.widgets.inputs.text_area import MultilineInput
from runwatch.view.actions.form import FORM_LEVEL, next_choice
from runwatch.view.spec.action_parts import FormField
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

MAX_SHOWN_SUGGESTIONS: Final = 3
OFFERED_CHARACTERS: Final = 30
"""Suggestions are listed beside a field up to these limits; beyond them only their number is shown."""


FieldInput = LineInput | MultilineInput
"""The input of a form field."""


class FormFields(VerticalScroll, can_focus=False):
    """The fields of a form with initial values, one below the other, and other widgets above and below them.

    A mark precedes each field and differs for the focused one, so that fields are visible without colors.
    """

    DEFAULT_CSS = """
    FormFields {
        scrollbar-size-vertical: 1;
        & .row {
            height: 1;
            padding: 0 1 0 0;
        }
        & .label {
            width: 15;
            padding: 0 1;
        }
        & .row LineInput, & .row MultilineInput {
            width: 1fr;
        }
        & .row.-lines {
            height: auto;
        }
        & .note {
            height: auto;
            padding: 0 1 0 17;
        }
    }
    """

    def __init__(
        self,
        fields: Sequence[FormField],
        values: Mapping[str, str],
        *,
        before: Sequence[Widget] = (),
        after: Sequence[Widget] = (),
    ) -> None:
        super().__init__()
        self._fields: Final = tuple(fields)
        self._first: Final = dict(values)
        self._before: Final = tuple(before)
        self._after: Final = tuple(after)
        self._offered: dict[str, dict[str, str]] = {field.id: dict.fromkeys(field.choices, "") for field in fields}
        self._inputs: Final = {field.id: _make_input(field, self._first.get(field.id, "")) for field in self._fields}

    def compose(self) -> ComposeResult:
        yield from self._before
        for field in self._fields:
            label = Static(to_content(line(field.label), Role.QUIET), classes="label")
            is_long = field.kind == "lines"
            mark = FieldMark(id=f"mark-{field.id}")
            yield Horizontal(label, mark, self._inputs[field.id], classes="row -lines" if is_long else "row")
            yield Static(to_content(line(field.hint), Role.QUIET), id=f"note-{field.id}", classes="note")
        yield Static(id=f"note-{FORM_LEVEL}", classes="note")
        yield from self._after

    def values(self) -> dict[str, str]:
        return {field.id: self.input(field.id).value for field in self._fields}

    def input(self, id: str) -> FieldInput:
        return self._inputs[id]

    def inputs(self) -> Iterator[FieldInput]:
        for field in self._fields:
            yield self.input(field.id)

    def hidden_below(self) -> int:
        """Return how many fields are below the visible part."""
        rows = (each.parent for each in self.inputs())
        return sum(isinstance(row, Widget) and self.is_below(row) for row in rows)

    def is_below(self, row: Widget) -> bool:
        """Return whether a child is below the visible part."""
        return row.virtual_region.y >= self.scroll_offset.y + self.size.height

    def go_to(self, id: str) -> None:
        """Focus a field, or the first one if the id is unknown."""
        if (found := self.find_input(id)) is not None:
            found.focus()

    def find_input(self, id: str) -> FieldInput | None:
        """Return the input of a field, or the first one if the id is unknown; ``None`` without fields."""
        return self._inputs.get(id) or next(self.inputs(), None)

    def offer(self, id: str, words: Mapping[str, str]) -> None:
        """Add suggestions to a field once they are known, each with its human-readable name."""
        self._offered[id] |= words

    def choose(self, input: LineInput, step: int) -> bool:
        """Put the next suggestion into a field; return whether it has any."""
        id = str(input.id).removeprefix("field-")
        choices = tuple(self._offered.get(id, ()))
        if choices:
            input.value = next_choice(choices, input.value.strip(), step)
            input.cursor_position = len(input.value)
        return bool(choices)

    def show_problems(self, problems: Mapping[str, str], silent: frozenset[str]) -> None:
        """Show below each field its error, a caution or its hint; silent fields, not visited yet, show no error."""
        app = get_app(self)
        for field in self._fields:
            problem = problems.get(field.id)
            note = self.query_one(f"#note-{field.id}", Static)
            is_bad = problem is not None and field.id not in silent
            value = self.input(field.id).value.strip()
            is_new = problem is None and value != self._first.get(field.id)
            caution = field.caution(value) if is_new else ""
            if is_bad:
                note.update(to_content(line(f"{app.glyphs.bad} {problem}"), Role.BAD))
            elif caution:
                note.update(to_content(line(f"{app.glyphs.warn} {caution}"), Role.WARN))
            else:
                note.update(to_content(line(self._hint(field)), Role.QUIET))
            self.input(field.id).set_class(is_bad, "-invalid")
        rest = problems.get(FORM_LEVEL, "")
        self.query_one(f"#note-{FORM_LEVEL}", Static).update(to_content(line(rest, None), Role.WARN))

    def _hint(self, field: FormField) -> str:
        """Return what a field takes and its suggestions, or the name of the current value if it has one."""
        words = self._offered[field.id]
        name = words.get(self.input(field.id).value.strip(), "")
        if name:
            return name
        if not words:
            return field.hint
        if field.choices:
            return f"{field.hint}; up and down choose"
        few = ", ".join([*words][:MAX_SHOWN_SUGGESTIONS])
        offered = few if len(few) <= OFFERED_CHARACTERS else f"{len(words)} known"
        return f"{field.hint}; up and down: {offered}"

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _mark(self) -> None:
        for field in self._fields:
            self.query_one(f"#mark-{field.id}", FieldMark).is_at_focus = self.input(field.id).has_focus


def _make_input(field: FormField, value: str) -> FieldInput:
    kind = MultilineInput if field.kind == "lines" else LineInput
    return kind(value, id=f"field-{field.id}")
