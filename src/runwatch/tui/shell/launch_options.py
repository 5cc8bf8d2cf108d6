"""How the console is opened: on a service, on a file, as a demo, and at which screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runwatch.base.errors import RunwatchError
from runwatch.base.paths import Paths
from runwatch.settings.declarations import Settings
from runwatch.settings.resolver import SettingOptions, start_local_service
from runwatch.settings.view_state import ViewState, load_view_state

if TYPE_CHECKING:
    from runwatch.settings.local_service import LocalService


class LaunchOptions(NamedTuple):
    """How the console is opened.

    Attributes:
        paths: Where settings and data are.
        environment: The process's environment.
        options: What the command line says about settings.
        open_at: The screen to begin with and, behind a stroke, an id; empty for the one of the settings.
        start_local: Starts the local service of a data directory, or finds it running.
        demo: Whether test runs are submitted all the time, so that something moves.
        file: A file whose records are shown in the place of a service's; nothing is sent then.
    """

    paths: Paths
    environment: Mapping[str, str]
    options: SettingOptions
    open_at: str = ""
    start_local: Callable[[Path], LocalService] = start_local_service
    demo: bool = False
    file: Path | None = None

    def keeps_session(self, settings: Settings) -> bool:
        """Whether where the console is left is kept for the next start; a file is looked at once."""
        return settings.restore and self.file is None

    def first_view(self, settings: Settings, warnings: list[str]) -> ViewState:
        """The view that was asked for, else that of the last session, else the home screen.

        Args:
            settings: What holds.
            warnings: Gets what is wrong with the file of the last session.
        """
        if not self.open_at and self.keeps_session(settings):
            try:
                left = load_view_state(self.paths.session_file)
            except RunwatchError as error:
                warnings.append(str(error))
            else:
                if left is not None:
                    return left
        name, _, record_id = (self.open_at or settings.home_screen).partition("/")
        return ViewState(name, selected=record_id, is_open=bool(record_id))
