"""Notices at startup, above the hints: which service is used, and problems of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from runwatch.settings.declarations import COMMANDS
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.settings.settings_file import LoadedSettings
    from runwatch.tui.app.navigation import NavigatingApp

WELCOME_S: Final = 10.0
"""How long the welcome stays without a key press."""

SHOWN_WARNINGS: Final = 3
"""How many warnings are shown; the others are counted."""


class StartupNotices:
    """The welcome, hidden by the first key or after a while, and warnings, which stay until esc."""

    def __init__(self, console: NavigatingApp) -> None:
        self._console = console
        self._welcome: Sequence[StyledSpans] = ()
        self._is_over = False

    def welcome(self, words: Sequence[StyledSpans]) -> None:
        """Show or replace the welcome; do nothing once the user has pressed a key."""
        if self._is_over:
            return
        if not self._welcome:
            self._console.set_timer(WELCOME_S, self._end_welcome)
        self._welcome = words
        self.put(self._console.console_screen)

    def put(self, screen: ConsoleScreen) -> None:
        if screen.TAKES_TEXT:
            # Its keys are text: they wait until it is left.
            return
        warnings = self._console.warnings
        screen.show_lines("warnings", warnings_text(warnings, self._console.glyphs.warn) if warnings else ())
        screen.show_lines("welcome", self._welcome)

    def pressed(self, key: str) -> bool:
        """Process a key; return whether it only hid the warnings."""
        self._end_welcome()
        screen = self._console.screen
        if not (key == "escape" and isinstance(screen, ConsoleScreen) and screen.is_at_root):
            return False

        # Imported here and below, because they are not needed for the first paint.
        from textual.widgets import Input

        if screen.has_overlay or isinstance(screen.focused, Input):
            return False
        was_warning = bool(self._console.warnings)
        self._console.warnings.clear()
        self.put(screen)
        return was_warning

    def _end_welcome(self) -> None:
        if not self._is_over:
            self._is_over, self._welcome = True, ()
            self._console.console_screen.show_lines("welcome", ())


def welcome_text(*, is_running: bool) -> tuple[StyledSpans, ...]:
    """Return the welcome shown when no service is configured."""
    does = "is used" if is_running else "is starting"
    return (
        (label_span(f"No service is configured, so a local one {does}; its test runs cost nothing.", Role.PLAIN),),
        line("For another: :settings, or runwatch config set profiles.NAME.base_url URL,"),
        line("or RUNWATCH_BASE_URL with RUNWATCH_API_KEY in the environment."),
    )


def demo_text(start: str) -> tuple[StyledSpans, ...]:
    """Return the demo's welcome, with the key that starts a run."""
    return (
        (label_span("This is the demo: a sample organization with simulated runs that cost nothing.", Role.PLAIN),),
        line(f"Its service and data are deleted when you quit. {start} starts a run of your own."),
    )


def settings_warnings(loaded: LoadedSettings, *, with_commands: bool = True) -> list[str]:
    """Return the problems of the settings file; own commands that are not used, if any can run, in one sentence."""
    warnings: list[str] = []
    unused: set[str] = set()
    for problem in loaded.problems:
        table, _, rest = problem.key.partition(".")
        name = rest.partition(".")[0]
        if table == COMMANDS and name and name not in loaded.settings.commands:
            unused.add(name)
        else:
            warnings.append(str(problem))
    if unused and with_commands:
        subject = "1 own command is" if len(unused) == 1 else f"{len(unused)} own commands are"
        warnings.append(f"{subject} not used; 'runwatch config validate' says why")
    return warnings


def warnings_text(warnings: Sequence[str], glyph: str) -> tuple[StyledSpans, ...]:
    """Return warnings of any source after their sign, and how to hide them; they are cleaned here."""
    shown: list[StyledSpans] = [
        (label_span(f"{glyph} {line(warning)}", Role.WARN),) for warning in warnings[:SHOWN_WARNINGS]
    ]
    more = len(warnings) - len(shown)
    rest = f"{more} more, which 'runwatch config validate' lists; " if more else ""
    return (*shown, line(f"{rest}esc hides this"))
