"""The texts of rows that a filter searches, made once for all rows that have the same.

A list of a hundred thousand rows has a few statuses, models and reasons. So the texts of most columns are made for the
first row of its kind, together with what was read for them (:mod:`runwatch.view.table.recorded_reads`), and found by
reading just that of the other rows, which takes a twentieth of the time. Columns that differ in nearly every row, such
as amounts, are not shared. They are drawn for a filter only if they can contain its text at all
(:attr:`runwatch.view.spec.resource.Column.words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Generic

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.text import ELLIPSIS, fold_text
from runwatch.records.packing import Path, Shape
from runwatch.records.record import Record
from runwatch.view.spec.resource import Column, ResourceSpec, S
from runwatch.view.table.packed_values import PackedValues
from runwatch.view.table.recorded_reads import MISSING, RecordedReads, value_key
from runwatch.view.table.shape_results import ShapeResults
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText


class TimedContext(RenderContext):
    """A context that counts how often its time is asked for."""

    __slots__ = ("_moment", "asked")

    _moment: datetime
    asked: int

    def __init__(self, context: RenderContext) -> None:
        setting = object.__setattr__
        setting(self, "_moment", context.now)
        setting(self, "asked", 0)
        for name in ("glyphs", "time", "zone", "service", "names", "lost_at"):
            setting(self, name, getattr(context, name))

    @property
    def now(self) -> datetime:
        """The current time. Each read is counted."""
        object.__setattr__(self, "asked", self.asked + 1)
        return self._moment


TEXT_CONTEXT: Final = TimedContext(RenderContext(datetime.min.replace(tzinfo=UTC)))
"""The context of the texts. It is the same on every terminal, so that a filter finds the same everywhere."""

FIRST_CHECK_TEXTS: Final = 128
"""After this many different texts it is checked for the first time whether enough rows share them."""

MIN_ROWS_PER_TEXT: Final = 4
"""By this many rows a text has to be shared on average."""

MAX_DIFFERENT_PART: Final = 0.75
"""A column in which this part of the texts differs is not shared."""

MANY_TEXTS: Final = 2_048
"""From this many different texts on the column that differs most is not shared."""

MAX_TEXTS: Final = 16_384
"""Most different texts that are kept for other rows."""

_WORDS: Final = lazy_pattern(r"[^\W\d_]+")


def column_texts(column: Column[S], subject: S, *, has_value: bool = True) -> Iterator[str]:
    """Yield the texts of a column: its value if that is text, and its cell unless that shows an age.

    The value can be left out where the cell is made of the whole subject.
    """
    if column.searched == "nothing":
        return
    # A right-aligned value is a number.
    needs_value = column.cell is None or (has_value and column.align == "left")
    value = column.value(subject) if needs_value else None
    if isinstance(value, str):
        yield line(value, None)
    if column.searched == "value":
        return
    asked = TEXT_CONTEXT.asked
    if column.cell is not None:
        drawn = column.cell(subject, TEXT_CONTEXT)
    elif value is None:
        return
    else:
        drawn = line(value) if column.format is None else column.format(value, TEXT_CONTEXT)
    if TEXT_CONTEXT.asked == asked:
        yield drawn.text if isinstance(drawn, StyledText) else drawn


def _shared_texts(column: Column[S], subject: S) -> Iterable[str]:
    return column_texts(column, subject) if column.shared_texts is None else column.shared_texts(subject)


class UnsharedColumns(Generic[S]):
    """Columns of which each row has other texts.

    Args:
        partly_shared: Those of them of which it shares :attr:`Column.shared_texts` with other rows.

    Attributes:
        kept: Those of which a row keeps the texts.
    """

    def __init__(self, columns: Sequence[Column[S]], partly_shared: Iterable[Column[S]] = ()) -> None:
        self.columns: Final = tuple(columns)
        self._partly_shared: Final = tuple(partly_shared)
        self.kept: Final = frozenset(column for column in columns if column.is_pure and not column.shows_id)
        # Each alone, because many rows share some of them.
        self._texts: Final = [
            PackedValues(partial(_folded_texts, column, has_value=column not in self._partly_shared)).read
            for column in columns
            if column in self.kept
        ]
        self._folded: bytes | None = None
        self._possible: tuple[Column[S], ...] = ()

    def find_columns(self, folded: bytes) -> tuple[Column[S], ...]:
        """Return the columns in which a text may be found, without case."""
        if folded is not self._folded:
            text = folded.decode("utf-8", "surrogatepass")
            words = _WORDS.findall(text)
            self._folded = folded
            self._possible = tuple(
                column
                for column in self.columns
                if not (words == [text] and column in self._partly_shared)
                and (ELLIPSIS.encode() in folded if column.shows_id else _has_words(column, words))
            )
        return self._possible

    def text_of(self, subject: S) -> bytes:
        """Return the texts of the :attr:`kept` ones, without case, except values that the subject shares."""
        return b"\n".join([text_of(subject) for text_of in self._texts])


def _folded_texts(column: Column[S], subject: S, *, has_value: bool) -> bytes:
    return fold_text("\n".join(column_texts(column, subject, has_value=has_value)))


def _has_words(column: Column[S], words: Sequence[str]) -> bool:
    return column.words is None or all(any(word in known for known in column.words) for word in words)


class SharedText(Generic[S]):
    """Texts that several rows have.

    Attributes:
        text: The texts of the shared columns, one per line.
        unshared: The other columns.
        found: Whether :attr:`sought` is in the text.
    """

    __slots__ = ("_folded", "found", "sought", "text", "unshared")

    def __init__(self, text: str, unshared: UnsharedColumns[S]) -> None:
        self.text = text
        self.unshared = unshared
        self._folded = fold_text(text)
        self.sought: bytes | None = None
        self.found = False

    def look_for(self, folded: bytes) -> None:
        self.sought, self.found = folded, folded in self._folded


class _NextRead:
    """The next value to read of a subject, and what follows by its key: another read, or in the end its texts."""

    __slots__ = ("follows", "holder", "name")

    def __init__(self, holder: int, name: str | int) -> None:
        self.holder = holder
        self.name = name
        self.follows: dict[Any, Any] = {}


class RowTexts(Generic[S]):
    def __init__(self, spec: ResourceSpec[S]) -> None:
        self._spec = spec
        self._share([column for column in spec.all_columns if column.is_pure])

    def text_of(self, subject: S) -> SharedText[S]:
        """Return the texts of a subject, except those of :attr:`SharedText.unshared` columns."""
        pair = subject.packed if isinstance(subject, Record) else None
        if pair is None:
            return self._find_made(subject) or self._make(subject)
        shape, packed = pair
        results = self._by_shape.get(shape)
        found = None if results is None else results.results.get(results.key_of(packed))
        if found is not None:
            self._found_count += 1
            return found
        found = self._find_made(subject) or self._make(subject)
        paths = self._read_paths(subject, found)
        if paths is not None:
            self._by_shape.setdefault(shape, ShapeResults(shape)).add(packed, paths, found)
        return found

    def _find_made(self, subject: S) -> SharedText[S] | None:
        """Return what was made of a subject in which the same was read."""
        holders: list[Any] = [subject.decoded() if isinstance(subject, Record) else subject]
        found: Any = self._reads.get(None)
        while found.__class__ is _NextRead:
            holder, name = holders[found.holder], found.name
            value = holder[name] if name.__class__ is int else holder.get(name, MISSING)
            kind = value.__class__
            # The keys of value_key, for the values that are read most.
            if kind is str or value is None or value is MISSING:
                found = found.follows.get(value)
            elif kind is dict and value:
                holders.append(value)
                found = found.follows.get(dict)
            else:
                if kind is dict or kind is list:
                    holders.append(value)
                elif isinstance(value, Record):
                    holders.append(value.decoded())
                found = found.follows.get(value_key(value))
        self._found_count += 1
        made: SharedText[S] | None = found
        return made

    def _read_paths(self, subject: Any, made: SharedText[S]) -> list[Path] | None:
        """Return all that is read of a record to find its texts; ``None`` if those have been forgotten."""
        holders: list[tuple[Any, Path]] = [(subject.decoded(), ())]
        paths: list[Path] = []
        found: Any = self._reads.get(None)
        while found.__class__ is _NextRead:
            holder, path = holders[found.holder]
            name: Any = found.name
            value = holder[name] if holder.__class__ is list else holder.get(name, MISSING)
            paths.append((*path, name))
            if value.__class__ is dict or value.__class__ is list:
                holders.append((value, paths[-1]))
            found = found.follows.get(value_key(value))
        return paths if found is made else None

    def _share(self, columns: Sequence[Column[S]]) -> None:
        """Share the texts of these columns, from the beginning."""
        self._shared = columns
        partly = [column for column in columns if column.shared_texts is not None]
        # Of columns that the list does not show, only plain values are read of each row; cells take too long to draw.
        hidden = [column for column in self._spec.fields if isinstance(column, Column) and column.searched == "value"]
        searched = (*self._spec.columns, *hidden)
        unshared = [column for column in searched if column not in columns or column in partly]
        self._unshared = UnsharedColumns(unshared, partly)
        self._reads: dict[Any, Any] = {}
        self._by_shape: dict[Shape, ShapeResults[SharedText[S]]] = {}
        self._found_count = 0
        self._check_at = FIRST_CHECK_TEXTS
        self._read_by: list[tuple[object, ...]] = []

    def _make(self, subject: S) -> SharedText[S]:
        if not isinstance(subject, (Record, tuple)):
            return SharedText("", UnsharedColumns(self._spec.columns))
        reads = RecordedReads(subject)
        texts: dict[str, None] = {}
        read_by: list[object] = []
        for column in self._shared:
            reads.recent.clear()
            texts.update(dict.fromkeys(_shared_texts(column, reads.subject)))
            if not reads.is_complete:
                self._share([other for other in self._shared if other is not column])
                return self.text_of(subject)
            read_by.append(tuple(reads.steps[step][2] for step in sorted(reads.recent)))
        made = SharedText("\n".join(texts), self._unshared)
        self._add(reads, made)
        self._read_by.append(tuple(read_by))
        if len(self._read_by) == self._check_at:
            self._check()
        return made

    def _add(self, reads: RecordedReads, made: SharedText[S]) -> None:
        follows, key = self._reads, None
        for holder, name, next_key in reads.steps:
            read = follows.setdefault(key, _NextRead(holder, name))
            follows, key = read.follows, next_key
        follows[key] = made

    def _check(self) -> None:
        """Stop sharing columns that differ in most rows if too few rows share their texts; forget too many texts."""
        texts = len(self._read_by)
        self._check_at *= 2
        shared = self._shared
        if self._found_count < MIN_ROWS_PER_TEXT * texts:
            different = [len(set(read)) for read in zip(*self._read_by, strict=True)]
            most = max(different) if texts >= MANY_TEXTS else MAX_DIFFERENT_PART * texts
            shared = [column for column, count in zip(shared, different, strict=True) if count < most]
        if len(shared) < len(self._shared) or texts >= MAX_TEXTS:
            self._share(shared)
