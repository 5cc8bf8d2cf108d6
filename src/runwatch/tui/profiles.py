"""The other profiles of the settings file: a desk for each that is shown beside the present one.

Each has its own client, key, scope, budget and reading, is opened when it is first wanted, and is closed with the
console. Nothing is ever written by the desk of a profile that the console does not work with: whoever wants to act on a
record goes to its profile first, and the bar above says so from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from runwatch.base.errors import RunwatchError
from runwatch.settings.keys import ENVIRONMENT_KEY
from runwatch.settings.resolve import ENVIRONMENT_URL, Options, Resolver
from runwatch.settings.session import View
from runwatch.tui.desk_opening import CACHED, open_desk
from runwatch.tui.draw import word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.work import start_work, take_turn
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.app import ConsoleApp
    from runwatch.tui.screens.base import ConsoleScreen

ALL: Final = "all"

WHERE: Final = ":templates, :receipts, :account or :problems"
"""The screens of one profile that have one of several."""


class Profiles:
    """What a console knows of the other profiles.

    Args:
        console: The app.

    Attributes:
        failures: Why the desk of a profile could not be opened.
    """

    def __init__(self, console: ConsoleApp) -> None:
        self._console = console
        self._chosen: tuple[str, ...] | None = None
        self._desks: dict[str, Desk] = {}
        self._opening: set[str] = set()
        self._is_closed = False
        self.failures: Final[dict[str, RunwatchError]] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """Every profile, the present one first."""
        return tuple(dict.fromkeys((self._console.profile_name, *self._console.loaded.settings.profiles)))

    @property
    def shown(self) -> tuple[str, ...]:
        """Those whose records are listed together: all until a person chooses."""
        return self.known if self._chosen is None else tuple(name for name in self.known if name in self._chosen)

    @property
    def are_all_shown(self) -> bool:
        """Whether nobody has chosen among them; what belongs to no profile of the settings file is shown then too."""
        return self._chosen is None

    def choose(self, names: tuple[str, ...] | None) -> None:
        """List the records of these from now on; ``None`` for all."""
        self._chosen = names

    def desk(self, name: str) -> Desk | None:
        """The desk of a profile, once it is open."""
        console = self._console
        return console.desk if name == console.profile_name else self._desks.get(name)

    async def open(self, name: str) -> None:
        """Open the desk of a profile, unless it is open or being opened; a failure is kept in :attr:`failures`."""
        if self.desk(name) is not None or name in self._opening or name == self._console.profile_name:
            return
        self._opening.add(name)
        self.failures.pop(name, None)
        console = self._console
        # What the environment says of a service is meant for the one that the console was started with.
        environment = {
            variable: text
            for variable, text in console.opening.environment.items()
            if variable not in {ENVIRONMENT_URL, ENVIRONMENT_KEY}
        }
        options = Options(profile=name, read_only=console.opening.options.read_only)
        resolver = Resolver(options, environment, console.loaded, console.opening.paths)
        try:
            target = await asyncio.to_thread(resolver.target)
            desk = await open_desk(console, target, resolver.settings())
        except RunwatchError as error:
            self.failures[name] = error
            return
        finally:
            self._opening.discard(name)
        if self._is_closed:
            await desk.close()
            return
        self._desks[name] = desk
        await desk.start(CACHED)

    def go_to(self, name: str) -> bool:
        """Have the console work with a profile from now on; answer whether its desk is open."""
        console, desk = self._console, self.desk(name)
        if desk is None:
            return False
        before = console.desk
        if before is not None and before is not desk:
            self._desks.pop(name)
            self._desks[before.target.profile] = before
            console.take_desk(desk)
        return True

    async def close(self) -> None:
        """Close every desk that was opened here."""
        self._is_closed = True
        desks = list(self._desks.values())
        self._desks.clear()
        for desk in desks:
            await desk.close()


@runtime_checkable
class ShowsProfiles(Protocol):
    """A screen of several profiles."""

    def profiles_chosen(self) -> None:
        """Show what belongs to the profiles that are chosen now."""
        ...


def is_offered(console: ConsoleApp) -> bool:
    """Whether the console works with a service; a file that was opened belongs to no profile."""
    return console.desk is not None and not console.has_file


async def choose_profiles(console: ConsoleApp, text: str) -> None:
    """Show several profiles together, in front of the screen that shows the present one."""
    screen, profiles = console.console_screen, console.profiles
    together = screen if isinstance(screen, ShowsProfiles) else _together(screen)
    if together is None:
        screen.say(f"Go to {WHERE} first: these show several profiles together.", Role.WARN)
        return
    if len(profiles.known) < 2:
        screen.say(f"{line(profiles.known[0], 16)} is the only profile; [profiles.NAME] adds another.", Role.WARN)
        return
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in profiles.known and name != ALL]
    if unknown:
        screen.say(f"There is no profile {line(unknown[0], 40)}; known: {', '.join(profiles.known)}", Role.WARN)
        return
    if names:
        profiles.choose(None if ALL in names else names)
    if isinstance(screen, ShowsProfiles):
        screen.profiles_chosen()
    else:
        await console.push_screen(together)
    if not names:
        open_menu(console)


def _together(screen: ConsoleScreen) -> ConsoleScreen | None:
    """The screen of several profiles that belongs to the screen of one; ``None`` where there is none."""
    from runwatch.tui.screens.report import ReportScreen

    if isinstance(screen, ReportScreen):
        from runwatch.tui.screens.across_usage import AcrossUsageScreen
        from runwatch.tui.screens.usage import UsageScreen

        return AcrossUsageScreen(screen.period_text) if isinstance(screen, UsageScreen) else None
    if not isinstance(screen, ResourceScreen):
        return None
    if screen.spec.name == "problems":
        from runwatch.tui.screens.across_problems import AcrossProblemsScreen

        return AcrossProblemsScreen(screen.console)
    from runwatch.tui.screens.across import SHOWN, AcrossScreen

    return AcrossScreen(screen.spec) if screen.spec.name in SHOWN else None


def open_menu(console: ConsoleApp) -> None:
    """Mark the profiles whose records are listed together."""
    items = partial(_items, console)
    title = (word("Profiles   ", Role.PLAIN), word("enter marks and unmarks, esc is done"))
    console.console_screen.put_over(Menu(title, items(), again=items, id="profile-menu"))


def _items(console: ConsoleApp) -> list[MenuItem]:
    profiles, marks = console.profiles, console.marks
    items = []
    for name in profiles.known:
        failure = profiles.failures.get(name)
        profile = console.loaded.settings.profiles.get(name)
        note = failure.title if failure is not None else "" if profile is None else profile.base_url
        mark = marks.marked if name in profiles.shown else " "
        off = line("one profile has to stay") if profiles.shown == (name,) else None
        items.append(MenuItem(line(f"{mark} {name}"), partial(_toggle, console, name), line(note), off))
    return items


def _toggle(console: ConsoleApp, name: str) -> None:
    profiles = console.profiles
    profiles.choose(tuple(other for other in profiles.known if (other in profiles.shown) != (other == name)))
    if isinstance(console.console_screen, ShowsProfiles):
        console.console_screen.profiles_chosen()


def go_to_view(screen: ConsoleScreen, profile: str, view: View) -> None:
    """Have the console work with a profile from now on, and go to a view of it, where everything can be done."""
    _go(screen, profile, lambda: screen.console.go_to_view(view))


def go_to_record(screen: ConsoleScreen, profile: str, kind: str, record_id: str) -> None:
    """Have the console work with a profile from now on, and open one of its records."""
    _go(screen, profile, lambda: screen.console.open_record(kind, record_id))


def _go(screen: ConsoleScreen, profile: str, arrive: Callable[[], Awaitable[None]]) -> None:
    console, profiles = screen.console, screen.console.profiles

    async def go() -> None:
        if profiles.desk(profile) is None:
            screen.say(f"connecting to {line(profile, 40)}{console.glyphs.ellipsis}")
        await profiles.open(profile)
        take_turn(console, come, f"going to {profile}")

    async def come() -> None:
        if console.console_screen is not screen:
            # Whoever went elsewhere meanwhile is not taken away from there.
            return
        if not profiles.go_to(profile):
            failure = profiles.failures.get(profile)
            why = "still connecting" if failure is None else f"not connected: {failure.title}"
            screen.say(f"{line(profile, 40)} is {why}", Role.WARN)
            return
        await arrive()
        console.console_screen.say(f"the console works with {line(profile, 40)} now")

    # For the console, because this screen ends on the way.
    start_work(console, go(), f"going to {profile}", group="profiles")


def open_shown(screen: ConsoleScreen, opened: partial[None]) -> None:
    """Open the desks of the profiles that are shown, each by itself, and tell of each one."""
    profiles = screen.console.profiles

    async def one(name: str) -> None:
        await profiles.open(name)
        opened()

    for name in profiles.shown:
        if profiles.desk(name) is None:
            start_work(screen.console, one(name), f"opening {name}", group="profiles")
