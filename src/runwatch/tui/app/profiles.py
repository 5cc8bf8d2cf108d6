"""The other profiles of the settings file: a session for each that is shown beside the present one.

Each has its own client, key, scope, budget and reading, is opened when it is first wanted, and is closed with the
console. Nothing is ever written by the session of a profile that the console does not work with: whoever wants to act
on a record goes to its profile first, and the bar above says so from then on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.settings.key_sources import ENVIRONMENT_KEY
from runwatch.settings.resolver import ENVIRONMENT_URL, SettingOptions, SettingsResolver
from runwatch.tui.app.session_opening import CACHED_KINDS, open_service_session

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp


class ProfileManager:
    """What a console knows of the other profiles.

    Args:
        console: The app.

    Attributes:
        failures: Why the session of a profile could not be opened.
    """

    def __init__(self, console: NavigatingApp) -> None:
        self._console = console
        self._chosen: tuple[str, ...] | None = None
        self._sessions: dict[str, ServiceSession] = {}
        self._opening: set[str] = set()
        self._is_closed = False
        self.failures: Final[dict[str, RunwatchError]] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """Every profile, the present one first."""
        return tuple(dict.fromkeys((self._console.profile_name, *self._console.loaded.settings.profiles)))

    @property
    def shown(self) -> tuple[str, ...]:
        """Those whose records are listed together: all until the user chooses."""
        return self.known if self._chosen is None else tuple(name for name in self.known if name in self._chosen)

    @property
    def are_all_shown(self) -> bool:
        """Whether nobody has chosen among them; what belongs to no profile of the settings file is shown then too."""
        return self._chosen is None

    def choose(self, names: tuple[str, ...] | None) -> None:
        """List the records of these from now on; ``None`` for all."""
        self._chosen = names

    def session(self, name: str) -> ServiceSession | None:
        """The session of a profile, once it is open."""
        console = self._console
        return console.session if name == console.profile_name else self._sessions.get(name)

    async def open(self, name: str) -> None:
        """Open the session of a profile, unless it is open or being opened; a failure is kept in :attr:`failures`."""
        if self.session(name) is not None or name in self._opening or name == self._console.profile_name:
            return
        self._opening.add(name)
        self.failures.pop(name, None)
        console = self._console
        # What the environment says of a service is meant for the one that the console was started with.
        environment = {
            variable: text
            for variable, text in console.launch.environment.items()
            if variable not in {ENVIRONMENT_URL, ENVIRONMENT_KEY}
        }
        options = SettingOptions(profile=name, read_only=console.launch.options.read_only)
        resolver = SettingsResolver(options, environment, console.loaded, console.launch.paths)
        try:
            target = await asyncio.to_thread(resolver.target)
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
        await session.start(CACHED_KINDS)

    def go_to(self, name: str) -> bool:
        """Have the console work with a profile from now on; answer whether its session is open."""
        console, session = self._console, self.session(name)
        if session is None:
            return False
        before = console.session
        if before is not None and before is not session:
            self._sessions.pop(name)
            self._sessions[before.target.profile] = before
            console.switch_session(session)
        return True

    async def close(self) -> None:
        """Close every session that was opened here."""
        self._is_closed = True
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.close()
