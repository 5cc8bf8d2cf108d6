"""Filling in a request: a form that checks while the user types, beside the exact request that it makes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widget import Widget

from runwatch.api.errors import ApiProblem
from runwatch.base.errors import RunwatchError
from runwatch.base.json import encode_body
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.terminal.editor import EditorError, edit_text, editor_command
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.form_fields import FormFields
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.inputs.text_area import MultilineInput
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.view.actions.form import FORM_LEVEL, Form
from runwatch.view.actions.request_preview import render_request_body
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.spec.action import Suggestions
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.widgets.inputs.text_area import MultilineInput

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.flows.write_dialog import WriteDialog

LONG_TEXT_CHARS: Final = 10_000
"""From so many characters on a text is not checked at every letter."""

TYPING_PAUSE_S: Final = 0.3
"""How long typing in such a text rests before it is."""

NARROW_COLUMNS: Final = 100
"""From this width on the request stands beside the fields; a narrower window shows the fields alone."""


def _first(id: str, action: str) -> list[BindingType]:
    """The binding of an action of the table that holds before anything else sees the key.

    A key that moves the focus has done so then before the next key is given to anybody: of keys that come in a burst,
    those behind it land in the field that it went to.
    """
    found = make_bindings("screen", only=(id,))
    return [replace(binding, action=action, priority=True) for binding in found if isinstance(binding, Binding)]


class FormScreen(ConsoleScreen):
    """A form. Subclasses say what it is about, open its dialog, and hear what came of it.

    Args:
        form: What is asked.
        values: What stands in the fields at first, by the id of the ask.
        field: The field to begin in; empty for :attr:`BEGINS_IN` or the first one.
    """

    BEGINS_IN: ClassVar[str] = ""
    """The field that people fill in first; empty for the first one there is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings("screen", only=("screen.back",)),
        *_first("screen.next_pane", "next_part(1)"),
        *_first("screen.previous_pane", "next_part(-1)"),
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
        & #buttons {
            height: 1;
            margin: 1 0 0 16;
        }
    }
    """

    def __init__(self, form: Form, values: Mapping[str, str], field: str = "") -> None:
        super().__init__()
        self.form: Final = form
        self._values = {ask.id: values.get(ask.id, "") for ask in form.asks}
        self._begin = field or self.BEGINS_IN
        self._key = str(uuid.uuid4())
        self._can_check = False
        self._goes_on = False
        self._rest: Timer | None = None
        self._problems: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        # A field that nobody has come to yet is not told off for being empty.
        self._fresh = {id for id, value in self._values.items() if not value}

    # What subclasses say.

    def form_title(self) -> StyledSpans:
        """What the frame of the fields is headed with."""
        raise NotImplementedError

    def request_line(self) -> StyledSpans:
        """Method and path, above the preview."""
        raise NotImplementedError

    def go_label(self) -> str:
        """The label of the button that opens the dialog."""
        return "Go on…"

    def before_fields(self) -> Sequence[Widget]:
        """What stands above the fields."""
        return ()

    def typed(self, values: Mapping[str, str]) -> None:
        """Something was typed."""

    def build_dialog(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteDialog:
        """The dialog that sends the request.

        Args:
            session: Where it goes.
            body: The exact bytes.
            shown: The same as a value, for the preview.
            key: The idempotency key.
        """
        raise NotImplementedError

    # What every form does.

    def body(self) -> Iterable[Widget]:
        """The fields, and the request beside them."""
        buttons = Horizontal(
            TextButton(line(self.go_label()), role=Role.PLAIN, id="start"),
            TextButton(line("Cancel"), id="leave"),
            id="buttons",
        )
        fields = FormFields(self.form.asks, self._values, before=self.before_fields(), after=(buttons,))
        yield Container(
            Pane(fields, edge=BorderText(title=self.form_title()), id="inputs"),
            Pane(DetailView(id="preview"), edge=BorderText(title=line("Request, exactly as sent")), id="request"),
            id="form",
        )

    def hints(self) -> Sequence[KeyHint]:
        """What can be done here."""
        editor = ["text.editor"] if any(ask.kind == "lines" for ask in self.form.asks) else []
        return (("screen.next_pane", "next field"), *editor, "screen.back")

    @property
    def fields(self) -> FormFields:
        """The fields."""
        return self.query_one(FormFields)

    def on_mount(self) -> None:
        """Show the request, and check it as soon as the checker is there."""
        self._fit()
        self.fields.go_to(self._begin)
        self.show_request()
        start_worker(self, self._get_checker(), "loading")
        self.session_opened()

    def session_opened(self) -> None:
        """Offer the records that the service has."""
        if self.console.session is not None and any(ask.offer for ask in self.form.asks):
            start_worker(self, self._offer(), "reading suggestions", group="offers", exclusive=True)

    def on_resize(self) -> None:
        """Leave the preview out where there is no room."""
        self._fit()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Check what is typed."""
        event.stop()
        # What stands there now: behind the first of several letters, the message of that letter comes late.
        self._take(str(event.input.id).removeprefix("field-"), event.input.value)
        self.show_request()

    def on_text_area_changed(self, event: MultilineInput.Changed) -> None:
        """Check what is typed."""
        event.stop()
        self._take(str(event.text_area.id).removeprefix("field-"), event.text_area.text)
        self._show_soon(event.text_area.text)

    def on_safe_text_area_characters_dropped(self, event: MultilineInput.CharactersDropped) -> None:
        """Say that what stands there is not all of what came."""
        event.stop()
        self.notify_user(
            f"{event.count} character{'s' * (event.count != 1)} that cannot be displayed left out.", Role.WARN
        )

    def on_multiline_input_editor_requested(self, event: MultilineInput.EditorRequested) -> None:
        """Open the person's editor on the text."""

        event.stop()
        start_worker(self, edit_field(self, event.field), "writing in the editor", group="editor", exclusive=True)

    def on_text_button_pressed(self, event: TextButton.Pressed) -> None:
        """Open the dialog, or leave."""
        event.stop()
        if event.button.id == "leave":
            self.action_back()
        else:
            self._go()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the fields are theirs alone: a menu or the command line in front has its own."""
        if action in {"next_field", "choose"}:
            return isinstance(self.focused, LineInput) and self.focused in self.fields.inputs()
        if action == "next_part":
            return not self.has_overlay
        return super().check_action(action, parameters)

    def action_next_field(self) -> None:
        """Go on to the next field, and from the last one to the button, or to the first field that is wrong."""
        if self._is_in_last and self.focused is not None:
            self.focused.call_later(self._leave_last)
        else:
            self.focus_next()

    def action_next_part(self, step: int) -> None:
        """Go to the next field or button, or to the one before."""
        if step > 0 and self._is_in_last and self.focused is not None:
            self.focused.call_later(self._walk_on)
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_choose(self, step: int) -> None:
        """Put the next choice into the field, or go to the next field where there is nothing to choose."""
        field = self.focused
        if isinstance(field, LineInput) and not self.fields.choose(field, step):
            self.action_next_part(step)

    def action_back(self) -> None:
        """Leave."""
        self.app.pop_screen()

    @property
    def is_at_root(self) -> bool:
        """The form stands before the screen that opened it."""
        return False

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Nothing here depends on records."""

    def show_request(self) -> None:
        """Show what is sent as it stands now, and what is wrong with it."""
        body = self.form.body(self._values)
        self._problems = self.form.problems(self._values) if self._can_check else {}
        shown = {**self._problems, **self._refused}
        self.fields.show_problems(shown, frozenset(self._fresh - self._refused.keys()))
        # Whoever types ahead finds the button where it will be, also while the rules are still loading.
        self.query_one("#start", TextButton).disabled = bool(self._problems)
        key = DetailLine(line("Idempotency-Key"), line(self._key), Role.QUIET)
        sections = [
            DetailSection(line(""), (key,)),
            DetailSection(line("Body"), (DetailLine(line(""), render_request_body(body)),)),
        ]
        head = self.request_line()
        pieces = (label_span(head, Role.PLAIN),) if isinstance(head, SafeText) else head
        self.query_one("#preview", DetailView).show(sections, head=[*pieces])  # type: ignore[list-item]

    def refused(self, error: RunwatchError) -> SafeText | None:
        """Take what the service says of single fields; it stands below them when the dialog is gone.

        The same key would be a conflict with another body, so that the next request has a new one.
        """
        self._key = str(uuid.uuid4())
        if not isinstance(error, ApiProblem):
            return None
        errors = error.problem.raw.get("errors")
        self._refused = self.form.by_field(errors)
        self.show_request()
        if not self._refused:
            return None
        return line("close this and correct the marked fields; a new key will be used")

    def dialog_closed(self, dialog: ConfirmDialog) -> None:
        """Go to the first field that was refused; once the request is accepted the form has done its work."""
        if dialog.state == "done":
            self.action_back()
        elif self._refused:
            first = next((ask.id for ask in self.form.asks if ask.id in self._refused), "")
            self.fields.go_to(first)

    def _show_soon(self, text: str) -> None:
        """Show the request at once, or where a text is long once its typing rests."""
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        if len(text) > LONG_TEXT_CHARS:
            self._rest = self.set_timer(TYPING_PAUSE_S, self.show_request)
        else:
            self.show_request()

    def _take(self, id: str, value: str) -> None:
        """Take what stands in a field now."""
        if self._values.get(id) == value:
            return
        self._values[id] = value
        self._fresh.discard(id)
        # What the service said was about another body, and another body needs another key.
        self._refused.pop(id, None)
        self._refused.pop(FORM_LEVEL, None)
        self._key = str(uuid.uuid4())
        self.typed(dict(self._values))

    @property
    def _is_in_last(self) -> bool:
        """Whether the focus is in the last field.

        What was typed there may still wait to be put in, and decides whether the button can be pressed: who leaves it
        lets it have its letters first.
        """
        return bool(self.form.asks) and self.focused is self.fields.input(self.form.asks[-1].id)

    def _take_all(self) -> None:
        for id, value in self.fields.values().items():
            self._take(id, value)
        self.show_request()

    def _walk_on(self) -> None:
        """Go from the last field to what comes next."""
        if self._is_in_last:
            self._take_all()
            self.focus_next()

    def _leave_last(self) -> None:
        """Go from the last field to the button, or to the first field that keeps it from being pressed."""
        if not self._is_in_last:
            return
        self._fresh.clear()
        self._take_all()
        bad = next((ask.id for ask in self.form.asks if ask.id in self._problems), None)
        if bad is not None:
            self.fields.go_to(bad)
        else:
            button = self.query_one("#leave" if self._problems else "#start", TextButton)
            button.focus()

    def _go(self) -> None:
        session = self.connected_session()
        if session is None:
            return
        self._take_all()
        if not self._can_check:
            self._goes_on = True
            return
        if self._problems:
            # What was typed last may have come while nobody looked at it.
            return
        body = self.form.body(self._values)
        self.open_dialog(self.build_dialog(session, encode_body(body), body, self._key))

    async def _get_checker(self) -> None:
        # Importing the validation library takes longer than a frame.
        await asyncio.to_thread(self.form.validate_body, {})
        self._can_check = True
        self.show_request()
        if self._goes_on and self.is_current and self.query_one("#start", TextButton).has_focus:
            self._go()

    async def _offer(self) -> None:
        """Read the lists that words are offered from, those that nobody has read yet."""
        from runwatch.tui.sources.record_loader import load_records

        session = self.console.session
        offers: dict[str, Suggestions] = {ask.id: ask.offer for ask in self.form.asks if ask.offer is not None}
        for id, offer in offers.items():
            records = await load_records(session, offer.kind) if session is not None else ()
            found = ((offer.value(record), offer.name(record)) for record in records)
            self.fields.offer(id, {word: name for word, name in found if word})
        self.show_request()

    def _fit(self) -> None:
        self.set_class(self.size.width < NARROW_COLUMNS, "-narrow")


async def edit_field(screen: ConsoleScreen, field: MultilineInput) -> None:
    """Write the text of a field in the editor, or say on the screen why that cannot be."""
    environment = screen.console.launch.environment
    try:
        command = editor_command(environment)
        field.take(await edit_text(screen.console, command, field.text, environment))
    except EditorError as error:
        screen.notify_user(" ".join(word for word in (f"{error}.", error.hint) if word), Role.WARN)
