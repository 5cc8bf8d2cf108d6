"""The menu of profiles to switch to; multi-profile screens, and the menu that chooses their profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.base.closest_word import closest_word
from runwatch.settings.declarations import LOCAL
from runwatch.settings.settings_file import load_settings_file
from runwatch.tui.core.rendering import label_span
from runwatch.tui.flows.profile_switch import MultiProfileScreen, switch_profile
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.shell.console_screen import ConsoleScreen


ALL: Final = "all"

SUPPORTED_SCREENS_TEXT: Final = ":runs, :templates, :receipts, :account or :problems"
"""Screens that have a multi-profile version."""


async def go_to_profile(console: NavigatingApp, name: str) -> None:
    """Switch to a profile and keep the view; without a name, open the menu of profiles."""
    await _read_profiles(console)
    screen, profiles = console.console_screen, console.profiles
    name = name.strip()
    if not name:
        _open_switch_menu(console)
    elif name == console.profile_name:
        screen.notify_user(f"This is profile {line(name, 40)}.")
    elif name in profiles.reachable:
        switch_profile(screen, name)
    else:
        screen.notify_user(_unknown_text(name, profiles.reachable), Role.WARN)


async def _read_profiles(console: NavigatingApp) -> None:
    """Read the settings again if their file has changed: another shell may have added a profile."""
    loaded = await asyncio.to_thread(load_settings_file, console.launch.paths.settings_file, clock=console.clock)
    if not loaded.is_broken and loaded.text != console.loaded.text:
        console.apply_settings(loaded)


def _open_switch_menu(console: NavigatingApp) -> None:
    title = (label_span("Switch to profile", Role.PLAIN),)
    console.console_screen.open_overlay(Menu(title, list(_switch_items(console)), id="profile-menu"))


def _switch_items(console: NavigatingApp) -> Iterator[MenuItem]:
    for name in console.profiles.reachable:
        is_current = name == console.profile_name
        off = line("you are here") if is_current else None
        yield MenuItem(
            line(name), partial(switch_profile, console.console_screen, name), describe_profile(console, name), off
        )
    if len(console.profiles.reachable) < 2:
        yield MenuItem(
            line("another profile"),
            lambda: None,
            disabled_reason=line("runwatch config set profiles.NAME.base_url URL adds one"),
        )


def describe_profile(console: NavigatingApp, name: str) -> SafeText:
    """Describe a profile: production, read-only, address, and why it is not connected."""
    profile, failure = console.loaded.settings.profiles.get(name), console.profiles.failures.get(name)
    if failure is not None:
        return line(failure.title)
    if profile is None:
        return line("local service" if name == LOCAL else "")
    words = ("PRODUCTION" * profile.production, "read-only" * profile.read_only, profile.base_url)
    return line("  ".join(word for word in words if word))


def _unknown_text(name: str, known: Sequence[str]) -> str:
    near = closest_word(name, known)
    meant = f"; did you mean {near}?" if near else ""
    return f"There is no profile {line(name, 40)}{meant}; known: {', '.join(known)}"


async def show_multi_profile(console: NavigatingApp, text: str) -> None:
    """Open the multi-profile version of the front screen."""
    screen, profiles = console.console_screen, console.profiles
    together = screen if isinstance(screen, MultiProfileScreen) else _together(screen)
    if together is None:
        screen.notify_user(f"Go to {SUPPORTED_SCREENS_TEXT} first.", Role.WARN)
        return
    if len(profiles.known) < 2:
        screen.notify_user(
            f"{line(profiles.known[0], 16)} is the only profile; [profiles.NAME] adds another.", Role.WARN
        )
        return
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in profiles.known and name != ALL]
    if unknown:
        screen.notify_user(_unknown_text(unknown[0], profiles.known), Role.WARN)
        return
    if names:
        profiles.choose(None if ALL in names else names)
    if isinstance(screen, MultiProfileScreen):
        screen.profiles_chosen()
    else:
        await console.push_screen(together)
    if not names:
        open_menu(console)


def _together(screen: ConsoleScreen) -> ConsoleScreen | None:
    """Return the multi-profile version of a screen, or ``None``."""
    from runwatch.tui.screens.base.report_screen import ReportScreen

    if isinstance(screen, ReportScreen):
        from runwatch.tui.screens.profiles.usage import MultiProfileUsageScreen
        from runwatch.tui.screens.reports.usage import UsageScreen

        return MultiProfileUsageScreen(screen.period_text) if isinstance(screen, UsageScreen) else None
    if not isinstance(screen, ResourceScreen):
        return None
    if screen.spec.name == "problems":
        from runwatch.tui.screens.profiles.problems import MultiProfileProblemsScreen

        return MultiProfileProblemsScreen(screen.console)
    from runwatch.tui.screens.profiles.records import SUPPORTED_RESOURCES, MultiProfileListScreen

    return MultiProfileListScreen(screen.spec) if screen.spec.name in SUPPORTED_RESOURCES else None


def open_menu(console: NavigatingApp) -> None:
    """Open the menu that marks the profiles to list together."""
    items = partial(_items, console)
    console.console_screen.open_overlay(Menu(line("Profiles"), items(), again=items, id="profile-menu"))


def _items(console: NavigatingApp) -> list[MenuItem]:
    profiles, marks = console.profiles, console.chrome_glyphs
    items = []
    for name in profiles.known:
        mark = marks.marked if name in profiles.shown else " "
        off = line("at least one profile must stay marked") if profiles.shown == (name,) else None
        items.append(
            MenuItem(line(f"{mark} {name}"), partial(_toggle, console, name), describe_profile(console, name), off)
        )
    return items


def _toggle(console: NavigatingApp, name: str) -> None:
    profiles = console.profiles
    profiles.choose(tuple(other for other in profiles.known if (other in profiles.shown) != (other == name)))
    if isinstance(console.console_screen, MultiProfileScreen):
        console.console_screen.profiles_chosen()
