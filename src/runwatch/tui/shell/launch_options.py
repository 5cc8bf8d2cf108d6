"""Launch options of the console: a service, a file or the demo, and the first screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runwatch.base.errors import RunwatchError
from runwatch.base.paths import Paths
from runwatch.settings.declarations import Settings
from runwatch.settings.resolver import SettingOptions, start_local_service
from runwatch.settings.view_state import PaneSplit, ViewState, load_session, load_view_state

if TYPE_CHECKING:
    from runwatch.settings.local_service import LocalService


class LaunchOptions(NamedTuple):
    """Launch options of the console.

    Attributes:
        open_at: The first screen and, after a slash, an id; empty for the one of the settings.
        start_local: Starts the local service of a data directory, or finds it running.
        demo: Whether test runs are submitted continuously, to have something to watch.
        program: What starts runwatch in a shell, with these paths.
        file: A file whose records replace those of a service; no requests are sent then.
    """

    paths: Paths
    environment: Mapping[str, str]
    options: SettingOptions
    open_at: str = ""
    start_local: Callable[[Path], LocalService] = start_local_service
    demo: bool = False
    program: str = "runwatch"
    file: Path | None = None

    @property
    def is_in_browser(self) -> bool:
        driver = self.environment.get("TEXTUAL_DRIVER")
        if not driver:
            return False
        # Imported here, because a console on a terminal starts without it.
        from runwatch.base.console_packets import CONSOLE_DRIVER

        return driver == CONSOLE_DRIVER

    @property
    def tab_view_file(self) -> Path | None:
        """Where a console in a browser leaves its view for the next one of the same tab; ``None`` in a terminal."""
        if not self.is_in_browser:
            return None
        from runwatch.base.console_packets import VIEW_VARIABLE

        name = self.environment.get(VIEW_VARIABLE)
        return Path(name) if name else None

    def keeps_session(self, settings: Settings) -> bool:
        """Return whether to save the view for the next start; never for a file, nor from one browser for another."""
        return settings.restore and self.file is None and self.tab_view_file is None

    def first_view(self, settings: Settings, warnings: list[str], splits: dict[str, PaneSplit]) -> ViewState:
        """Return the view of an earlier console of the same browser tab, otherwise the requested one, otherwise that of
        the last session, otherwise the home screen.

        ``warnings`` and ``splits`` get the problems of the saved session, and how the user divided the screens.
        """
        there = self._take_tab_view(warnings)
        try:
            left, divided = load_session(self.paths.session_file)
        except RunwatchError as error:
            if self.keeps_session(settings):
                warnings.append(str(error))
        else:
            splits.update(divided)
            if left is not None and not self.open_at and self.keeps_session(settings):
                return left
        if there is not None:
            return there
        name, _, record_id = (self.open_at or settings.home_screen).partition("/")
        return ViewState(name, selected=record_id, is_open=bool(record_id))

    def _take_tab_view(self, warnings: list[str]) -> ViewState | None:
        """Return the view of the browser tab, once: one that ends the console is not opened again."""
        file = self.tab_view_file
        if file is None:
            return None
        try:
            left = load_view_state(file)
            file.unlink(missing_ok=True)
        except (RunwatchError, OSError) as error:
            warnings.append(str(error))
            return None
        return left
