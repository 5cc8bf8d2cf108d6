"""Going from screen to screen: the one in front, the way back, and views that come back as they were left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.css.query import NoMatches
from textual.screen import Screen

from runwatch.records.run import Run
from runwatch.settings.view_state import ViewState
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.registry import OVERVIEW, has_screen, resource_for_kind
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.shell.console import Console
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.shell.view_history import ViewHistory
from runwatch.view.text.glyphs import Role

if TYPE_CHECKING:
    from runwatch.api.calls import RequestAttempt
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.session import ServiceSession


class NavigatingApp(Console):
    """An app whose screens are known by their names. Subclasses make the screens and fill them with data.

    Attributes:
        first_screen: The screen that is in front while a file is read, as long as the user goes nowhere else.
    """

    first_screen: ConsoleScreen | None

    def __init__(self, **kit: Any) -> None:
        super().__init__(**kit)
        self.history = ViewHistory()

    # What subclasses do.

    def make_screen(self, name: str) -> ConsoleScreen:
        """A new screen, with what it shows being read from now on."""
        raise NotImplementedError

    def screen_came(self, screen: ConsoleScreen) -> None:
        """A screen came to the front."""

    def load_when_connected(self, kind: str, record_id: str) -> None:
        """Read a record that the user has named: no list may ever show it."""

    def switch_session(self, session: ServiceSession) -> None:
        """Work with another service from now on; the screens that come show what it has."""
        raise NotImplementedError

    def tail_moved(self, news: TailUpdate) -> None:
        """Something about a followed run's events changed."""

    def exchanged(self, exchange: RequestAttempt) -> None:
        """A request was answered, or failed."""

    # What screens ask. Going somewhere takes place in a turn of the app, and work beside a screen has it done by
    # ``call_later``: of two screens that change at once the framework cancels one, and the app's turns with it.

    @property
    def console_screen(self) -> ConsoleScreen:
        """The screen of ours that is in front, below anything modal."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        raise LookupError("no screen is open")

    def notify_user(self, notice: str, role: str = Role.PLAIN) -> None:
        """Say something for a while on the screen in front, in place of its hints."""
        self.console_screen.notify_user(notice, role)

    @property
    def mounted_screen(self) -> Screen[Any] | None:
        """The screen in front, once its parts are there; none while the console ends, when answers may still come."""
        screen = self.screen_stack[-1] if self.is_running and self.screen_stack else None
        return screen if screen is not None and screen.is_mounted else None

    @property
    def present_view(self) -> ViewState | None:
        """The view in front as it looks now: of the screen below a form, a dialog or the help."""
        present = self.history.present
        screen = next((screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)), None)
        if present is None or screen is None or not screen.is_mounted:
            return present
        try:
            return screen.view_state(present.screen)
        except NoMatches:
            # It is just coming or going, and nobody has done anything to it.
            return present

    async def go_to(self, name: str) -> None:
        """Go to a screen, and wait until it is there."""
        if not has_screen(name):
            self.console_screen.notify_user(f"There is no screen named {name}.", Role.WARN)
            return
        await self.go_to_view(ViewState(name))

    async def go_to_view(self, view: ViewState) -> None:
        """Go to a screen, have it look as it did, and wait until it is there."""
        self._keep_present()
        self.history.go(view)
        await self._show(view)

    def go_back(self) -> None:
        """One view back; from the first one to the overview, which is the root of all."""
        if self.history.has_earlier:
            self.action_history(-1)
        else:
            self.call_later(self._go_to_root)

    async def open_run(self, run_id: str) -> None:
        """Go to the list of runs and open one, now or as soon as it is there."""
        await self.open_record(Run.KIND, run_id)

    async def open_record(self, kind: str, record_id: str) -> None:
        """Go to the list of a kind and open one of its records, now or as soon as it is there."""
        spec = resource_for_kind(kind)
        if not (isinstance(self.screen, ResourceScreen) and self.screen.spec is spec):
            await self.go_to(spec.name)
        if isinstance(self.screen, ResourceScreen) and self.screen.spec is spec:
            self.screen.select_record(record_id, opened=True)
            self.load_when_connected(kind, record_id)

    def show_run(self, run_id: str) -> None:
        """Put the cursor of the list of runs on a run, now or when the list is in front again."""
        for screen in self.screen_stack:
            if isinstance(screen, RunsScreen):
                screen.select_record(run_id)
                # What was sent for it is on the watch list by now.
                screen.read_source()

    # What people do.

    def action_go(self, name: str) -> None:
        """Go to a screen, once everything that was typed before has been done: what is typed next is for that one."""
        self.call_later(self.go_to, name)

    def action_history(self, steps: int) -> None:
        """Go back or forward among the views that were there before, each as it was left."""
        self.call_later(self._move, steps)

    def action_last_view(self) -> None:
        """Go to the view that was in front before this one; the same again leads back."""
        self.call_later(self._swap)

    def action_back_or_quit(self) -> None:
        """Back one level; at the root, quit."""
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and not screen.is_at_root:
            screen.action_back()
        elif self.history.has_earlier:
            self.go_back()
        else:
            self.exit()

    # Inside.

    async def _go_to_root(self) -> None:
        present = self.history.present
        # Another key may have led elsewhere meanwhile.
        if present is not None and not self.history.has_earlier and present.screen != OVERVIEW:
            self._keep_present()
            root = ViewState(OVERVIEW)
            self.history.begin_with(root)
            await self._show(root)

    async def _move(self, steps: int) -> None:
        self._keep_present()
        view = self.history.move(steps)
        if view is None:
            self.console_screen.notify_user("This is the first view." if steps < 0 else "This is the newest view.")
        else:
            await self._show(view)

    async def _swap(self) -> None:
        self._keep_present()
        view = self.history.swap()
        if view is None:
            self.console_screen.notify_user("There is no other view yet.")
        else:
            await self._show(view)

    def _keep_present(self) -> None:
        view = self.present_view
        if view is not None:
            self.history.keep(view)

    async def _show(self, view: ViewState) -> None:
        if self._exit:
            # Screens that were asked for before the console ended would come up without any widget.
            return
        screen = self.make_screen(view.screen)
        # The help and the form stand in front of a screen; both go with it.
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        if isinstance(self.screen, ConsoleScreen):
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)
        screen.restore_view(view)
        self.screen_came(screen)
