"""The other profiles of the settings file: a desk for each whose records are listed beside those of the present one.

Each has its own client, key, scope, budget and reading, is opened when it is first wanted, and is closed with the
console. Nothing is ever written by the desk of a profile that the console does not work with: whoever wants to act on a
record goes to its profile first, and the bar above says so from then on.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.settings.keys import ENVIRONMENT_KEY
from runwatch.settings.resolve import ENVIRONMENT_URL, Options, Resolver
from runwatch.settings.session import View
from runwatch.tui.desk_opening import CACHED, open_desk
from runwatch.tui.draw import word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.work import start_work
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.app import ConsoleApp

ALL: Final = "all"


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


def is_offered(console: ConsoleApp) -> bool:
    """Whether there is another profile than the present one."""
    return console.desk is not None and len(console.profiles.known) > 1 and console.opening.file is None


async def choose_profiles(console: ConsoleApp, text: str) -> None:
    """List the records of several profiles together, in front of the list of those of the present one."""
    from runwatch.tui.screens.across import SHOWN, AcrossScreen

    screen, profiles = console.console_screen, console.profiles
    if not isinstance(screen, ResourceScreen) or screen.spec.name not in SHOWN:
        where = " or ".join(f":{name}" for name in SHOWN)
        screen.say(f"Go to {where} first: these list several profiles together.", Role.WARN)
        return
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in profiles.known and name != ALL]
    if unknown:
        screen.say(f"There is no profile {line(unknown[0], 40)}; known: {', '.join(profiles.known)}", Role.WARN)
        return
    if names:
        profiles.choose(None if ALL in names else names)
    if isinstance(screen, AcrossScreen):
        screen.profiles_chosen()
    else:
        screen = AcrossScreen(screen.spec.name)
        await console.push_screen(screen)
    if not names:
        open_menu(console)


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
    from runwatch.tui.screens.across import AcrossScreen

    if isinstance(console.console_screen, AcrossScreen):
        console.console_screen.profiles_chosen()


def go_to_record(screen: ResourceScreen, profile: str, record_id: str) -> None:
    """Go to a record on the screen of its own profile, where everything can be done with it."""
    console, view = screen.console, View(screen.spec.name, selected=record_id, is_open=True)

    async def go() -> None:
        if not console.profiles.go_to(profile):
            screen.say(f"{profile} is not connected.", Role.WARN)
            return
        await console.go_to_view(view)
        console.console_screen.say(f"the console works with {profile} now")

    # Later, because this screen cannot wait for its own end.
    console.call_later(go)


def open_shown(screen: ResourceScreen, opened: partial[None]) -> None:
    """Open the desks of the profiles that are shown, each by itself, and tell of each one."""
    profiles = screen.console.profiles

    async def one(name: str) -> None:
        await profiles.open(name)
        opened()

    for name in profiles.shown:
        if profiles.desk(name) is None:
            start_work(screen.console, one(name), f"opening {name}", group="profiles")
