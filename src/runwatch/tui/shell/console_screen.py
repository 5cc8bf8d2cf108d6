"""Base class of all console screens: header bar and breadcrumbs above, status bar below."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from runwatch.settings.view_state import ViewState
from runwatch.tui.core.key_bindings import BY_ID, explain_other_use, make_bindings
from runwatch.tui.core.messages import CopyRequested, WorkerFailed
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console import Console
from runwatch.tui.shell.refusals import is_read_only, key_refusal
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.header_bar import HeaderBar, HeaderInfo
from runwatch.tui.widgets.bars.status_bar import NOTICE_S, KeyHint, StatusBar
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.view.detail.pane_state import empty_state_lines, hold_text, limit_wait_text, pane_status
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from datetime import datetime

    from runwatch.records.record import Record
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.repositories.pins import PinTarget
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.freshness import PaneState
    from runwatch.tui.widgets.lists.detail_view import DetailView
    from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
    from runwatch.tui.widgets.panes.menu import MenuItem
    from runwatch.tui.widgets.panes.overlay import Overlay
    from runwatch.view.spec.resource import ResourceSpec


_QUIT: Final = "app.quit"
_PROFILE: Final = "app.profile"

_OPENING: Final = frozenset({"list.open", "detail.open"})
"""What enter does in a list and in a detail."""

_NOT_CONNECTED: Final = "The service is not connected yet."
_ON_A_FILE: Final = "A file is open instead of a service; nothing can be sent or saved."

READ_ONLY: Final = "This profile is read-only; nothing can be sent."
"""Shown in place of a form or dialog that would change something."""

AGE_REFRESH_S: Final = 4
"""Seconds between redraws of whole sections when only ages have changed."""

NOTES_REFRESH_S: Final = 4
"""Seconds between checks for notes written by other consoles on this machine."""

BEHIND_LOOK_S: Final = 0.05
"""Seconds between two looks at a terminal that is behind."""

PINS_FROM_ROWS: Final = 22
"""Rows from which a window has room for the line of pins."""

SELECTING_SPEED: Final = 1 / 4
"""Part of Textual's speed of a selection that scrolls: with it, 15 rows a second."""


class ConsoleScreen(Screen[None]):
    """A screen between its bars. Subclasses provide the body and the texts of the bars."""

    CRUMBS: ClassVar[Sequence[str]] = ()
    """The breadcrumbs of a screen without a record."""

    HINTS: ClassVar[Sequence[KeyHint]] = ()
    """The hints of the status bar, unless they depend on what is shown."""

    KEY_HELP: ClassVar[Mapping[str, str]] = {}
    """What keys do on this screen, by their actions, where that is more exact than what they do everywhere."""

    NARROW_BELOW: ClassVar[int] = 0
    """Cells of width below which the screen has the CSS class ``-narrow``."""

    TAKES_TEXT: ClassVar[bool] = False
    """Whether keys are text here, so that no notice above the hints may name one."""

    SHOWS_OUTCOMES: ClassVar[bool] = False
    """Whether it shows the response of an action itself, so that nothing else opens."""

    BINDINGS = make_bindings(
        "screen.back", "screen.next_pane", "screen.previous_pane", "screen.actions", "screen.refresh", "screen.time",
        "screen.jump", "screen.undo",
    )  # fmt: skip
    DEFAULT_CSS = """
    ConsoleScreen {
        layout: vertical;
        layers: default front;
        & > FilterBar {
            display: none;
        }
        &.-filtering > FilterBar {
            display: block;
        }
        &.-low > #pins {
            display: none;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._next_look: Timer | None = None
        self._shows_lost = False

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="context")
        yield Breadcrumbs(id="crumbs")
        pins = self.console.make_pin_bar()
        if pins is not None:
            yield pins
        yield from self.body()
        yield StatusBar(id="status")

    def body(self) -> Iterable[Widget]:
        """Return the widgets between the bars."""
        raise NotImplementedError

    @property
    def console(self) -> Console:
        assert isinstance(self.app, Console)
        return self.app

    def on_mount(self) -> None:
        self.apply_width()
        self.update_header()
        self.show_crumbs()

    # Textual handles all pending messages of a screen in one iteration of the event loop. A screen that comes to the
    # front is updated, styled, drawn, resized and drawn again. Each step gets its own iteration here, so that a key or
    # response in between does not wait for all of them.

    @on(events.ScreenResume)
    async def _catch_up(self) -> None:
        """Update the screen when it comes to the front again."""
        self.console.screen_is_in_front()
        self.update_header()
        self.show_hints()
        self.console.show_warnings()
        self.data_changed(frozenset())
        await asyncio.sleep(0)

    @on(events.Resize)
    async def _let_others_go_first(self) -> None:
        """Lay out in a separate iteration of the loop."""
        self.apply_width()
        self.set_class(self.size.height < PINS_FROM_ROWS, "-low")
        await asyncio.sleep(0)

    @property
    def is_mounted(self) -> bool:
        """Whether the screen's widgets are there: not before the screen is mounted, nor while it is removed."""
        return super().is_mounted and self.display

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Schedule a call for when the screen has been drawn; it is left out if the screen is removed first.

        Textual would still make it, without the screen's widgets, and an exception there ends the console.
        """

        def call_here() -> Any:
            return callback(*args, **kwargs) if self.display else None

        return super().call_after_refresh(call_here)

    def apply_width(self) -> None:
        self.set_class(self.size.width < self.NARROW_BELOW, "-narrow")

    def _on_timer_update(self) -> None:
        """Draw once the terminal has received the last drawing.

        Over a slow link, outdated drawings would otherwise queue up and delay the response to a key. Nothing is lost:
        later changes are drawn together. The method is private, because Textual offers no other place to delay drawing
        (checked on 8.2.8).
        """
        if not self.console.terminal_is_behind:
            super()._on_timer_update()
            return
        # Sixty looks a second would cost as much as drawing. What a key changes resumes the timer at once.
        self._update_timer.pause()
        if self._next_look is None:
            self._next_look = self.set_timer(BEHIND_LOOK_S, self._look_again)

    def _look_again(self) -> None:
        self._next_look = None
        self._update_timer.resume()

    # For subclasses to override.

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return the kinds whose lists are polled while this screen is in front."""
        return ()

    def awaited_lists(self) -> tuple[type[Record], ...]:
        """Return the kinds of those lists that the user opens this screen for; they are read first."""
        return self.polled_lists()[:1]

    def breadcrumbs(self) -> Sequence[str]:
        """Return the breadcrumbs; unsafe texts are allowed, they are cleaned here."""
        return self.CRUMBS

    def crumbs_note(self) -> StyledSpans | None:
        """Return what the breadcrumbs end with, such as the filter that applies; ``None`` for nothing."""
        return None

    def hints(self) -> Sequence[KeyHint]:
        return self.HINTS

    def offers(self, id: str) -> bool:
        """Return whether hints, menus and the palette offer a key action; what is refused here is not offered."""
        return key_refusal(self.console, id) is None

    def view_state(self, name: str) -> ViewState:
        """Return the current view state, to restore it later."""
        return ViewState(name)

    def pin_targets(self) -> Sequence[PinTarget]:
        """Return what can be pinned here."""
        return ()

    def hold_record(self) -> None:
        """Keep the cursor on its record when newer ones come: the user does something with it."""

    def looked_at(self) -> PinTarget | None:
        """Return the record, filter or comparison that the user looks at."""
        return None

    def record_in_sight(self) -> PinTarget | None:
        """Return the record whose detail is in sight, also without the focus."""
        return None

    def restore_view(self, view: ViewState) -> None:
        """Restore a view state; called once the screen has its widgets."""

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Called when records of these kinds changed; empty if no change is known."""

    def tail_moved(self, update: TailUpdate) -> None:
        """Called with the new state of a followed run's tail, also if no event came."""

    def session_opened(self) -> None:
        """Called when the session is open or could not be opened."""

    def filter_typed(self, text: str) -> None:
        """Called while the user types in the filter bar."""

    def filter_submitted(self, text: str) -> bool:
        """Apply what was typed in the filter bar; return False to keep it open for correction."""
        self.filter_typed(text)
        return True

    def filter_cancelled(self) -> None:
        """Called when the user leaves the filter bar without a filter."""
        self.filter_typed("")

    def close_filter(self) -> None:
        """Hide the filter bar; subclasses give the focus back to the content."""
        self.remove_class("-filtering")

    def after_write_succeeded(self, operation: str, response: Any) -> None:
        """Called after a successful write from this screen, with the response's JSON without secrets."""

    def dialog_closed(self, dialog: ConfirmDialog) -> None:
        """Called when a dialog opened by this screen has closed."""

    def tick(self) -> None:
        """Called every second, because ages grow."""

    @property
    def is_at_root(self) -> bool:
        """Whether going back one level would leave this screen."""
        return True

    # Called by the app, flows and subclasses.

    @property
    def header(self) -> HeaderInfo:
        """What the header bar shows, for the dialogs that this screen opens."""
        return self.query_one(HeaderBar).header

    def update_header(self, *, recount: bool = True) -> None:
        """Update service and connection in the header bar, and the progress in the status bar.

        ``recount`` updates the request count too, which changes with every request and would redraw much each time.
        """
        bar, header = self.query_one(HeaderBar), self.console.header_info()
        if not recount:
            header = header._replace(requests=bar.header.requests)
        bar.show(header)
        self.query_one(StatusBar).show_progress(self._progress())
        if (self.lost_since is not None) != self._shows_lost:
            self.show_hints()

    def _progress(self) -> StyledSpans:
        """Return how far writes that were confirmed together have come."""
        session = self.console.session
        batches = [] if session is None else [batch for batch in session.batches if len(batch.requests) > 1]
        if not batches:
            return ()
        from runwatch.api.operations import CANCEL

        words = [
            f"{'cancelling' if batch.requests[0].operation == CANCEL else 'sending'}"
            f" {min(batch.settled + 1, len(batch.requests))} of {len(batch.requests)}"
            for batch in batches
        ]
        return (label_span(", ".join(words), Role.WARN),)

    def show_crumbs(self) -> None:
        """Update breadcrumbs and hints."""
        self.query_one(Breadcrumbs).show([line(crumb, 60) for crumb in self.breadcrumbs()], self.crumbs_note())
        self.show_hints()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.show_hints()

    def on_detail_view_hints_changed(self) -> None:
        self.show_hints()

    def show_hints(self) -> None:
        """Update the hints; the quit key means "back" if something is open or the view was followed."""
        if self.focused is not None:
            bar = next((node for node in self.focused.ancestors if isinstance(node, FilterBar)), None)
            if bar is not None:
                self.query_one(StatusBar).show_hints(bar.hints, is_prompt=True)
                return
        hints = [hint for hint in self.hints() if self.offers(action_of(hint))]
        label = self.focused.enter_label if isinstance(self.focused, LineList) else None
        if label is not None:
            hints = [hint for hint in hints if action_of(hint) not in _OPENING]
            hints[:0] = [("detail.open", label)] if label else []
        if self.is_at_root and not self.console.history.is_followed:
            # Here esc has nothing to go back to.
            hints = [hint for hint in hints if hint != "screen.back"]
        elif _QUIT in hints:
            index = hints.index(_QUIT)
            hints[index : index + 1] = [] if "screen.back" in hints else [(_QUIT, "back")]
        if self.is_paused:
            # It comes first, because nothing else shows anything new.
            hints = [("screen.pause", "resume"), *(hint for hint in hints if action_of(hint) != "screen.pause")]
        self._shows_lost = self.lost_since is not None
        if self._shows_lost and not self.is_in_text:
            # What helps without a service comes first.
            helps: list[KeyHint] = [("screen.refresh", "try again")]
            helps += [_PROFILE] * bool(self.console.settings.profiles)
            hints = [*helps, *(hint for hint in hints if action_of(hint) not in {"screen.refresh", _PROFILE})]
        if self.is_in_text:
            hints = [hint for hint in hints if self.console.keys.shown(action_of(hint), in_text=True)]
        self.query_one(StatusBar).show_hints(hints, in_text=self.is_in_text)

    @property
    def is_in_text(self) -> bool:
        """Whether the focus is in a field of a form, where most keys are text."""
        return False

    @property
    def lost_since(self) -> datetime | None:
        """Since when the service does not respond; ``None`` while it does."""
        session = self.console.session
        return None if session is None else session.live.connection.lost_since

    @property
    def is_paused(self) -> bool:
        """Whether the user has paused what is shown."""
        return False

    def notify_user(self, notice: str, role: str = Role.PLAIN, *, for_s: float = NOTICE_S) -> None:
        """Show a notice in place of the hints for a while; an error rings the bell if enabled."""
        if role == Role.BAD:
            self.console.ring_bell()
        # A screen that is opening or closing has no status bar.
        for status in self.query(StatusBar):
            status.say(((line(add_service(notice, self.console.shell_service)), role),), for_s)

    def refuse_key(self, why: str) -> None:
        """Say in place of the hints why a key did nothing; the next key removes it."""
        for status in self.query(StatusBar):
            status.say(((line(why), Role.WARN),), ends_with_key=True)

    def key_pressed(self) -> None:
        """Called before a key is handled."""
        for status in self.query(StatusBar):
            status.key_pressed()

    def show_lines(self, id: str, texts: Sequence[StyledSpans], *, for_s: float | None = None) -> None:
        """Show lines above the hints, for some seconds or until they are replaced; an empty list hides them."""
        if not texts and not self.query(f"#{id}"):
            return
        from runwatch.tui.widgets.panes.notice import Notice

        note = next(iter(self.query(f"#{id}").results(Notice)), None)
        if note is None:
            note = Notice(id=id)
            self.mount(note, before="#status")
        note.say(texts, for_s=for_s)

    def clear_notice(self, notice: str | None = None) -> None:
        """Remove the notice, for another view of this screen; with ``notice`` only this one."""
        for status in self.query(StatusBar):
            if notice is None or status.shows_notice(line(notice)):
                status.clear_notice()

    async def copy_word(self, text: str | None, what: str) -> None:
        """Copy an id or a value, named in the notice by what it is, or say that there is none."""
        if text:
            await self.console.copy_text(copied_word(text), line(what))
        else:
            self.nothing_to_copy()

    def nothing_to_copy(self) -> None:
        self.refuse_key("Nothing to copy.")

    def connected_session(self) -> ServiceSession | None:
        """Return the session; without one, show the reason."""
        session = self.console.session
        if session is None:
            self.notify_user(_ON_A_FILE if self.console.has_file else _NOT_CONNECTED, Role.WARN)
        return session

    def writing_session(self) -> ServiceSession | None:
        """Return the session if it may change something; otherwise show the reason."""
        session = self.connected_session()
        if session is not None and is_read_only(self.console):
            self.notify_user(READ_ONLY, Role.WARN)
            return None
        return session

    def age_span(self, state: PaneState) -> StyledSpan:
        if self.console.failure is not None and state.age_s is None:
            return label_span("not opened" if self.console.has_file else "not connected", Role.BAD)
        return pane_status(state, self.console.render_context())

    def offline_span(self) -> StyledSpan:
        """Return since when a pane is not read, because the service does not respond; empty while it does."""
        since = self.lost_since
        if since is None:
            return label_span("")
        return label_span(f"not read since {time_of_day(since, self.console.render_context())}", Role.BAD)

    def tail_wait_text(self, session: ServiceSession, *run_ids: str) -> str:
        """Return why the events of runs are not read now, and when the first read goes; empty without a wait."""
        if session.live.hold_s > 0:
            return hold_text(session.live.hold_s)
        waits = [session.live.tail_wait_s(run_id) for run_id in run_ids]
        return limit_wait_text(min(filter(None, waits), default=0.0))

    def pause_span(self, since: str = "") -> StyledSpan:
        """Return which key has paused a pane, and since when."""
        return label_span(f"PAUSED by {self.console.keys.shown('screen.pause')}{since}", Role.WARN)

    def failure_lines(self) -> tuple[SafeText, ...]:
        """Return why the session could not be opened and what to do; empty if it could, or may still be."""
        failure = self.console.failure
        texts = () if failure is None else (failure.title, failure.detail, failure.hint)
        return tuple(line(add_service(text, self.console.shell_service), None) for text in texts if text)

    def unread_lines(
        self, spec: ResourceSpec[Any], state: PaneState, *, can_create: bool = True
    ) -> tuple[SafeText, ...]:
        """Return why a list has no rows and what to do, in the same sentences on every screen."""
        if self.console.failure is not None:
            return self.failure_lines()
        if self.console.session is None and state.age_s is None:
            return (line(self.console.startup_status),)
        context, key_of = self.console.render_context(), self.console.keys.shown
        return empty_state_lines(spec, state, context, key_of, can_create=can_create)

    def go_to_view_later(self, view: ViewState) -> None:
        """Go to another view; later, because this screen cannot wait for its own removal."""
        self.console.call_later(self.console.go_to_view, view)

    @property
    def is_in_front(self) -> bool:
        """Whether this is the front screen, below any modal dialog."""
        return next((each for each in reversed(self.app.screen_stack) if isinstance(each, ConsoleScreen)), None) is self

    @property
    def has_overlay(self) -> bool:
        """Whether a menu or the command line is open over the lower part."""
        from runwatch.tui.widgets.panes.overlay import Overlay

        return any(not overlay.is_leaving for overlay in self.query(Overlay))

    def open_overlay(self, overlay: Overlay) -> None:
        """Open a menu or the command line over the lower part, replacing one that is open."""
        from runwatch.tui.widgets.panes.overlay import Overlay

        others = list(self.query(Overlay))
        # Two children must not have the same id, not even while one is closing. So a key typed twice opens the overlay
        # once.
        if overlay.id is not None and any(other.id == overlay.id for other in others):
            return
        for other in others:
            other.close()
        overlay.before = self.focused
        self.console.key_queue.pause_for(overlay)
        self.mount(overlay)

    def follow_overlays(self) -> None:
        """Called every second, because what a menu says of a record or a list may change while it is open."""
        from runwatch.tui.widgets.panes.overlay import Overlay

        for overlay in self.query(Overlay):
            overlay.follow()

    def open_overlay_when_loaded(self, make: Callable[[], Awaitable[Overlay]], name: str) -> None:
        """Make an overlay once its content is loaded, and open it; keys typed from now on go to it."""
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
        """Pass the waiting keys to the overlay."""
        self.console.key_queue.resume_for(message.overlay)

    # Messages and key actions.

    def on_key(self, event: events.Key) -> None:
        """Say that a key of other screens has no use here."""
        if self.TAKES_TEXT or self.has_overlay or event.key in self.active_bindings:
            return
        action = self.console.keys.find_screen_action(event.key)
        if action is not None:
            self.refuse_key(explain_other_use(event.key, action))

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.filter_typed(message.text)

    def on_filter_bar_submitted(self, message: FilterBar.Submitted) -> None:
        if self.filter_submitted(message.text):
            self.close_filter()

    def on_filter_bar_cancelled(self) -> None:
        self.filter_cancelled()
        self.close_filter()

    def on_confirm_dialog_closed(self, message: ConfirmDialog.Closed) -> None:
        message.dialog.sender.leave()
        self.data_changed(frozenset())
        self.dialog_closed(message.dialog)

    def on_status_bar_rest_requested(self, message: StatusBar.RestRequested) -> None:
        """Open a menu of the keys that the status bar has no room for."""
        self._open_hints_menu(message.hints)

    def action_show_actions(self) -> None:
        """Open a menu of the keys that the status bar has no room for; screens with records list their actions too."""
        self.open_more_keys()

    def open_more_keys(self) -> None:
        """Open a menu of the keys that the status bar has no room for, or say that there is none."""
        hints = self.hidden_hints
        if hints:
            self._open_hints_menu(hints)
        else:
            key = self.console.keys.shown("app.help")
            self.refuse_key(f"All usual keys are in this line; {key} lists every key.")

    @property
    def hidden_hints(self) -> Sequence[tuple[str, str]]:
        """Actions and labels of the hints that the status bar has no room for."""
        return [(id, label) for id, label in self.query_one(StatusBar).hidden_hints if id != "screen.actions"]

    def _open_hints_menu(self, hints: Sequence[tuple[str, str]]) -> None:
        from runwatch.tui.widgets.panes.menu import Menu

        items = [self.key_item(id, label) for id, label in hints]
        self.open_overlay(Menu((label_span("More keys", Role.PLAIN),), items, id="hint-menu"))

    def key_help(self, id: str) -> str:
        """Say what the key of an action does on this screen."""
        return self.KEY_HELP.get(id, BY_ID[id].help)

    def key_item(self, id: str, label: str) -> MenuItem:
        from runwatch.tui.widgets.panes.menu import MenuItem

        return MenuItem(
            line(label[:1].upper() + label[1:]),
            partial(self.call_later, self.console.run_key_action, id),
            line(self.key_help(id)),
            key=self.console.keys.shown(id),
        )

    async def on_copy_requested(self, message: CopyRequested) -> None:
        await self.console.copy_text(
            message.text, message.what, several_lines=message.several_lines, is_secret=message.is_secret
        )

    def _check_auto_scroll(self, select_widget: Widget, mouse_coordinate: tuple[float, float], delta_y: float) -> None:
        """Scroll on with a selection only while the mouse is in the outermost row, and came to it from inside.

        Textual scrolls in three rows at each border too, where a selection that begins there loses sight of its text.
        The methods are private (checked on Textual 8.2.8).
        """
        y = int(mouse_coordinate[1])
        for widget in select_widget.ancestors_with_self:
            if isinstance(widget, Widget) and widget.allow_vertical_scroll:
                region = widget.content_region
                is_first, is_last = y == region.y, y == region.bottom - 1
                if not delta_y and (is_first or is_last):
                    return
                if delta_y < 0 and is_first and widget.scroll_y > 0:
                    self._start_auto_scroll(widget, -1, SELECTING_SPEED)
                    return
                if delta_y > 0 and is_last and widget.scroll_y < widget.max_scroll_y:
                    self._start_auto_scroll(widget, 1, SELECTING_SPEED)
                    return
        self._stop_auto_scroll()

    def on_text_selected(self) -> None:
        """Say how to copy what was selected with the mouse, unless the line that says so is part of it."""
        if self.get_selected_text() and self.query_one(StatusBar) not in self.selections:
            self.notify_user(self._selected_notice)

    def watch_selections(self) -> None:
        """Say no more how to copy the selected text once nothing is selected."""
        if not self.selections:
            self.clear_notice(self._selected_notice)

    @property
    def _selected_notice(self) -> str:
        return f"{self.console.keys.shown('screen.copy')} copies the selected text, esc drops it."

    def on_breadcrumbs_level_clicked(self, message: Breadcrumbs.LevelClicked) -> None:
        """Go to a breadcrumb: all but the last lead back."""
        if message.level < len(self.breadcrumbs()) - 1:
            self.action_back()

    def on_detail_view_nothing_opened(self, message: DetailView.NothingOpened) -> None:
        message.stop()
        self.refuse_key("This line opens nothing.")

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        if isinstance(message.link, ViewState):
            self.go_to_view_later(message.link)
        elif isinstance(message.link, tuple):
            self.console.follow_link(*message.link)

    def on_detail_view_empty_day_opened(self, message: DetailView.EmptyDayOpened) -> None:
        self.refuse_key(f"{message.words}: nothing to open")

    def on_worker_failed(self, message: WorkerFailed) -> None:
        message.stop()
        self.notify_user(f"{message.name}: {message.error}", Role.BAD)

    def action_back(self) -> None:
        """Go back one level; stay on a view that the user named."""
        self.console.leave_view()

    def action_refresh(self) -> None:
        """Read the content again."""

    def action_step_tab(self, step: int) -> None:
        from runwatch.tui.widgets.bars.tab_bar import TabBar

        self.query_one(TabBar).step(step)

    def action_jump(self) -> None:
        """Show the jump labels, unless a menu is open."""
        from runwatch.tui.widgets.panes.jump_labels import JumpLabels, find_targets

        if not self.has_overlay:
            # The compositor is private (checked on Textual 8.2.8); nothing else draws the whole screen as rows.
            self.open_overlay(JumpLabels(self._compositor.render_strips(), find_targets(self)))

    def action_undo(self) -> None:
        """Undo the last local change, and say which; keys typed in the meantime wait."""
        change = self.console.undo.pop()
        if change is None:
            self.refuse_key("Nothing to undo")
            return

        async def undo() -> None:
            try:
                refused = await change.undo()
            finally:
                self.console.key_queue.resume_for(change)
            self.console.notify_user(refused or f"Undone: {change.name}", Role.WARN if refused else Role.PLAIN)
            self.show_hints()

        self.console.key_queue.pause_for(change)
        start_worker(self, undo(), "undoing", group="undo")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable and hide the key that undoes while a pane is open in front."""
        if action == "undo":
            return not self.has_overlay
        return super().check_action(action, parameters)

    def action_time(self) -> None:
        self.console.next_time_mode()


class CoveringScreen(ConsoleScreen):
    """A screen in front of another one, to which going back returns."""

    DEFAULT_CSS = """
    CoveringScreen > Pane {
        height: 1fr;
    }
    """

    @property
    def is_at_root(self) -> bool:
        return False

    def action_back(self) -> None:
        self.app.pop_screen()


def action_of(hint: KeyHint) -> str:
    return hint if isinstance(hint, str) else hint[0]
