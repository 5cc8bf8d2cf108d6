"""Rows of a resource: drawn when somebody looks, sorted, filtered, and compared by id.

A row costs next to nothing until one of its cells is asked for, so that a list of a hundred thousand records opens at
once. Which row is selected is the caller's to keep, as an id.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final, Generic

from runwatch.records.record import Record
from runwatch.view import flat
from runwatch.view.drawn import Drawn, json_text, line
from runwatch.view.format import Context
from runwatch.view.glyphs import Role
from runwatch.view.resource import Column, ResourceSpec, S, SortKey, Styled

STEP: Final = 500
"""The most rows that one step of :func:`arrange` looks at: a few milliseconds, also where a filter draws every cell."""

AT_ONCE: Final = 2_000
"""Up to so many rows are filtered and sorted in one go, which takes less than a frame."""


class Drawing(Generic[S]):
    """What all rows of one list are drawn with: exchanged for all of them at once as time goes by.

    Attributes:
        spec: Their resource.
        context: What cells are drawn with from now on.
    """

    __slots__ = ("context", "spec")

    def __init__(self, spec: ResourceSpec[S], context: Context) -> None:
        self.spec = spec
        self.context = context


class _Made(Generic[S]):
    """What was made of a row that somebody looked at: its subject, and its cells and text in one context."""

    __slots__ = ("cells", "context", "subject", "text")

    def __init__(self, subject: S) -> None:
        self.subject = subject
        self.draw_in(None)

    def draw_in(self, context: Context | None) -> None:
        """Forget what was drawn in another context."""
        self.context = context
        self.cells: dict[str, Styled] = {}
        self.text: str | None = None


class Row(Generic[S]):
    """One record in a table.

    Attributes:
        key: The subject's id; where several have the same one, made unique by a number behind it.
        item: The record or subject that the row was made of.
    """

    __slots__ = ("_drawing", "_made", "item", "key")

    def __init__(self, drawing: Drawing[S], item: Record | S, key: str) -> None:
        self.key = key
        self.item = item
        self._drawing = drawing
        self._made: _Made[S] | None = None

    @property
    def context(self) -> Context:
        """What its cells are drawn with."""
        return self._drawing.context

    @property
    def subject(self) -> S:
        """What the row is about."""
        made = self._made
        if made is None:
            item = self.item
            made = self._made = _Made(self._drawing.spec.subject(item) if isinstance(item, Record) else item)
        return made.subject

    @property
    def id(self) -> str:
        """The subject's id, exactly as it came."""
        return self.item.id

    @property
    def now(self) -> datetime:
        """The moment that ages are counted to."""
        return self._drawing.context.now

    def cell(self, column: Column[S]) -> Styled:
        """One cell; ``–`` where there is nothing."""
        context, made = self._drawing.context, self._drawn()
        drawn = made.cells.get(column.id)
        if drawn is None:
            drawn = column.draw(made.subject, context)
            if drawn is None:
                value = column.value(made.subject)
                drawn = Styled(line(context.glyphs.nothing if value is None else value))
            made.cells[column.id] = drawn
        return drawn

    def uses(self, column: Column[S]) -> bool:
        """Whether a cell has anything in it."""
        return self.cell(column).text not in {"", self._drawing.context.glyphs.nothing}

    @property
    def cells(self) -> dict[str, Drawn]:
        """Every cell by its column's id."""
        return {column.id: self.cell(column).text for column in self._drawing.spec.columns}

    @property
    def roles(self) -> dict[str, Role]:
        """Every cell's colour role by its column's id."""
        return {column.id: self.cell(column).role for column in self._drawing.spec.columns}

    def value(self, name: str) -> object:
        """The exact value of a field, or of the member at a dotted path; ``None`` when there is none."""
        field = self._drawing.spec.field(name)
        if field is not None:
            return field.value(self.subject)
        found = flat.at(self.subject.raw, flat.split(name))
        return None if found is flat.MISSING else found

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

        It is kept, because a filter is typed letter by letter; the cells drawn for it are not, because most rows of a
        long list are never shown.
        """
        made = self._drawn()
        if made.text is None:
            subject, context = made.subject, self._drawing.context
            found = {line(self.id, None): None}
            for column in self._drawing.spec.columns:
                value = column.value(subject)
                if isinstance(value, str):
                    found[line(value, None)] = None
                drawn = column.draw(subject, context)
                if drawn is not None:
                    found[drawn.text] = None
                elif value is not None:
                    found[line(value)] = None
            made.text = "\n".join(found)
        return made.text

    def flag(self, name: str) -> bool:
        """Whether a flag of the resource is up."""
        return self._drawing.spec.flags[name](self.subject)

    def _drawn(self) -> _Made[S]:
        """What was drawn of this row in the present context."""
        made = self._made
        if made is None:
            # The subject is what everything is made of.
            _ = self.subject
            made = self._made
            assert made is not None
        if made.context is not self._drawing.context:
            made.draw_in(self._drawing.context)
        return made


Steps = Generator[None, None, list[Row[S]]]
"""Work on rows that pauses after every step, and returns the rows."""


def rows(spec: ResourceSpec[S], items: Iterable[Record | S], context: Context) -> list[Row[S]]:
    """A row for each record or subject, in the order given."""
    return rows_of(Drawing(spec, context), items)


def rows_of(drawing: Drawing[S], items: Iterable[Record | S]) -> list[Row[S]]:
    """As :func:`rows`, with what they are drawn with in the caller's hand."""
    made: list[Row[S]] = []
    seen: dict[str, int] = {}
    for item in items:
        key = item.id
        if key in seen:
            key = _next_key(key, seen)
        seen[key] = 1
        made.append(Row(drawing, item, key))
    return made


def _next_key(key: str, seen: dict[str, int]) -> str:
    while True:
        seen[key] += 1
        candidate = f"{key} ({seen[key]})"
        if candidate not in seen:
            return candidate


def select(found: Iterable[Row[S]], matches: Callable[[Row[S]], bool]) -> list[Row[S]]:
    """The rows that a filter keeps, in the same order."""
    return [row for row in found if matches(row)]


def sort(spec: ResourceSpec[S], found: Iterable[Row[S]], keys: Sequence[SortKey] | None = None) -> list[Row[S]]:
    """Rows in order, all at once; see :func:`arrange`."""
    return finish(arrange(spec, list(found), keys))


def arrange(
    spec: ResourceSpec[S],
    found: Sequence[Row[S]],
    keys: Sequence[SortKey] | None = None,
    matches: Callable[[Row[S]], bool] | None = None,
) -> Steps[S]:
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
    ordered: Sequence[Row[S]] = found
    if matches is not None:
        kept: list[Row[S]] = []
        for start in range(0, len(found), STEP):
            kept += select(found[start : start + STEP], matches)
            yield
        ordered = kept
    for key in reversed(spec.sort if keys is None else keys):
        ordered = yield from _by_key(spec, ordered, key)
    return list(ordered)


def finish(steps: Steps[S]) -> list[Row[S]]:
    """What is there when all steps are done."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return list(done.value)


def _by_key(spec: ResourceSpec[S], found: Sequence[Row[S]], key: SortKey) -> Steps[S]:
    """Sorted runs of one step each, merged step by step: sorting in one go would hold everything up."""
    field = spec.field(key.field)
    runs: list[list[tuple[Any, Row[S]]]] = []
    missing: list[Row[S]] = []
    for start in range(0, len(found), STEP):
        run: list[tuple[Any, Row[S]]] = []
        for row in found[start : start + STEP]:
            if field is not None and field.sort_key is not None:
                value = field.sort_key(row.subject)
            else:
                value = row.value(key.field)
            if value is None:
                missing.append(row)
            else:
                run.append((sort_value(value), row))
        run.sort(key=_first, reverse=key.descending)
        runs.append(run)
        yield
    merged = runs[0] if len(runs) == 1 else heapq.merge(*runs, key=_first, reverse=key.descending)
    ordered: list[Row[S]] = []
    pairs = iter(merged)
    while part := [row for _, row in islice(pairs, STEP)]:
        ordered += part
        yield
    return ordered + missing


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def sort_value(value: object) -> tuple[int, Any]:
    """Something that any two values can be compared by: numbers, then moments, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return 3, json_text(value)


@dataclass(frozen=True, slots=True)
class RowDelta:
    """What changed from one list to the next, by row key.

    Attributes:
        added: Rows that were not there.
        changed: Rows that are about something else than before.
        removed: Rows that are gone.
        order: Every row there is now, in order.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    order: tuple[str, ...]


def diff(before: Sequence[Row[S]], after: Sequence[Row[S]]) -> RowDelta:
    """The difference of two lists of rows."""
    old = {row.key: row.item for row in before}
    added: list[str] = []
    changed: list[str] = []
    for row in after:
        if row.key not in old:
            added.append(row.key)
        elif _differ(old.pop(row.key), row.item):
            changed.append(row.key)
    return RowDelta(tuple(added), tuple(changed), tuple(old), tuple(row.key for row in after))


def _differ(one: object, other: object) -> bool:
    if one is other:
        return False
    try:
        return one != other
    except RecursionError:
        # Two values nested to the interpreter's limit cannot be compared; drawing them again does no harm.
        return True
