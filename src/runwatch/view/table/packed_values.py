"""Values of subjects to sort or search by, found for packed records of long lists without unpacking each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from runwatch.records.packing import Shape
from runwatch.records.record import Record
from runwatch.view.table.packed_reads import PackedReads
from runwatch.view.table.part_reader import PartReader, UnreadError, make_part_reader
from runwatch.view.table.recorded_reads import RecordedReads

MANY_VALUES: Final = 1_024
"""With so many different values in the records of a shape, each is read from its own record."""

T = TypeVar("T")


class PackedValues(Generic[T]):
    """One value of each of many subjects.

    Args:
        value_of: Returns the value of a subject; a pure function.
    """

    def __init__(self, value_of: Callable[[Any], T]) -> None:
        self._value_of = value_of
        self._known: dict[Shape, PackedReads[T] | PartReader | None] = {}

    def of(self, subject: Any) -> T:
        packed = subject.packed if isinstance(subject, Record) else None
        if packed is None:
            return self._value_of(subject)
        shape, values = packed
        try:
            known = self._known[shape]
        except KeyError:
            known = self._known[shape] = PackedReads(shape)
        if known.__class__ is PackedReads:
            found = known.results.get(known.key_of(values))
            return self._read(subject, known, shape, values) if found is None else found
        if known.__class__ is PartReader:
            try:
                return self._value_of(known.of(subject, values))
            except UnreadError:
                pass
        return self._value_of(subject.unpacked())

    def _read(self, subject: Record, known: PackedReads[T], shape: Shape, values: bytes) -> T:
        reads = RecordedReads(subject)
        found = self._value_of(reads.subject)
        if reads.is_complete:
            known.keep(values, reads.paths, found)
        if not reads.is_complete or not known.is_coded or len(known.results) > MANY_VALUES:
            self._known[shape] = make_part_reader(type(subject), reads, shape)
            # The value may hold objects that record their reads, so it is computed again.
            return self._value_of(subject.unpacked())
        return found
