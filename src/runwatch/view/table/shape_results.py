"""What was made of packed records, found for others with the same values without unpacking them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from runwatch.records.packing import ID, Path, Shape, own_values
from runwatch.view.table.recorded_reads import value_key

T = TypeVar("T")

MAX_RESULTS: Final = 16_384
"""So many results are kept for other records of a shape."""


class ShapeResults(Generic[T]):
    """Results for packed records of one shape, by the key that ``key_of`` returns for a packed object.

    A result counts for all records that have the same in each value that was read for it, or for any other result of
    the shape.
    """

    __slots__ = ("_has_read_id", "_shape", "_slots", "key_of", "results")

    def __init__(self, shape: Shape) -> None:
        self.results: dict[Hashable, T] = {}
        self.key_of: Callable[[bytes], Hashable] = _no_key
        self._shape = shape
        self._slots: set[int] = set()
        self._has_read_id = False

    @property
    def is_shared(self) -> bool:
        """Whether only shared values were read so far, which many objects have in common, and so the result."""
        return not self._has_read_id and all(slot < 0 for slot in self._slots)

    def add(self, packed: bytes, paths: Iterable[Path], result: T) -> None:
        """Keep what was made of an object, by the paths of all that was read of it."""
        if self._has_read_id:
            return
        slots = {found[1] for found in map(self._shape.find_slot, paths) if found is not None}
        if ID in slots:
            # Its id was read, so the result counts for no other object.
            self._has_read_id = True
            self.results = {}
            return
        if not self.results or not slots <= self._slots or len(self.results) >= MAX_RESULTS:
            self._slots |= slots
            self.results = {}
            self.key_of = _key_reader(sorted(self._slots))
        key = self.key_of(packed)
        if key is not None:
            self.results[key] = result


def _no_key(_packed: bytes) -> Hashable:
    return None


def _key_reader(slots: list[int]) -> Callable[[bytes], Hashable]:
    own = [slot for slot in slots if slot >= 0]
    shared = [slot for slot in slots if slot < 0]
    codes_of: Callable[[bytes], Hashable] = itemgetter(*shared) if shared else lambda _packed: ()
    if not own:
        return codes_of

    def key_of(packed: bytes) -> Hashable:
        values = own_values(packed)
        key: list[Any] = [codes_of(packed)]
        for slot in own:
            value = values[slot]
            if value.__class__ is dict or value.__class__ is list:
                return None
            key.append(value_key(value))
        return tuple(key)

    return key_of
