"""Rows of a resource: rendered on demand, sorted, filtered, and identified by id.

A row costs almost nothing until one of its cells is read, so a list of a hundred thousand records opens at once. The
caller keeps the selection, as an id.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain, compress, count, groupby, islice
from operator import eq
from typing import Any, Final, Generic, NamedTuple

from runwatch.base.generators import run_to_end
from runwatch.base.text import fold_text
from runwatch.records.record import Record
from runwatch.view.spec.resource import Column, ResourceSpec, S, SortKey
from runwatch.view.table.packed_values import PackedValues
from runwatch.view.table.row_texts import RowTexts, SharedText, TimedContext, column_texts
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import json_text, line
from runwatch.view.text.styled_text import StyledText

STEP: Final = 500
"""Maximum number of rows per time slice; takes a few milliseconds."""

MAX_SYNC_ROWS: Final = 2_000
"""Up to this many rows are sorted without yielding, which takes less than a frame."""

_RUN: Final = 5_000
"""Number of rows sorted in one go; the results are merged."""

_MERGED: Final = 10
"""Number of sorted runs merged in one go."""

Comparable = tuple[int, Any]

MISSING: Final = -1
"""The type of a missing value, before those of :func:`make_comparable`."""

NUMBER: Final = 0


def make_comparable(value: object) -> Comparable:
    """Return a key by which any two values can be compared: numbers, then times, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return NUMBER, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return (MISSING, None) if value is None else (3, json_text(value))


class RowRenderer(Generic[S]):
    """Renders all rows of a list. Its context is replaced for all rows at once as time passes.

    Attributes:
        timed: Context for cells rendered from now on; it shows which of them depend on the time.
        texts: The texts of the rows.
    """

    __slots__ = ("_context", "spec", "texts", "timed")

    def __init__(self, spec: ResourceSpec[S], context: RenderContext) -> None:
        self.spec = spec
        self.texts = RowTexts(spec)
        self.context = context

    @property
    def context(self) -> RenderContext:
        """The context for cells rendered from now on."""
        return self._context

    @context.setter
    def context(self, context: RenderContext) -> None:
        self._context = context
        self.timed = TimedContext(context)


class _Made(Generic[S]):
    """Everything rendered for a row: its subject, and its cells in one context."""

    __slots__ = ("ageing", "cells", "context", "subject")

    def __init__(self, subject: S, context: RenderContext) -> None:
        self.subject = subject
        self.context = context
        self.cells: dict[str, StyledText] = {}
        self.ageing: tuple[str, ...] = ()

    def draw_in(self, context: RenderContext) -> None:
        """Drop what differs in another context; if only the time differs, drop only what depends on it."""
        before, self.context = self.context, context
        looks = (before.glyphs, before.time, before.zone) == (context.glyphs, context.time, context.zone)
        if looks and before.names is context.names:
            for column_id in self.ageing:
                self.cells.pop(column_id, None)
        else:
            self.cells.clear()
        self.ageing = ()


class RecordRow(Generic[S]):
    """One record in a table.

    Attributes:
        key: The subject's id, with a number appended if several subjects have the same id.
        item: The record or subject of the row.
    """

    __slots__ = ("_drawing", "_made", "_shared_text", "_unshared_text", "item", "key")

    def __init__(self, drawing: RowRenderer[S], item: Record | S, key: str) -> None:
        self.key = key
        self.item = item
        self._drawing = drawing
        self._made: _Made[S] | None = None
        self._shared_text: SharedText[S] | None = None
        # Made when a filter needs it: few do, and each row has another one.
        self._unshared_text: bytes | None = None

    @property
    def context(self) -> RenderContext:
        return self._drawing.context

    @property
    def subject(self) -> S:
        if self._made is not None:
            return self._made.subject
        item = self.item
        return self._drawing.spec.subject(item) if isinstance(item, Record) else item

    def _unpacked(self) -> S:
        """Return the subject for reading many members in a row."""
        subject: Any = self.subject
        if isinstance(subject, Record):
            subject = subject.unpacked()
        unpacked: S = subject
        return unpacked

    @property
    def id(self) -> str:
        """The subject's id, exactly as sent."""
        return self.item.id

    @property
    def now(self) -> datetime:
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

    def value_words(self, name: str) -> str | None:
        """Return what a cell says of its value alone, without a number of the row's own such as a score; ``None`` if no
        column has this name.
        """
        column = self._drawing.spec.column(name)
        if column is None:
            return None
        text = self.cell(column).text
        shared = () if column.shared_texts is None else column.shared_texts(self.subject)
        if len(shared) == 1 and shared[0] != text:
            return f"{text.partition(' ')[0]} {shared[0]}"
        return text.partition(" +")[0] if shared else text

    def facet_title(self, name: str) -> str:
        field = self._drawing.spec.field(name)
        return field.facet_title or name if field is not None else name

    def text(self) -> str:
        """Return the texts of the row, which a filter without a field searches, one per line (manual: filters,
        "Language").

        That is the id, the whole value of each column that has text, and each cell as shown, except cells that change
        as time passes.
        """
        shared, subject = self.shared_text(), self._unpacked()
        others = chain.from_iterable(column_texts(column, subject) for column in shared.unshared.columns)
        return "\n".join(dict.fromkeys((line(self.id, None), *shared.text.split("\n"), *others)))

    def shared_text(self) -> SharedText[S]:
        """Return the texts that the row shares with others, found once."""
        shared = self._shared_text
        if shared is None:
            shared = self._shared_text = self._drawing.texts.text_of(self.subject)
        return shared

    def contains(self, folded: bytes) -> bool:
        """Whether a text of the row contains one from :func:`runwatch.base.text.fold_text`, ignoring case."""
        shared = self._shared_text or self.shared_text()
        if shared.sought is not folded:
            shared.look_for(folded)
        if shared.found:
            return True
        row_id, unshared = self.id, shared.unshared
        columns = unshared.find_columns(folded)
        if not (row_id.isascii() and row_id.isprintable() and row_id):
            row_id, columns = line(row_id, None), unshared.columns
        if folded in fold_text(row_id):
            return True
        if not columns:
            return False
        kept = unshared.kept
        if not kept.isdisjoint(columns):
            if self._unshared_text is None:
                self._unshared_text = unshared.text_of(self.subject)
            if folded in self._unshared_text:
                return True
        others = [column for column in columns if column not in kept]
        return any(folded in fold_text(text) for column in others for text in self._column_texts(column))

    def _column_texts(self, column: Column[S]) -> Iterator[str]:
        """Yield the texts of a column; one that depends on other records too has the cell as it is shown."""
        yield from column_texts(column, self.subject)
        if not column.is_pure:
            yield self.cell(column).text

    def _cell_texts(self) -> dict[str, None]:
        subject = self._unpacked()
        return dict.fromkeys(
            chain.from_iterable(column_texts(column, subject) for column in self._drawing.spec.all_columns)
        )

    def flag(self, name: str) -> bool:
        return self._drawing.spec.flags[name](self.subject)

    def _drawn(self) -> _Made[S]:
        """Return what was rendered for this row, updated to the current context."""
        made = self._made
        if made is None:
            made = self._made = _Made(self.subject, self._drawing.context)
        if made.context is not self._drawing.context:
            made.draw_in(self._drawing.context)
        return made


RowSteps = Generator[None, None, list[RecordRow[S]]]
"""Work on rows that yields after every time slice and returns the rows."""


def build_rows(spec: ResourceSpec[S], items: Iterable[Record | S], context: RenderContext) -> list[RecordRow[S]]:
    """Return a row for each record or subject, in the order given."""
    return build_rows_with(RowRenderer(spec, context), items)


def build_rows_with(drawing: RowRenderer[S], items: Iterable[Record | S]) -> list[RecordRow[S]]:
    """Do the same as :func:`build_rows` with the caller's renderer."""
    return run_to_end(rebuild_rows(drawing, items, ()))


def rebuild_rows(drawing: RowRenderer[S], items: Iterable[Record | S], before: Sequence[RecordRow[S]]) -> RowSteps[S]:
    """Do the same as :func:`build_rows_with` in time slices, reusing the rows before.

    An earlier row and everything rendered for it is reused if it has the same object. All have the
    same renderer.
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
            made.append(row if row is not None and _is_same(row.item, item) else RecordRow(drawing, item, key))
        yield
    return made


def _is_same(one: object, other: object) -> bool:
    """Whether a row's item is the same object, or the same record with the same related data."""
    return one is other or (isinstance(one, tuple) and one == other)


def _next_key(key: str, seen: dict[str, int]) -> str:
    while True:
        seen[key] += 1
        candidate = f"{key} ({seen[key]})"
        if candidate not in seen:
            return candidate


def sort_rows(
    spec: ResourceSpec[S], found: Sequence[RecordRow[S]], keys: Sequence[SortKey] | None = None
) -> RowSteps[S]:
    """Sort rows: stable, values of one type together, missing values last in both directions.

    Works in time slices and returns the list at the end. The most important key is the first one; ``None`` is the
    resource's own order. An unknown field is read as a dotted path.
    """
    ordered: Sequence[RecordRow[S]] = found
    for key in reversed(spec.sort if keys is None else keys):
        ordered = yield from _by_key(spec, ordered, key)
    return list(ordered)


def _by_key(spec: ResourceSpec[S], found: Sequence[RecordRow[S]], key: SortKey) -> RowSteps[S]:
    """Sort in runs that are merged a few at a time; one sort of everything would block the UI.

    Values of one type are compared directly, which takes a third of the time of pairs with their type. Runs hold
    positions, with the values in a separate list: the garbage collector would have to visit every pair of value and
    row, which takes longer than a screen may block (manual: decisions, "Measured choices").
    """
    field = spec.field(key.field)
    value_of = None if field is None else field.sort_key or field.value
    of_field = None if value_of is None else PackedValues(lambda subject: make_comparable(value_of(subject))).read
    values: list[Any] = []
    places: dict[int, list[int]] = {}
    for start in range(0, len(found), STEP):
        part = found[start : start + STEP]
        if of_field is None:
            compared = [make_comparable(row.value(key.field)) for row in part]
        else:
            compared = [of_field(row.subject) for row in part]
        kinds, part_values = zip(*compared, strict=True)
        values += part_values
        for kind in set(kinds):
            places.setdefault(kind, []).extend(compress(count(start), map(kind.__eq__, kinds)))
        yield
    missing = [found[place] for place in places.pop(MISSING, ())]
    ordered: list[RecordRow[S]] = []
    for kind in sorted(places, reverse=key.descending):
        order = _order_numbers if kind == NUMBER else _order_places
        run = yield from order(places[kind], values, descending=key.descending)
        ordered += map(found.__getitem__, run)
        yield
    return ordered + missing


def _order_numbers(every: list[int], values: Sequence[Any], *, descending: bool) -> Generator[None, None, list[int]]:
    """Do what :func:`_order_places` does for numbers: by the nearest floats, then exactly where those are equal.

    Floats are compared several times faster than decimals, and of two numbers the larger one has no smaller float.
    """
    floats = [0.0] * len(values)
    for start in range(0, len(every), _RUN):
        try:
            for place in every[start : start + _RUN]:
                floats[place] = float(values[place])
        except OverflowError:
            return (yield from _order_places(every, values, descending=descending))
        yield
    ordered = yield from _order_places(every, floats, descending=descending)
    ties: list[int] = []
    for start in range(0, len(ordered), _RUN):
        part = list(map(floats.__getitem__, ordered[start : start + _RUN + 1]))
        ties += compress(count(start), map(eq, part, part[1:]))
        yield
    # Ties in a row are of one float.
    for _, group in groupby(enumerate(ties), lambda tie: tie[1] - tie[0]):
        first, *others = (tie for _, tie in group)
        part_of = slice(first, first + len(others) + 2)
        ordered[part_of] = yield from _order_places(ordered[part_of], values, descending=descending)
    return ordered


def _order_places(every: list[int], values: Sequence[Any], *, descending: bool) -> Generator[None, None, list[int]]:
    """Return places in the order of their values: runs are sorted, and merged a few at a time."""
    runs = [every[start : start + _RUN] for start in range(0, len(every), _RUN)]
    for run in runs:
        run.sort(key=values.__getitem__, reverse=descending)
        yield
    while len(runs) > 1:
        merged = []
        for start in range(0, len(runs), _MERGED):
            # The sort of sorted lists one after another merges them.
            run = list(chain.from_iterable(runs[start : start + _MERGED]))
            run.sort(key=values.__getitem__, reverse=descending)
            merged.append(run)
            yield
        runs = merged
    return runs[0]


class RowCache(NamedTuple):
    """Rows kept while no screen shows them.

    A row is reused only for the same object, so a stale cache does no harm.
    """

    name: str
    drawing: RowRenderer[Any]
    rows: list[RecordRow[Any]]
