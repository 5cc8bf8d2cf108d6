"""Navigation between screens: the front screen, the way back, and views restored as the user left them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.css.query import NoMatches
from textual.screen import Screen

from runwatch.base.errors import RunwatchError
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.settings.view_state import ViewState
from runwatch.tui.core.workers import run_in_app, start_worker
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.registry import has_screen, resource_for_kind, unknown_screen_text
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.shell.console import Console
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.shell.view_history import ViewHistory
from runwatch.tui.widgets.bars.status_bar import NOTICE_S
from runwatch.view.text.format import clock_difference
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.api.calls import RequestAttempt
    from runwatch.records.record import Record
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.session import ServiceSession

_FOLLOWING_SCREENS: Final = frozenset({"tail", "wall"})
"""Screens that only follow runs, of which an opened file has none that goes on."""


class NavigatingApp(Console):
    """An app whose screens have names. Subclasses create the screens and fill them.

    The first screen is shown while a file is read, until the user leaves it.
    """

    first_screen: ConsoleScreen | None = None

    def __init__(self, **kit: Any) -> None:
        super().__init__(**kit)
        self.history = ViewHistory()
        self._quits_until = 0.0
        self._quit_question = ""
        self._compared_clocks: set[str] = set()

    # Implemented by subclasses.

    def make_screen(self, name: str) -> ConsoleScreen:
        """Create a screen and start polling its lists."""
        raise NotImplementedError

    def screen_came(self, screen: ConsoleScreen) -> None:
        """Called when a screen has come to the front."""

    def load_when_connected(self, kind: str, record_id: str) -> None:
        """Read a record that the user has named, because it may not be in any list."""

    def switch_session(self, session: ServiceSession) -> None:
        """Switch to another service; screens opened from now on show its data."""
        raise NotImplementedError

    # Called by the session.

    def tail_moved(self, update: TailUpdate) -> None:
        """Pass on the new state of a followed run's tail."""
        screen = self.mounted_screen
        if isinstance(screen, ConsoleScreen):
            screen.tail_moved(update)

    def request_attempted(self, attempt: RequestAttempt) -> None:
        """Update local lists after a request attempt, and say once of a service that its clock is another one."""
        if attempt.served_at is not None and attempt.origin not in self._compared_clocks:
            self._compared_clocks.add(attempt.origin)
            # If the clocks agree, the service's time is between these two; a suspended machine counts no elapsed time.
            found = clock_difference(min(max(attempt.served_at, attempt.at), self.clock.now()), attempt.served_at)
            if found is not None:
                self.warn(f"This machine's clock is {found}: ages, durations and waits are wrong until it is set.")
        screen = self.mounted_screen
        if isinstance(screen, ResourceScreen) and screen.spec.is_local:
            if attempt.method == "GET" and attempt.problem is None and attempt.error is None:
                screen.read_soon()
            else:
                screen.read_source()

    # Called by screens. Navigation runs in the app's message loop; workers use ``call_later``: if two screens change at
    # once, Textual cancels one, and the app's message loop with it.

    @property
    def console_screen(self) -> ConsoleScreen:
        """The front console screen, below any modal dialog."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        raise LookupError("no screen is open")

    def notify_user(self, notice: str, role: str = Role.PLAIN) -> None:
        from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog

        self.console_screen.notify_user(notice, role)
        if isinstance(self.screen, ConfirmDialog):
            # It covers the status bar.
            self.screen.show_notice(((line(notice), role),))

    @property
    def mounted_screen(self) -> Screen[Any] | None:
        """The front screen once mounted; ``None`` while the console exits, when responses may still arrive."""
        screen = self.screen_stack[-1] if self.is_running and self.screen_stack else None
        return screen if screen is not None and screen.is_mounted else None

    @property
    def present_view(self) -> ViewState | None:
        """The current state of the front view: that of the screen below a form, a dialog or the help."""
        present = self.history.present
        screen = next((screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)), None)
        if present is None or screen is None or not screen.is_mounted:
            return present
        try:
            return screen.view_state(present.screen)
        except NoMatches:
            # The screen is opening or closing, so its state is unchanged.
            return present

    async def go_to(self, name: str, *, is_root: bool = False) -> None:
        if not has_screen(name):
            self.console_screen.notify_user(unknown_screen_text(name), Role.WARN)
            return
        await self.go_to_view(ViewState(name), is_root=is_root)

    async def go_to_view(self, view: ViewState, *, is_root: bool = False) -> None:
        if self.has_file and view.screen in _FOLLOWING_SCREENS:
            self.console_screen.refuse_key("A file is open instead of a service; its runs cannot be followed.")
            return
        self._keep_present()
        self.history.go(view, is_root=is_root)
        await self._show(view)

    def go_back(self) -> None:
        if self.history.has_earlier:
            self.action_history(-1)
        else:
            self.console_screen.refuse_key(f"This is the first view; {self.keys.shown('app.quit')} quits.")

    def leave_view(self) -> None:
        if self.history.has_earlier and not self.history.is_followed:
            key = self.keys.shown("app.back_in_history")
            self.console_screen.refuse_key(f"Nothing is left to close here; {key} goes to the view before.")
        else:
            self.go_back()

    async def open_record(self, kind: str, record_id: str) -> None:
        spec = resource_for_kind(kind)
        if not (isinstance(self.screen, ResourceScreen) and self.screen.spec is spec):
            await self.go_to(spec.name)
        if isinstance(self.screen, ResourceScreen) and self.screen.spec is spec:
            self.screen.select_record(record_id, opened=True)
            self.load_when_connected(kind, record_id)

    def follow_link(self, kind: str, record_id: str) -> None:
        spec, session = resource_for_kind(kind), self.session
        is_known = spec.is_local or self.store.get(self.profile_name, kind, record_id) is not None
        if self.has_file and not is_known:
            self.notify_user(f"{record_id}: not in this file", Role.WARN)
        elif session is None or is_known:
            self.call_later(self.open_record, kind, record_id)
        else:
            seek = self._seek_linked(session, spec.record, record_id)
            start_worker(self.console_screen, seek, "opening a link", group="open", exclusive=True)

    async def _seek_linked(self, session: ServiceSession, kind: type[Record], record_id: str) -> None:
        """Open a record that is not known if it exists, or cannot be read now, which its list says."""
        from runwatch.tui.sources.record_loader import find_record

        before = self.screen
        try:
            is_gone = await find_record(session, kind, record_id) is None
            if not issubclass(kind, Run | Receipt):
                is_gone &= session.store.collection(session.scope.profile, kind.KIND).end_is_proven
        except RunwatchError:
            is_gone = False

        async def follow() -> None:
            if is_gone:
                self.mark_gone(kind.KIND, record_id)
                self.notify_user(f"{record_id}: not found", Role.BAD)
            elif self.screen is before:
                await self.open_record(kind.KIND, record_id)

        run_in_app(self, follow, "opening a link")

    def show_run(self, run_id: str) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, ResourceScreen) and screen.spec.record is Receipt and self.session is not None:
                self.session.live.receipts.start_watched()
                screen.select_record(run_id)
            if isinstance(screen, RunsScreen):
                screen.select_record(run_id)
                # The events say most about a run that has just started.
                screen.run_detail.choose("events")
                # The run's submitted request is on the watch list by now.
                screen.read_source()

    # Key actions.

    def action_go(self, name: str) -> None:
        """Go to a screen after all earlier keys were handled, so that later keys go to that screen."""
        self.call_later(self.go_to, name, is_root=True)

    def action_history(self, steps: int) -> None:
        """Go back or forward in the view history, restoring each view."""
        end = "This is the first view." if steps < 0 else "This is the newest view."
        self.call_later(self._move, partial(self.history.move, steps), end)

    def action_last_view(self) -> None:
        """Go to the previous view; a second call returns."""
        self.call_later(self._move, self.history.swap, "There is no other view yet.")

    def action_back_or_quit(self) -> None:
        """Go back one level as ``esc`` does; at a root, ask once and quit."""
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and not screen.is_at_root:
            screen.action_back()
        elif self.history.is_followed:
            self.go_back()
        elif self.clock.monotonic() < self._quits_until:
            self.exit()
        else:
            self._quits_until = self.clock.monotonic() + NOTICE_S
            self._quit_question = self.quit_question(f"{self.keys.shown('app.quit')} again quits")
            self.notify_user(self._quit_question)

    def end_quit_question(self, key: str) -> None:
        """End the question whether to quit with any key but the one that answers it."""
        if not self._quits_until or not isinstance(self.screen, ConsoleScreen):
            return
        active = self.screen.active_bindings.get(key)
        if active is None or active.binding.action.rpartition(".")[2] != "back_or_quit":
            self._quits_until = 0.0
            self.screen.clear_notice(self._quit_question)

    def leave_text(self) -> str:
        """Say what else leaves what is in front: the key that quits, or goes back, where it is no text."""
        from textual.widgets import Input, TextArea

        screen = self.screen
        key = self.keys.shown("app.quit")
        if not isinstance(screen, ConsoleScreen) or isinstance(screen.focused, Input | TextArea):
            return f", {self.keys.shown('screen.back')} goes back"
        is_first = screen.is_at_root and not self.history.is_followed and not screen.has_overlay
        return f", as does {key} pressed twice" if is_first else f", {key} goes back"

    def quit_question(self, how: str, otherwise: str = "") -> str:
        """Return the question whether to quit, after which key quits: with the writes that have no answer, otherwise
        with what else could be meant.
        """
        sending, unsent = (0, 0) if self.session is None else (len(self.session.sending), self.session.unsent)
        left = []
        if sending:
            left.append("1 request is on its way" if sending == 1 else f"{sending} requests are on their way")
        if unsent:
            left.append(f"{unsent} {'is' if unsent == 1 else 'are'} not sent yet")
        if unknown := len(self.unconfirmed):
            what = "1 request has" if unknown == 1 else f"{unknown} requests have"
            left.append(f"{what} an unknown outcome")
        return "; ".join([how, *left]) + "." if left else f"{how}{otherwise}."

    async def _move(self, move: Callable[[], ViewState | None], end: str) -> None:
        self._keep_present()
        view = move()
        if view is None:
            self.console_screen.refuse_key(end)
        else:
            await self._show(view)

    def _keep_present(self) -> None:
        view = self.present_view
        if view is not None:
            self.history.keep(view)

    async def _show(self, view: ViewState) -> None:
        if self._exit:
            # A screen requested before the exit would open without widgets.
            return
        screen = self.make_screen(view.screen)
        # Help and forms close together with the screen below them.
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        if isinstance(self.screen, ConsoleScreen):
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)
        screen.restore_view(view)
        self.screen_came(screen)
