"""The screens of several profiles, and the menu that chooses among the profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.tui.draw import word
from runwatch.tui.profile_switch import ShowsProfiles
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.navigation import NavigatingApp
    from runwatch.tui.screens.base import ConsoleScreen


ALL: Final = "all"

WHERE: Final = ":templates, :receipts, :account or :problems"
"""The screens of one profile that have one of several."""


def is_offered(console: NavigatingApp) -> bool:
    """Whether the console works with a service; a file that was opened belongs to no profile."""
    return console.desk is not None and not console.has_file


async def choose_profiles(console: NavigatingApp, text: str) -> None:
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


def open_menu(console: NavigatingApp) -> None:
    """Mark the profiles whose records are listed together."""
    items = partial(_items, console)
    title = (word("Profiles   ", Role.PLAIN), word("enter marks and unmarks, esc is done"))
    console.console_screen.put_over(Menu(title, items(), again=items, id="profile-menu"))


def _items(console: NavigatingApp) -> list[MenuItem]:
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


def _toggle(console: NavigatingApp, name: str) -> None:
    profiles = console.profiles
    profiles.choose(tuple(other for other in profiles.known if (other in profiles.shown) != (other == name)))
    if isinstance(console.console_screen, ShowsProfiles):
        console.console_screen.profiles_chosen()
