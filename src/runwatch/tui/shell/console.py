"""Interface of the app for screens and the code they call, so that none of them imports the app itself.

:class:`Console` is a class and not a protocol, because workers, ``push_screen`` and ``call_later`` need a real Textual
app. Interfaces of anything but Textual nodes are protocols.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from runwatch.base.network.service_target import normalise_base_url
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.tui.core.themes import load_theme
from runwatch.tui.core.widget_app import WidgetApp
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import ShellService, profile_options, service_command

if TYPE_CHECKING:
    from datetime import datetime

    from runwatch.base.errors import RunwatchError
    from runwatch.settings.declarations import Settings
    from runwatch.settings.resolver import SettingsResolver
    from runwatch.settings.settings_file import LoadedSettings
    from runwatch.settings.view_state import PaneSplit, ViewState
    from runwatch.store.repositories.outbox import UnconfirmedWrite
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.store import Store
    from runwatch.tui.core.command_keys import CommandKeys
    from runwatch.tui.shell.key_queue import KeyQueue
    from runwatch.tui.shell.launch_options import LaunchOptions
    from runwatch.tui.shell.undo_stack import UndoStack
    from runwatch.tui.shell.view_history import ViewHistory
    from runwatch.tui.widgets.bars.header_bar import HeaderInfo
    from runwatch.tui.widgets.bars.pin_bar import PinBar
    from runwatch.view.actions.run_form import RunPrefill
    from runwatch.view.spec.resource import ResourceSpec, SortKey
    from runwatch.view.table.rows import RowCache
    from runwatch.view.text.copied_text import CopiedText
    from runwatch.view.text.format import TimeMode
    from runwatch.view.text.safe_text import SafeText


class ProfileSessions(Protocol):
    """The profiles of the settings file, with a session for each open one."""

    @property
    def known(self) -> tuple[str, ...]:
        """All profiles, the current one first."""

    @property
    def reachable(self) -> tuple[str, ...]:
        """The profiles to switch to: all, and the local service if this machine has one."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The profiles listed together."""

    @property
    def are_all_shown(self) -> bool:
        """Whether the user has not chosen; records of profiles missing from the settings file are shown then too."""

    @property
    def failures(self) -> dict[str, RunwatchError]:
        """Errors of sessions that could not be opened; removing an entry makes the profile be tried again."""

    def choose(self, names: tuple[str, ...] | None) -> None:
        """Choose the profiles listed together; ``None`` for all."""

    def session(self, name: str) -> ServiceSession | None:
        """Return the session of a profile if it is open."""

    async def open(self, name: str) -> None:
        """Open the session of a profile unless that was done or begun; keep a failure in :attr:`failures`."""

    def go_to(self, name: str) -> bool:
        """Switch the console to a profile; return whether its session is open."""


R = TypeVar("R", bound=Record)

MAX_RECENT_COMMANDS: Final = 5


class Console(WidgetApp):
    """The console as seen by everything below the app. Subclasses implement it.

    Attributes:
        loaded: The settings file as read.
        resolver: The source of each setting.
        theme_directories: Directories of themes.
        warnings: Texts shown above the hints until the user hides them.
        session: The service session; ``None`` until it is open, and for a file.
        profile_name: The current profile, or the one being opened.
        failure: Why the session could not be opened.
        file_written_at: When the opened file was written; ``None`` until it is read, and for a service.
        startup_status: Progress of opening the session.
        time_mode: How times are shown.
        row_cache: The rows of the last long list.
        row_marks: Ids of the marked rows, by list.
        list_sorts: The order that the user chose, by list.
        reported_filters: Stored filters that cannot be read and were shown as such.
        run_drafts: Unsubmitted input of the run form, by the run that it is like, the last typed one last; an empty id
            is a new run.
        form_drafts: Input of other forms that the service has not accepted, by profile, action and record.
        command_keys: The keys of the user's own commands.
        recent_commands: Lines run in the command line, the last one first.
        undo: The last local changes.
        unconfirmed: Writes of the current profile with unknown outcome, the oldest first, as far as they are read.
        splits: How the user divided the screens with a list and a detail, by name.
    """

    settings: Settings
    loaded: LoadedSettings
    resolver: SettingsResolver
    launch: LaunchOptions
    theme_directories: tuple[Path, ...]
    warnings: list[str]
    store: Store
    session: ServiceSession | None = None
    profile_name: str
    failure: RunwatchError | None = None
    file_written_at: datetime | None = None
    startup_status = "opening…"
    time_mode: TimeMode
    row_cache: RowCache | None = None
    row_marks: dict[str, frozenset[str]]
    list_sorts: dict[str, tuple[SortKey, ...]]
    reported_filters: set[str]
    run_drafts: dict[str, RunPrefill]
    form_drafts: dict[tuple[str, ...], Mapping[str, str]]
    recent_commands: list[str]
    undo: UndoStack
    unconfirmed: Sequence[UnconfirmedWrite] = ()
    splits: dict[str, PaneSplit]
    history: ViewHistory
    key_queue: KeyQueue
    command_keys: CommandKeys
    _arm_names: tuple[object, Mapping[str, str]] = (None, MappingProxyType({}))

    @property
    def is_opening(self) -> bool:
        return self.session is None and self.failure is None and not self.has_file

    @property
    def has_file(self) -> bool:
        """Whether an opened file replaces the service."""
        return self.launch.file is not None

    @property
    def local_socket(self) -> Path | None:
        """The socket of the local service; ``None`` for any other service."""
        return None if self.session is None else self.session.target.socket

    def find_shell_service(self, profile: str | None) -> ShellService:
        """Return how commands in a shell reach the service of a profile; ``None`` before one is known, and for a
        file.
        """
        given = self.launch.options.base_url
        is_flag = given and self.session is not None and self.session.target.origin == normalise_base_url(given)
        settings = self.settings.profiles.get(profile or "")
        options = profile_options(profile, given if is_flag else None)
        return ShellService(options, self.launch.program, settings is not None and settings.read_only)

    @property
    def shell_service(self) -> ShellService:
        """How commands in a shell reach the service of this session."""
        return self.find_shell_service(None if self.session is None else self.session.target.profile)

    def find_sent_body(self, key: str | None) -> bytes | None:
        """Return the body of a write of this session, or of one with unknown outcome; ``None`` if it is not kept."""
        if key is None or self.session is None:
            return None
        lost = (write.request.body for write in self.unconfirmed if write.request.key == key)
        return self.session.find_body(key) or next(lost, None)

    def command(self, words: str, *arguments: str) -> str:
        """Return a command that calls the same service from a shell."""
        return service_command(self.shell_service, words, *arguments)

    def screen_is_in_front(self) -> None:
        """Called when another screen has come to the front, new or again."""

    @property
    def profiles(self) -> ProfileSessions:
        """The profiles of the settings file, for lists over several of them."""
        raise NotImplementedError

    @property
    def terminal_is_behind(self) -> bool:
        """Whether the terminal has not yet received the last drawing, or is kept free for the next key's answer."""
        raise NotImplementedError

    # Drawing and settings.

    def records(self, kind: type[R], profile: str = "") -> dict[str, R]:
        """Return the known records of a kind by id, of the current profile unless another is named."""
        found = self.store.collection(profile or self.profile_name, kind.KIND).by_id
        return {id: known.record for id, known in found.items() if isinstance(known.record, kind)}

    def render_context(self) -> RenderContext:
        return RenderContext(
            self.clock.now(), self.glyphs, self.time_mode, service=self.shell_service, names=self._known_names(),
            lost_at=self.file_written_at if self.session is None else self.session.live.connection.lost_since,
            is_of_file=self.file_written_at is not None,
        )  # fmt: skip

    def _known_names(self) -> Mapping[str, str]:
        """Return the names of the saved models that are known, by id; the same object until one of them changes.

        Equal names end with the short form of their id.
        """
        collection = self.store.collection(self.profile_name, "arm")
        made_of, names = self._arm_names
        present = (self.profile_name, collection.revision)
        if made_of != present and (names or collection.by_id):
            from runwatch.records.arm import Arm

            found = {arm.id: arm.display_name for arm in self.records(Arm).values() if arm.display_name}
            count = Counter(found.values())
            for id, name in found.items():
                if count[name] > 1:
                    found[id] = f"{name} {self.glyphs.dot} {short_id(id, self.glyphs)}"
            self._arm_names = present, names if found == names else found
        return self._arm_names[1]

    def header_info(self) -> HeaderInfo:
        """Return the header bar's data about the service and the connection."""
        raise NotImplementedError

    def next_time_mode(self, mode: TimeMode | None = None) -> None:
        """Set the time mode everywhere, or switch to the next one."""
        raise NotImplementedError

    def apply_settings(self, loaded: LoadedSettings) -> None:
        """Apply changed settings, as far as possible without a restart.

        Raises:
            SettingsError: The theme is invalid, or a profile named by a flag or a variable no longer exists.
        """
        raise NotImplementedError

    def apply_theme(self, name: str) -> None:
        """Switch to another theme.

        Raises:
            SettingsError: No theme has that name, or its file is invalid.
        """
        self.apply_palette(load_theme(name, self.theme_directories))

    # Messages to the user.

    def notify_user(self, notice: str, role: str = Role.PLAIN) -> None:
        """Show a notice on the front screen for a while, in place of its hints."""
        raise NotImplementedError

    def warn(self, warning: str) -> None:
        """Show a warning above the hints until the user hides it."""
        self.warnings.append(warning)
        self.show_warnings()

    def warn_of_filter(self, text: str, reason: str) -> None:
        """Say once that a stored filter cannot be read, and how to write it."""
        if text not in self.reported_filters:
            self.reported_filters.add(text)
            shown, key = line(text, 60), self.keys.shown("screen.filter")
            self.warn(f"The stored filter {shown} is not applied: {line(reason)}. {key} corrects it.")

    def show_warnings(self) -> None:
        """Show the current warnings on the front screen."""
        raise NotImplementedError

    def ring_bell(self) -> None:
        """Ring the bell for a displayed error, if enabled in the settings."""
        raise NotImplementedError

    async def copy_text(
        self, text: CopiedText, what: SafeText, *, several_lines: bool = False, is_secret: bool = False
    ) -> None:
        """Copy, and show the route and the text; a secret is not shown."""
        raise NotImplementedError

    def download(self, file: Path) -> bool:
        """Hand a file over to the browser that shows the console; return False on a terminal, where it stays."""
        raise NotImplementedError

    async def notify_desktop(self, make_text: Callable[[], Awaitable[SafeText]]) -> None:
        """Show a notice on the desktop, if enabled in the settings, the terminal can, and the window has no focus.

        The text is made only if it can be shown; empty if there is nothing to say after all.
        """
        raise NotImplementedError

    # Navigation.

    @property
    def present_view(self) -> ViewState | None:
        """The current state of the front view."""
        raise NotImplementedError

    async def go_to(self, name: str, *, is_root: bool = False) -> None:
        """Go to a screen, and wait until it is shown."""
        raise NotImplementedError

    async def go_to_view(self, view: ViewState, *, is_root: bool = False) -> None:
        """Go to a screen, restore its state, and wait until it is shown."""
        raise NotImplementedError

    async def open_record(self, kind: str, record_id: str) -> None:
        """Go to the list of a kind and open one of its records, now or once it is listed."""
        raise NotImplementedError

    def follow_link(self, kind: str, record_id: str) -> None:
        """Open the record that a link names after all earlier keys; say so, and stay here, if it does not exist."""
        raise NotImplementedError

    async def open_run(self, run_id: str) -> None:
        """Go to the list of runs and open one, now or once it is listed."""
        await self.open_record(Run.KIND, run_id)

    def show_run(self, run_id: str) -> None:
        """Select a run in the list of runs, now or when the list is in front again."""
        raise NotImplementedError

    def leave_view(self) -> None:
        """Go back to the view that led to this one; on a view that the user named, say how to go back."""
        raise NotImplementedError

    def go_back(self) -> None:
        """Go one view back; from the first one, to the overview as the root."""
        raise NotImplementedError

    def action_go(self, name: str) -> None:
        """Go to a screen after all earlier keys were handled."""
        raise NotImplementedError

    # Pins.

    def make_pin_bar(self) -> PinBar | None:
        """Return a line of the pins for a new screen; ``None`` if there are none."""
        return None

    def pin_labels(self) -> Sequence[tuple[int, SafeText]]:
        return ()

    def remember_command(self, text: str) -> None:
        """Note a line of the command line that has worked."""
        others = (each for each in self.recent_commands if each != text)
        self.recent_commands = [text, *others][:MAX_RECENT_COMMANDS]

    def pin_name(self, run_id: str) -> str | None:
        """Return the user's name of the pin of a run, empty for a made one; ``None`` if the run is not pinned."""
        return None

    def mark_gone(self, kind: str, record_id: str) -> None:
        """Called when the service does not know a record that the user has named."""

    # Actions.

    def refresh_resource(self, spec: ResourceSpec[Any]) -> None:
        """Read a list now, even one no longer polled after a failure; reopen the session if that failed."""
        raise NotImplementedError

    async def report_unconfirmed_writes(self) -> None:
        """Read the unconfirmed writes, and update the notice about them.

        Raises:
            DataError: The database is unusable.
        """
        raise NotImplementedError
