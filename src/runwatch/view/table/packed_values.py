"""Values of subjects to sort or search by, found for packed records of long lists without unpacking each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from runwatch.records.packing import Shape
from runwatch.records.record import Record
from runwatch.view.table.part_reader import PartReader, UnreadError, make_part_reader
from runwatch.view.table.recorded_reads import RecordedReads
from runwatch.view.table.shape_results import ShapeResults

MAX_DIFFERENT_VALUES: Final = 1_024
"""With so many different values in the records of a shape, each is read from its own record."""

T = TypeVar("T")


class PackedValues(Generic[T]):
    """One value of each of many subjects.

    Args:
        value_of: Returns the value of a subject; a pure function.
    """

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
