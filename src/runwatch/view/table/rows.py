"""Rows of a resource: rendered on demand, sorted, filtered, and identified by id.

A row costs almost nothing until one of its cells is read, so a list of a hundred thousand records opens at once. The
caller keeps the selection, as an id.
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
"""Maximum number of rows per time slice; takes a few milliseconds."""

DRAWN: Final = 50
"""Maximum number of rows that :func:`filter_and_sort` filters per time slice; takes a few milliseconds even if every
cell is rendered.
"""

MAX_SYNC_ROWS: Final = 2_000
"""Up to this many rows are filtered and sorted without yielding, which takes less than a frame."""


class _Timed(RenderContext):
    """A context that counts how often its time is read.

    Attributes:
        asked: Number of reads so far.
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
        """The current time. Each read is counted."""
        object.__setattr__(self, "asked", self.asked + 1)
        return self._moment


class RowRenderer(Generic[S]):
    """Renders all rows of a list. Its context is replaced for all rows at once as time passes.

    Attributes:
        timed: Context for cells rendered from now on; it shows which of them depend on the time.
    """

    __slots__ = ("_context", "_shared", "spec", "timed")

    def __init__(self, spec: ResourceSpec[S], context: RenderContext) -> None:
        self.spec = spec
        self.context = context
        self._shared: dict[tuple[str, ...], tuple[Column[S], ...]] = {}

    @property
    def context(self) -> RenderContext:
        """The context for cells rendered from now on."""
        return self._context

    @context.setter
    def context(self, context: RenderContext) -> None:
        self._context = context
        self.timed = _Timed(context)

    def shared(self, columns: list[Column[S]]) -> tuple[Column[S], ...]:
        """Return one shared tuple of these columns, because most rows have the same ones."""
        return self._shared.setdefault(tuple(column.id for column in columns), tuple(columns))


class _Made(Generic[S]):
    """Everything rendered for a row: its subject, and its cells and text in one context."""

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
        """Drop what differs in another context; if only the time differs, drop only what depends on it."""
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
        key: The subject's id, with a number appended if several subjects have the same id.
        item: The record or subject of the row.
    """

    __slots__ = ("_drawing", "_made", "item", "key")

    def __init__(self, drawing: RowRenderer[S], item: Record | S, key: str) -> None:
        self.key = key
        self.item = item
        self._drawing = drawing
        self._made: _Made[S] | None = None

    @property
    def context(self) -> RenderContext:
        """The context in which its cells are rendered."""
        return self._drawing.context

    @property
    def subject(self) -> S:
        """The subject of the row."""
        if self._made is not None:
            return self._made.subject
        item = self.item
        subject = self._drawing.spec.subject(item) if isinstance(item, Record) else item
        if subject is not item:
            self._made = _Made(subject, self._drawing.context)
        return subject

    @property
    def id(self) -> str:
        """The subject's id, exactly as sent."""
        return self.item.id

    @property
    def now(self) -> datetime:
        """The time that ages are relative to."""
        return self._drawing.context.now

    def cell(self, column: Column[S]) -> StyledText:
        """Return one cell; ``–`` if it is empty."""
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
        """Whether a cell is not empty."""
        return self.cell(column).text not in {"", self._drawing.context.glyphs.nothing}

    def value(self, name: str) -> object:
        """Return the exact value of a field, or of the member at a dotted path; ``None`` if absent."""
        field = self._drawing.spec.field(name)
        if field is not None:
            return field.value(self.subject)
        found = json_paths.get_at(self.subject.raw, json_paths.parse_path(name))
        return None if found is json_paths.MISSING else found

    def shown(self, name: str) -> tuple[str, ...]:
        """Return the texts that a filter on this field searches: the value and the cell."""
        value = self.value(name)
        values = value if isinstance(value, (list, tuple)) else () if value is None else (value,)
        texts = [json_text(item) for item in values]
        column = self._drawing.spec.column(name)
        if column is not None:
            texts.append(self.cell(column).text)
        return tuple(texts)

    def text(self) -> str:
        """Return the text that a filter without a field searches, one text per line: cells, and full values of
        shortened cells.

        The text is cached, because a filter is typed letter by letter; only parts that depend on the time are rendered
        again. Cells rendered for it are not cached, because most rows of a long list are never shown.
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
        """Return the searchable texts of a column: its value if that is text, and its cell."""
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
        """Whether a flag of the resource applies."""
        return self._drawing.spec.flags[name](self.subject)

    def _drawn(self) -> _Made[S]:
        """Return what was rendered for this row, updated to the current context."""
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
"""Work on rows that yields after every time slice and returns the rows."""


def build_rows(spec: ResourceSpec[S], items: Iterable[Record | S], context: RenderContext) -> list[RecordRow[S]]:
    """Return a row for each record or subject, in the order given."""
    return build_rows_with(RowRenderer(spec, context), items)


def build_rows_with(drawing: RowRenderer[S], items: Iterable[Record | S]) -> list[RecordRow[S]]:
    """Do the same as :func:`build_rows` with the caller's renderer."""
    return run_to_end(rebuild_rows(drawing, items, ()))


def rebuild_rows(drawing: RowRenderer[S], items: Iterable[Record | S], before: Sequence[RecordRow[S]]) -> RowSteps[S]:
    """Do the same as :func:`build_rows_with` in time slices, reusing rows.

    An earlier row and everything rendered for it is reused if it has the same object.

    Args:
        drawing: Renderer of all rows, including earlier ones.
        before: Rows of the earlier list.
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
    """Return the rows that match, in the same order."""
    return [row for row in found if matches(row)]


def filter_and_sort(
    spec: ResourceSpec[S],
    found: Sequence[RecordRow[S]],
    keys: Sequence[SortKey] | None = None,
    matches: Callable[[RecordRow[S]], bool] | None = None,
) -> RowSteps[S]:
    """Filter and sort rows: stable, values of one type together, missing values last in both directions.

    Works in time slices of at most :data:`STEP` rows and returns the list at the end.

    Args:
        keys: Fields to sort by, most important first; ``None`` for the resource's own order. An unknown field is read
            as a dotted path.
        matches: Returns whether to keep a row; ``None`` keeps all.
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
    """Sort runs of one time slice each and merge them in slices; one sort of everything would block the UI.

    Runs hold positions, with the values in a separate list: the garbage collector would have to visit every pair of
    value and row, which takes longer than a screen may block (manual: decisions, "Measured choices").
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
            # Free values one by one, because freeing all of them at the end takes noticeable time.
            values[place] = None
        yield
    return ordered + missing


def make_comparable(value: object) -> tuple[int, Any]:
    """Return a key by which any two values can be compared: numbers, then times, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return 3, json_text(value)


@dataclass(frozen=True, slots=True)
class RowCache:
    """Rows kept while no screen shows them.

    A row is reused only for the same object, so a stale cache does no harm.
    """

    name: str
    drawing: RowRenderer[Any]
    rows: list[RecordRow[Any]] = field(repr=False)
