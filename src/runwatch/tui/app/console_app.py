"""The console app. Connects settings, service session, store and screens; contains no business rules."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from textual import events
from textual.timer import Timer

from runwatch.base.clock import Clock, SystemClock, until_whole_second
from runwatch.base.errors import DataError, RunwatchError
from runwatch.base.log import start_log
from runwatch.base.memory import resume_collection
from runwatch.base.text import cell_width
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.settings.resolver import SettingsResolver
from runwatch.settings.settings_file import LoadedSettings, load_settings_file
from runwatch.settings.view_state import PaneSplit, ViewState, load_view_state, save_view_state
from runwatch.store.state.collection import CollectionDelta
from runwatch.store.state.store import Store
from runwatch.tui.app.header_info import build_header_info
from runwatch.tui.app.navigation import NavigatingApp
from runwatch.tui.app.notifications import RunNotifier
from runwatch.tui.app.startup_notices import StartupNotices, demo_text, settings_warnings
from runwatch.tui.core.command_keys import CommandKeys
from runwatch.tui.core.key_bindings import KeyMap, make_bindings
from runwatch.tui.core.messages import WorkerFailed
from runwatch.tui.core.themes import DEFAULT_THEME, load_theme, theme_directories
from runwatch.tui.core.workers import shorten_switch_interval, start_worker
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.registry import (
    has_screen,
    is_page,
    make_list_screen,
    make_page,
    resource_named,
    unknown_screen_text,
)
from runwatch.tui.shell.console_screen import AGE_REFRESH_S, ConsoleScreen
from runwatch.tui.shell.key_queue import KeyHandled, KeyQueue
from runwatch.tui.shell.launch_options import LaunchOptions as LaunchOptions
from runwatch.tui.shell.undo_stack import UndoStack
from runwatch.tui.sources.row_sources import FILE_PROFILE, RowSource
from runwatch.tui.sources.store_source import StoreSource
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.view.resources.runs import RUNS
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.copied_text import CopiedText
from runwatch.view.text.format import TimeMode
from runwatch.view.text.glyphs import GLYPHS, Role
from runwatch.view.text.safe_text import SafeText, line, truncate

if TYPE_CHECKING:
    from runwatch.base.network.service_target import Target
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.last_session import CachedList, CachedLists, LastSession
    from runwatch.tui.app.pins.board import PinBoard
    from runwatch.tui.app.profiles import ProfileManager
    from runwatch.tui.flows.unconfirmed_writes import UnconfirmedWrites
    from runwatch.tui.terminal.clipboard import CopyRoute
    from runwatch.tui.terminal.desktop_notice import NoticeRoute
    from runwatch.tui.widgets.bars.pin_bar import PinBar
    from runwatch.tui.widgets.panes.command_line import CommandLine

_SYSTEM_CLOCK: Final = SystemClock()

LAST_LISTS_WAIT_S: Final = 0.15
"""How long the first paint waits at most for the lists of the last session."""

GATHER_S: Final = 0.1
"""Store changes within this time are drawn together, and drawings are this far apart."""

FIRST_GATHER_S: Final = 0.01
"""The same for the first change after a while, which is drawn almost at once."""

_log: Final = logging.getLogger(__name__)

INTERRUPT_AGAIN_S: Final = 3.0
"""For how long a second ctrl+c quits."""

MAX_ID_CELLS: Final = 64
"""A copied text without spaces up to this width, such as an id, is shown in full."""

_TIMES: Final[tuple[TimeMode, ...]] = get_args(TimeMode)


class ConsoleApp(NavigatingApp):
    """The console.

    Attributes:
        notices: Temporary notices above the hints.
        farewell: After the end, the runs that go on and the requests with unknown outcome, as lines; empty for none.
    """

    BINDINGS = make_bindings("app")

    def __init__(self, launch: LaunchOptions, *, clock: Clock | None = None) -> None:
        loaded = load_settings_file(launch.paths.settings_file, clock=clock or SystemClock())
        self.loaded = loaded
        self.resolver = SettingsResolver(launch.options, launch.environment, loaded, launch.paths)
        self.settings = self.resolver.settings()
        runs_commands = not launch.is_in_browser
        self.warnings = settings_warnings(loaded, with_commands=runs_commands)
        keys = KeyMap(self.settings.keys)
        self.command_keys = CommandKeys(keys, self.settings.commands)
        self.warnings.extend((*keys.problems, *(self.command_keys.problems if runs_commands else ())))
        self.theme_directories = theme_directories(launch.paths.settings_file.parent / "themes")
        try:
            palette = load_theme(self.settings.theme, self.theme_directories)
        except RunwatchError as error:
            self.warnings.append(str(error))
            palette = load_theme(DEFAULT_THEME, self.theme_directories)
        glyphs = GLYPHS[self.settings.glyphs]
        super().__init__(palette=palette, glyphs=glyphs, keys=keys, clock=clock)
        self.uses_mouse = self.settings.mouse
        self.launch = launch
        self.store = Store()
        self.row_marks = {}
        self.list_sorts = {}
        self.form_drafts = {}
        self.run_drafts = {}
        self.reported_filters = set()
        self.time_mode = cast(TimeMode, self.settings.time)
        self.profile_name = self.resolver.target_name() if launch.file is None else FILE_PROFILE
        self._changed: set[str] = set()
        self._runs_looks: dict[str, tuple[object, ...]] = {}
        self._gather: Timer | None = None
        self._notified_at = -math.inf
        self._seconds = 0
        self.farewell = ""
        self.recent_commands = []
        self.splits = {}
        self.undo = UndoStack()
        self.notices: Final = StartupNotices(self)
        self._run_notifier = RunNotifier(self)
        self._pins: PinBoard | None = None
        self._unconfirmed_writes: UnconfirmedWrites | None = None
        self._profiles: ProfileManager | None = None
        self._sought: tuple[str, str] | None = None
        self._left: ViewState | None = None
        self._splits_before: dict[str, PaneSplit] = {}
        self._listed: tuple[type[Record], ...] = ()
        self._has_begun = False
        self._last_session: asyncio.Task[LastSession] | None = None
        self._interrupts_until = -math.inf
        self.key_queue = KeyQueue(self, self._hand_on)

    # Imported when they are first needed: the pins once the session is open, the others by few sessions.

    def open_pins(self) -> PinBoard:
        if self._pins is None:
            from runwatch.tui.app.pins.board import PinBoard

            self._pins = PinBoard(self, self._source)
        return self._pins

    def open_unconfirmed_writes(self) -> UnconfirmedWrites:
        if self._unconfirmed_writes is None:
            from runwatch.tui.flows.unconfirmed_writes import UnconfirmedWrites

            self._unconfirmed_writes = UnconfirmedWrites(self)
        return self._unconfirmed_writes

    @property
    def profiles(self) -> ProfileManager:
        if self._profiles is None:
            from runwatch.tui.app.profiles import ProfileManager

            self._profiles = ProfileManager(self)
        return self._profiles

    # Called by screens.

    def make_pin_bar(self) -> PinBar | None:
        tabs = () if self._pins is None else self._pins.tabs()
        if not tabs:
            return None
        from runwatch.tui.widgets.bars.pin_bar import PinBar

        return PinBar(tabs, id="pins")

    def pin_labels(self) -> Sequence[tuple[int, SafeText]]:
        return () if self._pins is None else [(tab.number, tab.label) for tab in self._pins.tabs()]

    def pin_name(self, run_id: str) -> str | None:
        return None if self._pins is None else self._pins.name_of_run(run_id)

    def mark_gone(self, kind: str, record_id: str) -> None:
        self.open_pins().mark_gone(kind, record_id)

    def header_info(self) -> HeaderInfo:
        return build_header_info(self)

    async def copy_text(
        self, text: CopiedText, what: SafeText, *, several_lines: bool = False, is_secret: bool = False
    ) -> None:
        from runwatch.tui.terminal.clipboard import ClipboardEnvironment, copy_text

        try:
            route = await copy_text(
                text,
                ClipboardEnvironment(self.launch.environment),
                self._write_to_terminal,
                # The tools of this machine would copy where the user is not.
                route="osc52" if self.is_web else cast("CopyRoute", self.settings.clipboard),
                several_lines=several_lines,
            )
        except RunwatchError as error:
            self.notify_user(str(error), Role.BAD)
            return
        route = "the browser" if self.is_web else route
        shown = line(" ".join(text[:400].split()))
        if is_secret:
            self.notify_user(f"Copied {what} by {route}")
        elif " " not in shown and cell_width(shown) <= MAX_ID_CELLS:
            # An id comes first, so that a narrow window truncates the rest and not the id.
            self.notify_user(f"Copied {shown} {self.glyphs.dot} {what} by {route}")
        else:
            self.notify_user(f"Copied {what} by {route}: {truncate(shown, 80, self.glyphs.ellipsis)}")

    async def notify_desktop(self, make_text: Callable[[], Awaitable[SafeText]]) -> None:
        from runwatch.tui.terminal.desktop_notice import DesktopNotices

        notices = DesktopNotices(self.launch.environment, self._write_to_terminal)
        route = cast("NoticeRoute", self.settings.desktop_notice)
        way = await notices.find_way(route, has_focus=self.app_focus)
        if way is not None and (text := await make_text()):
            await notices.send(text, way)

    def ring_bell(self) -> None:
        self._run_notifier.ring()

    def refresh_resource(self, spec: ResourceSpec[Any]) -> None:
        if self.session is None:
            if self.failure is not None:
                self.failure = None
                start_worker(self, self._open(), "opening")
            elif self.has_file:
                self.console_screen.refuse_key("A file is read once, when it is opened.")
        elif not spec.is_local:
            self.session.live.ask(spec.record)

    def next_time_mode(self, mode: TimeMode | None = None) -> None:
        self.time_mode = mode or _TIMES[(_TIMES.index(self.time_mode) + 1) % len(_TIMES)]
        self.console_screen.notify_user(f"Times are shown as {self.time_mode}")
        self.console_screen.data_changed(frozenset())

    def apply_settings(self, loaded: LoadedSettings) -> None:
        before = self.settings
        self.resolver = SettingsResolver(self.launch.options, self.launch.environment, loaded, self.launch.paths)
        self.loaded, self.settings = loaded, self.resolver.settings()
        self.apply_keys(KeyMap(self.settings.keys))
        self.command_keys = CommandKeys(self.keys, self.settings.commands)
        if self.settings.time != before.time:
            self.time_mode = cast(TimeMode, self.settings.time)
        if self.settings.theme != before.theme:
            self.apply_theme(self.settings.theme)

    # Key actions.

    def action_interrupt(self) -> None:
        """Exit after ctrl+c was pressed twice; in a browser, where that key copies, only say how to quit."""
        quit_key, now = self.keys.shown("app.quit"), self.clock.monotonic()
        if self.is_web and self._has_begun:
            self.notify_user(f"Nothing is selected; {quit_key} quits.", Role.WARN)
        elif self._has_begun and now >= self._interrupts_until:
            self._interrupts_until = now + INTERRUPT_AGAIN_S
            self.notify_user(self.quit_question("ctrl+c again quits", self.leave_text()), Role.WARN)
        else:
            super().action_interrupt()

    def action_command(self) -> None:
        from runwatch.tui.app.commands import open_command_line

        open_command_line(self)

    async def on_command_line_submitted(self, message: CommandLine.Submitted) -> None:
        """Run the submitted command on the screen that was in front."""
        if await message.command.do(message.argument) is not False:
            self.remember_command(f"{message.command.name} {message.argument}".strip())

    def action_outbox(self) -> None:
        """Show unconfirmed writes, to retry or discard them."""
        self.open_unconfirmed_writes().open(self.console_screen)

    async def action_profile(self) -> None:
        """Choose another profile; an opened file belongs to none."""
        from runwatch.tui.app.profile_menu import go_to_profile

        if self.has_file:
            self.console_screen.connected_session()
        else:
            await go_to_profile(self, "")

    def action_find_servers(self) -> None:
        from runwatch.tui.flows.model_servers import search_model_servers

        search_model_servers(self.console_screen)

    def action_around(self) -> None:
        """Show the activity around the time of the row at the cursor, or ask for a time."""
        from runwatch.tui.flows.activity import open_activity_at_cursor

        open_activity_at_cursor(self)

    def action_pin(self) -> None:
        """Pin what is open or at the cursor, or unpin it."""
        from runwatch.tui.app.pins.menu import toggle_pin

        toggle_pin(self, self.open_pins())

    def action_pins(self) -> None:
        from runwatch.tui.app.pins.menu import open_pin_list

        open_pin_list(self, self.open_pins())

    def action_go_to_pin(self, number: int) -> None:
        """Go to a pin after all earlier keys were handled; not from a form that the user fills in."""
        from runwatch.tui.flows.form_screen import FormScreen

        screen = self.console_screen
        if isinstance(screen, FormScreen):
            screen.notify_user(f"{self.keys.shown('screen.back')} leaves this form first.", Role.WARN)
        elif screen.connected_session() is not None:
            self.call_later(self.open_pins().go_to, number)

    def action_help(self) -> None:
        from runwatch.tui.screens.help import open_help

        open_help(self)

    def load_when_connected(self, kind: str, record_id: str) -> None:
        """Read a record that the user has named, now or once connected."""
        self._sought = (kind, record_id)
        self._seek()

    def _seek(self) -> None:
        if self._sought is not None and self.session is not None:
            from runwatch.tui.sources.record_loader import load_named_record

            start_worker(
                self.console_screen, load_named_record(self, self.session, *self._sought), "reading", group="seek"
            )
            self._sought = None

    def show_warnings(self) -> None:
        self.notices.put(self.console_screen)

    async def report_unconfirmed_writes(self) -> None:
        session = self.session
        writes = () if session is None else await session.unconfirmed_writes()
        if session is not self.session:
            # Meanwhile the user has switched to another profile, which reads its own.
            return
        self.unconfirmed = writes
        if self.unconfirmed or self._unconfirmed_writes is not None:
            self.open_unconfirmed_writes().show_warning()

    async def _look_for_settled_writes(self) -> None:
        """Report the unconfirmed writes again: another console or a command may have settled some."""
        # A disk that fails is said where the user needs it, not every few seconds.
        with suppress(DataError):
            await self.report_unconfirmed_writes()

    def on_worker_failed(self, message: WorkerFailed) -> None:
        """Report the failure of work that no screen owns, such as sending a write."""
        self.console_screen.on_worker_failed(message)

    # Life cycle.

    def on_load(self) -> None:
        """Begin to read the lists of the last session, beside the start of the screen."""
        file = self.launch.paths.database
        if not self.has_file and file.exists():
            from runwatch.tui.app.last_session import read_last_session

            reading = asyncio.to_thread(read_last_session, self.resolver, file)
            self._last_session = asyncio.create_task(reading, name="last session")

    def on_mount(self) -> None:
        """Begin once Textual draws: it draws anything laid out earlier twice, and shows it once."""
        self.call_later(self._begin)

    async def _begin(self) -> None:
        """Paint first; open the service afterwards."""
        if self._last_session is not None:
            await asyncio.wait([self._last_session], timeout=LAST_LISTS_WAIT_S)
            if self._last_session.done():
                cached = self._last_session.result().cached
                self._show_last_lists(() if cached is None else cached.lists)
        await self._show_first()
        self._has_begun = True
        await self.guard_size()
        await self.key_queue.begin()
        self.store.listen(self._add_delta)
        self._wait_a_second()
        if self.launch.demo:
            self.notices.welcome(demo_text(self.keys.shown("screen.new")))
        # The first screen has been drawn when it was pushed; Textual's next refresh is a frame later.
        shorten_switch_interval()
        start_worker(self, self._open_first(), "opening")

    def _show_last_lists(self, lists: Sequence[CachedList]) -> None:
        """Show the lists of the last session with their age, unless the service has already been read."""
        from runwatch.store.state.changes import CacheRead

        now, monotonic = self.clock.now(), self.clock.monotonic()
        for profile, kind, records, seen_at in lists:
            if self.session is None:
                self.profile_name = profile
            if records and self.store.collection(profile, kind.KIND).cached_at is None:
                delta = self.store.apply(CacheRead(profile, kind.KIND, now, monotonic, tuple(records), seen_at))
                if not self._has_begun:
                    self._run_notifier.add_delta(delta)

    async def _show_first(self) -> None:
        """Show the requested screen, otherwise the last session's, otherwise the home screen."""
        view = self.launch.first_view(self.settings, self.warnings, self.splits)
        self._splits_before = dict(self.splits)
        if not has_screen(view.screen):
            self.warnings.append(unknown_screen_text(view.screen))
            view = ViewState(RUNS.name)
        await self.go_to_view(view)
        if self.has_file:
            self.first_screen = self.console_screen
        if self.launch.open_at and view.selected and not is_page(view.screen):
            self.load_when_connected(resource_named(view.screen).kind, view.selected)

    async def guard_size(self) -> None:
        """Wait for the first screen, because the message is shown in front of it."""
        if self._has_begun:
            await super().guard_size()

    async def _open_first(self) -> None:
        """Open the service; the collector stays off while its modules are imported, because they are not garbage."""
        if self.has_file:
            resume_collection()
        try:
            await self._open()
        finally:
            resume_collection()

    @property
    def terminal_is_behind(self) -> bool:
        driver = self._driver
        if getattr(driver, "is_behind", False):
            return True
        return getattr(driver, "is_resting", False) and not self.key_queue.is_answering

    async def on_event(self, event: events.Event) -> None:
        """Queue user input, and pass a key to the notices before it is handled."""
        is_done = isinstance(event, events.InputEvent | events.Paste) and not event.is_forwarded
        # Keys typed while the window is too small open nothing, and must not wait until it is large again.
        if is_done and not (self._has_begun and self.is_too_small):
            await self.key_queue.take(event)
        else:
            await super().on_event(event)

    async def _hand_on(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            if self.take_selection_key(event.key):
                return
            self.end_quit_question(event.key)
            self.console_screen.key_pressed()
            if self.notices.pressed(event.key):
                return
        await super().on_event(event)

    async def on_key_handled(self, message: KeyHandled) -> None:
        await self.key_queue.note_handled(message)

    def exit(self, result: None = None, return_code: int = 0, message: Any = None) -> None:
        if not self._exit:
            self._left = self.present_view
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self._save_session)
        others = () if self._profiles is None else self._profiles.others
        if not self.launch.demo:
            # The demo's service ends with it, and its runs too.
            from runwatch.tui.app.farewell import farewell_text

            self.farewell = await farewell_text(
                [*([self.session] if self.session else []), *others], self.keys.shown("app.outbox")
            )
        if self._profiles is not None:
            await self._profiles.close()
        if self.session is not None:
            await self.session.close()
        elif self._last_session is not None and (cached := (await self._last_session).cached) is not None:
            await asyncio.to_thread(cached.database.close)

    def _save_session(self) -> None:
        """Save the front view for the browser tab or if the settings say so, and changed splits in any case; nothing
        for a file.
        """
        tab_file = self.launch.tab_view_file
        if tab_file is not None and self._left is not None:
            self._save_view(tab_file, self._left)
        left = self._left if self.launch.keeps_session(self.settings) else None
        if self.has_file or (left is None and self.splits == self._splits_before):
            return
        path = self.launch.paths.session_file
        if left is None:
            with suppress(RunwatchError):
                left = load_view_state(path)
        self._save_view(path, left, self.splits)

    @staticmethod
    def _save_view(path: Path, view: ViewState | None, splits: dict[str, PaneSplit] | None = None) -> None:
        try:
            save_view_state(path, view, splits)
        except RunwatchError as error:
            # Nothing is drawn any more, so the warning goes to the log.
            _log.warning("%s", error)

    async def _open(self) -> None:
        start_log(self.launch.paths.log_file, self.settings.log_level)
        try:
            if self.launch.file is not None:
                from runwatch.tui.app.file_opening import load_file

                await load_file(self, self.launch.file)
                return
            # After the first paint, as far as that did not need them.
            from runwatch.tui.app.last_session import CACHED_KINDS, read_cached_lists
            from runwatch.tui.app.session_opening import import_session, open_service_session, resolve_startup_target

            # While a local service starts, which takes longer, and the database is opened.
            importing = asyncio.create_task(asyncio.to_thread(import_session), name="importing")
            target, cached = await self._take_last_session()
            if target is None:
                target = await resolve_startup_target(self, self.notices.welcome)
            if cached is None:
                cached = await asyncio.to_thread(read_cached_lists, target, self.launch.paths.database)
            self._show_last_lists(cached.lists)
            await importing
            if self.launch.demo:
                # The profiles are there since its service runs.
                self.apply_settings(await asyncio.to_thread(load_settings_file, self.launch.paths.settings_file))
            if self.session is None:
                self.profile_name = target.profile
            session = await open_service_session(self, target, database=cached.database)
            if self.session is not None:
                # Meanwhile the user has switched to another profile.
                await session.close()
                return
            self.session = session
            await self.session.start(CACHED_KINDS, with_lists=session.scope != cached.scope)
            await self.report_unconfirmed_writes()
            await self.open_pins().load(session)
        except RunwatchError as error:
            self.failure = error
        shown = [screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)]
        # A form in front reads no list and keeps those of the screen below.
        for screen in shown[:1]:
            self._read_lists_of(screen)
        for screen in shown:
            screen.session_opened()
            if isinstance(screen, ResourceScreen):
                screen.use(self._source(screen.spec))
        self._seek()
        self._tick()

    async def _take_last_session(self) -> tuple[Target | None, CachedLists | None]:
        """Return what was read beside the first paint, once: a second attempt to open the service reads it again.

        Raises:
            RunwatchError: The configured service is unusable.
        """
        if self._last_session is None:
            return None, None
        last = await asyncio.shield(self._last_session)
        self._last_session = None
        if last.failure is not None:
            raise last.failure
        return last.target, last.cached

    def switch_session(self, session: ServiceSession) -> None:
        if self.session is not None:
            for record in self._listed:
                self.session.live.stop_list(record)
        self.session, self.profile_name, self._listed = session, session.target.profile, ()
        self.failure = None
        self.undo.clear()
        self.row_marks.clear()
        start_worker(self, self.report_unconfirmed_writes(), "reading unconfirmed writes")
        start_worker(self, self.open_pins().load(session), "reading pins", group="pins", exclusive=True)

    def make_screen(self, name: str) -> ConsoleScreen:
        screen = (
            make_page(name)
            if is_page(name)
            else make_list_screen(resource_named(name), self._source(resource_named(name)))
        )
        self._read_lists_of(screen)
        return screen

    def screen_came(self, screen: ConsoleScreen) -> None:
        self.notices.put(screen)

    def screen_is_in_front(self) -> None:
        if self._profiles is not None:
            self._profiles.rest_unseen()

    def _read_lists_of(self, screen: ConsoleScreen) -> None:
        """Poll the lists of this screen and stop polling those of the previous one."""
        if self.session is None:
            return
        pinned = () if self._pins is None else self._pins.polled_kinds()
        wanted = tuple(dict.fromkeys((*screen.polled_lists(), *pinned)))
        for record in self._listed:
            if record not in wanted:
                self.session.live.stop_list(record)
        for record in wanted:
            self.session.live.start_list(record, is_side=record not in screen.awaited_lists())
        self._listed = wanted

    def _source(self, spec: ResourceSpec[Any]) -> RowSource:
        if self.launch.file is not None:
            from runwatch.tui.sources.file_source import FileSource

            return FileSource(spec, self.store, self.clock, self.keys.shown)
        if spec.record.WIRE is None:
            from runwatch.tui.sources.journal_source import JournalSource

            return JournalSource(spec, self.clock, self.session)
        return StoreSource(spec, self.store, self.profile_name, self.clock, self.session)

    def download(self, file: Path) -> bool:
        if not self.is_web:
            return False
        from runwatch.tui.terminal.browser_driver import BrowserDriver

        assert isinstance(self._driver, BrowserDriver)
        self._driver.download(file)
        return True

    def _write_to_terminal(self, data: str) -> None:
        driver = self._driver
        if driver is not None:
            driver.write(data)
            driver.flush()

    # Called by lower layers.

    def _add_delta(self, delta: CollectionDelta) -> None:
        self._run_notifier.add_delta(delta)
        if delta.kind == Run.KIND and not self._runs_look_new(delta.profile):
            # They are read all the time, and ages are drawn every second.
            return
        self._changed.add(delta.kind)
        if self._gather is None:
            wait = self._notified_at + GATHER_S - self.clock.monotonic()
            self._gather = self.set_timer(max(FIRST_GATHER_S, wait), self._notify_screens)

    def _runs_look_new(self, profile: str) -> bool:
        """Whether the runs look different from when this was called last."""
        looks = self.store.collection(profile, Run.KIND).looks
        before, self._runs_looks[profile] = self._runs_looks.get(profile), looks
        return looks != before

    def _notify_screens(self) -> None:
        self._gather, self._notified_at = None, self.clock.monotonic()
        changed, self._changed = frozenset(self._changed), set()
        screen = self.mounted_screen
        if isinstance(screen, ConsoleScreen):
            screen.update_header(recount=changed != {Run.KIND})
            screen.data_changed(changed)

    def _wait_a_second(self) -> None:
        # Textual's timers follow the system's clock; the session's work of each second does too, at the same moment.
        self.set_timer(until_whole_second(_SYSTEM_CLOCK), self._end_second)

    def _end_second(self) -> None:
        self._wait_a_second()
        self._second()

    def _second(self) -> None:
        # A header and a list border that change together make Textual redraw everything between them.
        self._seconds += 1
        if self._pins is not None:
            self._pins.tick()
        recounts = self._seconds % AGE_REFRESH_S == 0
        if recounts and self.unconfirmed:
            start_worker(self, self._look_for_settled_writes(), "reading unconfirmed writes", group="unconfirmed")
        self._tick(recount=recounts)

    def _tick(self, *, recount: bool = True) -> None:
        screen = self.mounted_screen
        if isinstance(screen, ConsoleScreen):
            screen.update_header(recount=recount)
            screen.tick()
            screen.follow_overlays()
            return
        from runwatch.tui.widgets.panes.dialog import Dialog

        if isinstance(screen, Dialog):
            screen.show_header(self.header_info())
