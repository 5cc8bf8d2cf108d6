"""The console: wiring of settings, service, store and screens; nothing is decided here that a room below decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, get_args

from textual import events
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from runwatch.base.clock import Clock, SystemClock
from runwatch.base.errors import NotConfigured, RunwatchError
from runwatch.base.log import start_log
from runwatch.base.paths import Paths
from runwatch.base.target import Target
from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.settings.file import Loaded, load
from runwatch.settings.model import LOCAL
from runwatch.settings.resolve import Options, Resolver, start_local_service
from runwatch.store.change import Trouble
from runwatch.store.state import Delta, Store
from runwatch.tui.actions import KeyMap, bindings
from runwatch.tui.bell import Bell
from runwatch.tui.draw import Pieces, word
from runwatch.tui.kit import KitApp
from runwatch.tui.memory import after_first_paint
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.screens.places import has_screen, is_page, list_screen, page, spec_named, spec_of
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.screens.runs import RunsScreen
from runwatch.tui.screens.welcome import Notes, demo_words, welcome_words
from runwatch.tui.sources import JournalSource, Source, StoreSource
from runwatch.tui.themes import DEFAULT_THEME, load_theme, theme_directories
from runwatch.tui.widgets.context_bar import Hold, Place
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, cut, line
from runwatch.view.facts import RunFacts
from runwatch.view.format import Context, TimeMode
from runwatch.view.glyphs import ASCII, UNICODE, Role
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.runs import RUNS

if TYPE_CHECKING:
    from runwatch.api.calls import Exchange
    from runwatch.settings.local import LocalService
    from runwatch.store.desk import Desk
    from runwatch.store.live import TailNews
    from runwatch.tui.clipboard import CopyRoute
    from runwatch.tui.kept_writes import KeptWrites
    from runwatch.tui.widgets.command_line import CommandLine

CACHED: Final = (Run, Receipt)
"""Kinds whose lists are kept for the next session."""

GATHER_S: Final = 0.1
"""Changes of the store that come within this time are drawn together."""

_TIMES: Final[tuple[TimeMode, ...]] = get_args(TimeMode)


@dataclass(frozen=True, slots=True)
class Opening:
    """How the console is opened.

    Attributes:
        paths: Where settings and data are.
        environment: The process's environment.
        options: What the command line says about settings.
        open_at: The screen to begin with and, behind a stroke, an id; empty for the one of the settings.
        start_local: Starts the local service of a data directory, or finds it running.
        demo: Whether test runs are submitted all the time, so that something moves.
    """

    paths: Paths
    environment: Mapping[str, str]
    options: Options
    open_at: str = ""
    start_local: Callable[[Path], LocalService] = start_local_service
    demo: bool = False


class ConsoleApp(KitApp):
    """The console.

    Args:
        opening: How it is opened.
        clock: Time.

    Attributes:
        kept_writes: The writes of unknown outcome.
        draft: What was typed into the form for runs and not submitted yet, by field.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(self, opening: Opening, *, clock: Clock | None = None) -> None:
        loaded = load(opening.paths.settings_file, clock=clock or SystemClock())
        self.loaded = loaded
        self.resolver = Resolver(opening.options, opening.environment, loaded, opening.paths)
        self.settings = self.resolver.settings()
        self.warnings: Final = [str(problem) for problem in loaded.problems]
        keys = KeyMap(self.settings.keys)
        self.warnings.extend(keys.problems)
        self.theme_directories: Final = theme_directories(opening.paths.settings_file.parent / "themes")
        try:
            palette = load_theme(self.settings.theme, self.theme_directories)
        except RunwatchError as error:
            self.warnings.append(str(error))
            palette = load_theme(DEFAULT_THEME, self.theme_directories)
        glyphs = ASCII if self.settings.glyphs == "ascii" else UNICODE
        super().__init__(palette=palette, glyphs=glyphs, keys=keys, clock=clock)
        self.uses_mouse = self.settings.mouse
        self.opening: Final = opening
        self.store: Final = Store()
        self.desk: Desk | None = None
        self.failure: RunwatchError | None = None
        self.opening_words = "opening…"
        self.time_mode: TimeMode = cast(TimeMode, self.settings.time)
        self._profile = LOCAL
        self._changed: set[str] = set()
        self._gather: Timer | None = None
        self._history: list[str] = []
        self.draft: Mapping[str, str] | None = None
        self._notes = Notes(self)
        self._bell = Bell(self)
        self._sought: tuple[str, str] | None = None
        self._listed: tuple[type[Record], ...] = ()

    @cached_property
    def kept_writes(self) -> KeptWrites:
        """The writes of this console, or of an earlier one, whose answer never came."""
        from runwatch.tui.kept_writes import KeptWrites

        return KeptWrites(self)

    # What screens ask.

    def context(self) -> Context:
        """What everything is drawn with now."""
        return Context(self.clock.now(), self.glyphs, self.time_mode)

    def place(self) -> Place:
        """What the bar above says of the service and the connection."""
        desk = self.desk
        if desk is None:
            failed = self.failure is not None
            glyph = self.glyphs.bad if failed else self.glyphs.live
            how = word(
                f"{glyph} {'not connected' if failed else self.opening_words}", Role.BAD if failed else Role.LIVE
            )
            return Place(line(self._profile), connection=(how,))
        live = desk.live
        held = live.held_s
        account = self._account()
        key_id = account.authenticated_principal_id if account and account.authenticated_principal_id else ""
        hold = None
        if held > 0:
            hold = Hold(line("rate_limited"), self.clock.now() + timedelta(seconds=held))
        limit, left = live.budget.limit_rpm, live.budget.left
        rate = f"{live.budget.per_minute}/min" + ("" if limit is None else f" of {limit} left {left}")
        return Place(
            line(desk.target.profile),
            colour=self.palette.text.get("bad") if desk.target.production else None,
            read_only=desk.client.read_only,
            host=line(desk.target.host),
            key=line(f"key {desk.target.key_source} {key_id}".strip()) if desk.target.key else line("no key"),
            connection=self._connection(desk),
            requests=line(rate),
            hold=hold,
        )

    async def copy_text(self, text: str, what: Drawn, *, several_lines: bool = False) -> None:
        """Copy, and say by which way and what."""
        from runwatch.tui.clipboard import Surroundings, copy

        screen = self.console_screen
        try:
            route = await copy(
                text,
                Surroundings(self.opening.environment),
                self._write_to_terminal,
                route=cast("CopyRoute", self.settings.clipboard),
                several_lines=several_lines,
            )
        except RunwatchError as error:
            screen.say(str(error), Role.BAD)
            return
        shown = cut(line(" ".join(text[:400].split())), 80, self.glyphs.ellipsis)
        screen.say(f"copied {what} by {route}: {shown}")

    @property
    def console_screen(self) -> ConsoleScreen:
        """The screen of ours that is in front, below anything modal."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        raise LookupError("no screen is open")

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

    def go_back(self) -> None:
        """One screen back; at the root nothing."""
        if len(self._history) > 1:
            self._history.pop()
            self.call_later(self._show, self._history[-1])

    # What people do.

    def action_go(self, name: str) -> None:
        """Go to a screen, once everything that was typed before has been done: what is typed next is for that one."""
        self.call_later(self.go_to, name)

    async def go_to(self, name: str) -> None:
        """Go to a screen, and wait until it is there."""
        if not has_screen(name):
            self.console_screen.say(f"There is no screen named {name}.", Role.WARN)
            return
        if not self._history or self._history[-1] != name:
            self._history.append(name)
        await self._show(name)

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
        self.kept_writes.open()

    def action_find_servers(self) -> None:
        """Look for model servers on this machine."""
        from runwatch.tui.model_servers import look_for_servers

        look_for_servers(self)

    def action_help(self) -> None:
        """Show the keys that work now, and everything else there is to know."""
        from runwatch.tui.screens.help import open_help

        open_help(self)

    def action_back_or_quit(self) -> None:
        """Back one level; at the root, quit."""
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and not screen.is_at_root:
            screen.action_back()
        elif len(self._history) > 1:
            self.go_back()
        else:
            self.exit()

    def open_run_form(self, like: RunFacts | None = None, *, field: str = "") -> None:
        """Start a run, like an earlier one or from what was typed last, beginning in a field."""
        from runwatch.tui.screens.run_form import RunForm
        from runwatch.view.draft import again

        if like is None:
            self.push_screen(RunForm(self.draft, field))
        else:
            known = again(like)
            self.push_screen(RunForm(known.values, field, like=known))

    def show_run(self, run_id: str) -> None:
        """Put the cursor of the list of runs on a run, now or when the list is in front again."""
        for screen in self.screen_stack:
            if isinstance(screen, RunsScreen):
                screen.want(run_id)
                # What was sent for it is on the watch list by now.
                screen.read_source()

    async def open_run(self, run_id: str) -> None:
        """Go to the list of runs and open one, now or as soon as it is there."""
        await self.open_record(Run.KIND, run_id)

    async def open_record(self, kind: str, record_id: str) -> None:
        """Go to the list of a kind and open one of its records, now or as soon as it is there."""
        spec = spec_of(kind)
        if not (isinstance(self.screen, ResourceScreen) and self.screen.spec is spec):
            await self.go_to(spec.name)
        if isinstance(self.screen, ResourceScreen) and self.screen.spec is spec:
            self.screen.want(record_id, opened=True)
            self._sought = (kind, record_id)
            self._seek()

    def _seek(self) -> None:
        """Read the record that a person has named, as soon as there is a service: no list may ever show it."""
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
        self._notes.put(self.console_screen)

    def open_add_ids(self) -> None:
        """Add ids to the watch list."""
        from runwatch.tui.screens.add_ids import AddIds

        if self.desk is None:
            self.console_screen.say("The service is not connected yet.", Role.WARN)
        else:
            self.push_screen(AddIds(self.desk), lambda found: None if found is None else self.show_run(found))

    def open_cancel(self, runs: list[RunFacts]) -> None:
        """Cancel runs through the sheet; what is final is left out."""
        live = [run for run in runs if not run.is_final]
        screen, desk = self.console_screen, self.desk
        if desk is None or not runs:
            screen.say("There is no run to cancel.", Role.WARN)
        elif not live:
            screen.say("The run has ended, and a final run never changes.", Role.WARN)
        else:
            from runwatch.tui.mutations import cancel_runs

            screen.open_sheet(cancel_runs(screen, desk, live))

    # Its life.

    async def on_mount(self) -> None:
        """Paint first; open the service afterwards."""
        name, _, record_id = (self.opening.open_at or self.settings.home_screen).partition("/")
        if not has_screen(name):
            self.warnings.append(f"There is no screen named {line(name, 60)}.")
            name, record_id = RUNS.name, ""
        self._history = [name]
        await self._show(name)
        if record_id and not is_page(name):
            await self.open_record(spec_named(name).kind, record_id)
        self.store.listen(self._note_delta)
        self.set_interval(1.0, self._tick)
        if self.opening.demo:
            self._notes.welcome(demo_words(self.keys.shown("screen.new")))
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        """Open the service now that there is something to look at."""
        after_first_paint()
        start_work(self, self._open(), "opening")

    async def on_event(self, event: events.Event) -> None:
        """Let the notes know of a key before it does what it does."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._notes.pressed(event.key)
        await super().on_event(event)

    async def on_unmount(self) -> None:
        """Close what is open."""
        if self.desk is not None:
            await self.desk.close()

    async def _open(self) -> None:
        start_log(self.opening.paths.log_file, self.settings.log_level)
        try:
            target = await self._find_target()
            self._profile = target.profile
            self.opening_words = "connecting…"
            # Importing the client and the database takes longer than a frame, so that it happens beside the loop.
            await asyncio.to_thread(__import__, "runwatch.store.desk")
            from runwatch.store.desk import Desk, Listeners
            from runwatch.store.live import Refresh

            self.desk = await Desk.open(
                target,
                self.opening.paths.database,
                self.store,
                clock=self.clock,
                read_only=self.settings.read_only,
                retries=self.settings.retries,
                refresh=Refresh(
                    self.settings.refresh_runs_s, self.settings.refresh_lists_s, self.settings.refresh_tail_s
                ),
                keep_events=timedelta(days=self.settings.keep_events_days),
                listeners=Listeners(self._tail_moved, self._exchanged),
            )
            await self.desk.start(CACHED)
            if self._notes.is_welcoming and not self.opening.demo:
                # Only now, because the key does something from now on.
                self._notes.welcome(welcome_words(is_running=True, find=self.keys.shown("app.find_servers")))
            await self.kept_writes.tell()
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

    async def _find_target(self) -> Target:
        """The configured service; with nothing configured, the local one, which is started when it does not run."""
        try:
            return await asyncio.to_thread(self.resolver.target, start_local=self._start_local)
        except NotConfigured:
            self._notes.welcome(welcome_words(is_running=False))
            service = await asyncio.to_thread(self._start_local, self.opening.paths.local_service_dir)
            self._notes.welcome(welcome_words(is_running=True))
            return service.target()

    def _start_local(self, directory: Path) -> LocalService:
        self.opening_words = f"starting the local service{self.glyphs.ellipsis}"
        return self.opening.start_local(directory)

    async def _show(self, name: str) -> None:
        if self._exit:
            # Screens that were asked for before the console ended would come up without any widget.
            return
        screen = page(name) if is_page(name) else list_screen(spec_named(name), self._source(spec_named(name)))
        self._read_lists_of(screen)
        # The help and the form stand in front of a screen; both go with it.
        while len(self.screen_stack) > 2:
            await self.pop_screen()
        if isinstance(self.screen, ConsoleScreen):
            await self.switch_screen(screen)
        else:
            await self.push_screen(screen)
        self._notes.put(screen)

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
        if spec.record.WIRE is None:
            return JournalSource(spec, self.clock, self.desk)
        return StoreSource(spec, self.store, self._profile, self.clock, self.desk)

    def _account(self) -> Account | None:
        for record in self.store.collection(self._profile, Account.KIND).records:
            if isinstance(record, Account):
                return record
        return None

    def _connection(self, desk: Desk) -> Pieces:
        runs = self.store.collection(self._profile, Run.KIND)
        failure = runs.failure
        if failure is None and runs.read_at is None:
            return (word(f"{self.glyphs.live} connecting{self.glyphs.ellipsis}", Role.LIVE),)
        if failure is None or failure.trouble is Trouble.NOT_OFFERED:
            return (word(f"{self.glyphs.live} live", Role.LIVE),)
        return (word(f"{self.glyphs.bad} {failure.trouble.value}", Role.BAD),)

    def _write_to_terminal(self, data: str) -> None:
        driver = self._driver
        if driver is not None:
            driver.write(data)
            driver.flush()

    # What comes from below.

    @property
    def _front(self) -> Screen[Any] | None:
        """The screen in front, once its parts are there; none while the console ends, when answers may still come."""
        screen = self.screen_stack[-1] if self.is_running and self.screen_stack else None
        return screen if screen is not None and screen.is_mounted else None

    def _note_delta(self, delta: Delta) -> None:
        self._bell.note(delta)
        self._changed.add(delta.kind)
        if self._gather is None:
            self._gather = self.set_timer(GATHER_S, self._tell_screens)

    def _tell_screens(self) -> None:
        self._gather = None
        changed, self._changed = frozenset(self._changed), set()
        screen = self._front
        if isinstance(screen, ConsoleScreen):
            screen.show_place()
            screen.data_changed(changed)

    def _tail_moved(self, news: TailNews) -> None:
        screen = self._front
        if isinstance(screen, RunsScreen):
            screen.tail_moved(news)

    def _exchanged(self, exchange: Exchange) -> None:
        screen = self._front
        if isinstance(screen, ResourceScreen) and screen.spec.is_local:
            screen.read_source()

    def _tick(self) -> None:
        screen = self._front
        if isinstance(screen, ConsoleScreen):
            screen.show_place()
            screen.tick()
