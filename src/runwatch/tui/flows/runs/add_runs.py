"""Adding runs to the watch list by ids pasted in any form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static, TextArea

from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError, NoResponseError, RateLimitedError
from runwatch.base.secrets.secret_patterns import find_known_key
from runwatch.base.text import cell_width
from runwatch.store.session import ServiceSession
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import WorkerFailed
from runwatch.tui.core.rendering import StyledSpan, cut_spans, label_span, to_content
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console import Console
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.shell.field_editor import edit_field
from runwatch.tui.sources.record_loader import store_record
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.inputs.text_area import MultilineInput
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.lists.rows_below import RowsBelow
from runwatch.tui.widgets.panes.dialog import Dialog
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.view.text.format import fit_id, state_cell
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.pasted_text import find_ids, strip_controls
from runwatch.view.text.safe_text import fit, line

_A_KEY: Final = "(a key, not shown)"

ID_CELLS: Final = 40
"""Maximum width of an id in the list of outcomes; a longer one is cut in the middle."""

_NO_ID: Final = "no run id in this text"
"""Said before anything is sent; the text stays."""

_HELP: Final = "Paste ids, one per line or anywhere in a text. Each run that exists is added to the watch list."


@dataclass(frozen=True, slots=True)
class AddedRun:
    """Outcome for one id.

    Attributes:
        text: The outcome as text.
        role: The role of ``text``.
        is_found: Whether the service has the run.
    """

    run_id: str
    text: str
    role: Role = Role.QUIET
    status: str | None = None
    is_found: bool = False

    def shown(self, glyphs: Glyphs) -> tuple[StyledSpan, ...]:
        """Return the outcome with the run's state."""
        if not self.is_found:
            return ((line(self.text), self.role),)
        return (
            state_cell(self.status, glyphs),
            label_span(f"   {self.text}"),
        )


def open_add_runs(screen: ConsoleScreen) -> None:
    """Open the dialog that adds ids to the watch list."""
    session, console = screen.connected_session(), screen.console
    if session is not None:
        dialog = AddRunsDialog(session, screen.header)
        screen.app.push_screen(dialog, lambda found: None if found is None else console.show_run(found))


async def add_to_watch_list(session: ServiceSession, run_id: str) -> AddedRun:
    """Read a run and add it to the watch list. A run that cannot be read right now is added too, and read later.

    Raises:
        DataError: The watch list cannot be written.
    """
    try:
        async with session.live.scheduler.user_turn():
            run = await session.client.get_run(run_id)
    except ApiError as error:
        if isinstance(error, ApiProblem) and error.status == 404:
            return AddedRun(run_id, "not found, not added", Role.BAD)
        if isinstance(error, NoResponseError | RateLimitedError) or (
            isinstance(error, ApiProblem) and error.status >= 500
        ):
            await session.watch_list.add(session.scope, [run_id])
            return AddedRun(run_id, f"added, not read yet: {error.title}", Role.WARN)
        why = _first_sentence(error.errors[0]["message"]) if isinstance(error, InvalidRequestError) else error.title
        return AddedRun(run_id, f"not added: {why}", Role.BAD)
    await session.watch_list.add(session.scope, [run.id or run_id])
    if run.id:
        store_record(session, run)
    return AddedRun(run_id, "added", status=run.status, is_found=True)


def _first_sentence(message: str) -> str:
    """Return the first sentence of a rule's message, to follow a colon."""
    first = message.partition(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def shown_id(run_id: str) -> str:
    """Return an id as it may be shown: not if it is a key that was pasted by mistake."""
    return _A_KEY if find_known_key(run_id) else run_id


class AddRunsDialog(Dialog[str | None]):
    """The dialog for pasted ids. It closes once all are found, else it shows the outcome for each.

    Its result is the first run found.
    """

    AUTO_FOCUS = "#ids"
    BINDINGS = make_bindings("dialog.leave", "form.send", "dialog.send")
    DEFAULT_CSS = """
    AddRunsDialog {
        & MultilineInput {
            margin-bottom: 1;
            background: $background;
            color: $role-plain;
        }
        & Horizontal {
            height: 1;
            align-horizontal: right;
            & > TextButton {
                margin-left: 2;
            }
        }
    }
    """

    def __init__(self, session: ServiceSession, header: HeaderInfo) -> None:
        super().__init__(header)
        self._session: Final = session
        self._found: str | None = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        title = line(f"Add runs on {line(self._session.target.profile)}")
        shown = get_app(self).keys.shown
        keys = f"{shown('dialog.send')} adds  {shown('text.editor')} editor  esc closes"
        with Pane(edge=BorderText(title=title, counters=(label_span(keys),))):
            yield Static(to_content(line(_HELP), Role.QUIET))
            yield _Paste(id="ids")
            outcomes = _Outcomes(id="outcomes")
            yield outcomes
            yield RowsBelow(outcomes)
            with Horizontal():
                yield TextButton(line("Cancel"), id="leave")
                yield TextButton(line("Add"), id="add")

    def on_mount(self) -> None:
        self.query_one(_Outcomes).display = self.query_one(RowsBelow).display = False
        self._count()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._count()

    def on_multiline_input_editor_requested(self, event: MultilineInput.EditorRequested) -> None:
        console = self.app
        assert isinstance(console, Console)
        start_worker(self, edit_field(console, event.field, self._say), "writing in the editor", group="editor")

    def on_text_button_pressed(self, event: TextButton.Pressed) -> None:
        if event.button.id == "add":
            self.action_send()
        else:
            self.action_leave()

    def on_worker_failed(self, message: WorkerFailed) -> None:
        message.stop()
        self._say(str(message.error))

    def action_send(self) -> None:
        """Add the ids, from any field."""
        if self._ids:
            start_worker(self, self._add(self._ids), "adding ids", group="add", exclusive=True)

    def action_leave(self) -> None:
        """Leave; runs already added stay added."""
        self.dismiss(self._found)

    def _say(self, problem: str) -> None:
        self.query_one(Pane).set_border_text(age=((line(problem), Role.BAD),))

    @property
    def _ids(self) -> list[str]:
        return find_ids(self.query_one(TextArea).text)

    def _count(self) -> None:
        count = len(self._ids)
        self.query_one("#add", TextButton).label = line(f"Add {count} run{'s' * (count != 1)}" if count else "Add")
        self.query_one("#add", TextButton).disabled = not count
        has_text = bool(self.query_one(TextArea).text.strip())
        self._say(_NO_ID if has_text and not count else "")

    async def _add(self, ids: list[str]) -> None:
        rows = self.query_one(_Outcomes)
        rows.begin(ids)
        self.query_one(RowsBelow).display = True
        for run_id in ids:
            outcome = await add_to_watch_list(self._session, run_id)
            self._found = self._found or (run_id if outcome.is_found else None)
            rows.show_outcome(outcome)
        good = sum(outcome.is_found for outcome in rows.outcomes)
        if good == len(ids):
            console = self.app
            assert isinstance(console, Console)
            console.notify_user(f"{good} run{'s' * (good != 1)} added")
            self.dismiss(self._found)
            return
        self.query_one(Pane).set_border_text(age=(label_span(f"{good} of {len(ids)} found", Role.PLAIN),))
        self.query_one("#leave", TextButton).label = line("Close")
        self.query_one("#leave", TextButton).focus()


class _Paste(MultilineInput):
    """The input for ids: control sequences of a pasted text are removed as a whole."""

    async def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the area's own method next.
        event.text = strip_controls(event.text)


class _Outcomes(LineList):
    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._ids: list[str] = []
        self._outcomes: dict[str, AddedRun] = {}

    @property
    def outcomes(self) -> list[AddedRun]:
        return list(self._outcomes.values())

    def begin(self, ids: list[str]) -> None:
        self._ids, self._outcomes = ids, {}
        self.display = True
        self.set_size()
        self.refresh(layout=True)

    def show_outcome(self, outcome: AddedRun) -> None:
        self._outcomes[outcome.run_id] = outcome
        self.move_cursor(len(self._outcomes) - 1)
        self.refresh()

    def line_count(self) -> int:
        return len(self._ids)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        glyphs, run_id = get_app(self).glyphs, self._ids[index]
        ids = min(max(cell_width(line(shown_id(each))) for each in self._ids), ID_CELLS)
        name = fit(fit_id(line(shown_id(run_id), None), ids, glyphs), ids)
        outcome = self._outcomes.get(run_id)
        pieces = (label_span("waiting"),) if outcome is None else outcome.shown(glyphs)
        room = max(0, width - ids - 4)
        before = ((line(" "), Role.PLAIN), (name, Role.PLAIN), (line("   "), Role.PLAIN))
        return self.pieces((*before, *cut_spans(pieces, room, glyphs.ellipsis)), style)
