"""The dialog that confirms every mutation: what will happen, the request, and the outcome row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal, Protocol

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import Static

from runwatch.base.secrets.secret import Secret
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import CopyRequested
from runwatch.tui.core.rendering import (
    StyledSpan,
    StyledSpans,
    cut_spans,
    label_span,
    spans_width,
    to_content,
    to_segment,
    to_spans,
)
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.line_input import FieldMark, LineInput
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.lists.rows_below import RowsBelow
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.tui.widgets.panes.dialog import BUTTONS, FRAME_CELLS, MAX_CELLS, Dialog
from runwatch.tui.widgets.panes.pane import BorderText, Pane, TextForms
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.problems.explanations import support_block
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.copied_text import copied_unchanged, copied_word
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line, truncate

DialogState = Literal["asking", "sending", "done", "refused", "unknown"]

WAITING: Final = label_span("waiting")
OUTCOME_CELLS: Final = 28

MIN_BODY_ROWS: Final = 4
OTHER_ROWS: Final = 7
"""Rows that header bar, frame, its margins, the count of hidden rows and buttons take besides body and texts."""


PANEL_FRAME_ROWS: Final = 2

_REQUEST: Final = "request"
"""CSS class of the texts that name the request and its key."""


@dataclass(frozen=True, slots=True)
class DialogRow:
    """A record affected by the mutation, in one line; the key identifies it when its outcome is shown."""

    key: str
    text: StyledSpans


@dataclass(frozen=True, slots=True)
class TypedConfirmation:
    """Text that must be typed before a dialog of a production profile can be confirmed, and what it is."""

    what: SafeText
    expected: str


@dataclass(frozen=True, slots=True)
class DialogText:
    """Text of a confirmation dialog.

    Attributes:
        title: Action, record and profile.
        short_title: The action alone, where the frame has no room for more; the request names the record, and the
            frame the profile.
        sentence: What will happen and what will not.
        request: Method, path and related details.
        keep: Label of the harmless button, specific to the record: ``Keep it running``.
        confirm: Label of the button that sends the mutation.
        profile: Profile and mode, in their roles.
        key: The idempotency key; ``None`` if each row has its own.
        body: The request body; ``None`` if there is none.
        rows: The affected records.
        typed: Text to type first.
        age: Age of the data shown.
        record_id: The id of the record, to copy it; empty for a new one, or for several.
        shows_secret: Whether the response holds a secret that only this dialog shows, so that it cannot be left before
            the response has come.
        is_destructive: Whether it ends or deletes something, so that its button is red.
        warning: Why sending this may do the same twice; ``None`` for no warning.
        is_over: Whether nothing is left to do, so that the dialog can only be closed; the sentence says why.
        make_updated: Returns this text with the state and the age of the data as they are now, asked every second;
            ``None`` if nothing in it changes.
    """

    title: SafeText
    sentence: SafeText
    request: StyledSpans
    keep: SafeText
    confirm: SafeText
    profile: StyledSpans
    short_title: SafeText | None = None
    key: SafeText | None = None
    body: SafeText | None = None
    rows: tuple[DialogRow, ...] = ()
    typed: TypedConfirmation | None = None
    age: SafeText | None = None
    record_id: str = ""
    shows_secret: bool = False
    is_destructive: bool = False
    warning: SafeText | None = None
    is_over: bool = False
    make_updated: Callable[[], DialogText] | None = None


class Sender(Protocol):
    """Sends what a dialog confirms."""

    def send(self) -> None:
        """Send the writes, or retry those with unknown outcome."""

    def send_now(self) -> None:
        """Send without waiting for the end of a rate-limit hold."""

    def leave(self) -> None:
        """Called when the dialog has closed; requests under way continue."""


class ConfirmDialog(Dialog[None]):
    """The confirmation dialog. The harmless button has the focus first, or the field for text that must be typed.

    After sending, the dialog stays open until the outcome is known or the user leaves; it closes by itself if nothing
    on it has to be read.

    Args:
        owner: The screen that receives the dialog's messages.
        header: Content of the header bar.

    Attributes:
        state: What the dialog shows.
        is_open: Whether it has not been left yet; afterwards it shows nothing.
    """

    AUTO_FOCUS = "#dialog-typed > LineInput, #dialog-keep"
    BINDINGS = make_bindings("dialog")
    DEFAULT_CSS = """
    ConfirmDialog {
        & #dialog-problem {
            height: auto;
        }
        & ProblemPanel {
            height: auto;
            padding: 0;
            background: $surface;
            & DetailView {
                margin-bottom: 0;
            }
        }
        & #dialog-typed {
            height: 1;
            margin-bottom: 1;
            & > Static {
                width: auto;
                margin: 0 1 0 0;
            }
            & > LineInput {
                width: 1fr;
                background: $background;
            }
        }
        & .-above {
            margin-bottom: 0;
        }
        & .-hidden {
            display: none;
        }
    }
    """

    @dataclass(eq=False, repr=False)
    class Closed(Message):
        """The user left the dialog, which is closed."""

        dialog: ConfirmDialog

    def __init__(self, text: DialogText, owner: DOMNode, header: HeaderInfo, sender: Sender) -> None:
        super().__init__(header)
        self._text: Final = text
        self._owner: Final = owner
        self.sender: Final = sender
        self.state: DialogState = "asking"
        self.is_open = True
        self._is_held = False
        self._can_retry = False
        self._must_stay = False
        self._has_notice = False
        self._secret: Secret | None = None
        self._secret_name = line("")
        self._record_id = text.record_id
        self._said: tuple[StyledSpan, ...] = ()
        self._problem: ProblemEntry | None = None
        role = Role.BAD if text.is_destructive else Role.PLAIN
        self._keep_button: Final = TextButton(text.keep, id="dialog-keep")
        self._copy: Final = TextButton(line("Copy"), id="dialog-copy")
        self._confirm_button: Final = TextButton(text.confirm, role=role, id="dialog-confirm")
        self._again: Final = TextButton(line("Retry with the same key"), id="dialog-again")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        text = self._text
        age = (text.age,) if text.age is not None else ()
        title = text.title if text.short_title is None else TextForms((text.title, text.short_title))
        edge = BorderText(title=title, state=text.profile, age=age, counters=self._keys())
        with Pane(edge=edge):
            yield Static(to_content(text.sentence), id="dialog-sentence")
            if text.warning is not None:
                yield Static(to_content(text.warning, Role.WARN), id="dialog-warning")
            yield Static(id="dialog-note", classes="-hidden")
            yield Static(to_content(text.request), classes=f"{_REQUEST} {'-above' * (text.key is not None)}")
            if text.key is not None:
                yield Static(to_content(line(f"idempotency key {text.key}")), classes=_REQUEST)
            if text.body is not None:
                body = DetailView(id="dialog-body")
                # Fill the body before the first frame, so that no button moves away from the mouse.
                body.show([text_section(block(text.body))])
                yield body
                yield RowsBelow(body)
            if text.rows:
                rows = _Outcomes(text.rows)
                yield rows
                yield RowsBelow(rows)
            if text.typed is not None:
                with Horizontal(id="dialog-typed"):
                    prompt = line(f"production profile: type {text.typed.what}")
                    yield Static(to_content(prompt, Role.WARN))
                    yield FieldMark()
                    yield LineInput()
            yield Static(id="dialog-state", classes="-hidden")
            yield Vertical(id="dialog-problem", classes="-hidden")
            yield Horizontal(self._keep_button, self._copy, self._confirm_button, self._again, classes=BUTTONS)

    def on_resize(self) -> None:
        self._fit_body()

    def _fit_body(self) -> None:
        """Give the body, or the problem in its place, all rows the rest of the dialog does not need, an outcome of one
        row included.
        """
        for state_widget in self.query("#dialog-state").results(Static):
            state_widget.update(to_content(hang_values(self._said, self._cells)))
        rows = OTHER_ROWS
        for text in self.query("Pane > Static").results(Static):
            if text.id == "dialog-state" and text.has_class("-hidden"):
                rows += 2 * (self._problem is None)
            elif not isinstance(text, RowsBelow) and not text.has_class("-hidden"):
                height = text.get_content_height(self.size, self.size, self._cells)
                rows += height + (not text.has_class("-above"))
        rows += sum(2 for typed in self.query("#dialog-typed") if typed.display)
        for body in self.query("#dialog-body"):
            body.styles.max_height = max(MIN_BODY_ROWS, self.size.height - rows)
        rows += PANEL_FRAME_ROWS + sum(outcomes.size.height + 1 for outcomes in self.query(_Outcomes))
        for problem in self.query("ProblemPanel DetailView"):
            problem.styles.max_height = max(MIN_BODY_ROWS, self.size.height - rows)

    def on_mount(self) -> None:
        """Offer a retry and a copy only once there is something to retry or to copy."""
        self._again.display = self._copy.display = False

    def on_unmount(self) -> None:
        """Show nothing any more, also if the screen below takes the dialog away."""
        self.is_open = False

    # Called by the screen.

    def show_header(self, header: HeaderInfo) -> None:
        """Update the header bar, and what the text says of the records; a notice in the frame stays."""
        super().show_header(header)
        if self._text.make_updated is None:
            return
        text = self._text.make_updated()
        self.query_one("#dialog-sentence", Static).update(to_content(text.sentence))
        for rows in self.query(_Outcomes):
            rows.follow(text.rows)
        if text.age is not None and not self._has_notice:
            self.query_one(Pane).set_border_text(age=text.age)
        if text.is_over and self.state == "asking":
            self.query(f".{_REQUEST}").add_class("-hidden")
            for rows in self.query(_Outcomes):
                rows.unsent_outcome = ()
            self._end("done")

    def show_facts(self, facts: StyledSpans) -> None:
        """Show facts below the sentence, such as the record's dependents; may be called after the dialog opened."""
        for note_widget in self.query("#dialog-note").results(Static):
            note_widget.update(to_content(facts))
            note_widget.remove_class("-hidden")
        self._fit_body()

    def show_rate_limit(self, notice: SafeText) -> None:
        """Show when a rate-limit hold ends; leaving before that cancels the request."""
        self._is_held = True
        self._must_stay = False
        key = get_app(self._confirm_button).keys.shown("dialog.ask_again")
        self._say((notice, Role.WARN), label_span(f"   {key} sends it now"))
        self._keep_button.label = self._text.keep

    def go(self) -> None:
        """Show that the request is being sent and that leaving no longer stops it."""
        self._is_held = False
        if self.is_open:
            self._must_stay = self._text.shows_secret
            leave, why = (
                ("Wait", "; it is shown only here and once") if self._must_stay else ("Close, it continues", "")
            )
            self._enter("sending", leave, label_span(f"sending, waiting for the response{why}", Role.LIVE))

    def let_leave(self) -> None:
        """Let the user leave from now on, because no response will come."""
        if self._must_stay:
            self._must_stay = False
            self._keep_button.label = line("Close")

    def show_outcome(self, key: str, outcome: StyledSpans) -> None:
        self.query_one(_Outcomes).show_outcome(key, to_spans(outcome))

    def finish(self, outcome: StyledSpans, *, closes: bool = False) -> None:
        """Show that the mutation is done; the dialog closes if nothing has to be read here."""
        self._end("done", *to_spans(outcome))
        if closes:
            self.action_leave()

    def offer_id(self, record_id: str) -> None:
        """Let the user copy the id of the record in the response, if it has one."""
        self._record_id = record_id or self._record_id

    def offer_secret(self, name: SafeText, secret: Secret) -> None:
        """Let the user copy a secret that the service returns only once, such as a key."""
        self._secret, self._secret_name = secret, name
        self._copy.label = line(f"Copy the {name} ({get_app(self._copy).keys.shown('dialog.copy')})")
        self._copy.display = True

    def show_refusal(self, entry: ProblemEntry, *, next_step: SafeText | None = None, can_retry: bool = False) -> None:
        """Show the problem with which the service refused the request, or why it was not sent.

        A request that never reached the service may be sent again.
        """
        self._problem, self._can_retry = entry, can_retry
        if can_retry:
            key = get_app(self._confirm_button).keys.shown("dialog.ask_again")
            self._end("refused", (line(f"nothing was sent; {key} tries again"), Role.WARN))
        else:
            self._end("refused")
        self._again.display = can_retry
        for body in self.query("#dialog-body"):
            # The problem matters more, and 24 rows do not hold both.
            body.display = False
        for mark in self.query(RowsBelow):
            mark.display = False
        # The problem names request and key.
        self.query(f".{_REQUEST}").add_class("-hidden")
        box = self.query_one("#dialog-problem")
        box.remove_class("-hidden")

        async def put() -> None:
            await box.remove_children()
            panel = ProblemPanel()
            await box.mount(panel)
            panel.show(entry, next_step=next_step)
            await box.mount(RowsBelow(panel.query_one(DetailView)))
            self._fit_body()

        self.call_next(put)

    def show_unknown_outcome(self, reason: SafeText) -> None:
        """Show that the request was sent but no response arrived."""
        again = line(
            f"{get_app(self._confirm_button).keys.shown('dialog.ask_again')} retries with the same key and body"
        )
        self._end("unknown", (line(f"outcome unknown: {reason}; {again}"), Role.WARN))
        self._again.display = True

    def show_notice(self, notice: StyledSpans) -> None:
        """Show a notice in the frame, such as how an id was copied; the dialog covers the status bar."""
        self._has_notice = True
        self.query_one(Pane).set_border_text(age=notice)

    # Called on user input.

    def on_text_button_pressed(self, event: TextButton.Pressed) -> None:
        if event.button is self._confirm_button:
            self.action_send()
        elif event.button is self._again:
            self.action_ask_again()
        elif event.button is self._copy:
            self.action_copy()
        else:
            self.action_leave()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _follow_focus(self) -> None:
        """Mark the field while it has the focus, and name the keys that it does not take."""
        for mark, field in zip(self.query(FieldMark), self.query(LineInput), strict=True):
            mark.is_at_focus = field.has_focus
        self.query_one(Pane).set_border_text(counters=self._keys())

    def on_input_changed(self) -> None:
        """Clear what was said about the text before."""
        self._say()

    def on_input_submitted(self) -> None:
        """Move the focus to the confirm button; enter in the input sends nothing."""
        if self._is_typed():
            self._confirm_button.focus()

    def on_panel_closed(self) -> None:
        self.action_leave()

    def on_copy_requested(self, event: CopyRequested) -> None:
        event.stop()
        self._owner.post_message(replace(event))

    def action_leave(self) -> None:
        """Leave; a request already sent continues. One whose response is shown only here keeps the dialog open."""
        if self._must_stay:
            return
        self.is_open = False
        self.dismiss()
        self._owner.post_message(self.Closed(self))

    def action_send(self) -> None:
        """Confirm, from any part of the dialog, once the expected text is typed, if any."""
        if self.state == "asking" and self._is_typed():
            self._send()

    def action_ask_again(self) -> None:
        """Request a retry if the outcome is unknown; during a rate-limit hold, send without waiting for its end."""
        if self._is_held:
            self.sender.send_now()
        elif self.state == "unknown" or self._can_retry:
            self._send()

    def action_copy(self) -> None:
        """Request a copy of the secret from the response, or of the id that matters most."""
        if self._secret is not None:
            wanted = CopyRequested(self._secret_name, copied_unchanged(self._secret.reveal()), is_secret=True)
            self._owner.post_message(wanted)
            return
        found = next(((what, text) for what, text in self._ids() if text), None)
        if found is not None:
            self._owner.post_message(CopyRequested(line(found[0]), copied_word(found[1])))

    def action_copy_menu(self) -> None:
        """Request a copy of a problem's support block, otherwise of the key of the request."""
        if self._problem is not None:
            self._owner.post_message(
                CopyRequested(line("support block"), support_block(self._problem), several_lines=True)
            )
        elif self._text.key is not None:
            self._owner.post_message(CopyRequested(line("idempotency key"), copied_word(self._text.key)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable retry only where it does something."""
        return self._can_ask_again if action == "ask_again" else True

    def _ids(self) -> Iterator[tuple[str, str]]:
        """Yield the ids on the dialog by what they are, the one that matters most first; some may be empty."""
        if self._problem is not None:
            yield "instance", self._problem.problem.instance or ""
        for rows in self.query(_Outcomes):
            yield "id", self._text.rows[rows.cursor].key
        yield "id", self._record_id
        yield "idempotency key", "" if self._text.key is None else self._text.key

    @property
    def _can_ask_again(self) -> bool:
        """Whether the outcome is unknown, nothing was sent, or a hold delays it."""
        return self._is_held or self._can_retry or self.state == "unknown"

    @property
    def _cells(self) -> int:
        return min(self.size.width, MAX_CELLS) - FRAME_CELLS

    def _is_typed(self) -> bool:
        """Return whether the expected text is typed, if any; otherwise go to the field and say what it needs."""
        if (typed := self._text.typed) is None:
            return True
        field = self.query_one(LineInput)
        if (text := field.value.strip()) == typed.expected:
            return True
        field.focus()
        needed = f"the text differs from {typed.what}" if text else f"first type {typed.what}"
        self._say((line(f"nothing was sent: {needed}"), Role.WARN))
        return False

    def _send(self) -> None:
        self._can_retry, self._problem = False, None
        self.query_one("#dialog-problem").add_class("-hidden")
        self.query(f".{_REQUEST}").remove_class("-hidden")
        self.go()
        self.sender.send()

    def _end(self, state: DialogState, *outcome: StyledSpan) -> None:
        self._must_stay = False
        self._enter(state, "Close", *outcome)

    def _keys(self) -> StyledSpans:
        keys = get_app(self).keys
        sends = f"{keys.shown('dialog.send')} sends  " if self.state == "asking" else ""
        again = f"{keys.shown('dialog.ask_again')} retries  " if self._can_ask_again and not self._is_held else ""
        copies = "" if isinstance(self.focused, LineInput) else "y copies  "
        return (label_span(f"tab moves  {sends}{again}{copies}esc closes"),)

    def _enter(self, state: DialogState, leave: str, *outcome: StyledSpan) -> None:
        self.state = state
        self.query_one(Pane).set_border_text(counters=self._keys())
        self._say(*outcome)
        self._confirm_button.display = self._again.display = False
        for typed in self.query("#dialog-typed"):
            typed.display = False
        self._keep_button.label = line(leave)
        self._keep_button.focus()

    def _say(self, *pieces: StyledSpan) -> None:
        self._said = pieces
        self.query_one("#dialog-state", Static).set_class(not pieces, "-hidden")
        self._fit_body()


def hang_values(spans: Iterable[StyledSpan], cells: int) -> tuple[StyledSpan, ...]:
    """Wrap the last span of each line to ``cells``, and indent its rows to where it begins, below a label.

    Where labels leave it less than half of them, a line is left as it is.
    """
    shown: list[StyledSpan] = []
    for is_end, group in groupby(spans, lambda span: span[0] == "\n"):
        line_spans = [*group]
        if not is_end:
            *labels, (text, role) = line_spans
            indent = spans_width(labels)
            if labels and indent <= cells // 2:
                first, *others = wrap_text(text, cells - indent)
                rows = [(row, role) for other in others for row in (block("\n"), line(" " * indent), other)]
                line_spans = [*labels, (first, role), *rows]
        shown += line_spans
    return tuple(shown)


class _Outcomes(LineList):
    HIDES_CURSOR = True

    def __init__(self, rows: Sequence[DialogRow]) -> None:
        super().__init__(id="dialog-rows")
        self._dialog_rows = tuple(rows)
        self._outcomes: dict[str, tuple[StyledSpan, ...]] = {}
        self.unsent_outcome: tuple[StyledSpan, ...] = (WAITING,)

    def follow(self, rows: Sequence[DialogRow]) -> None:
        """Show the same records as they are now."""
        self._dialog_rows = tuple(rows)
        self.refresh()

    def show_outcome(self, key: str, outcome: tuple[StyledSpan, ...]) -> None:
        self._outcomes[key] = outcome
        self.refresh()

    def line_count(self) -> int:
        return len(self._dialog_rows)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        row = self._dialog_rows[index]
        mark = get_app(self).glyphs.ellipsis
        outcome = self._outcomes.get(row.key, self.unsent_outcome)
        room = max(0, width - 2 - min(OUTCOME_CELLS, spans_width(outcome)) - 2)
        shown = cut_spans(to_spans(row.text), room, mark)
        return [
            to_segment(line("  "), style),
            *self.pieces(shown, style),
            to_segment(line(" " * (room - spans_width(shown) + 2)), style),
            *self.pieces(((truncate(text, OUTCOME_CELLS, mark), role) for text, role in outcome), style),
        ]

    def on_mount(self) -> None:
        self.set_size()
