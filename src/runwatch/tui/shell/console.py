"""What screens, and all that they call, may ask of the app, so that none of them imports the app itself.

:class:`Console` is a class and no protocol, because workers, ``push_screen`` and ``call_later`` need a real Textual
app. Whatever is no Textual node is a protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from textual.screen import Screen

from runwatch.tui.core.widget_app import WidgetApp
from runwatch.view.text.glyphs import Role

if TYPE_CHECKING:
    from runwatch.base.errors import RunwatchError
    from runwatch.settings.declarations import Settings
    from runwatch.settings.resolver import SettingsResolver
    from runwatch.settings.settings_file import LoadedSettings
    from runwatch.settings.view_state import ViewState
    from runwatch.store.session import ServiceSession
    from runwatch.store.state.store import Store
    from runwatch.tui.shell.key_queue import KeyQueue
    from runwatch.tui.shell.launch_options import LaunchOptions
    from runwatch.tui.shell.view_history import ViewHistory
    from runwatch.tui.widgets.bars.header_bar import HeaderInfo
    from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
    from runwatch.view.runs.run_facts import RunFacts
    from runwatch.view.spec.action import ResourceAction
    from runwatch.view.spec.resource import ResourceSpec
    from runwatch.view.table.rows import RowCache
    from runwatch.view.text.copied_text import CopiedText
    from runwatch.view.text.format import RenderContext, TimeMode
    from runwatch.view.text.safe_text import SafeText


class DialogWriter(Protocol):
    """A dialog and what it sends."""

    @property
    def dialog(self) -> ConfirmDialog:
        """The dialog."""
        ...

    def send(self) -> None:
        """Send what the dialog says, or the same once more where the outcome is unknown."""
        ...

    def leave(self) -> None:
        """The dialog is gone; what is under way goes on."""
        ...


class ProfileSessions(Protocol):
    """The profiles of the settings file, with a session for each that is open."""

    @property
    def known(self) -> tuple[str, ...]:
        """Every profile, the present one first."""
        ...

    @property
    def shown(self) -> tuple[str, ...]:
        """Those whose records are listed together."""
        ...

    @property
    def are_all_shown(self) -> bool:
        """Whether the user has chosen none of them; what belongs to no profile is shown then too."""
        ...

    @property
    def failures(self) -> dict[str, RunwatchError]:
        """Why the session of a profile could not be opened; without an entry that profile is tried again."""
        ...

    def choose(self, names: tuple[str, ...] | None) -> None:
        """List the records of these from now on; ``None`` for all."""
        ...

    def session(self, name: str) -> ServiceSession | None:
        """The session of a profile, once it is open."""
        ...

    async def open(self, name: str) -> None:
        """Open the session of a profile, unless it is open or being opened; a failure is in :attr:`failures`."""
        ...

    def go_to(self, name: str) -> bool:
        """Have the console work with a profile from now on; answer whether its session is open."""
        ...


class Console(WidgetApp):
    """The console, as everything below the app knows it. Subclasses implement it.

    Attributes:
        settings: What holds now.
        loaded: The settings file as it was read.
        resolver: Where each setting comes from.
        launch: How the console was opened.
        theme_directories: Where themes are looked for.
        warnings: What is said above the hints until the user hides it.
        store: The records in memory.
        session: What reaches the service; ``None`` until it is open, and for a file.
        failure: Why the session could not be opened.
        startup_status: How far the opening of the session is.
        time_mode: How times are shown.
        row_cache: The rows of the long list that was left last.
        run_draft: What was typed into the form for runs and not submitted yet, by field.
        history: The views that the user has been to.
        key_queue: The queue of keys.
    """

    settings: Settings
    loaded: LoadedSettings
    resolver: SettingsResolver
    launch: LaunchOptions
    theme_directories: tuple[Path, ...]
    warnings: list[str]
    store: Store
    session: ServiceSession | None
    failure: RunwatchError | None
    startup_status: str
    time_mode: TimeMode
    row_cache: RowCache | None
    run_draft: Mapping[str, str] | None
    history: ViewHistory
    key_queue: KeyQueue

    @property
    def has_file(self) -> bool:
        """Whether a file is open in the place of a service."""
        raise NotImplementedError

    @property
    def local_socket(self) -> Path | None:
        """The socket of the local service that other commands of this user find, ``None`` for any other service."""
        raise NotImplementedError

    @property
    def profile_name(self) -> str:
        """The profile that the console works with, or is about to."""
        raise NotImplementedError

    @property
    def profiles(self) -> ProfileSessions:
        """The other profiles of the settings file, for lists over several of them."""
        raise NotImplementedError

    @property
    def terminal_is_behind(self) -> bool:
        """Whether the terminal has not yet taken what was drawn last."""
        raise NotImplementedError

    # Drawing and settings.

    def render_context(self) -> RenderContext:
        """What everything is drawn with now."""
        raise NotImplementedError

    def header_info(self) -> HeaderInfo:
        """What the bar above says of the service and the connection."""
        raise NotImplementedError

    def next_time_mode(self, mode: TimeMode | None = None) -> None:
        """Show times in another way, or in the next, everywhere."""
        raise NotImplementedError

    def apply_settings(self, loaded: LoadedSettings) -> None:
        """Let what the settings file says now hold, as far as that needs no new start.

        Raises:
            SettingsError: the theme is not usable, or a profile that a flag or a variable names has gone.
        """
        raise NotImplementedError

    def apply_theme(self, name: str) -> None:
        """Draw everything in another theme from now on.

        Raises:
            SettingsError: there is none of that name, or its file does not hold to the form.
        """
        raise NotImplementedError

    # Telling the user.

    def notify_user(self, notice: str, role: str = Role.PLAIN) -> None:
        """Say something for a while on the screen in front, in place of its hints."""
        raise NotImplementedError

    def warn(self, warning: str) -> None:
        """Say something above the hints that stays there until the user hides it."""
        raise NotImplementedError

    def show_warnings(self) -> None:
        """Have the screen in front say the warnings as they are now."""
        raise NotImplementedError

    def ring_bell(self) -> None:
        """Ring the bell for an error that is shown, if the settings want it."""
        raise NotImplementedError

    async def copy_text(
        self, text: CopiedText, what: SafeText, *, several_lines: bool = False, is_secret: bool = False
    ) -> None:
        """Copy, and say by which way and what; a secret itself is not said."""
        raise NotImplementedError

    # Going somewhere.

    async def go_to(self, name: str) -> None:
        """Go to a screen, and wait until it is there."""
        raise NotImplementedError

    async def go_to_view(self, view: ViewState) -> None:
        """Go to a screen, have it look as it did, and wait until it is there."""
        raise NotImplementedError

    async def open_record(self, kind: str, record_id: str) -> None:
        """Go to the list of a kind and open one of its records, now or as soon as it is there."""
        raise NotImplementedError

    async def open_run(self, run_id: str) -> None:
        """Go to the list of runs and open one, now or as soon as it is there."""
        raise NotImplementedError

    def show_run(self, run_id: str) -> None:
        """Put the cursor of the list of runs on a run, now or when the list is in front again."""
        raise NotImplementedError

    def go_back(self) -> None:
        """One view back; from the first one to the overview, which is the root of all."""
        raise NotImplementedError

    def action_go(self, name: str) -> None:
        """Go to a screen, once everything that was typed before has been done."""
        raise NotImplementedError

    # Doing something.

    def perform(
        self,
        screen: Screen[Any],
        subject: Any | None,
        action: ResourceAction[Any],
        *,
        values: Mapping[str, str] | None = None,
    ) -> None:
        """Do what an action declares with a record, or without one; why it cannot be done now is said on the screen.

        Args:
            screen: The screen of the console that asks for it; when it is done and the screen lists such records, its
                cursor goes there.
            subject: The record; ``None`` for what is done without one.
            action: What is to be done.
            values: What the form holds at first where that is not what the action says, by the id of the ask.
        """
        raise NotImplementedError

    def open_run_form(self, like: RunFacts | None = None, *, field: str = "") -> None:
        """Start a run, like an earlier one or from what was typed last, beginning in a field."""
        raise NotImplementedError

    def open_cancel(self, runs: list[RunFacts]) -> None:
        """Cancel runs through the dialog; what is final is left out."""
        raise NotImplementedError

    def open_add_runs(self) -> None:
        """Add ids to the watch list."""
        raise NotImplementedError

    def refresh_resource(self, spec: ResourceSpec[Any]) -> None:
        """Read a list now, also one that was given up; and open the session again where that failed."""
        raise NotImplementedError

    async def report_unconfirmed_writes(self) -> None:
        """Say above the hints how many writes are of unknown outcome, and no longer once there are none.

        Raises:
            DataError: the database is not usable.
        """
        raise NotImplementedError
