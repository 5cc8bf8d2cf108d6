"""The last line of every screen: the available actions, and always the way to the help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from textual.message import Message
from textual.selection import Selection
from textual.timer import Timer

from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.key_bindings import BY_ID, PINNED, key_label
from runwatch.tui.core.messages import HintClicked
from runwatch.tui.core.mouse_selection import drop_selection
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import MARGIN, MIN_GAP, Bar, BarPart, measure_parts
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

NOTICE_S: Final = 5.0
"""How long a notice replaces the hints."""

KeyHint = str | tuple[str, str]
"""An action's id, or its id and a label that replaces the one in the key table; in a prompt a key and its label."""


class StatusBar(Bar):
    """The status line. If room is short, the last hints are replaced by their number; the way to the help stays."""

    @dataclass(eq=False, repr=False)
    class RestRequested(Message):
        """The user clicked the number of hidden hints, which are actions with their labels."""

        hints: tuple[tuple[str, str], ...]

    _hints: tuple[KeyHint, ...] = ()
    _is_prompt = _in_text = False
    _notice: tuple[StyledSpan, ...] = ()
    _progress: tuple[StyledSpan, ...] = ()
    _timer: Timer | None = None
    _ends_with_key = False
    _selected: tuple[Sequence[BarPart], Sequence[BarPart]] | None = None

    def show_hints(self, hints: Sequence[KeyHint], *, is_prompt: bool = False, in_text: bool = False) -> None:
        """Show these actions, the most important first.

        Args:
            is_prompt: Whether these are the keys of an input, which takes the keys of the pinned actions as text.
            in_text: Whether the focus is in a field of a form: only keys that type no character are shown.
        """
        if (self._hints, self._is_prompt, self._in_text) != (tuple(hints), is_prompt, in_text):
            self._hints, self._is_prompt, self._in_text = tuple(hints), is_prompt, in_text
            self.refresh()

    def show_progress(self, progress: StyledSpans) -> None:
        """Show before the hints what goes on in the background; empty for nothing."""
        if self._progress != to_spans(progress):
            self._progress = to_spans(progress)
            self.refresh()

    @property
    def hidden_hints(self) -> tuple[tuple[str, str], ...]:
        """Actions and labels of the hints that have no room; those of a prompt are its own."""
        if self._is_prompt:
            return ()
        return tuple(map(_labelled, self._hints[self._fitting(self.size.width - 2 * MARGIN) :]))

    def say(self, notice: StyledSpans, seconds: float = NOTICE_S, *, ends_with_key: bool = False) -> None:
        """Show a notice instead of the hints for a while, or only until the next key. The layout does not move."""
        drop_selection(self)
        self._selected = None
        self._notice, self._ends_with_key = to_spans(notice), ends_with_key
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self.clear_notice)
        self.refresh()

    def shows_notice(self, text: SafeText) -> bool:
        return any(piece == text for piece, _ in self._notice)

    def clear_notice(self) -> None:
        self._notice = ()
        self.refresh()

    def key_pressed(self) -> None:
        """Remove a notice about the key before."""
        if self._notice and self._ends_with_key:
            self.clear_notice()

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the notice or as many hints as fit, and the pinned actions; a long notice takes their place."""
        if self._selected is not None:
            return self._selected
        pinned = self._pinned()
        if self._notice:
            notice = [BarPart(self._fitting_notice(width))]
            return notice, pinned if measure_parts(notice) + MIN_GAP + measure_parts(pinned) <= width else ()
        hints = self._with_hidden_count([self._hint(hint) for hint in self._hints], self._fitting(width))
        return [*self._first(), *hints], pinned

    def _fitting_notice(self, width: int) -> tuple[StyledSpan, ...]:
        """Return the notice without the parts after its second one that have no room."""
        if len(self._notice) != 1:
            return self._notice
        (text, role), dot = self._notice[0], f" {get_app(self).glyphs.dot} "
        while cell_width(text) > width and text.count(dot) > 1:
            text = line(text.rpartition(dot)[0])
        return ((text, role),)

    def selection_updated(self, selection: Selection | None) -> None:
        """Keep the text that is selected until it is not, also while its notice ends or the hints change."""
        self._selected = None if selection is None else self.parts(self.size.width - 2 * MARGIN)
        super().selection_updated(selection)

    def _pinned(self) -> list[BarPart]:
        keys = get_app(self).keys
        return [] if self._is_prompt else [self._hint(id) for id in PINNED if keys.shown(id, in_text=self._in_text)]

    def _first(self) -> list[BarPart]:
        return [BarPart(self._progress)] if self._progress and not self._is_prompt else []

    def _fitting(self, width: int) -> int:
        """Return how many hints fit beside the pinned actions, without the margins of a bar."""
        pinned = self._pinned()
        room = width - measure_parts(pinned) - MIN_GAP
        room -= sum(measure_parts([part]) + MIN_GAP for part in self._first())
        hints = [self._hint(hint) for hint in self._hints]
        shown = len(hints)
        while shown and measure_parts(self._with_hidden_count(hints, shown)) > room:
            shown -= 1
        return shown

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Return nothing: hints name their keys."""
        return ()

    def part_clicked(self, target: object) -> None:
        if self._is_prompt:
            # The keys of a prompt are those of its input, which keeps the focus.
            self.app.simulate_key(str(target))
        elif isinstance(target, tuple):
            self.post_message(self.RestRequested(target))
        else:
            self.post_message(HintClicked(str(target)))

    def _hint(self, hint: KeyHint) -> BarPart:
        id, label = _labelled(hint)
        if self._is_prompt:
            return BarPart(((key_label(id), ACCENT), (line(f" {label}"), Role.QUIET)), target=id)
        key = get_app(self).keys.shown(id, in_text=self._in_text)
        return BarPart(((key, ACCENT), (line(f" {label}"), Role.QUIET)), target=id)

    def _with_hidden_count(self, hints: Sequence[BarPart], shown: int) -> list[BarPart]:
        """Return the first hints and the number of hidden ones; clicking that number lists them."""
        hidden = tuple(map(_labelled, self._hints[shown:]))
        return [*hints[:shown], *([BarPart((label_span(f"+{len(hidden)}"),), target=hidden)] if hidden else [])]


def _labelled(hint: KeyHint) -> tuple[str, str]:
    return hint if isinstance(hint, tuple) else (hint, BY_ID[hint].label)
