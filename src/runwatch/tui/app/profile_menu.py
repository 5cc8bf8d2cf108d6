"""Multi-profile screens, and the menu that chooses their profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.tui.core.rendering import label_span
from runwatch.tui.flows.profile_switch import MultiProfileScreen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.shell.console_screen import ConsoleScreen


ALL: Final = "all"

SUPPORTED_SCREENS_TEXT: Final = ":templates, :receipts, :account or :problems"
"""Screens that have a multi-profile version."""


def can_switch_profiles(console: NavigatingApp) -> bool:
    """Whether the console uses a service; an opened file belongs to no profile."""
    return console.session is not None and not console.has_file


async def show_multi_profile(console: NavigatingApp, text: str) -> None:
    """Open the multi-profile version of the front screen."""
    screen, profiles = console.console_screen, console.profiles
    together = screen if isinstance(screen, MultiProfileScreen) else _together(screen)
    if together is None:
        screen.notify_user(f"Go to {SUPPORTED_SCREENS_TEXT} first: these show several profiles together.", Role.WARN)
        return
    if len(profiles.known) < 2:
        screen.notify_user(
            f"{line(profiles.known[0], 16)} is the only profile; [profiles.NAME] adds another.", Role.WARN
        )
        return
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in profiles.known and name != ALL]
    if unknown:
        screen.notify_user(f"There is no profile {line(unknown[0], 40)}; known: {', '.join(profiles.known)}", Role.WARN)
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
    title = (label_span("Profiles   ", Role.PLAIN), label_span("enter marks and unmarks, esc closes"))
    console.console_screen.open_overlay(Menu(title, items(), again=items, id="profile-menu"))


def _items(console: NavigatingApp) -> list[MenuItem]:
    profiles, marks = console.profiles, console.chrome_glyphs
    items = []
    for name in profiles.known:
        failure = profiles.failures.get(name)
        profile = console.loaded.settings.profiles.get(name)
        note = failure.title if failure is not None else "" if profile is None else profile.base_url
        mark = marks.marked if name in profiles.shown else " "
        off = line("at least one profile must stay marked") if profiles.shown == (name,) else None
        items.append(MenuItem(line(f"{mark} {name}"), partial(_toggle, console, name), line(note), off))
    return items


def _toggle(console: NavigatingApp, name: str) -> None:
    profiles = console.profiles
    profiles.choose(tuple(other for other in profiles.known if (other in profiles.shown) != (other == name)))
    if isinstance(console.console_screen, MultiProfileScreen):
        console.console_screen.profiles_chosen()
