"""The console: wiring of settings, service, store and screens; nothing is decided here that a room below decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, get_args

from textual import events
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from runwatch.base.clock import Clock, SystemClock
from runwatch.base.errors import RunwatchError
from runwatch.base.log import start_log
from runwatch.base.text import cell_width
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.settings.file import Loaded, load
from runwatch.settings.model import LOCAL
from runwatch.settings.resolve import Resolver
from runwatch.settings.session import View, write_session
from runwatch.store.collection import Delta
from runwatch.store.state import Store
from runwatch.tui.actions import KeyMap, bindings
from runwatch.tui.bell import Bell
from runwatch.tui.connection import place_of
from runwatch.tui.keyboard import Keyboard, KeyTaken
from runwatch.tui.memory import after_first_paint
from runwatch.tui.navigation import NavigatingApp
from runwatch.tui.opening import Opening as Opening
from runwatch.tui.screens.base import AGES_EVERY, ConsoleScreen
from runwatch.tui.screens.places import has_screen, is_page, list_screen, page, spec_named
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.screens.welcome import Notes, demo_words, welcome_words
from runwatch.tui.sources import FILE, JournalSource, Source, StoreSource
from runwatch.tui.themes import DEFAULT_THEME, load_theme, theme_directories
from runwatch.tui.widgets.context_bar import Place
from runwatch.tui.work import share_with_threads, start_work
from runwatch.view.drawn import Drawn, cut, line
from runwatch.view.facts import RunFacts
from runwatch.view.format import Context, TimeMode
from runwatch.view.glyphs import ASCII, UNICODE, Role
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.runs import RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from runwatch.api.calls import Exchange
    from runwatch.store.desk import Desk
    from runwatch.store.tails import TailNews
    from runwatch.tui.clipboard import CopyRoute
    from runwatch.tui.kept_writes import KeptWrites
    from runwatch.tui.profiles import Profiles
    from runwatch.tui.widgets.command_line import CommandLine
    from runwatch.view.mutation import Action

GATHER_S: Final = 0.1
"""Changes of the store that come within this time are drawn together."""

_log: Final = logging.getLogger(__name__)

WHOLE_CELLS: Final = 64
"""A copied text without a blank up to this width, such as an id, is shown whole."""

_TIMES: Final[tuple[TimeMode, ...]] = get_args(TimeMode)


class ConsoleApp(NavigatingApp):
    """The console.

    Args:
        opening: How it is opened.
        clock: Time.

    Attributes:
        kept_writes: The writes of unknown outcome.
        notes: What stands above the hints for a while.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(self, opening: Opening, *, clock: Clock | None = None) -> None:
        loaded = load(opening.paths.settings_file, clock=clock or SystemClock())
        self.loaded = loaded
        self.resolver = Resolver(opening.options, opening.environment, loaded, opening.paths)
        self.settings = self.resolver.settings()
        self.warnings = [str(problem) for problem in loaded.problems]
        keys = KeyMap(self.settings.keys)
        self.warnings.extend(keys.problems)
        self.theme_directories = theme_directories(opening.paths.settings_file.parent / "themes")
        try:
            palette = load_theme(self.settings.theme, self.theme_directories)
        except RunwatchError as error:
            self.warnings.append(str(error))
            palette = load_theme(DEFAULT_THEME, self.theme_directories)
        glyphs = ASCII if self.settings.glyphs == "ascii" else UNICODE
        super().__init__(palette=palette, glyphs=glyphs, keys=keys, clock=clock)
        self.uses_mouse = self.settings.mouse
        self.opening = opening
        self.store = Store()
        self.kept_rows = None
        self.desk = None
        self.failure = None
        self.first_screen = None
        self.opening_words = "opening…"
        self.time_mode = cast(TimeMode, self.settings.time)
        self._profile = LOCAL if opening.file is None else FILE
        self._changed: set[str] = set()
        self._gather: Timer | None = None
        self._seconds = 0
        self.draft = None
        self.notes: Final = Notes(self)
        self._bell = Bell(self)
        self._sought: tuple[str, str] | None = None
        self._left: View | None = None
        self._listed: tuple[type[Record], ...] = ()
        self._has_begun = False
        self.keyboard = Keyboard(self, self._hand_on)

    @cached_property
    def kept_writes(self) -> KeptWrites:
        """The writes of this console, or of an earlier one, whose answer never came."""
        from runwatch.tui.kept_writes import KeptWrites

        return KeptWrites(self)

    @cached_property
    def profiles(self) -> Profiles:
        """The other profiles of the settings file, for lists over several of them."""
        from runwatch.tui.profiles import Profiles

        return Profiles(self)

    # What screens ask.

    @property
    def has_file(self) -> bool:
        """Whether a file is open in the place of a service."""
        return self.opening.file is not None

    @property
    def local_socket(self) -> Path | None:
        """The socket of the local service that other commands of this user find, ``None`` for any other service.

        The demo's service has a socket too, but ``--local`` means another service.
        """
        return None if self.desk is None or self.opening.demo else self.desk.target.socket

    def context(self) -> Context:
        """What everything is drawn with now."""
        return Context(self.clock.now(), self.glyphs, self.time_mode)

    def place(self) -> Place:
        """What the bar above says of the service and the connection."""
        return place_of(self)

    async def copy_text(self, text: str, what: Drawn, *, several_lines: bool = False, is_secret: bool = False) -> None:
        """Copy, and say by which way and what; a secret itself is not said."""
        from runwatch.tui.clipboard import Surroundings, copy

        try:
            route = await copy(
                text,
                Surroundings(self.opening.environment),
                self._write_to_terminal,
                route=cast("CopyRoute", self.settings.clipboard),
                several_lines=several_lines,
            )
        except RunwatchError as error:
            self._say_in_front(str(error), Role.BAD)
            return
        shown = line(" ".join(text[:400].split()))
        if is_secret:
            self._say_in_front(f"copied {what} by {route}")
        elif " " not in shown and cell_width(shown) <= WHOLE_CELLS:
            # An id comes first, so that a narrow window cuts what is said of it and not the id.
            self._say_in_front(f"copied {shown} {self.glyphs.dot} {what} by {route}")
        else:
            self._say_in_front(f"copied {what} by {route}: {cut(shown, 80, self.glyphs.ellipsis)}")

    def _say_in_front(self, notice: str, role: str = Role.PLAIN) -> None:
        """Say it on the screen, and in the frame of a sheet that covers the screen's status line."""
        from runwatch.tui.widgets.sheet import Sheet

        self.console_screen.say(notice, role)
        if isinstance(self.screen, Sheet):
            self.screen.tell(((line(notice), role),))

    def alarm(self) -> None:
        """Ring the bell for an error that is shown, if the settings want it."""
        self._bell.ring()

    def refresh_kind(self, spec: ResourceSpec[Any]) -> None:
        """Read a list now, also one that was given up; and open the desk again where that failed."""
        if self.desk is None:
            if self.failure is not None:
                self.failure = None
                start_work(self, self._open(), "opening")
        elif not spec.is_local:
            self.desk.live.refresh(spec.record)

    def next_time_mode(self, mode: TimeMode | None = None) -> None:
        """Show times in another way, or in the next, everywhere."""
        self.time_mode = mode or _TIMES[(_TIMES.index(self.time_mode) + 1) % len(_TIMES)]
        self.console_screen.say(f"times are shown as {self.time_mode}")
        self.console_screen.data_changed(frozenset())

    @property
    def profile_name(self) -> str:
        """The profile that the console works with, or is about to."""
        return self._profile

    def take_settings(self, loaded: Loaded) -> None:
        """Let what the settings file says now hold, as far as that needs no new start.

        Raises:
            SettingsError: the theme is not usable, or a profile that a flag or a variable names has gone.
        """
        before = self.settings
        self.resolver = Resolver(self.opening.options, self.opening.environment, loaded, self.opening.paths)
        self.loaded, self.settings = loaded, self.resolver.settings()
        self.use_keys(KeyMap(self.settings.keys))
        if self.settings.time != before.time:
            self.time_mode = cast(TimeMode, self.settings.time)
        if self.settings.theme != before.theme:
            self.take_theme(self.settings.theme)

    def take_theme(self, name: str) -> None:
        """Draw everything in another theme from now on.

        Raises:
            SettingsError: there is none of that name, or its file does not hold to the form.
        """
        self.use_palette(load_theme(name, self.theme_directories))

    # What people do.

    def action_command(self) -> None:
        """Open the command line."""
        from runwatch.tui.commanding import open_command_line

        open_command_line(self)

    async def on_command_line_given(self, message: CommandLine.Given) -> None:
        """Do what was typed, on the screen that was in front."""
        message.stop()
        await message.command.do(message.argument)

    def action_outbox(self) -> None:
        """Show the writes whose answer never came, to settle them."""
        self.kept_writes.open(self.console_screen)

    def action_find_servers(self) -> None:
        """Look for model servers on this machine."""
        from runwatch.tui.model_servers import look_for_servers

        look_for_servers(self.console_screen)

    def action_around(self) -> None:
        """Show what happened around the moment of the row under the cursor, or ask for a moment."""
        from runwatch.tui.looking_back import look_around_row

        look_around_row(self)

    def action_help(self) -> None:
        """Show the keys that work now, and everything else there is to know."""
        from runwatch.tui.screens.help import open_help

        open_help(self)

    def open_run_form(self, like: RunFacts | None = None, *, field: str = "") -> None:
        """Start a run, like an earlier one or from what was typed last, beginning in a field."""
        from runwatch.tui.screens.run_form import RunForm
        from runwatch.view.draft import again

        if self.has_file:
            self.console_screen.connected_desk()
        elif like is None:
            self.push_screen(RunForm(self.draft, field))
        else:
            known = again(like)
            self.push_screen(RunForm(known.values, field, like=known))

    def seek(self, kind: str, record_id: str) -> None:
        """Read a record that a person has named, now or as soon as there is a service."""
        self._sought = (kind, record_id)
        self._seek()

    def _seek(self) -> None:
        if self._sought is not None and self.desk is not None:
            from runwatch.tui.seeking import seek_record

            start_work(self.console_screen, seek_record(self, self.desk, *self._sought), "reading", group="seek")
            self._sought = None

    def warn(self, warning: str) -> None:
        """Say something above the hints that stays there until a person has seen it."""
        self.warnings.append(warning)
        self.put_notes()

    def put_notes(self) -> None:
        """Have the screen in front say the warnings as they are now."""
        self.notes.put(self.console_screen)

    def open_add_ids(self) -> None:
        """Add ids to the watch list."""
        from runwatch.tui.screens.add_ids import AddIds

        desk = self.console_screen.connected_desk()
        if desk is not None:
            self.push_screen(AddIds(desk), lambda found: None if found is None else self.show_run(found))

    def open_cancel(self, runs: list[RunFacts]) -> None:
        """Cancel runs through the sheet; what is final is left out."""
        live = [run for run in runs if not run.is_final]
        screen = self.console_screen
        desk = screen.connected_desk()
        if desk is None:
            return
        if not runs:
            screen.say("There is no run to cancel.", Role.WARN)
        elif not live:
            screen.say("The run has ended, and a final run never changes.", Role.WARN)
        else:
            from runwatch.tui.mutations import cancel_runs

            screen.open_sheet(cancel_runs(screen, desk, live))

    def perform(
        self,
        screen: Screen[Any],
        subject: Any | None,
        action: Action[Any],
        *,
        values: Mapping[str, str] | None = None,
    ) -> None:
        """Do what an action declares with a record, or without one; why it cannot be done now is said on the screen."""
        from runwatch.tui.screens.action_form import do_action

        assert isinstance(screen, ConsoleScreen)
        do_action(screen, subject, action, values=values)

    async def report_unconfirmed_writes(self) -> None:
        """Say above the hints how many writes are of unknown outcome, and no longer once there are none."""
        await self.kept_writes.tell()

    # Its life.

    def on_mount(self) -> None:
        """Begin as soon as the framework draws: what is laid out before then it draws twice, and shows once."""
        self.call_later(self._begin)

    async def _begin(self) -> None:
        """Paint first; open the service afterwards."""
        await self._show_first()
        self._has_begun = True
        await self.guard_size()
        await self.keyboard.begin()
        self.store.listen(self._note_delta)
        self.set_interval(1.0, self._second)
        if self.opening.demo:
            self.notes.welcome(demo_words(self.keys.shown("screen.new")))
        self.call_after_refresh(self._painted)

    async def _show_first(self) -> None:
        """The screen that was asked for, else the one of the last session, else the home screen."""
        view = self.opening.first_view(self.settings, self.warnings)
        if not has_screen(view.screen):
            self.warnings.append(f"There is no screen named {line(view.screen, 60)}.")
            view = View(RUNS.name)
        await self.go_to_view(view)
        if self.has_file:
            self.first_screen = self.console_screen
        if self.opening.open_at and view.selected and not is_page(view.screen):
            self.seek(spec_named(view.screen).kind, view.selected)

    async def guard_size(self) -> None:
        """Wait for the first screen: the message stands in front of it."""
        if self._has_begun:
            await super().guard_size()

    def _painted(self) -> None:
        """Open the service now that there is something to look at."""
        after_first_paint()
        share_with_threads()
        start_work(self, self._open(), "opening")

    async def on_event(self, event: events.Event) -> None:
        """Give what a person does its turn, and let the notes know of a key before it does what it does."""
        is_done = isinstance(event, events.InputEvent | events.Paste) and not event.is_forwarded
        # What is typed while the window is too small opens nothing, and must not wait until there is room again.
        if is_done and not (self._has_begun and self.lacks_room):
            await self.keyboard.take(event)
        else:
            await super().on_event(event)

    async def _hand_on(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or not self.notes.pressed(event.key):
            await super().on_event(event)

    async def on_key_taken(self, message: KeyTaken) -> None:
        """The next key has its turn."""
        await self.keyboard.taken(message)

    def exit(self, result: None = None, return_code: int = 0, message: Any = None) -> None:
        """End the console; what is in front then is where it was left."""
        if not self._exit:
            self._left = self.present_view
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        """Close what is open, and keep where it was."""
        if self._left is not None and self.opening.keeps_session(self.settings):
            try:
                await asyncio.to_thread(write_session, self.opening.paths.session_file, self._left)
            except RunwatchError as error:
                # Nothing is drawn any more; the log is where a person finds it.
                _log.warning("%s", error)
        if "profiles" in self.__dict__:
            await self.profiles.close()
        if self.desk is not None:
            await self.desk.close()

    async def _open(self) -> None:
        start_log(self.opening.paths.log_file, self.settings.log_level)
        try:
            if self.opening.file is not None:
                from runwatch.tui.file_opening import open_file

                await open_file(self, self.opening.file)
                return
            # Beside the loop and after the first paint: it brings the client and the database.
            from runwatch.tui.desk_opening import CACHED, find_target, open_desk

            target = await find_target(self, self.notes.welcome)
            self._profile = target.profile
            self.desk = await open_desk(self, target)
            await self.desk.start(CACHED)
            if self.notes.is_welcoming and not self.opening.demo:
                # Only now, because the key does something from now on.
                self.notes.welcome(welcome_words(is_running=True, find=self.keys.shown("app.find_servers")))
            await self.report_unconfirmed_writes()
        except RunwatchError as error:
            self.failure = error
        shown = [screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)]
        # A form that stands before the first of them reads no list and leaves that of the screen below alone.
        for screen in shown[:1]:
            self._read_lists_of(screen)
        for screen in shown:
            screen.desk_opened()
            if isinstance(screen, ResourceScreen):
                screen.use(self._source(screen.spec))
        self._seek()
        self._tick()

    def take_desk(self, desk: Desk) -> None:
        """Work with another service from now on; the screens that come show what it has."""
        if self.desk is not None:
            for record in self._listed:
                self.desk.live.hide(record)
        self.desk, self._profile, self._listed = desk, desk.target.profile, ()
        start_work(self, self.report_unconfirmed_writes(), "reading kept writes")

    def make_screen(self, name: str) -> ConsoleScreen:
        """A new screen, with what it shows being read from now on."""
        screen = page(name) if is_page(name) else list_screen(spec_named(name), self._source(spec_named(name)))
        self._read_lists_of(screen)
        return screen

    def screen_came(self, screen: ConsoleScreen) -> None:
        """Say on it what is still to be said."""
        self.notes.put(screen)

    def _read_lists_of(self, screen: ConsoleScreen) -> None:
        """Have the lists of the screen in front read, and those of the screen before no longer."""
        if self.desk is None:
            return
        wanted = screen.lists()
        for record in self._listed:
            if record not in wanted:
                self.desk.live.hide(record)
        for record in wanted:
            self.desk.live.show(record)
        self._listed = wanted

    def _source(self, spec: ResourceSpec[Any]) -> Source:
        if self.opening.file is not None:
            from runwatch.tui.file_source import FileSource

            return FileSource(spec, self.store, self.clock)
        if spec.record.WIRE is None:
            return JournalSource(spec, self.clock, self.desk)
        return StoreSource(spec, self.store, self._profile, self.clock, self.desk)

    @property
    def terminal_is_behind(self) -> bool:
        """Whether the terminal has not yet taken what was drawn last."""
        return bool(getattr(self._driver, "is_behind", False))

    def _write_to_terminal(self, data: str) -> None:
        driver = self._driver
        if driver is not None:
            driver.write(data)
            driver.flush()

    # What comes from below.

    def _note_delta(self, delta: Delta) -> None:
        self._bell.note(delta)
        self._changed.add(delta.kind)
        if self._gather is None:
            self._gather = self.set_timer(GATHER_S, self._tell_screens)

    def _tell_screens(self) -> None:
        self._gather = None
        changed, self._changed = frozenset(self._changed), set()
        screen = self.front
        if isinstance(screen, ConsoleScreen):
            screen.show_place(recount=changed != {Run.KIND})
            screen.data_changed(changed)

    def tail_moved(self, news: TailNews) -> None:
        """Something about a followed run's events changed."""
        screen = self.front
        if isinstance(screen, ConsoleScreen):
            screen.tail_moved(news)

    def exchanged(self, exchange: Exchange) -> None:
        """A request was answered, or failed."""
        screen = self.front
        if isinstance(screen, ResourceScreen) and screen.spec.is_local:
            if exchange.method == "GET" and exchange.problem is None and exchange.error is None:
                screen.read_soon()
            else:
                screen.read_source()

    def _second(self) -> None:
        # Where the bar and the lower edge of a list change at once, all that stands between them is drawn with them.
        self._seconds += 1
        self._tick(recount=self._seconds % AGES_EVERY == 0)

    def _tick(self, *, recount: bool = True) -> None:
        screen = self.front
        if isinstance(screen, ConsoleScreen):
            screen.show_place(recount=recount)
            screen.tick()
