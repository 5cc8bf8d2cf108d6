"""Records what is read of a subject, so that what was made of it serves for others that are equal in just that.

A subject is a record or a named tuple with records in it. The texts of a column are a pure function of its subject, so
two subjects in which the same values are found on the same way have the same texts, whatever else they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from runwatch.base.json import ExactNumber
from runwatch.records.packing import Path
from runwatch.records.record import Record

MISSING: Final = object()
"""In place of the value of a member that an object does not have."""

_NO_MEMBERS: Final = object()


def value_key(value: Any) -> Any:
    """Return what two values have in common if they are equal without their parts.

    An object counts only by whether it has members, an array by its length, a record by its type: what is in them is
    read by itself. Numbers count with their digits. A value of an unexpected type equals no other.
    """
    kind = value.__class__
    if kind is str or value is None or value is MISSING or kind is bool:
        return value
    if kind is dict:
        return kind if value else _NO_MEMBERS
    if kind is list:
        return kind, len(value)
    if kind is ExactNumber:
        return kind, value.literal
    if kind is int or kind is float:
        return kind, repr(value)
    if isinstance(value, Record):
        return kind
    return kind if value == () else object()


class RecordedReads:
    """The reads of a subject.

    Args:
        subject: A record or a named tuple.

    Attributes:
        subject: The subject in a form that records what is read.
        steps: For each value, in the order in which they were read first: the number of its holder, its name or
            position there, and its :func:`value_key`. Holder 0 is the subject, holder n the nth value with parts.
        recent: The positions in ``steps`` of the values read since this was emptied.
        is_complete: Whether ``steps`` has all that was read.
    """

    def __init__(self, subject: Any) -> None:
        self.steps: list[tuple[int, str | int, Any]] = []
        self.recent: set[int] = set()
        self.is_complete = True
        self._read: dict[tuple[int, object], tuple[int, Any]] = {}
        self._holders = 0
        self._held_at: list[Path] = [()]
        self.subject: Any
        if isinstance(subject, Record):
            self.subject = self._with_reads(subject)
        else:
            self._holders = 1
            kind: Any = type(subject)
            self.subject = _recorded_type(kind)(*subject)
            self.subject._reads = self

    @property
    def paths(self) -> list[Path]:
        """Where in a record the values are that were read."""
        return [(*self._held_at[holder], name) for holder, name, _ in self.steps]

    def read(self, holder: int, name: Any, value: Any) -> Any:
        """Note that a value was read; return it, or its form that records what is read of its parts."""
        found = self._read.get((holder, name))
        if found is None:
            step = len(self.steps)
            self.steps.append((holder, name, value_key(value)))
            holders = self._holders
            found = self._read[holder, name] = step, self._with_reads(value)
            if self._holders > holders:
                self._held_at.append((*self._held_at[holder], name))
        self.recent.add(found[0])
        return found[1]

    def _with_reads(self, value: Any) -> Any:
        if isinstance(value, Record):
            return type(value)(_ObjectReads(value.decoded(), self, self._next_holder()))
        if value.__class__ is dict:
            return _ObjectReads(value, self, self._next_holder())
        if value.__class__ is list:
            return _ArrayReads(value, self, self._next_holder())
        return value

    def _next_holder(self) -> int:
        self._holders += 1
        return self._holders - 1


class _ObjectReads(dict[str, Any]):
    """A decoded object that notes each member read by its name."""

    __slots__ = ("_holder", "_reads")

    def __init__(self, members: dict[str, Any], reads: RecordedReads, holder: int) -> None:
        super().__init__(members)
        self._reads, self._holder = reads, holder

    def get(self, name: str, default: Any = None) -> Any:
        value = self._reads.read(self._holder, name, super().get(name, MISSING))
        return default if value is MISSING else value

    def __getitem__(self, name: str) -> Any:
        value = self.get(name, MISSING)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, MISSING) is not MISSING

    def __bool__(self) -> bool:
        return super().__len__() > 0


class _ArrayReads(list[Any]):
    """A decoded array that notes each item read."""

    __slots__ = ("_holder", "_reads")

    def __init__(self, items: list[Any], reads: RecordedReads, holder: int) -> None:
        super().__init__(items)
        self._reads, self._holder = reads, holder

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __reversed__(self) -> Iterator[Any]:
        return (self[index] for index in reversed(range(len(self))))

    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        if not isinstance(index, int):
            self._reads.is_complete = False
            return value
        return self._reads.read(self._holder, range(len(self))[index], value)


def _read_whole(kind: type, *names: str) -> None:
    """Let other ways to read an object or an array note that not all is recorded."""

    def read_whole(original: Any) -> Any:
        def read(self: Any, *values: Any) -> Any:
            self._reads.is_complete = False
            return original(self, *values)

        return read

    for name in names:
        setattr(kind, name, read_whole(getattr(kind, name)))


_COMPARED: Final = ("__eq__", "__ne__", "__repr__", "__reduce_ex__", "copy")
_read_whole(_ObjectReads, *_COMPARED, "__iter__", "__len__", "__or__", "__ror__", "items", "keys", "values")
_read_whole(_ArrayReads, *_COMPARED, "__add__", "__contains__", "__mul__", "count", "index")


@lru_cache(16)
def _recorded_type(kind: Any) -> type[Any]:
    """Return a form of a type of named tuples that notes each member read by its name."""

    def read_member(index: int) -> property:
        return property(lambda self: self._reads.read(0, index, tuple.__getitem__(self, index)))

    names: tuple[str, ...] = kind._fields
    recorded = type(kind.__name__, (kind,), {name: read_member(index) for index, name in enumerate(names)})
    _read_whole(recorded, "__eq__", "__ne__", "__repr__", "__getitem__", "__iter__", "__add__", "_asdict", "_replace")
    return recorded
