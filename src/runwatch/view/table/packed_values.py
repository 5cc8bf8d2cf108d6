"""Values of subjects to sort or search by, found for packed records of long lists without unpacking each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from runwatch.records.packing import ID, Path, Shape, own_values
from runwatch.records.record import Record
from runwatch.view.table.recorded_reads import RecordedReads
from runwatch.view.table.shape_results import ShapeResults

MAX_DIFFERENT_VALUES: Final = 1_024
"""With so many different values in the records of a shape, each is read from its own record."""

T = TypeVar("T")


class UnreadError(Exception):
    """Something else is read of a record than before of another one of its shape."""


class _Part(dict[str, Any]):
    """An object of which some members are known, of those named; reading anything else fails."""

    __slots__ = ("names",)

    names: frozenset[str]

    # The descriptor itself, so that reading a known member takes no longer than of any object.
    get = dict.__getitem__  # type: ignore[assignment]

    def __missing__(self, name: str) -> Any:
        if name in self.names:
            raise UnreadError(name)

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __bool__(self) -> bool:
        return bool(self.names)


def _refuse(*_: object, **__: object) -> Any:
    raise UnreadError


for _name in (
    "__eq__", "__iter__", "__len__", "__ne__", "__or__", "__reduce_ex__", "__repr__", "__reversed__", "__ror__", "copy",
    "items", "keys", "values",
):  # fmt: skip
    setattr(_Part, _name, _refuse)


_SlottedPart = tuple[Any, str | int, int]
"""The object or array that holds a value, the value's name or position there, and its slot."""


class PartReader:
    """Reads some values of packed records of a shape, without making the objects that hold them again for each."""

    def __init__(self, kind: type[Record], shape: Shape, root: _Part, parts: Sequence[_SlottedPart]) -> None:
        self._record = kind(root)
        self._own = [part for part in parts if 0 <= part[2] != ID]
        self._shared = [(holder, name, shape.table(slot), slot) for holder, name, slot in parts if slot < 0]
        self._ids = [part for part in parts if part[2] == ID]

    def read(self, record: Record, packed: bytes) -> Record:
        """Return a record that has these values and nothing else, until the next call."""
        values = own_values(packed)
        for holder, name, slot in self._own:
            holder[name] = values[slot]
        for holder, name, table, slot in self._shared:
            holder[name] = table[packed[slot]]
        for holder, name, _ in self._ids:
            holder[name] = record.id
        return self._record


def make_part_reader(kind: type[Record], reads: RecordedReads, shape: Shape) -> PartReader | None:
    """Return a reader of what was read of a record; ``None`` if that is not known, or is not only a part of it."""
    holders: dict[Path, Any] = {}
    parts: dict[Path, _SlottedPart] = {}
    if not reads.is_complete or not isinstance(shape.layout(()), tuple):
        return None
    for path in ((), *reads.paths):
        layout, found = shape.layout(path), shape.find_slot(path)
        if layout is not None:
            made: Any = [None] * layout if isinstance(layout, int) else _Part()
            if isinstance(layout, tuple):
                made.names = frozenset(layout)
            holders[path] = made
            if path:
                holders[path[:-1]][path[-1]] = made
        elif found is not None:
            packed_path, slot = found
            parts[packed_path] = (holders[packed_path[:-1]], packed_path[-1], slot)
        elif isinstance(path[-1], str) and path[:-1] in holders:
            # No object of this shape has this member.
            holders[path[:-1]][path[-1]] = None
    if any(
        isinstance(holder, list) and not all((*path, number) in holders for number in range(len(holder)))
        for path, holder in holders.items()
    ):
        # An array stays the same object for all records, so what is in it has to stay too.
        return None
    return PartReader(kind, shape, holders[()], list(parts.values()))


class PackedValues(Generic[T]):
    """One value of each of many subjects, by a pure function of the subject."""

    def __init__(self, value_of: Callable[[Any], T]) -> None:
        self._value_of = value_of
        # How the value is found in records of a shape: among the results of others, in a part, or in the whole record.
        self._ways: dict[Shape, ShapeResults[T] | PartReader | None] = {}

    def read(self, subject: Any) -> T:
        pair = subject.packed if isinstance(subject, Record) else None
        if pair is None:
            return self._value_of(subject)
        shape, packed = pair
        try:
            way = self._ways[shape]
        except KeyError:
            way = self._ways[shape] = ShapeResults(shape)
        if way.__class__ is ShapeResults:
            found = way.results.get(way.key_of(packed))
            return self._read_recorded(subject, way, shape, packed) if found is None else found
        if way.__class__ is PartReader:
            try:
                return self._value_of(way.read(subject, packed))
            except UnreadError:
                pass
        return self._value_of(subject.unpacked())

    def _read_recorded(self, subject: Record, results: ShapeResults[T], shape: Shape, packed: bytes) -> T:
        reads = RecordedReads(subject)
        found = self._value_of(reads.subject)
        if reads.is_complete:
            results.add(packed, reads.paths, found)
        if not reads.is_complete or not results.is_shared or len(results.results) > MAX_DIFFERENT_VALUES:
            self._ways[shape] = make_part_reader(type(subject), reads, shape)
            # The value may hold objects that record their reads, so it is computed again.
            return self._value_of(subject.unpacked())
        return found
