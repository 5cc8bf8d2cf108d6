"""Sessions of the other profiles, for multi-profile lists.

Each has its own client, key, scope, request budget and pollers, is opened on first use, and is closed with the console.
It reads only while a screen shows its profile, so that a profile which the user has left gets no further request.
The session of a profile other than the current one never writes: to act on a record, the user switches to its profile
first, and the header bar shows that.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.settings.declarations import ENVIRONMENT_KEY, LOCAL
from runwatch.settings.resolver import ENVIRONMENT_URL, SettingOptions, SettingsResolver
from runwatch.tui.app.last_session import CACHED_KINDS
from runwatch.tui.app.session_opening import open_service_session
from runwatch.tui.flows.profile_switch import MultiProfileScreen

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp


class ProfileManager:
    """Sessions of the profiles in the settings file, and the errors of those that could not be opened."""

    def __init__(self, console: NavigatingApp) -> None:
        self._console = console
        self._chosen: tuple[str, ...] | None = None
        self._sessions: dict[str, ServiceSession] = {}
        self._opening: set[str] = set()
        self._is_closed = False
        self.failures: Final[dict[str, RunwatchError]] = {}

    @property
    def known(self) -> tuple[str, ...]:
        # A service chosen when the console started need not be in the settings file.
        names = (self._console.profile_name, *self._console.loaded.settings.profiles, *self._sessions)
        return tuple(dict.fromkeys(names))

    @property
    def reachable(self) -> tuple[str, ...]:
        """The profiles to switch to: those known, and the local service if this machine has one.

        It is listed together with the others only after a switch to it, because opening it may start it.
        """
        has_local = not self._console.has_file and self._console.launch.paths.local_service_dir.is_dir()
        return tuple(dict.fromkeys((*self.known, *([LOCAL] if has_local else []))))

    @property
    def shown(self) -> tuple[str, ...]:
        """The profiles listed together: all until the user chooses."""
        return self.known if self._chosen is None else tuple(name for name in self.known if name in self._chosen)

    @property
    def are_all_shown(self) -> bool:
        return self._chosen is None

    def choose(self, names: tuple[str, ...] | None) -> None:
        self._chosen = names
        self.rest_unseen()

    def session(self, name: str) -> ServiceSession | None:
        console = self._console
        return console.session if name == console.profile_name else self._sessions.get(name)

    @property
    def others(self) -> tuple[ServiceSession, ...]:
        """The open sessions besides the console's current one."""
        return tuple(self._sessions.values())

    def rest_unseen(self) -> None:
        """Let the sessions besides the current one read only while the screen shows their profiles."""
        seen = self.shown if isinstance(self._console.console_screen, MultiProfileScreen) else ()
        for name, session in self._sessions.items():
            if name in seen:
                session.live.scheduler.go_on()
            else:
                session.live.scheduler.rest()

    async def open(self, name: str) -> None:
        if self.session(name) is not None or name in self._opening or name == self._console.profile_name:
            return
        self._opening.add(name)
        self.failures.pop(name, None)
        console = self._console
        # Service variables of the environment apply only to the console's first profile.
        environment = {
            variable: text
            for variable, text in console.launch.environment.items()
            if variable not in {ENVIRONMENT_URL, ENVIRONMENT_KEY}
        }
        service = {"local": True} if name == LOCAL else {"profile": name}
        options = SettingOptions(**service, read_only=console.launch.options.read_only)
        resolver = SettingsResolver(options, environment, console.loaded, console.launch.paths)
        try:
            target = await asyncio.to_thread(resolver.target, start_local=console.launch.start_local)
            session = await open_service_session(console, target, resolver.settings())
        except RunwatchError as error:
            self.failures[name] = error
            return
        finally:
            self._opening.discard(name)
        if self._is_closed:
            await session.close()
            return
        self._sessions[name] = session
        self.rest_unseen()
        await session.start(CACHED_KINDS)

    def go_to(self, name: str) -> bool:
        console, session = self._console, self.session(name)
        if session is None:
            return False
        before = console.session
        if before is not session:
            self._sessions.pop(name)
            if before is not None:
                self._sessions[before.target.profile] = before
            session.live.scheduler.go_on()
            console.switch_session(session)
        return True

    async def close(self) -> None:
        """Close all sessions opened here."""
        self._is_closed = True
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.close()
