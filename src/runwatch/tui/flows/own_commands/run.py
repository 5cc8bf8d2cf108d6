"""One of the user's own commands while it runs, and its result: in a pane, a notice or the pager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.timer import Timer
from textual.worker import Worker

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.terminal.program import ProgramResult, run_program
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.overlay import ModalOverlay
from runwatch.view.actions.own_command import (
    CommandPlace,
    ProgramCall,
    build_program_call,
    last_output_line,
    output_text,
    records_text,
)
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, join, line

if TYPE_CHECKING:
    from runwatch.settings.declarations import OwnCommand
    from runwatch.tui.shell.record_screen import RecordScreen
    from runwatch.view.table.rows import RecordRow


MAX_SHOWN_LINES: Final = 2_000
"""Lines of output that a pane shows; laying out more would hold the screen."""


SHOW_EVERY_S: Final = 0.25
"""How long output may wait for its place in the pane; drawing each piece as it comes would hold the screen."""


class CommandPane(ModalOverlay):
    """A command that runs, and then its output. ``esc`` stops the command, or closes the output."""

    DEFAULT_CSS = """
    CommandPane LineList {
        max-height: 100%;
    }
    """

    def __init__(self, about: SafeText) -> None:
        super().__init__(id="command-pane")
        self._about: Final = about
        self._timer: Timer | None = None
        self._has_output = False
        self.worker: Worker[None] | None = None

    def compose(self) -> Any:
        yield DetailView(id="command-output")

    def on_mount(self) -> None:
        self.set_border_text(
            title=self._about, state=(label_span("running", Role.LIVE),), counters=(label_span("esc stops"),)
        )
        # Queued keys may close the pane before its view is mounted.
        for view in self.query(DetailView):
            view.focus()
            view.show([text_section(line("running"), role=Role.QUIET)])

    def show_soon(self, make_text: Callable[[], SafeText]) -> None:
        """Show the output so far in a moment, once for all that has come until then."""
        if self._timer is None and self.is_attached:
            self._timer = self.set_timer(SHOW_EVERY_S, partial(self._show_now, make_text))

    def _show_now(self, make_text: Callable[[], SafeText]) -> None:
        self._timer = None
        if self.worker is not None and not self.is_leaving:
            self._show(make_text())

    def show(self, text: SafeText, ending: SafeText, role: str) -> None:
        """Show the output and how the command ended."""
        self.worker = None
        is_first = not self._has_output
        self._show(text)
        if is_first:
            self.query_one(DetailView).reset()
        self.set_border_text(state=(label_span(ending, role),), counters=(label_span("esc closes"),))

    def _show(self, text: SafeText) -> None:
        """Show output; a cursor at its end stays there."""
        view = self.query_one(DetailView)
        is_at_end = view.cursor >= view.line_count() - 1
        rows = (text or "no output").split("\n")
        more = len(rows) - MAX_SHOWN_LINES
        shown = [line(row, None) for row in rows[:MAX_SHOWN_LINES]]
        view.show([text_section(*shown, *([line(f"{more} more lines; the pager shows them")] if more > 0 else []))])
        if is_at_end:
            view.move_cursor(view.line_count() - 1)
        self._has_output = True

    def action_leave(self) -> None:
        if self.worker is not None:
            self.worker.cancel()
        self.close()


class _CommandRun:
    """A command and its records."""

    def __init__(self, screen: RecordScreen, command: OwnCommand, calls: Sequence[ProgramCall]) -> None:
        self._screen: Final = screen
        self._command: Final = command
        self._calls: Final = calls
        self._results: list[tuple[ProgramCall, ProgramResult]] = []
        self._outputs: list[tuple[ProgramCall, bytes | bytearray]] = []
        about = records_text(screen.spec, [call.record_id for call in calls], screen.console.glyphs)
        self._pane: Final = CommandPane(line(f"{command.name}   {about}"))

    def start(self) -> None:
        self._screen.open_overlay(self._pane)
        # The app's worker: the command goes on when the user goes to another screen.
        self._pane.worker = start_worker(self._screen.app, self._run(), "own command", group="own commands")

    async def _run(self) -> None:
        """Run the command with one record after another, up to the first failure."""
        command, console = self._command, self._screen.console
        try:
            for call in self._calls:
                self._outputs.append((call, b""))
                result = await run_program(
                    call.words,
                    call.environment,
                    call.input,
                    limit_s=command.timeout_s,
                    reads_output=command.output != "nothing",
                    hear=self._hear,
                )
                self._outputs[-1] = (call, result.output)
                self._results.append((call, result))
                if result.failure:
                    break
            await self._show()
        except RunwatchError as error:
            self._close()
            console.notify_user(f"{command.name}: {error}", Role.BAD)
        except BaseException:
            self._close()
            console.notify_user(f"{command.name}: stopped", Role.WARN)
            raise

    def _hear(self, kept: bytearray) -> None:
        """Have the pane show what has come of the running call."""
        self._outputs[-1] = (self._outputs[-1][0], kept)
        if self._command.output == "pane":
            self._pane.show_soon(self._text)

    async def _show(self) -> None:
        output = self._command.output
        ending, role = self._ending()
        if output == "pane" and self._pane.is_attached and not self._pane.is_leaving:
            self._pane.show(self._text(), ending, role)
            return
        self._close()
        console = self._screen.console
        if output == "pager":
            from runwatch.tui.terminal.pager import page_text

            await page_text(console, self._text(), console.launch.environment)
        last = last_output_line(self._results[-1][1].output) if output in {"notice", "pane"} else ""
        if role == Role.PLAIN and last:
            console.notify_user(f"{self._command.name}: {last}")
        else:
            console.notify_user(f"{self._command.name}: {ending}" + (f"   {last}" if last else ""), role)

    def _close(self) -> None:
        if self._pane.is_attached and not self._pane.is_leaving:
            self._pane.close()

    def _ending(self) -> tuple[SafeText, str]:
        """Return how the command ended, with its role."""
        _, last = self._results[-1]
        number, count = len(self._results), len(self._calls)
        cut = "; only the start of the output is kept" if any(result.is_cut for _, result in self._results) else ""
        if last.failure:
            where = f" at record {number} of {count}" if count > 1 else ""
            return line(f"{last.failure}{where}{cut}"), Role.BAD
        return line(f"done{f' with {count} records' if count > 1 else ''}{cut}"), Role.PLAIN

    def _text(self) -> SafeText:
        """Return the output; that of several records below a heading each."""
        if len(self._calls) == 1:
            return output_text(bytes(self._outputs[0][1]))
        parts = []
        for call, output in self._outputs:
            name = short_id(call.record_id, self._screen.console.glyphs)
            parts += [line(f"{self._screen.spec.singular} {name}"), output_text(bytes(output)), line("")]
        return join(parts, "\n")


def run_calls(screen: RecordScreen, command: OwnCommand, calls: Sequence[ProgramCall]) -> None:
    _CommandRun(screen, command, calls).start()


def build_calls(screen: RecordScreen, command: OwnCommand, rows: Sequence[RecordRow[Any]]) -> Sequence[ProgramCall]:
    """Return the call of a command for each row; none, said in a notice, if it cannot be called with one of them."""
    console = screen.console
    session = console.session
    place = CommandPlace(console.profile_name, "" if session is None else session.target.origin)
    try:
        return [
            build_program_call(command, screen.spec, row.id, dict(row.subject.raw), place, console.launch.environment)
            for row in rows
        ]
    except RunwatchError as error:
        # A mistake in the settings, or a hostile record: it stays until it is read.
        console.warn(f"{command.name}: {error.sentences}")
        return ()
