"""What is said once, above the hints, and then gets out of the way: where one is, what is wrong with the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.widgets import Input

from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.panes.notice import Notice
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.app.navigation import NavigatingApp

WELCOME_S: Final = 10.0
"""How long the welcome stands when nobody presses a key."""

SHOWN_WARNINGS: Final = 3
"""How many of the warnings are written out; the others are counted."""


class StartupNotices:
    """The notes of a console: the welcome, gone with the first key or after a while, and warnings that stay until esc.

    Args:
        console: The app.
    """

    def __init__(self, console: NavigatingApp) -> None:
        self._console = console
        self._welcome: Sequence[StyledSpans] = ()
        self._is_over = False

    @property
    def is_welcoming(self) -> bool:
        """Whether the welcome is said now."""
        return bool(self._welcome)

    def welcome(self, words: Sequence[StyledSpans]) -> None:
        """Say where one is, or say it in other words; nothing once the user has begun to work."""
        if self._is_over:
            return
        if not self._welcome:
            self._console.set_timer(WELCOME_S, self._end_welcome)
        self._welcome = words
        self.put(self._console.console_screen)

    def put(self, screen: ConsoleScreen) -> None:
        """Have a screen say what is to be said now."""
        warnings = self._console.warnings
        self._show(screen, "warnings", warnings_text(warnings, self._console.glyphs.warn) if warnings else ())
        self._show(screen, "welcome", self._welcome)

    def pressed(self, key: str) -> bool:
        """Take note of a key; answer whether it was for the notes alone, as the ``esc`` is that hides the warnings."""
        self._end_welcome()
        screen = self._console.screen
        if not (key == "escape" and isinstance(screen, ConsoleScreen) and screen.is_at_root):
            return False

        if screen.has_overlay or isinstance(screen.focused, Input):
            return False
        was_warning = bool(self._console.warnings)
        self._console.warnings.clear()
        self.put(screen)
        return was_warning

    def _end_welcome(self) -> None:
        if not self._is_over:
            self._is_over, self._welcome = True, ()
            self._show(self._console.console_screen, "welcome", ())

    def _show(self, screen: ConsoleScreen, id: str, words: Sequence[StyledSpans]) -> None:
        note = next(iter(screen.query(f"#{id}").results(Notice)), None)
        if note is not None:
            note.say(words)
        elif words:
            screen.mount(Notice(words, id=id), before="#status")


def welcome_text(*, is_running: bool, find: str = "") -> tuple[StyledSpans, ...]:
    """What the console says when nothing is configured.

    Args:
        is_running: Whether the local service answers already.
        find: The key that has it look for model servers; empty while it cannot.
    """
    does = "is used" if is_running else "is starting"
    offer = (line(f"For live runs: {find} looks for model servers on this machine."),) if find else ()
    return (
        (label_span(f"No service is configured, so a local one {does}; its test runs cost nothing.", Role.PLAIN),),
        line("To use another service: :settings, or runwatch config set profiles.NAME.base_url URL,"),
        line("or RUNWATCH_BASE_URL with RUNWATCH_API_KEY in the environment."),
        *offer,
    )


def demo_text(start: str) -> tuple[StyledSpans, ...]:
    """What the demo says of itself.

    Args:
        start: The key that starts a run.
    """
    return (
        (label_span("This is the demo: a sample organization with simulated runs that cost nothing.", Role.PLAIN),),
        line(f"Its service and data are deleted when you quit. {start} starts a run of your own."),
    )


def warnings_text(warnings: Sequence[str], glyph: str) -> tuple[StyledSpans, ...]:
    """What is wrong with the settings, and what to do about it.

    Args:
        warnings: One sentence each, of any origin; they are cleaned here.
        glyph: The sign before them.
    """
    told: list[StyledSpans] = [
        (label_span(f"{glyph} {line(warning)}", Role.WARN),) for warning in warnings[:SHOWN_WARNINGS]
    ]
    more = len(warnings) - len(told)
    rest = f"{more} more, which 'runwatch config validate' lists; " if more else ""
    return (*told, line(f"{rest}esc hides this"))
