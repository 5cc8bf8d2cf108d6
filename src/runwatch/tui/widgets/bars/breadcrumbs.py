"""The second line of a screen: the path to what is shown, and the active filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from textual.message import Message

from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.rendering import StyledSpans, cut_spans, label_span, to_spans
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import MIN_GAP, Bar, BarPart, measure_parts
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line


class Breadcrumbs(Bar):
    """The breadcrumb line; clicking a level requests it."""

    DEFAULT_CSS = """
    Breadcrumbs {
        background: $background;
    }
    """

    @dataclass(eq=False, repr=False)
    class LevelClicked(Message):
        """The user clicked a level, counted from 0."""

        level: int

    _levels: tuple[SafeText, ...] = ()
    _filter: StyledSpans = line("")

    def show(self, levels: Sequence[SafeText], filter: StyledSpans | None = None) -> None:
        before = self._levels, self._filter
        self._levels = tuple(levels)
        self._filter = line("") if filter is None else filter
        if (self._levels, self._filter) != before:
            self.refresh()

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the levels and the filter. Outer levels are dropped if room is short; the filter gets half the line,
        or what the path leaves.
        """
        app = get_app(self)
        first = 0
        left = self._level_parts(first)
        right = self._filter_parts(max(width // 2, width - measure_parts(left) - MIN_GAP))
        while first < len(self._levels) - 1 and measure_parts(left) + MIN_GAP + measure_parts(right) > width:
            first += 1
            left = [BarPart((label_span(app.glyphs.ellipsis),)), *self._level_parts(first)]
        return left, right

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the levels that lead back: all but the last."""
        return islice(super().jump_targets(), max(0, len(self._levels) - 1))

    def part_clicked(self, target: object) -> None:
        assert isinstance(target, int)
        self.post_message(self.LevelClicked(target))

    def _level_parts(self, first: int) -> list[BarPart]:
        crumb = BarPart((label_span(get_app(self).chrome_glyphs.crumb),), gap=1)
        parts: list[BarPart] = []
        for number, level in enumerate(self._levels[first:], first):
            if number:
                parts.append(crumb)
            role = Role.PLAIN if number == len(self._levels) - 1 else Role.QUIET
            parts.append(BarPart(((level, role),), target=number, gap=1))
        return parts

    def _filter_parts(self, room: int) -> list[BarPart]:
        pieces = cut_spans(to_spans(self._filter), room, get_app(self).glyphs.ellipsis)
        return [BarPart(pieces)] if any(text for text, _ in pieces) else []
