"""Values by which rows are sorted, found for packed records of long lists without unpacking each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from runwatch.records.packing import Shape
from runwatch.records.record import Record
from runwatch.view.table.packed_reads import PackedReads
from runwatch.view.table.part_reader import PartReader, UnreadError, make_part_reader
from runwatch.view.table.recorded_reads import RecordedReads
from runwatch.view.text.safe_text import json_text

MANY_VALUES: Final = 1_024
"""With so many different values in the records of a shape, each is read from its own record."""

Comparable = tuple[int, Any]


class SortValues:
    """Values by which subjects are compared.

    Args:
        value_of: Returns the value of a subject; a pure function.
    """

    def __init__(self, value_of: Callable[[Any], object]) -> None:
        self._value_of = value_of
        self._known: dict[Shape, PackedReads[Comparable] | PartReader | None] = {}

    def of(self, subject: Any) -> Comparable:
        """Return the value of a subject as :func:`make_comparable` does."""
        packed = subject.packed if isinstance(subject, Record) else None
        if packed is None:
            return make_comparable(self._value_of(subject))
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
                return make_comparable(self._value_of(known.of(subject, values)))
            except UnreadError:
                pass
        return make_comparable(self._value_of(subject.unpacked()))

    def _read(self, subject: Record, known: PackedReads[Comparable], shape: Shape, values: bytes) -> Comparable:
        reads = RecordedReads(subject)
        found = make_comparable(self._value_of(reads.subject))
        if reads.is_complete:
            known.keep(values, reads.paths, found)
        if not reads.is_complete or not known.is_coded or len(known.results) > MANY_VALUES:
            self._known[shape] = make_part_reader(type(subject), reads, shape)
            # A value of parts may refer to what records the reads.
            return make_comparable(self._value_of(subject.unpacked()))
        return found


MISSING: Final = -1
"""The type of a missing value, in place of the numbers of :func:`make_comparable`."""


def make_comparable(value: object) -> Comparable:
    """Return a key by which any two values can be compared: numbers, then times, then text, then the rest."""
    if isinstance(value, (int, float, Decimal)):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    if isinstance(value, str):
        return 2, (value.casefold(), value)
    return (MISSING, None) if value is None else (3, json_text(value))
