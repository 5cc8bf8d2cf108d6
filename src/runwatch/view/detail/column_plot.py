"""A plot with a column for each day, one of which is chosen and described: its day, its value and the parts of it.

If not all days fit, those around the chosen one are in sight. The parts of a column differ by pattern, not by color.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import (
    MAX_SERIES,
    Value,
    column_width,
    draw_column_chart,
    draw_stack,
    fill_patterns,
    largest_value,
)
from runwatch.view.text.format import money
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, fit, line, truncate

COLUMN_ROWS: Final = 5
"""Height of the columns, in rows."""

DIVIDED_ROWS: Final = 8
"""Height of columns that are divided into parts, each of which has a row at least."""

OTHERS: Final = line("others")
_MARK: Final = "▲"

PlotRow = tuple[SafeText, Role]


@dataclass(frozen=True, slots=True)
class PlotDay:
    """One column.

    Attributes:
        name: The day, such as ``2026-11-20``.
        value: Its value; ``None`` for a gap.
        words: Its value in words.
        target: Link target, such as what the value counts.
        is_partial: Whether a part of the value is unknown, so that it and its parts are "at least".
    """

    name: str
    value: Value
    words: SafeText
    target: object = None
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class PlotGrouping:
    """A way to divide columns into parts.

    Attributes:
        name: What the parts are, such as ``model``.
        series: The names of the parts, at most :data:`runwatch.view.detail.plots.MAX_SERIES`.
        parts: For each day a value for each of the series; empty if the day cannot be divided.
        others: For each day the largest of the series that are taken together, with its value;
            empty if none are.
    """

    name: str
    series: tuple[SafeText, ...]
    parts: tuple[tuple[Decimal, ...], ...]
    others: tuple[tuple[SafeText, Decimal], ...] = ()


class PlotPlace(NamedTuple):
    """What the user looks at in a plot.

    Attributes:
        day: The chosen day; empty for the last one.
        grouping: The number of the chosen grouping, counted from 1; 0 for none.
    """

    day: str = ""
    grouping: int = 0


class ColumnsInSight(NamedTuple):
    """Where the columns of a drawn plot are.

    Attributes:
        first: The number of the first day in sight.
        shown: How many are in sight.
        step: Cells from one column to the next.
    """

    first: int
    shown: int
    step: int

    def day_at(self, x: int) -> int | None:
        """Return the number of the day at a cell; ``None`` beside the columns."""
        number = x // self.step
        return self.first + number if 0 <= number < self.shown else None


@dataclass(frozen=True, slots=True)
class ColumnPlot:
    """A plot of at least one day.

    Attributes:
        days: The days in order.
        groupings: The ways to divide the columns.
    """

    days: tuple[PlotDay, ...]
    groupings: tuple[PlotGrouping, ...] = ()

    def chosen(self, place: PlotPlace) -> int:
        return next((number for number, day in enumerate(self.days) if day.name == place.day), len(self.days) - 1)

    def moved(self, place: PlotPlace, step: int) -> PlotPlace:
        """Return the place that many days on, at most at either end."""
        number = max(0, min(self.chosen(place) + step, len(self.days) - 1))
        return place._replace(day=self.days[number].name)

    def regrouped(self, place: PlotPlace) -> PlotPlace:
        """Return the place with the next grouping; there is none before the first or after the last one."""
        return place._replace(grouping=(place.grouping + 1) % (len(self.groupings) + 1))

    def in_sight(self, place: PlotPlace, cells: int) -> ColumnsInSight:
        """Return where the columns are in a plot of this width, with the chosen one among them."""
        width, gap = column_width(len(self.days), cells)
        count = max(1, min(len(self.days), (cells + gap) // (width + gap)))
        # By pages from the newest day on, so that columns stand still while the choice moves among them.
        page = (len(self.days) - 1 - self.chosen(place)) // count
        return ColumnsInSight(max(0, len(self.days) - (page + 1) * count), count, width + gap)

    def draw(self, place: PlotPlace, cells: int, glyphs: Glyphs) -> list[PlotRow]:
        """Return the rows of the plot: columns, the chosen day, the time line, and what the patterns stand for."""
        seen, chosen = self.in_sight(place, cells), self.chosen(place)
        days = self.days[seen.first : seen.first + seen.shown]
        grouping = self.groupings[place.grouping - 1] if 0 < place.grouping <= len(self.groupings) else None
        if grouping is None:
            columns = draw_column_chart([day.value for day in days], COLUMN_ROWS, cells, glyphs, largest=self._largest)
        else:
            parts = grouping.parts[seen.first : seen.first + seen.shown]
            columns = self._stacks(days, parts, cells, glyphs)
        described = _day_text(self.days[chosen], (chosen - seen.first) * seen.step, cells, glyphs)
        rows = [
            *((text, Role.LIVE) for text in columns),
            (described, Role.PLAIN),
            (self._axis(seen, cell_width(columns[0]), glyphs), Role.QUIET),
        ]
        if self.groupings:
            legend = self._legend(grouping, chosen, glyphs)
            rows.append((truncate(legend, cells, glyphs.ellipsis), Role.QUIET))
        return rows

    @property
    def _largest(self) -> Value:
        return largest_value([day.value for day in self.days])

    def _stacks(
        self, days: Sequence[PlotDay], parts: Sequence[Sequence[Decimal]], cells: int, glyphs: Glyphs
    ) -> list[SafeText]:
        width, gap = column_width(len(self.days), cells)
        largest = self._largest
        columns = draw_column_chart([day.value for day in days], DIVIDED_ROWS, cells, glyphs, largest=largest)
        (full,) = draw_column_chart([1], 1, 1, glyphs)
        stacks = [draw_stack(own, largest, DIVIDED_ROWS, glyphs) for own in parts]
        rows = []
        for level, row in enumerate(columns):
            drawn = []
            for number, stack in enumerate(stacks):
                x = number * (width + gap)
                # A day that fills no whole cell is not divided: a cell for each part would be far too much.
                is_divided = columns[-1][x] == full and bool(stack.strip())
                drawn.append(stack[DIVIDED_ROWS - 1 - level] * width if is_divided else row[x : x + width])
            rows.append(line((" " * gap).join(drawn), None))
        return rows

    def _legend(self, grouping: PlotGrouping | None, chosen: int, glyphs: Glyphs) -> SafeText:
        """Return what each pattern means, with its amount on the chosen day, the largest first; or how days can be
        grouped.
        """
        if grouping is None:
            return line(f"not grouped; possible by {', '.join(grouping.name for grouping in self.groupings)}")
        is_partial = self.days[chosen].is_partial
        least = f"{glyphs.at_least} " if is_partial else ""
        largest = grouping.others[chosen] if grouping.others else None

        def name_and_value(name: SafeText, value: Decimal | None) -> str:
            return line(name, 24) + ("" if value is None else f" {least}{money(value, is_part=is_partial)}")

        own = grouping.parts[chosen] or (None,) * len(grouping.series)
        named = list(zip(fill_patterns(glyphs), grouping.series, own, strict=False))
        # What is nothing on the chosen day is not named there; others stay last.
        named = [entry for entry in named if entry[2] is None or entry[2]] or named
        named.sort(key=lambda one: (one[1] == OTHERS, -(one[2] or 0)))
        most = f" (most {name_and_value(*largest)})" if largest is not None and largest[1] else ""
        words = (
            f"{pattern} {name_and_value(name, value)}{most if name == OTHERS else ''}" for pattern, name, value in named
        )
        return line(f"by {grouping.name}: {'   '.join(words)}", None)

    def _axis(self, seen: ColumnsInSight, cells: int, glyphs: Glyphs) -> SafeText:
        """Format the first and the last day in sight, and the largest value of all between them."""
        last = seen.first + seen.shown - 1
        before = glyphs.ellipsis if seen.first else ""
        after = glyphs.ellipsis if last < len(self.days) - 1 else ""
        left, right = line(f"{before}{_short(self.days[seen.first])}"), line(f"{_short(self.days[last])}{after}")
        room = cells - cell_width(left) - cell_width(right)
        if room <= 0 or len(self.days) < 2:
            return right
        known = [(Decimal(day.value), _short(day)) for day in self.days if day.value is not None]
        most = max(known, key=lambda one: one[0], default=None)
        least = min(known, key=lambda one: one[0], default=None)
        between = line(" " * room, None)
        if most is not None and least is not None:
            words = f"most {money(most[0])} on {most[1]}"
            fewest = f", least {money(least[0])} on {least[1]}" if least != most else ""
            for legend in (f"  {words}{fewest}  ", f"  {words}  "):
                if cell_width(line(legend, None)) <= room:
                    between = fit(line(legend, None), room)
                    break
        return line(f"{left}{between}{right}", None)


def group_by_series(
    name: str,
    named: Sequence[tuple[SafeText, Sequence[Decimal]]],
    can_divide: Callable[[int, tuple[Decimal, ...]], bool],
) -> list[PlotGrouping]:
    """Return the grouping of days by at most :data:`runwatch.view.detail.plots.MAX_SERIES` series, the smallest ones
    together as others; empty if there are fewer than two or no day can be divided.

    Args:
        named: A name and the values of the same days for each series.
        can_divide: Whether a day, by its number, consists of parts; with a part below zero it is never asked.
    """
    ordered = sorted(named, key=lambda one: -sum(one[1], Decimal(0)))
    others: tuple[tuple[SafeText, Decimal], ...] = ()
    if len(ordered) > MAX_SERIES:
        rest = ordered[MAX_SERIES - 1 :]
        by_day = list(zip(*(values for _, values in rest), strict=True))
        others = tuple(
            max(zip((name for name, _ in rest), values, strict=True), key=lambda one: one[1]) for values in by_day
        )
        ordered[MAX_SERIES - 1 :] = [(OTHERS, [sum(values, Decimal(0)) for values in by_day])]
    columns = zip(*(values for _, values in ordered), strict=True)
    parts = tuple(own if min(own) >= 0 and can_divide(day, own) else () for day, own in enumerate(columns))
    if len(named) < 2 or not any(parts):
        return []
    return [PlotGrouping(name, tuple(title for title, _ in ordered), parts, others)]


def _short(day: PlotDay) -> SafeText:
    """Return a day without its year."""
    return line(day.name[5:], 10)


def _day_text(day: PlotDay, x: int, cells: int, glyphs: Glyphs) -> SafeText:
    """Tell a day beside the mark below its column."""
    words = line(f"{line(day.name, 10)}  {day.words}", None)
    before, after = x - 1, cells - x - 2
    if cell_width(words) <= after or after >= before:
        return line(f"{' ' * x}{glyphs.plain(_MARK)} {truncate(words, max(0, after), glyphs.ellipsis)}", None)
    shown = truncate(words, max(0, before), glyphs.ellipsis)
    return line(f"{fit(shown, max(0, before), 'right')} {glyphs.plain(_MARK)}", None)
