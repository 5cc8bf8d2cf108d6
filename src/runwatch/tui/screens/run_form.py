"""Starting a run: a form that checks while a person types, beside the exact request that it makes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from runwatch.base.json import dumps_body
from runwatch.tui.actions import bindings
from runwatch.tui.draw import content, word
from runwatch.tui.mutations import submit_run
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.line_input import LineInput
from runwatch.tui.widgets.pane import Edge, Pane
from runwatch.tui.widgets.push_button import PushButton
from runwatch.tui.widgets.sheet import Sheet
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.work import start_work
from runwatch.view.detail import Line, Section
from runwatch.view.draft import FIELDS, Again, body_of, problems_of, start_values
from runwatch.view.drawn import json_block, line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role

NARROW: Final = 100


class RunForm(ConsoleScreen):
    """The form. What is typed is kept for the next time, whichever way the form is left, until the run is accepted.

    Args:
        values: What it holds at first, by field; ``None`` for a new run.
        field: The field to begin in; empty for the first one that people fill in.
        like: The earlier run that the values are from.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.back",))
    AUTO_FOCUS = "#field-objective"
    DEFAULT_CSS = """
    RunForm {
        & #form {
            layout: horizontal;
            height: 1fr;
        }
        & #inputs, & #request {
            width: 1fr;
        }
        &.-narrow #form {
            layout: vertical;
        }
        &.-narrow #request {
            display: none;
        }
        & .row {
            height: 1;
        }
        & .label {
            width: 15;
            padding: 0 1;
        }
        & .row LineInput {
            width: 1fr;
        }
        & #like {
            height: auto;
            padding: 0 1 1 1;
        }
        & .note {
            height: auto;
            padding: 0 0 0 15;
        }
        & #buttons {
            height: 1;
            margin: 1 0 0 14;
        }
    }
    """

    def __init__(self, values: Mapping[str, str] | None = None, field: str = "", *, like: Again | None = None) -> None:
        super().__init__()
        self._first = field
        self._like = like
        self._values = {**start_values(), **(values or {})}
        self._key = str(uuid.uuid4())
        self._can_check = False
        self._problems: dict[str, str] = {}

    def body(self) -> Iterable[Widget]:
        """The fields, and the request beside them."""
        title = "New run"
        fields: list[Widget] = []
        if self._like is not None:
            title = f"New run like {short_id(self._like.run_id, self.console.glyphs)}"
            if self._like.note:
                fields.append(Static(content(line(self._like.note, None), Role.WARN), id="like"))
        for field in FIELDS:
            label = Static(content(line(field.label), Role.QUIET), classes="label")
            fields.append(Horizontal(label, LineInput(self._values[field.id], id=f"field-{field.id}"), classes="row"))
            fields.append(Static(content(line(field.hint), Role.QUIET), id=f"note-{field.id}", classes="note"))
        fields.append(Static(id="note-", classes="note"))
        fields.append(
            Horizontal(
                PushButton(line("Start…"), role=Role.PLAIN, id="start"),
                PushButton(line("Leave"), id="leave"),
                id="buttons",
            )
        )
        yield Container(
            Pane(
                VerticalScroll(*fields, can_focus=False),
                edge=Edge(title=line(f"{title} {self.console.glyphs.dot} postExecutions")),
                id="inputs",
            ),
            Pane(DetailView(id="preview"), edge=Edge(title=line("Request, exactly as sent")), id="request"),
            id="form",
        )

    def crumbs(self) -> Sequence[str]:
        """Below the runs."""
        return ("Runs", "New run")

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (("screen.next_pane", "next field"), "screen.back")

    def on_mount(self) -> None:
        """Show the request, and check it as soon as the checker is there."""
        self._fit()
        self._show()
        if self._first:
            self.query_one(f"#field-{self._first}").focus()
        start_work(self, self._get_checker(), "loading the rules")

    def on_resize(self) -> None:
        """Leave the preview out where there is no room."""
        self._fit()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Check what is typed."""
        event.stop()
        field = str(event.input.id).removeprefix("field-")
        if self._values.get(field) != event.value:
            self._values[field] = event.value
            # Another body needs another key: the same one would be a conflict.
            self._key = str(uuid.uuid4())
            # Kept with every letter, because a form can be left in more ways than by its own key.
            self.console.draft = dict(self._values)
        self._show()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Go on to the next field, and from the last one to the button."""
        event.stop()
        self.focus_next()

    def on_push_button_pressed(self, event: PushButton.Pressed) -> None:
        """Open the sheet, or leave."""
        event.stop()
        if event.button.id == "leave":
            self.action_back()
        else:
            self._start()

    def action_back(self) -> None:
        """Leave; what was typed is kept."""
        self.app.pop_screen()

    @property
    def is_at_root(self) -> bool:
        """The form stands before the screen that opened it."""
        return False

    async def _get_checker(self) -> None:
        # Importing the validation library takes longer than a frame.
        await asyncio.to_thread(problems_of, {})
        self._can_check = True
        self._show()

    def _show(self) -> None:
        body = body_of(self._values)
        self._problems = problems_of(body) if self._can_check else {}
        for field in FIELDS:
            problem = self._problems.get(field.id)
            note = self.query_one(f"#note-{field.id}", Static)
            bad = problem is not None and bool(self._values[field.id] or field.id not in {"objective"})
            glyph = self.console.glyphs.bad
            note.update(content(line(f"{glyph} {problem}"), Role.BAD) if bad else content(line(field.hint), Role.QUIET))
            self.query_one(f"#field-{field.id}").set_class(bad, "-invalid")
        rest = self._problems.get("", "")
        self.query_one("#note-", Static).update(content(line(rest), Role.BAD))
        self.query_one("#start", PushButton).disabled = bool(self._problems) or not self._can_check
        preview = self.query_one("#preview", DetailView)
        head = (word("POST /v1/executions", Role.PLAIN),)
        key = Line(line("Idempotency-Key"), line(self._key), Role.QUIET)
        preview.show([Section(line(""), (key,)), Section(line("Body"), (Line(line(""), json_block(body)),))], head=head)

    def _start(self) -> None:
        desk = self.console.desk
        if desk is None:
            self.say("The service is not connected yet.", Role.WARN)
            return
        body = body_of(self._values)
        self.open_sheet(submit_run(self, desk, dumps_body(body), body, key=self._key, done=self._accepted))

    def sheet_left(self, sheet: Sheet) -> None:
        """Once the run is accepted the form has done its work."""
        if sheet.state == "done":
            self.action_back()

    def _accepted(self, run_id: str) -> None:
        self.console.draft = None
        self.console.show_run(run_id)

    def _fit(self) -> None:
        self.set_class(self.size.width < NARROW, "-narrow")

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Nothing here depends on records."""
