"""Switching profiles from a multi-profile screen, and opening the profiles it shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from runwatch.settings.view_state import ViewState
from runwatch.tui.core.workers import run_in_app, start_worker
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen


@runtime_checkable
class MultiProfileScreen(Protocol):
    def profiles_chosen(self) -> None: ...


def open_view_in_profile(screen: ConsoleScreen, profile: str, view: ViewState) -> None:
    """Switch the console to a profile and open a view of it, where all actions are available."""
    _go(screen, profile, lambda: screen.console.go_to_view(view))


def switch_profile(screen: ConsoleScreen, profile: str) -> None:
    """Switch the console to a profile and show the same screen with the same filter and sort order."""
    view = screen.console.present_view
    # Records belong to their profile, so the one at the cursor is not looked for.
    there = None if view is None else replace(view, selected="", is_open=False)
    _go(screen, profile, lambda: screen.console.go_to_view(there or ViewState(screen.console.settings.home_screen)))


def open_record_in_profile(screen: ConsoleScreen, profile: str, kind: str, record_id: str) -> None:
    _go(screen, profile, lambda: screen.console.open_record(kind, record_id))


def _go(screen: ConsoleScreen, profile: str, arrive: Callable[[], Awaitable[None]]) -> None:
    console, profiles = screen.console, screen.console.profiles

    async def go() -> None:
        if profiles.session(profile) is None:
            screen.notify_user(f"Connecting to {line(profile, 40)}{console.glyphs.ellipsis}")
        await profiles.open(profile)
        run_in_app(console, come, f"going to {profile}")

    async def come() -> None:
        if not screen.is_in_front:
            # Do not navigate if the user has left this screen in the meantime.
            return
        if not profiles.go_to(profile):
            failure = profiles.failures.get(profile)
            why = "still connecting" if failure is None else f"not connected: {failure.title}"
            screen.notify_user(f"{line(profile, 40)} is {why}", Role.WARN)
            return
        await arrive()
        console.notify_user(f"Switched to profile {line(profile, 40)}")

    # Owned by the app, because this screen closes in the process.
    start_worker(console, go(), f"going to {profile}", group="profiles")


def open_chosen_profiles(screen: ConsoleScreen, opened: partial[None]) -> None:
    """Open the session of each shown profile separately, and call back after each."""
    profiles = screen.console.profiles

    async def one(name: str) -> None:
        await profiles.open(name)
        opened()

    for name in profiles.shown:
        if profiles.session(name) is None:
            start_worker(screen.console, one(name), f"opening {name}", group="profiles")
