"""What every screen of the console has: the line that says where one is, and the line that says what can be done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from runwatch.settings.view_state import ViewState
from runwatch.tui.core.key_bindings import SERVICE_ONLY, make_bindings
from runwatch.tui.core.messages import CopyRequested, WorkerFailed
from runwatch.tui.core.rendering import StyledSpans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console import Console, DialogWriter
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.header_bar import HeaderBar
from runwatch.tui.widgets.bars.status_bar import KeyHint, StatusBar
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.session import ServiceSession
    from runwatch.tui.widgets.lists.record_table import RecordTable
    from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
    from runwatch.tui.widgets.panes.menu import Menu
    from runwatch.tui.widgets.panes.overlay import Overlay
    from runwatch.view.export.file_formats import FileFormat
    from runwatch.view.problems.copy_options import CopyOption
    from runwatch.view.spec.action import ResourceAction
    from runwatch.view.spec.resource import ResourceSpec
    from runwatch.view.table.rows import RecordRow


_QUIT: Final = "app.quit"

_NOT_CONNECTED: Final = "The service is not connected yet."
_ON_A_FILE: Final = "A file is open instead of a service; nothing can be sent or saved."

AGE_REFRESH_S: Final = 4
"""Seconds between two drawings, for its ages alone, of what is drawn anew as a whole."""

NOTES_REFRESH_S: Final = 4
"""Seconds between two looks at what other consoles on this machine wrote."""


class ConsoleScreen(Screen[None]):
    """A screen between its bars. Subclasses give the part in between and say what the bars say."""

    BINDINGS: ClassVar[list[BindingType]] = make_bindings(
        "screen", only=("screen.back", "screen.next_pane", "screen.previous_pane", "screen.refresh", "screen.time")
    )
    DEFAULT_CSS = """
    ConsoleScreen {
        layout: vertical;
        layers: default front;
        & > #body {
            height: 1fr;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sending: DialogWriter | None = None

    def compose(self) -> ComposeResult:
        """Context, path, the screen's own part, hints."""
        yield HeaderBar(id="context")
        yield Breadcrumbs(id="crumbs")
        yield from self.body()
        yield StatusBar(id="status")

    def body(self) -> Iterable[Widget]:
        """The part between the bars."""
        raise NotImplementedError

    @property
    def console(self) -> Console:
        """The app, as screens know it."""
        assert isinstance(self.app, Console)
        return self.app

    def on_mount(self) -> None:
        """Say where this is."""
        self.update_header()
        self.show_crumbs()

    # Textual handles all messages of a screen that are there in one turn of the event loop. What comes to the front is
    # brought up to date, styled, drawn, and then told its size and drawn again: each of these has a turn of its own, so
    # that a key or an answer that comes meanwhile need not wait for all of them.

    @on(events.ScreenResume)
    async def _catch_up(self) -> None:
        """Be up to date when this comes to the front again."""
        self.update_header()
        self.show_hints()
        self.data_changed(frozenset())
        await asyncio.sleep(0)

    @on(events.Resize)
    async def _let_others_go_first(self) -> None:
        """Lay everything out in another turn."""
        await asyncio.sleep(0)

    def _on_timer_update(self) -> None:
        """Draw once the terminal has taken what was drawn before.

        Over a slow link pictures would otherwise stand in line, each of them old by the time it is seen, and a key
        would be answered behind them all. Nothing is lost: what has changed meanwhile is drawn together. The method is
        private, because Textual offers no other place to delay drawing (checked on 8.2.8).
        """
        if not self.console.terminal_is_behind:
            super()._on_timer_update()

    # What subclasses say.

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Kinds whose lists are read while this screen is in front."""
        return ()

    def breadcrumbs(self) -> Sequence[str]:
        """The way to what is shown; texts of any origin, they are cleaned here."""
        raise NotImplementedError

    def hints(self) -> Sequence[KeyHint]:
        """What the status line offers."""
        return ()

    def view_state(self, name: str) -> ViewState:
        """How this looks now, for coming back to it.

        Args:
            name: What the screen is called.
        """
        return ViewState(name)

    def restore_view(self, view: ViewState) -> None:
        """Look as it did when the user left it; called once the screen has its parts."""

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Records of these kinds changed; empty when nothing is known to have."""

    def tail_moved(self, news: TailUpdate) -> None:
        """Something about a followed run's events changed."""

    def session_opened(self) -> None:
        """The service can be reached from now on, or could not be opened."""

    def after_write_succeeded(self, operation: str, answer: Any) -> None:
        """What was done from this screen was answered well, with this JSON and without its secrets."""

    def dialog_closed(self, dialog: ConfirmDialog) -> None:
        """A dialog that this screen opened is gone."""

    def tick(self) -> None:
        """A second went by: ages grow."""

    @property
    def is_at_root(self) -> bool:
        """Whether going back one level would leave this screen."""
        return True

    # What the app and subclasses ask.

    def update_header(self, *, recount: bool = True) -> None:
        """Say which service this is and how the connection is.

        Args:
            recount: Whether requests are counted anew, which alone would have much drawn again with each of them.
        """
        bar, place = self.query_one(HeaderBar), self.console.header_info()
        bar.show(place if recount else place._replace(requests=bar.place.requests))

    def show_crumbs(self, filter: StyledSpans | None = None) -> None:
        """Say the way to what is shown, and what can be done there."""
        self.query_one(Breadcrumbs).show([line(crumb, 60) for crumb in self.breadcrumbs()], filter)
        self.show_hints()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.show_hints()

    def show_hints(self) -> None:
        """Offer what can be done here; the key that quits leads back where something is open, or a view came before."""
        hints = [hint for hint in self.hints() if not self.console.has_file or _action_of(hint) not in SERVICE_ONLY]
        if _QUIT in hints and (self.console.history.has_earlier or not self.is_at_root):
            place = hints.index(_QUIT)
            hints[place : place + 1] = [] if "screen.back" in hints else [(_QUIT, "back")]
        self.query_one(StatusBar).show_hints(hints)

    def notify_user(self, notice: str, role: str = Role.PLAIN) -> None:
        """Say something for a while in place of the hints; an error rings, if the settings want it."""
        if role == Role.BAD:
            self.console.ring_bell()
        # A screen that is just coming or going has no status line.
        for status in self.query(StatusBar):
            status.say(((line(notice), role),))

    def connected_session(self) -> ServiceSession | None:
        """What reaches the service; where nothing does, this says why."""
        session = self.console.session
        if session is None:
            self.notify_user(_ON_A_FILE if self.console.has_file else _NOT_CONNECTED, Role.WARN)
        return session

    @property
    def is_in_front(self) -> bool:
        """Whether this is the screen in front, below anything modal."""
        return next((each for each in reversed(self.app.screen_stack) if isinstance(each, ConsoleScreen)), None) is self

    @property
    def has_overlay(self) -> bool:
        """Whether a menu or the command line stands over the lower part."""
        from runwatch.tui.widgets.panes.overlay import Overlay

        return any(not overlay.is_leaving for overlay in self.query(Overlay))

    def open_overlay(self, overlay: Overlay) -> None:
        """Put a menu or the command line over the lower part, in place of one that is there."""
        from runwatch.tui.widgets.panes.overlay import Overlay

        others = list(self.query(Overlay))
        # No two children have the same id, not even while one of them leaves: keys typed at once open it once.
        if overlay.id is not None and any(other.id == overlay.id for other in others):
            return
        for other in others:
            other.close()
        overlay.before = self.focused
        self.console.key_queue.pause_for(overlay)
        self.mount(overlay)

    def open_overlay_when_loaded(self, make: Callable[[], Awaitable[Overlay]], name: str) -> None:
        """Put something over the lower part once it is read what it shows; what is typed from now on is for it.

        Args:
            make: Reads it and makes the overlay.
            name: Names the reading in the message of a failure.
        """
        keyboard = self.console.key_queue

        async def put() -> None:
            try:
                overlay = await make()
                if self.is_current and not self.has_overlay:
                    self.open_overlay(overlay)
            finally:
                keyboard.resume_for(self)

        keyboard.pause_for(self)
        start_worker(self, put(), name, group="overlay", exclusive=True)

    def on_overlay_ready(self, message: Overlay.Ready) -> None:
        """What is typed goes on, into what was opened."""
        message.stop()
        self.console.key_queue.resume_for(message.overlay)

    def open_dialog(self, sending: DialogWriter) -> None:
        """Put a dialog in front; what it sends is sent when the user confirms it."""
        self._sending = sending
        self.app.push_screen(sending.dialog)

    # What people do.

    def on_confirm_dialog_confirmed(self, message: ConfirmDialog.Confirmed) -> None:
        """Send what the dialog says."""
        message.stop()
        if self._sending is not None and self._sending.dialog is message.dialog:
            self._sending.send()

    def on_confirm_dialog_retry_requested(self, message: ConfirmDialog.RetryRequested) -> None:
        """Send the same once more."""
        message.stop()
        if self._sending is not None and self._sending.dialog is message.dialog:
            self._sending.send()

    def on_confirm_dialog_closed(self, message: ConfirmDialog.Closed) -> None:
        """What was sent goes on; the screen shows what came of it."""
        message.stop()
        if self._sending is not None and self._sending.dialog is message.dialog:
            self._sending.leave()
        self.data_changed(frozenset())
        self.dialog_closed(message.dialog)

    async def on_menu_item_chosen(self, message: Menu.ItemChosen) -> None:
        """Do what was chosen."""
        message.stop()
        await self.take_choice(message.item.target)

    async def take_choice(self, target: object) -> None:
        """Do what was chosen in a menu that any screen may have; subclasses know those of their own."""
        from runwatch.view.problems.copy_options import CopyOption

        if isinstance(target, CopyOption):
            self.post_message(CopyRequested(self, target.what, target.text))
        elif callable(target):
            target()

    async def on_copy_requested(self, message: CopyRequested) -> None:
        """Copy what a widget offers."""
        message.stop()
        await self.console.copy_text(
            message.text, message.what, several_lines=message.several_lines, is_secret=message.is_secret
        )

    def on_breadcrumbs_level_clicked(self, message: Breadcrumbs.LevelClicked) -> None:
        """Go to a level of the path: every one but the last leads back."""
        if message.level < len(self.breadcrumbs()) - 1:
            self.action_back()

    def on_worker_failed(self, message: WorkerFailed) -> None:
        """Tell what went wrong beside the screen."""
        message.stop()
        self.notify_user(f"{message.name}: {message.error}", Role.BAD)

    def action_back(self) -> None:
        """Go back one level."""
        self.console.go_back()

    def action_refresh(self) -> None:
        """Read what is shown again."""

    def action_time(self) -> None:
        """Show times in the next way."""
        self.console.next_time_mode()


class RowScreen(ConsoleScreen):
    """A screen that lists records, as what is started from it knows it.

    Attributes:
        spec: What the resource looks like.
        compared: The row that was chosen as the left side of a comparison.
    """

    spec: ResourceSpec[Any]
    compared: RecordRow[Any] | None

    @property
    def table(self) -> RecordTable:
        """The list."""
        raise NotImplementedError

    @property
    def row(self) -> RecordRow[Any] | None:
        """The row under the cursor."""
        raise NotImplementedError

    def selected_rows(self) -> list[RecordRow[Any]]:
        """The marked rows, or the one under the cursor where none is marked."""
        raise NotImplementedError

    def rows_to_export(self) -> list[RecordRow[Any]]:
        """The marked rows, or all that are shown where none is marked."""
        raise NotImplementedError

    def export_pieces(self, form: FileFormat, rows: Sequence[RecordRow[Any]]) -> Iterator[str]:
        """Rows as the text of a file, piece by piece."""
        raise NotImplementedError

    def read_source(self) -> None:
        """Get what the source has to fetch, and draw it."""
        raise NotImplementedError


class RecordScreen(RowScreen):
    """A list of records beside the record under the cursor, as what is started from it knows it."""

    def copies_in_focus(self) -> Iterable[CopyOption]:
        """What of the pane that has the focus can be copied beside the record."""
        raise NotImplementedError

    async def run_record_action(self, row: RecordRow[Any], action: ResourceAction[Any]) -> None:
        """Do something with a record."""
        raise NotImplementedError

    def select_record(self, key: str, *, opened: bool = False) -> None:
        """Put the cursor on a row, as soon as it is there, and open it if asked to; a filter that hides it goes."""
        raise NotImplementedError


def _action_of(hint: KeyHint) -> str:
    return hint if isinstance(hint, str) else hint[0]
