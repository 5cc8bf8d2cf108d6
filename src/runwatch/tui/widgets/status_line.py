"""The last line of every screen: what can be done here, and always how to find everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.timer import Timer

from runwatch.tui.actions import BY_ID, PINNED
from runwatch.tui.draw import Piece, Pieces, pieces_of, word
from runwatch.tui.kit import kit
from runwatch.tui.messages import HintChosen
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.bar import LEAST_GAP, Bar, Part, width_of
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

NOTICE_S: Final = 5.0
"""How long a notice stands in place of the hints."""

Hint = str | tuple[str, str]
"""The id of an action, and its label here where that is not the one of the table."""


class StatusLine(Bar):
    """The line. Hints leave from the back, and their number is named; the way to the help never leaves."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[Hint, ...] = ()
        self._notice: tuple[Piece, ...] = ()
        self._timer: Timer | None = None

    def show_hints(self, hints: Sequence[Hint]) -> None:
        """Offer these actions, the most important first."""
        if self._hints != tuple(hints):
            self._hints = tuple(hints)
            self.refresh()

    def say(self, notice: Pieces, seconds: float = NOTICE_S) -> None:
        """Say something in place of the hints for a while; nothing else on the screen moves for it."""
        self._notice = pieces_of(notice)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self.hush)
        self.refresh()

    def hush(self) -> None:
        """Take the notice away."""
        self._notice = ()
        self.refresh()

    def parts(self, width: int) -> tuple[Sequence[Part], Sequence[Part]]:
        """As many hints as there is room for, or the notice; and what is pinned."""
        pinned = [self._hint(id) for id in PINNED]
        if self._notice:
            return [Part(self._notice)], pinned
        room = width - width_of(pinned) - LEAST_GAP
        hints = [self._hint(hint) for hint in self._hints]
        shown = len(hints)
        while shown and width_of(self._with_rest(hints, shown)) > room:
            shown -= 1
        return self._with_rest(hints, shown), pinned

    def part_chosen(self, target: object) -> None:
        """Ask for the action."""
        self.post_message(HintChosen(str(target)))

    def _hint(self, hint: Hint) -> Part:
        id, label = hint if isinstance(hint, tuple) else (hint, BY_ID[hint].label)
        return Part(((kit(self).keys.shown(id), ACCENT), (line(f" {label}"), Role.QUIET)), target=id)

    def _with_rest(self, hints: Sequence[Part], shown: int) -> list[Part]:
        """The first hints, and the number of those that are not shown; a click on it leads to the help."""
        rest = len(hints) - shown
        return [*hints[:shown], *([Part((word(f"+{rest}"),), target="app.help")] if rest else [])]
