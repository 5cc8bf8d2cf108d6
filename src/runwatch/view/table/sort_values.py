"""Values by which rows are sorted, found for packed records of long lists without unpacking each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from runwatch.records.packing import Shape, own_values
from runwatch.records.record import Record
from runwatch.view.table.packed_reads import PackedReads
from runwatch.view.table.recorded_reads import RecordedReads
from runwatch.view.text.safe_text import json_text

MANY_VALUES: Final = 1_024
"""With so many different values in the records of a shape, each is read from its own record."""

Comparable = tuple[int, Any]


class _UnreadError(Exception):
    """Another member is read than the one that is known."""


class _OneMember(dict[str, Any]):
    """An object of which one member is known; reading anything else fails."""

    __slots__ = ()

    get = dict.__getitem__  # type: ignore[assignment]

    def __missing__(self, name: str) -> Any:
        raise _UnreadError(name)


def _refuse(*_: object, **__: object) -> Any:
    raise _UnreadError


for _name in (
    "__bool__", "__contains__", "__eq__", "__iter__", "__len__", "__ne__", "__or__", "__reduce_ex__", "__repr__",
    "__reversed__", "__ror__", "copy", "items", "keys", "values",
):  # fmt: skip
    setattr(_OneMember, _name, _refuse)


class _OneRead:
    """Reads one member of packed records of a shape, which most records have for themselves.

    Args:
        kind: The type of the records.
        name: The member.
        slot: Where its value is; ``None`` for the id.
    """

    def __init__(self, kind: type[Record], name: str, slot: int | None) -> None:
        self._members = _OneMember()
        self._record = kind(self._members)
        self._name = name
        self._slot = slot

    def of(self, record: Record, packed: bytes) -> Record:
        """Return a record that has this member and no other, until the next call."""
        self._members[self._name] = record.id if self._slot is None else own_values(packed)[self._slot]
        return self._record


class SortValues:
    """Values by which subjects are compared.

    Args:
        value_of: Returns the value of a subject; a pure function.
    """

    def __init__(self, value_of: Callable[[Any], object]) -> None:
        self._value_of = value_of
        self._known: dict[Shape, PackedReads[Comparable] | _OneRead | None] = {}

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
        if known.__class__ is _OneRead:
            try:
                return make_comparable(self._value_of(known.of(subject, values)))
            except _UnreadError:
                pass
        return make_comparable(self._value_of(subject.unpacked()))

    def _read(self, subject: Record, known: PackedReads[Comparable], shape: Shape, values: bytes) -> Comparable:
        reads = RecordedReads(subject)
        found = make_comparable(self._value_of(reads.subject))
        if reads.is_complete:
            known.keep(values, reads.paths, found)
        if not reads.is_complete or not known.is_coded or len(known.results) > MANY_VALUES:
            self._known[shape] = _one_read(subject, reads, shape)
            # A value of parts may refer to what records the reads.
            return make_comparable(self._value_of(subject.unpacked()))
        return found


def _one_read(subject: Record, reads: RecordedReads, shape: Shape) -> _OneRead | None:
    """Return the way to read just the member that was read; ``None`` if there were others, or its value is shared."""
    names = {path[0] for path in reads.paths}
    if not reads.is_complete or len(names) != 1:
        return None
    name = str(names.pop())
    try:
        slot = shape.slot((name,))
    except LookupError:
        return _OneRead(type(subject), name, None)
    return None if slot is None or slot < 0 else _OneRead(type(subject), name, slot)


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
