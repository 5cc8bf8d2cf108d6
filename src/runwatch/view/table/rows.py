"""Rows of a resource: drawn when somebody looks, sorted, filtered, and compared by id.

A row costs next to nothing until one of its cells is asked for, so that a list of a hundred thousand records opens at
once. Which row is selected is the caller's to keep, as an id.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final, Generic

from runwatch.base.generators import run_to_end
from runwatch.records.record import Record
from runwatch.view.spec.resource import Column, ResourceSpec, S, SortKey
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText, json_text, line
from runwatch.view.text.styled_text import StyledText

STEP: Final = 500
"""The most rows that one step of work on rows looks at: a few milliseconds."""

DRAWN: Final = 50
"""The most rows that one step of :func:`filter_and_sort` filters: a few milliseconds, also where it draws every cell.
"""

MAX_SYNC_ROWS: Final = 2_000
"""Up to so many rows are filtered and sorted in one go, which takes less than a frame."""


class _Timed(RenderContext):
    """A context that counts how often it is asked for the time.

    Attributes:
        asked: The number so far.
    """

    __slots__ = ("_moment", "asked")

    _moment: datetime
    asked: int

    def __init__(self, context: RenderContext) -> None:
        setting = object.__setattr__
        setting(self, "_moment", context.now)
        setting(self, "asked", 0)
        for name in ("glyphs", "time", "zone"):
            setting(self, name, getattr(context, name))

    @property
    def now(self) -> datetime:
        """The moment, for what changes as time goes by."""
        object.__setattr__(self, "asked", self.asked + 1)
        return self._moment


class RowRenderer(Generic[S]):
    """What all rows of one list are drawn with: exchanged for all of them at once as time goes by.

    Attributes:
        spec: Their resource.
        timed: What cells are drawn with from now on, which says whether they asked for the time.
    """

    __slots__ = ("_context", "_shared", "spec", "timed")

    def __init__(self, spec: ResourceSpec[S], context: RenderContext) -> None:
        self.spec = spec
        self.context = context
        self._shared: dict[tuple[str, ...], tuple[Column[S], ...]] = {}

    @property
    def context(self) -> RenderContext:
        """What cells are drawn with from now on."""
        return self._context

    @context.setter
    def context(self, context: RenderContext) -> None:
        self._context = context
        self.timed = _Timed(context)

    def shared(self, columns: list[Column[S]]) -> tuple[Column[S], ...]:
        """These columns as one object for all rows, because most rows have the same ones."""
        return self._shared.setdefault(tuple(column.id for column in columns), tuple(columns))


class _Made(Generic[S]):
    """What was made of a row that somebody looked at: its subject, and its cells and text in one context."""

    __slots__ = ("aged", "ageing", "cells", "context", "moving", "subject", "text")

    def __init__(self, subject: S, context: RenderContext) -> None:
        self.subject = subject
        self.context = context
        self.cells: dict[str, StyledText] = {}
        self.ageing: tuple[str, ...] = ()
        self.text: str | None = None
        self.moving: tuple[Column[S], ...] = ()
        self.aged: str | None = None

    def draw_in(self, context: RenderContext) -> None:
        """Forget what looks different in another context: where only time has gone by, what was drawn by the time."""
        before, self.context, self.aged = self.context, context, None
        if (before.glyphs, before.time, before.zone) == (context.glyphs, context.time, context.zone):
            for column_id in self.ageing:
                self.cells.pop(column_id, None)
        else:
            self.cells.clear()
            self.text = None
        self.ageing = ()


class RecordRow(Generic[S]):
    """One record in a table.

    Attributes:
        key: The subject's id; where several have the same one, made unique by a number behind it.
        item: The record or subject that the row was made of.
    """

    __slots__ = ("_drawing", "_made", "item", "key")

    def __init__(self, drawing: RowRenderer[S], item: Record | S, key: str) -> None:
        self.key = key
        self.item = item
        self._drawing = drawing
        self._made: _Made[S] | None = None

    @property
    def context(self) -> RenderContext:
        """What its cells are drawn with."""
        return self._drawing.context

    @property
    def subject(self) -> S:
        """What the row is about."""
        if self._made is not None:
            return self._made.subject
        item = self.item
        subject = self._drawing.spec.subject(item) if isinstance(item, Record) else item
        if subject is not item:
            self._made = _Made(subject, self._drawing.context)
        return subject

    @property
    def id(self) -> str:
        """The subject's id, exactly as it came."""
        return self.item.id

    @property
    def now(self) -> datetime:
        """The moment that ages are counted to."""
        return self._drawing.context.now

    def cell(self, column: Column[S]) -> StyledText:
        """One cell; ``–`` where there is nothing."""
        made = self._drawn()
        drawn = made.cells.get(column.id)
        if drawn is None:
            timed = self._drawing.timed
            asked = timed.asked
            drawn = column.draw(made.subject, timed)
            if drawn is None:
                value = column.value(made.subject)
                drawn = StyledText(line(timed.glyphs.nothing if value is None else value))
            made.cells[column.id] = drawn
            if timed.asked != asked:
                made.ageing += (column.id,)
        return drawn

    def uses(self, column: Column[S]) -> bool:
        """Whether a cell has anything in it."""
        return self.cell(column).text not in {"", self._drawing.context.glyphs.nothing}

    def value(self, name: str) -> object:
        """The exact value of a field, or of the member at a dotted path; ``None`` when there is none."""
        field = self._drawing.spec.field(name)
        if field is not None:
            return field.value(self.subject)
        found = json_paths.get_at(self.subject.raw, json_paths.parse_path(name))
        return None if found is json_paths.MISSING else found

    def shown(self, name: str) -> tuple[str, ...]:
        """The texts that a filter on this field looks into: the value in words, and the cell as it is drawn."""
        value = self.value(name)
        values = value if isinstance(value, (list, tuple)) else () if value is None else (value,)
        texts = [json_text(item) for item in values]
        column = self._drawing.spec.column(name)
        if column is not None:
            texts.append(self.cell(column).text)
        return tuple(texts)

    def text(self) -> str:
        """What a filter without a field looks into, one text a line: the cells, and what a cell shows only a part of.

        It is kept, because a filter is typed letter by letter, and made anew only as far as it changes with time; the
        cells drawn for it are not, because most rows of a long list are never shown.
        """
        made = self._drawn()
        timed = self._drawing.timed
        if made.text is None:
            found = {line(self.id, None): None}
            moving: list[Column[S]] = []
            aged: list[SafeText] = []
            for column in self._drawing.spec.columns:
                asked = timed.asked
                texts = self._texts(column, made.subject)
                if timed.asked == asked:
                    found.update(dict.fromkeys(texts))
                else:
                    moving.append(column)
                    aged += texts
            made.text, made.moving = "\n".join(found), self._drawing.shared(moving)
            made.aged = _below(aged)
        elif made.aged is None:
            made.aged = _below(text for column in made.moving for text in self._texts(column, made.subject))
        return made.text + made.aged

    def _texts(self, column: Column[S], subject: S) -> list[SafeText]:
        """What a column says of the row: its value where that is a text, and its cell."""
        texts: list[SafeText] = []
        value = column.value(subject)
        if isinstance(value, str):
            texts.append(line(value, None))
        drawn = column.draw(subject, self._drawing.timed)
        if drawn is not None:
            texts.append(drawn.text)
        elif value is not None:
            texts.append(line(value))
        return texts

    def flag(self, name: str) -> bool:
        """Whether a flag of the resource is up."""
        return self._drawing.spec.flags[name](self.subject)

    def _drawn(self) -> _Made[S]:
        """What was drawn of this row in the present context."""
        made = self._made
        if made is None:
            subject = self.subject
            made = self._made = self._made or _Made(subject, self._drawing.context)
        if made.context is not self._drawing.context:
            made.draw_in(self._drawing.context)
        return made


def _below(texts: Iterable[SafeText]) -> str:
    return "".join(f"\n{text}" for text in texts)


RowSteps = Generator[None, None, list[RecordRow[S]]]
"""Work on rows that pauses after every step, and returns the rows."""


def build_rows(spec: ResourceSpec[S], items: Iterable[Record | S], context: RenderContext) -> list[RecordRow[S]]:
    """A row for each record or subject, in the order given."""
    return build_rows_with(RowRenderer(spec, context), items)


def build_rows_with(drawing: RowRenderer[S], items: Iterable[Record | S]) -> list[RecordRow[S]]:
    """As :func:`build_rows`, with what they are drawn with in the caller's hand."""
    return run_to_end(rebuild_rows(drawing, items, ()))


def rebuild_rows(drawing: RowRenderer[S], items: Iterable[Record | S], before: Sequence[RecordRow[S]]) -> RowSteps[S]:
    """As :func:`build_rows_with`, in steps like those of :func:`filter_and_sort`.

    A row of before is taken again, with everything that was made of it, where it is about the same object.

    Args:
        drawing: What rows are drawn with, those of before too.
        items: The records or subjects.
        before: The rows of an earlier list.
    """
    earlier: dict[str, RecordRow[S]] = {}
    for start in range(0, len(before), STEP):
        earlier.update((row.key, row) for row in before[start : start + STEP])
        yield
    made: list[RecordRow[S]] = []
    seen: dict[str, int] = {}
    left = iter(items)
    while part := tuple(islice(left, STEP)):
        for item in part:
            key = item.id
            if key in seen:
                key = _next_key(key, seen)
            seen[key] = 1
            row = earlier.get(key)
            made.append(row if row is not None and row.item is item else RecordRow(drawing, item, key))
        yield
    return made


def _next_key(key: str, seen: dict[str, int]) -> str:
    while True:
        seen[key] += 1
        candidate = f"{key} ({seen[key]})"
        if candidate not in seen:
            return candidate


def keep_matching_rows(found: Iterable[RecordRow[S]], matches: Callable[[RecordRow[S]], bool]) -> list[RecordRow[S]]:
    """The rows that a filter keeps, in the same order."""
    return [row for row in found if matches(row)]


def sort_rows(
    spec: ResourceSpec[S], found: Iterable[RecordRow[S]], keys: Sequence[SortKey] | None = None
) -> list[RecordRow[S]]:
    """Rows in order, all at once; see :func:`filter_and_sort`."""
    return run_to_end(filter_and_sort(spec, list(found), keys))


def filter_and_sort(
    spec: ResourceSpec[S],
    found: Sequence[RecordRow[S]],
    keys: Sequence[SortKey] | None = None,
    matches: Callable[[RecordRow[S]], bool] | None = None,
) -> RowSteps[S]:
    """Rows filtered and in order: stable, values of one type together, missing values last in either direction.

    It is done in steps, so that whoever has a hundred thousand rows can do something else in between: no step looks at
    more than :data:`STEP` rows. What it returns at its end is the list.

    Args:
        spec: Their resource.
        found: The rows.
        keys: The fields to sort by, the most important first; ``None`` for the resource's own order. A field that
            the resource does not have is read as a dotted path.
        matches: What keeps a row; ``None`` keeps all.
    """
    ordered: Sequence[RecordRow[S]] = found
    if matches is not None:
        kept: list[RecordRow[S]] = []
        for start in range(0, len(found), DRAWN):
            kept += keep_matching_rows(found[start : start + DRAWN], matches)
            yield
        ordered = kept
    for key in reversed(spec.sort if keys is None else keys):
        ordered = yield from _by_key(spec, ordered, key)
    return list(ordered)


def _by_key(spec: ResourceSpec[S], found: Sequence[RecordRow[S]], key: SortKey) -> RowSteps[S]:
    """Sorted runs of one step each, merged step by step: sorting in one go would hold everything up.

    The runs are of places, and the values stand beside them: a walk for garbage has to look at each pair of a value and
    a row, and takes longer then than a screen may stand still (ours, measured).
    """
    field = spec.field(key.field)
    values: list[Any] = []
    runs: list[list[int]] = []
    missing: list[RecordRow[S]] = []
    for start in range(0, len(found), STEP):
        run: list[int] = []
        for place, row in enumerate(found[start : start + STEP], start):
            if field is not None and field.sort_key is not None:
                value = field.sort_key(row.subject)
            else:
                value = row.value(key.field)
            if value is None:
                values.append(None)
                missing.append(row)
            else:
                values.append(make_comparable(value))
                run.append(place)
        run.sort(key=values.__getitem__, reverse=key.descending)
        runs.append(run)
        yield
    merged = heapq.merge(*runs, key=values.__getitem__, reverse=key.descending)
    ordered: list[RecordRow[S]] = []
    while part := list(islice(merged, STEP)):
        for place in part:
            ordered.append(found[place])
            # To free all of them at the end takes a while.
            values[place] = None
        yield
    return ordered + missing


def make_comparable(value: object) -> tuple[int, Any]:
    """Something that any two values can be compared by: numbers, then moments, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return 3, json_text(value)


@dataclass(frozen=True, slots=True)
class RowCache:
    """Rows that no screen shows.

    A row is taken again only where it is about the same object, so that it does no harm when the list has changed.

    Attributes:
        name: The list's name.
        drawing: What they are drawn with.
        rows: The rows.
    """

    name: str
    drawing: RowRenderer[Any]
    rows: list[RecordRow[Any]] = field(repr=False)
