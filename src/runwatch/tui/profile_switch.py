"""Going to another profile from a screen of several, and opening the profiles that such a screen shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from runwatch.settings.session import View
from runwatch.tui.work import start_work, take_turn
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen


@runtime_checkable
class ShowsProfiles(Protocol):
    """A screen of several profiles."""

    def profiles_chosen(self) -> None:
        """Show what belongs to the profiles that are chosen now."""
        ...


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
        if not screen.is_in_front:
            # Whoever went elsewhere meanwhile is not taken away from there.
            return
        if not profiles.go_to(profile):
            failure = profiles.failures.get(profile)
            why = "still connecting" if failure is None else f"not connected: {failure.title}"
            screen.say(f"{line(profile, 40)} is {why}", Role.WARN)
            return
        await arrive()
        console.notify_user(f"the console works with {line(profile, 40)} now")

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
