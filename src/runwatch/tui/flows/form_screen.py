"""Form for a request, validated while typing, with a preview of the exact request."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from runwatch.api.errors import ApiProblem
from runwatch.base.errors import RunwatchError, WriteInProgressError
from runwatch.base.json import encode_body
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span, to_content
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.writes.write_texts import find_sending, request_text, sent_text, unconfirmed_text
from runwatch.tui.shell.console_screen import CoveringScreen
from runwatch.tui.shell.field_editor import edit_field
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.form_fields import FormFields
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.inputs.text_area import MultilineInput
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.view.actions.form import FORM_LEVEL, Form, render_request_body
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.spec.action_parts import FormField, Suggestions
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.session import ServiceSession
    from runwatch.tui.flows.writes.write_sender import WriteSender

_KEPT: Final = "Kept from before: typing replaces the selected text, ctrl+u empties a field."

LONG_TEXT_CHARS: Final = 10_000
"""Texts of this many characters or more are not validated at every key."""

TYPING_PAUSE_S: Final = 0.3
"""How long typing must pause in such a text before it is validated."""


def _first(id: str, action: str) -> list[BindingType]:
    """Return the binding of a key action with priority over the focused widget.

    A key that moves the focus then takes effect before the next key is dispatched, so that the rest of a burst of keys
    goes to the newly focused field.
    """
    found = make_bindings(id)
    return [replace(binding, action=action, priority=True) for binding in found if isinstance(binding, Binding)]


class FormScreen(CoveringScreen):
    """A form with initial values by field id. Subclasses define its subject, open its dialog, and process the result.

    The focus starts in ``field``, otherwise in the first one.

    Attributes:
        is_draft: Whether values are those of a form that was left; the screen says so, and typing replaces them.
    """

    NARROW_BELOW = 120
    TAKES_TEXT = True
    GO_LABEL: ClassVar[str] = "Review…"
    """Label of the button that opens the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings("screen.back"),
        *_first("screen.next_pane", "next_part(1)"),
        *_first("screen.previous_pane", "next_part(-1)"),
        *_first("form.send", "send"),
        Binding("enter", "next_field", "next field", show=False, priority=True),
        Binding("down", "choose(1)", "next choice", show=False, priority=True),
        Binding("up", "choose(-1)", "previous choice", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    FormScreen {
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
        & #unconfirmed, & #kept {
            height: auto;
            padding: 0 1 1 1;
        }
        & #unconfirmed {
            display: none;
        }
        & #buttons {
            height: 1;
            margin: 1 0 0 16;
        }
    }
    """

    def __init__(self, form: Form, values: Mapping[str, str], field: str = "") -> None:
        super().__init__()
        self.form: Final = form
        self._values = {each.id: values.get(each.id, "") for each in form.fields}
        self._begin = field
        self.is_draft = False
        self._entered: set[Widget] = set()
        self._key = str(uuid.uuid4())
        self._can_check = False
        self._goes_on = False
        self._earlier: SafeText | None = None
        self._is_changed = False
        self._debounce: Timer | None = None
        self._problems: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        # Fields not visited yet show no error for being empty.
        self._fresh = {id for id, value in self._values.items() if not value}

    # For subclasses to override.

    def form_title(self) -> StyledSpans:
        raise NotImplementedError

    @property
    def request(self) -> tuple[str, Mapping[str, str]]:
        """The operation and its path parameters."""
        raise NotImplementedError

    def before_fields(self) -> Sequence[Widget]:
        return ()

    def typed(self, values: Mapping[str, str]) -> None:
        """Called when the user has changed a value."""

    def build_sender(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteSender:
        """Return what sends the exact bytes of a body, with its dialog, whose preview shows the body as a value."""
        raise NotImplementedError

    # Common to all forms.

    def body(self) -> Iterable[Widget]:
        buttons = Horizontal(
            TextButton(line(self.GO_LABEL), role=Role.PLAIN, id="start"),
            TextButton(line("Cancel"), id="leave"),
            id="buttons",
        )
        before = [Static(id="unconfirmed"), *self.before_fields()]
        if self.is_draft:
            before.append(Static(to_content(line(_KEPT), Role.WARN), id="kept"))
        fields = FormFields(self.form.fields, self._values, before=before, after=(buttons,))
        yield Container(
            Pane(fields, edge=BorderText(title=self.form_title()), id="inputs"),
            Pane(DetailView(id="preview"), edge=BorderText(title=line("Request, exactly as sent")), id="request"),
            id="form",
        )

    def hints(self) -> Sequence[KeyHint]:
        editor = ["text.editor"] if any(field.kind == "lines" for field in self.form.fields) else []
        return (("screen.next_pane", "next field"), "form.send", *editor, "screen.back")

    @property
    def is_in_text(self) -> bool:
        return isinstance(self.focused, (LineInput, MultilineInput))

    @property
    def fields(self) -> FormFields:
        return self.query_one(FormFields)

    def on_mount(self) -> None:
        """Show the request, and validate it once the validator is loaded."""
        # At once, because keys may come before the next message, and the first frame marks the field.
        field = self.fields.find_input(self._begin)
        self.set_focus(field)
        self._select_kept(field)
        self.watch(self.fields, "scroll_y", self._count_hidden_later, init=False)
        self.show_request()
        start_worker(self, self._get_checker(), "loading")
        self.session_opened()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._select_kept(event.widget)

    def _select_kept(self, field: Widget | None) -> None:
        """Select a kept text when its field is first entered, so that typing replaces it."""
        if self.is_draft and isinstance(field, LineInput) and field not in self._entered:
            self._entered.add(field)
            field.select_all()

    def session_opened(self) -> None:
        if self.console.session is not None and any(field.offer for field in self.form.fields):
            start_worker(self, self._offer(), "reading suggestions", group="offers", exclusive=True)

    def on_resize(self) -> None:
        self._count_hidden_later()

    def _count_hidden_later(self) -> None:
        self.call_after_refresh(self._count_hidden)

    def _count_hidden(self) -> None:
        """Say on the frame how many fields are below the window, and that the buttons are."""
        for pane in self.query("#inputs").results(Pane):
            count = self.fields.hidden_below()
            parts = [f"{count} more field{'s' * (count != 1)}"] if count else []
            if self.fields.is_below(self.query_one("#buttons")):
                parts.append(self.GO_LABEL)
            pane.set_border_text(counters=(label_span(f"{' and '.join(parts)} below" if parts else ""),))

    def on_input_changed(self, event: LineInput.Changed) -> None:
        # Read the current value: after a burst of keys, the message of an earlier one arrives late.
        self._set_value(str(event.input.id).removeprefix("field-"), event.input.value)
        self.show_request()

    def on_text_area_changed(self, event: MultilineInput.Changed) -> None:
        self._set_value(str(event.text_area.id).removeprefix("field-"), event.text_area.text)
        self._show_soon(event.text_area.text)

    def on_multiline_input_characters_dropped(self, event: MultilineInput.CharactersDropped) -> None:
        self.notify_user(
            f"{event.count} character{'s' * (event.count != 1)} that cannot be displayed left out.", Role.WARN
        )

    def on_multiline_input_editor_requested(self, event: MultilineInput.EditorRequested) -> None:

        warn = partial(self.notify_user, role=Role.WARN)
        work = edit_field(self.console, event.field, warn)
        start_worker(self, work, "writing in the editor", group="editor", exclusive=True)

    def on_text_button_pressed(self, event: TextButton.Pressed) -> None:
        if event.button.id == "leave":
            self.action_back()
        else:
            self._go()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the keys of the fields only in a field: a menu or the command line in front has its own."""
        if action in {"next_field", "choose"}:
            return isinstance(self.focused, LineInput) and self.focused in self.fields.inputs()
        if action in {"next_part", "send"}:
            return not self.has_overlay
        return super().check_action(action, parameters)

    def action_send(self) -> None:
        """Open the dialog from any field, or go to the first invalid one."""
        self._fresh.clear()
        self._go()
        if self._problems:
            self.fields.go_to(next((field.id for field in self.form.fields if field.id in self._problems), ""))

    def action_next_field(self) -> None:
        """Go to the next field; from the last one, to the button or the first invalid field."""
        if self._is_in_last and self.focused is not None:
            self.focused.call_later(self._leave_last)
        else:
            self.focus_next()

    def action_next_part(self, step: int) -> None:
        if step > 0 and self._is_in_last and self.focused is not None:
            self.focused.call_later(self._walk_on)
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_choose(self, step: int) -> None:
        """Put the next suggestion into the field; without suggestions, go to the next field."""
        field = self.focused
        if isinstance(field, LineInput) and not self.fields.choose(field, step):
            self.action_next_part(step)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Do nothing: the form does not depend on records."""

    def show_request(self) -> None:
        body = self.form.body(self._values)
        self._problems = self.form.problems(self._values) if self._can_check else {}
        shown = {**self._problems, **self._refused}
        self.fields.show_problems(shown, frozenset(self._fresh - self._refused.keys()))
        self._show_earlier()
        self._count_hidden_later()
        # The button stays enabled while the validator loads, so that keys typed ahead reach it.
        self.query_one("#start", TextButton).disabled = bool(self._problems)
        key = DetailLine(line("Idempotency-Key"), line(self._key), Role.QUIET)
        sections = [
            DetailSection(line(""), (key,)),
            DetailSection(line("Body"), (DetailLine(line(""), render_request_body(body)),)),
        ]
        head = label_span(request_text(*self.request), Role.PLAIN)
        self.query_one("#preview", DetailView).show(sections, head=[head])

    def refused(self, error: RunwatchError) -> SafeText | None:
        """Show the service's errors below their fields; they are visible when the dialog has closed.

        The next request gets a new key, because the same key with another body would be a conflict. A form that was
        left before the response came shows nothing, and one whose request is being sent keeps its key.
        """
        if not self.is_attached or isinstance(error, WriteInProgressError):
            return None
        self._key = str(uuid.uuid4())
        if not isinstance(error, ApiProblem):
            return None
        found, service = self.form.by_field(error.problem.raw.get("errors")), self.console.shell_service
        self._refused = {id: add_service(message, service) for id, message in found.items()}
        self.show_request()
        if not self._refused:
            return None
        return line("close this and correct the marked fields; a new key will be used")

    def dialog_closed(self, dialog: ConfirmDialog) -> None:
        """Go to the first rejected field; close the form once its request took effect or may have.

        The form of a request with unknown outcome would make a new one, with another key.
        """
        if dialog.state in {"done", "unknown"}:
            # The outcome may come when the user has changed the form, or has opened something else from it.
            if self.is_current and not self._is_changed:
                self.action_back()
        elif self._refused:
            first = next((field.id for field in self.form.fields if field.id in self._refused), "")
            self.fields.go_to(first)
        self._show_earlier()

    def tick(self) -> None:
        """Follow the requests on their way: the answer may have come."""
        self._show_earlier()

    def _show_earlier(self) -> None:
        """Warn of an earlier request like this one that is on its way, or whose outcome is unknown."""
        own = find_sending(self.console, self._key)
        text = unconfirmed_text(self.console, *self.request)
        if own is not None:
            text = line(f"This request is on its way, {sent_text(self.console, own)}; wait for its answer.", None)
        if text == self._earlier:
            return
        self._earlier = text
        note_widget = self.query_one("#unconfirmed", Static)
        note_widget.update(to_content(line("") if text is None else text, Role.WARN))
        note_widget.display = text is not None

    def _show_soon(self, text: str) -> None:
        """Update the preview at once, or for a long text after a pause in typing."""
        if self._debounce is not None:
            self._debounce.stop()
            self._debounce = None
        if len(text) > LONG_TEXT_CHARS:
            self._debounce = self.set_timer(TYPING_PAUSE_S, self.show_request)
        else:
            self.show_request()

    def _set_value(self, id: str, value: str) -> None:
        if self._values.get(id) == value:
            return
        self._values[id] = value
        self._is_changed = True
        self._fresh.discard(id)
        # The service's errors belong to the previous body, and another body needs another key.
        self._refused.pop(id, None)
        self._refused.pop(FORM_LEVEL, None)
        self._key = str(uuid.uuid4())
        for field in self.form.fields:
            if field.follows == id:
                self._follow(field, value)
        self.typed(dict(self._values))

    def _follow(self, field: FormField, value: str) -> None:
        """Keep a field to the words that another field's new value leaves; the service refused it for the old one."""
        self._refused.pop(field.id, None)
        words, own = field.words_for(value), self._values[field.id]
        if own and words and own not in words:
            self.fields.input(field.id).value = words[0]
            self._set_value(field.id, words[0])

    @property
    def _is_in_last(self) -> bool:
        """Whether the focus is in the last field.

        Input to that field may still be pending and decides whether the button is enabled, so it is processed before
        the focus leaves.
        """
        return bool(self.form.fields) and self.focused is self.fields.input(self.form.fields[-1].id)

    def _set_all_values(self) -> None:
        for field in self.form.fields:
            self._set_value(field.id, self.fields.input(field.id).value)
        self.show_request()

    def _walk_on(self) -> None:
        """Go from the last field to the next widget."""
        if self._is_in_last:
            self._set_all_values()
            self.focus_next()

    def _leave_last(self) -> None:
        """Go from the last field to the button, or to the first invalid field."""
        if not self._is_in_last:
            return
        self._fresh.clear()
        self._set_all_values()
        bad = next((field.id for field in self.form.fields if field.id in self._problems), None)
        if bad is not None:
            self.fields.go_to(bad)
        else:
            button = self.query_one("#leave" if self._problems else "#start", TextButton)
            button.focus()

    def _go(self) -> None:
        session = self.writing_session()
        if session is None:
            return
        self._set_all_values()
        if not self._can_check:
            self._goes_on = True
            return
        if self._problems:
            # The last input may have made the form invalid.
            return
        if (own := find_sending(self.console, self._key)) is not None:
            words = f"This request is already on its way, {sent_text(self.console, own)}; wait for its answer."
            self.notify_user(words, Role.WARN)
            return
        self._is_changed = False
        body = self.form.body(self._values)
        self.app.push_screen(self.build_sender(session, encode_body(body), body, self._key).dialog)

    async def _get_checker(self) -> None:
        # Importing the validation library takes longer than a frame.
        await asyncio.to_thread(self.form.validate_body, {})
        self._can_check = True
        self.show_request()
        if self._goes_on and self.is_current and not self.has_overlay:
            self._go()

    async def _offer(self) -> None:
        """Load the lists of suggestions that have not been read yet, if the request limit leaves room for them.

        Otherwise the known records are suggested: the request of the form is worth more.
        """
        from runwatch.tui.sources.record_loader import known_records, load_records

        session = self.console.session
        offers: dict[str, Suggestions] = {
            field.id: field.offer for field in self.form.fields if field.offer is not None
        }
        for id, offer in offers.items():
            records: Sequence[Record] = ()
            if session is not None:
                has_room = session.live.budget.has_room
                records = await load_records(session, offer.kind) if has_room else known_records(session, offer.kind)
            found = ((offer.value(record), offer.name(record)) for record in records)
            self.fields.offer(id, {word: name for word, name in found if word})
        self.show_request()
