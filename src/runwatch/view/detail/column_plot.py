"""A plot with a column for each day, one of which is chosen and described: its day, its value and the parts of it.

If not all days fit, those around the chosen one are in sight. The parts of a column differ by pattern, not by color.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from runwatch.base.text import cell_width
from runwatch.view.detail.plots import (
    MAX_SERIES,
    Value,
    column_width,
    draw_column_chart,
    draw_parts,
    largest_value,
)
from runwatch.view.text.format import counted, money
from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, fit, line, truncate

COLUMN_ROWS: Final = 5
"""Height of the columns, in rows."""

DIVIDED_ROWS: Final = 8
"""Height of columns that are divided into parts, each of which has whole rows."""

OTHERS: Final = line("others")
_MARGIN: Final = 2
_MARK: Final = "▲"

PlotRow = tuple[SafeText, Role]


@dataclass(frozen=True, slots=True)
class PlotDay:
    """One column.

    Attributes:
        name: The day, such as ``2026-11-20``.
        value: Its value; ``None`` for a gap, such as an unknown value.
        words: Its value in words.
        target: Link target, such as what the value counts.
        is_partial: Whether the value or a part of it is unknown, so that what is known of it is "at least".
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
        others: For each day those of the series that are taken together which have a value, the largest first;
            empty if none are.
    """

    name: str
    series: tuple[SafeText, ...]
    parts: tuple[tuple[Decimal, ...], ...]
    others: tuple[tuple[tuple[SafeText, Decimal], ...], ...] = ()


class PlotPlace(NamedTuple):
    """What the user looks at in a plot: a day, empty for the last one, and the number of a grouping from 1; 0 for
    none.
    """

    day: str = ""
    grouping: int = 0


class ColumnsInSight(NamedTuple):
    """The first day in sight of a drawn plot, how many are in sight, and the cells from one column to the next."""

    first: int
    shown: int
    step: int

    def day_at(self, x: int) -> int | None:
        """Return the number of the day at a cell; ``None`` beside the columns."""
        number = x // self.step
        return self.first + number if 0 <= number < self.shown else None


@dataclass(frozen=True, slots=True)
class ColumnPlot:
    """A plot of at least one day, with the ways to divide its columns."""

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
            *((text, Role.QUIET) for text in self._axis(seen, cell_width(columns[0]), cells, glyphs)),
        ]
        if self.groupings:
            rows += [(text, Role.QUIET) for text in self._legend(grouping, chosen, cells, glyphs)]
        return rows

    @property
    def _largest(self) -> Value:
        return largest_value([day.value for day in self.days])

    def _stacks(
        self, days: Sequence[PlotDay], parts: Sequence[Sequence[Decimal]], cells: int, glyphs: Glyphs
    ) -> list[SafeText]:
        """Draw columns as high as undivided ones. A row that is not full has no pattern, so it is of no part."""
        width, gap = column_width(len(self.days), cells)
        columns = draw_column_chart([day.value for day in days], DIVIDED_ROWS, cells, glyphs, largest=self._largest)
        (full,) = draw_column_chart([1], 1, 1, glyphs)
        divided = []
        for number, own in enumerate(parts):
            x = number * (width + gap)
            upwards = [row[x : x + width] for row in reversed(columns)]
            stack = draw_parts(own, sum(glyph.startswith(full) for glyph in upwards), glyphs)
            divided.append([pattern * width for pattern in stack] + upwards[len(stack) :])
        return [line((" " * gap).join(each), None) for each in zip(*divided, strict=True)][::-1]

    def _legend(self, grouping: PlotGrouping | None, chosen: int, cells: int, glyphs: Glyphs) -> list[SafeText]:
        """Return the rows that say what each pattern means, with its amount on the chosen day; or how days can be
        grouped.

        It has the rows that its names and amounts need on any day, with the largest of the others, in the same order on
        every day, so that neither they nor what is below them moves. In them are all others, if there is room.
        """
        if grouping is None:
            words = f"not grouped; possible by {', '.join(grouping.name for grouping in self.groupings)}"
            return [truncate(line(words), cells, glyphs.ellipsis)]

        def wrapped(entries: Iterable[str]) -> list[SafeText]:
            first, *others = entries
            return _wrap([f"by {grouping.name}: {first}", *others], "   ", cells)

        def rows_of(day: int, inside: str = "") -> list[SafeText]:
            entries = self._legend_entries(grouping, day, glyphs)
            return wrapped(f"{entry}{inside if name == OTHERS else ''}" for name, entry in entries)

        def fits(rows: Sequence[SafeText]) -> bool:
            return max(map(cell_width, rows)) <= cells

        names = wrapped(
            f"{pattern} {line(name, 24)}" for pattern, name in zip(glyphs.patterns, grouping.series, strict=False)
        )

        def insides(day: int) -> list[str]:
            """Return what the others consist of on a day: whole, in fewer and fewer words, and not at all."""
            others = grouping.others[day] if grouping.others and self.days[day].value is not None else ()
            amounts = [self._amount(name, value, day, glyphs) for name, value in others]
            return [
                f" ({'most ' * (number < len(amounts))}{', '.join(amounts[:number])})" if number else ""
                for number in range(len(amounts), -1, -1)
            ]

        def least_rows(day: int) -> int:
            # The largest of the others has room.
            drawn = (rows_of(day, inside) for inside in insides(day)[-2:])
            return next((len(rows) for rows in drawn if fits(rows)), 0)

        count = max([len(names), *map(least_rows, range(len(self.days)))])
        drawn = (rows_of(chosen, inside) for inside in insides(chosen))
        rows = next((rows for rows in drawn if len(rows) <= count and fits(rows)), names)
        return [truncate(row, cells, glyphs.ellipsis) for row in rows] + [line("")] * (count - len(rows))

    def _legend_entries(self, grouping: PlotGrouping, day: int, glyphs: Glyphs) -> list[tuple[SafeText, str]]:
        """Return each of the series with its pattern, its name and its amount on a day, if it has one."""
        is_known = self.days[day].value is not None
        own = (grouping.parts[day] if is_known else ()) or (None,) * len(grouping.series)
        return [
            (name, f"{pattern} {self._amount(name, value, day, glyphs)}")
            for pattern, name, value in zip(glyphs.patterns, grouping.series, own, strict=False)
        ]

    def _amount(self, name: SafeText, value: Decimal | None, day: int, glyphs: Glyphs) -> str:
        is_partial = self.days[day].is_partial
        least = f"{glyphs.at_least} " if is_partial else ""
        return line(name, 24) + (f" {least}{money(value, is_part=is_partial)}" if value else "")

    def _axis(self, seen: ColumnsInSight, width: int, cells: int, glyphs: Glyphs) -> list[SafeText]:
        """Format the first and the last day in sight, and what there is in all days: between them, or on rows below
        where the ``width`` of the columns has no room for that.
        """
        last = seen.first + seen.shown - 1
        before = glyphs.ellipsis if seen.first else ""
        after = glyphs.ellipsis if last < len(self.days) - 1 else ""
        left, right = line(f"{before}{_short(self.days[seen.first])}"), line(f"{_short(self.days[last])}{after}")
        if len(self.days) < 2:
            return [right]
        parts = self._range_texts(glyphs)
        words = line(", ".join(parts), None)
        room = width - cell_width(left) - cell_width(right)
        if cell_width(words) + 2 * _MARGIN <= room:
            between = fit(line(f"{' ' * _MARGIN}{words}" if words else "", None), room)
            return [line(f"{left}{between}{right}", None)]
        ends = line(f"{left}{' ' * room}{right}", None) if room > 0 else right
        return [ends, *(truncate(row, cells, glyphs.ellipsis) for row in _wrap(parts, ", ", cells))]

    def _range_texts(self, glyphs: Glyphs) -> list[str]:
        """Return the largest and the smallest value of all days, and of how many it is unknown.

        A day of which a part is unknown may be the largest one, never the smallest.
        """
        known = [(Decimal(day.value), day) for day in self.days if day.value is not None]
        most = max(known, key=lambda one: one[0], default=None)
        least = min((one for one in known if not one[1].is_partial), key=lambda one: one[0], default=None)
        words = []
        if most is not None:
            at_least = f"{glyphs.at_least} " if most[1].is_partial else ""
            amount = money(most[0], is_part=most[1].is_partial)
            words.append(f"most {at_least}{amount} on {_short(most[1])}")
        if least is not None and least != most:
            words.append(f"least {money(least[0])} on {_short(least[1])}")
        partial = [day for day in self.days if day.is_partial]
        unknown = sum(day.value is None for day in partial)
        known_part = len(partial) - unknown
        if unknown:
            words.append(f"{counted(unknown, 'day')} unknown{f', {known_part} in part' if known_part else ''}")
        elif known_part:
            words.append(f"{counted(known_part, 'day')} known in part")
        return words


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
    others: tuple[tuple[tuple[SafeText, Decimal], ...], ...] = ()
    if len(ordered) > MAX_SERIES:
        rest = ordered[MAX_SERIES - 1 :]
        by_day = list(zip(*(values for _, values in rest), strict=True))
        names = [name for name, _ in rest]
        others = tuple(
            tuple(sorted((one for one in zip(names, values, strict=True) if one[1]), key=lambda one: -one[1]))
            for values in by_day
        )
        ordered[MAX_SERIES - 1 :] = [(OTHERS, [sum(values, Decimal(0)) for values in by_day])]
    columns = zip(*(values for _, values in ordered), strict=True)
    parts = tuple(own if min(own) >= 0 and can_divide(day, own) else () for day, own in enumerate(columns))
    if len(named) < 2 or not any(parts):
        return []
    return [PlotGrouping(name, tuple(title for title, _ in ordered), parts, others)]


def _short(day: PlotDay) -> SafeText:
    return line(day.name[5:], 10)


def _day_text(day: PlotDay, x: int, cells: int, glyphs: Glyphs) -> SafeText:
    words, mark = line(f"{line(day.name, 10)}  {day.words}", None), glyphs.plain(_MARK)
    before, after = max(0, x - 1), max(0, cells - x - 2)
    if max(before, after) < cell_width(words):
        value, _, counts = day.words.partition("  ")
        shown = line(f"{_short(day)}  {value}", None)
        if counts and cell_width(shown) <= before and cell_width(line(counts, None)) <= after:
            return line(f"{fit(shown, before, 'right')} {mark} {counts}", None)
    if cell_width(words) <= after or after >= before:
        return line(f"{' ' * x}{mark} {truncate(words, after, glyphs.ellipsis)}", None)
    return line(f"{fit(truncate(words, before, glyphs.ellipsis), before, 'right')} {mark}", None)


def _wrap(parts: Sequence[str], separator: str, cells: int) -> list[SafeText]:
    """Return the parts in as few rows as they need; none is divided, so that one alone may be wider than its row."""
    end = separator.rstrip()
    rows: list[str] = []
    for part in parts:
        if rows and cell_width(line(f"{rows[-1]}{separator}{part}{end}", None)) <= cells:
            rows[-1] += separator + part
            continue
        if rows:
            rows[-1] += end
        rows.append(part)
    return [line(row, None) for row in rows]
