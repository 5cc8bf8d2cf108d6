"""Decoded objects of a long list in little memory, each readable by itself.

Objects of one list are built alike, and most of their parts have few different values: a status, a model, a whole
route. Such a *shared* value is kept once, and each object has one byte for it, its code. Of an object or array with too
many different values the parts are looked at in the same way: it is *split*. A value that differs in most objects, such
as a time, is the object's *own* and is kept with it. So an object takes a tenth of its JSON text, most of its values
are read without decoding it, and it is put together again in a few microseconds, with every value exactly as it came.

For example ``{"id": "ex_9", "status": "ok", "spend": {"usd": 0.25, "unit": "USD"}}``, with ``id`` the member whose text
the caller keeps. Before it came more than :data:`MAX_SHARED_OBJECTS` different ``spend`` and :data:`MAX_SHARED_VALUES`
different ``usd``, so ``spend`` is split, and ``usd`` is an own value::

    layout    ("id", "status", "spend"), and of spend ("usd", "unit"); objects of one layout have one Shape
    tables    of status ["failed", "ok"], of spend.unit ["USD"]
    packed    marshal.dumps([0.25]) + b"\x01\x00": the own values, then the code of status and that of spend.unit
    slots     status is byte -2, spend.unit byte -1, spend.usd own value 0, and id has the slot ID
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from operator import getitem, itemgetter
from typing import Any, Final

MAX_SHARED_VALUES: Final = 256
"""So many different values of a part are shared; with one more, all of them are own values."""

MAX_SHARED_OBJECTS: Final = 64
"""So many different objects or arrays are shared in one place; with one more, it is split."""

MAX_LAYOUTS: Final = 8
"""With so many different layouts or more an object or array is not split but an own value."""

MAX_SHAPES: Final = 256
"""So many shapes are kept of a list; an object of yet another is kept whole."""

MAX_NEW_SHAPES: Final = 4_096
"""After so many objects of yet another shape all further ones are kept whole without a look at their members."""

Path = tuple[str | int, ...]
"""Where a value is: names of members and positions in arrays."""

Layout = tuple[str, ...] | int
"""How an object or array is built: the names of its members, or its length."""

_PICKLED: Final = 0x80
"""The first byte of pickled values, by which they differ from marshalled ones."""

_CANONICAL: Final = 2
"""The version of the marshal format in which equal values are equal bytes."""


ID: Final = 1 << 30
"""In place of the slot of the id."""


class Shape:
    """What packed objects of one layout have in common, and the values that several of them share.

    Slots number the values of a packed object: own ones from the first, which is 0, codes from the last, which is -1.
    """

    __slots__ = ("_layouts", "_result", "_slots", "_splits", "_tables")

    def __init__(
        self,
        tables: Sequence[list[Any]],
        splits: Sequence[tuple[tuple[str, ...] | None, tuple[int, ...]]],
        slots: dict[Path, int],
        layouts: dict[Path, Layout],
    ) -> None:
        self._tables = tuple(tables)
        self._splits = tuple((names, _picker(indexes)) for names, indexes in splits)
        self._result = -1 if splits else 0
        self._slots = slots
        self._layouts = layouts

    def unpack(self, packed: bytes, record_id: str) -> dict[str, Any]:
        """Return the decoded object; values that it shares with others are the same objects in each.

        Args:
            record_id: The text of its id, which is not in the packed object.
        """
        values = own_values(packed)
        tables = self._tables
        if tables:
            values += map(getitem, tables, packed[-len(tables) :])
        values.append(record_id)
        for names, parts_of in self._splits:
            parts = parts_of(values)
            values.append(list(parts) if names is None else dict(zip(names, parts, strict=True)))
        unpacked: dict[str, Any] = values[self._result]
        return unpacked

    def find_slot(self, path: Path) -> tuple[Path, int] | None:
        """Return the path and the slot, :data:`ID` for the id, of the value at a path, or of the one that holds it.

        Returns:
            ``None`` if it is split or missing: all objects of this shape have the same there, parts left out.
        """
        slots = self._slots
        for length in range(len(path), -1, -1):
            found = slots.get(path[:length])
            if found is not None:
                return path[:length], found
        return None

    def layout(self, path: Path) -> Layout | None:
        """Return the layout of an object or array that is split; ``None`` for all else."""
        return self._layouts.get(path)

    def table(self, slot: int) -> Sequence[Any]:
        """Return the shared values in a slot by their code."""
        return self._tables[slot]


def own_values(packed: bytes) -> list[Any]:
    """Return the values that only this object has."""
    values: list[Any] = pickle.loads(packed) if packed[0] == _PICKLED else marshal.loads(packed)  # noqa: S301, S302 - packed here
    return values


def _picker(indexes: tuple[int, ...]) -> Callable[[list[Any]], tuple[Any, ...]]:
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda values: tuple([values[index] for index in indexes])


@dataclass(slots=True, eq=False)
class _PathValues:
    """How the values at one path of the objects of a list are packed.

    Attributes:
        is_split: Whether objects and arrays are split.
        is_own: Whether all values are own ones.
        codes: The codes of shared values by their keys.
        table: The shared values by their code.
        parts: The same for the members of objects, and for all items of arrays under :data:`_ITEM`.
    """

    is_split: bool = False
    is_own: bool = False
    codes: dict[str | bytes | None, int] = field(default_factory=dict)
    table: list[Any] = field(default_factory=list)
    parts: dict[str, _PathValues] = field(default_factory=dict)

    def part(self, name: str) -> _PathValues:
        found = self.parts.get(name)
        if found is None:
            found = self.parts[name] = _PathValues()
        return found

    def stop_sharing(self) -> None:
        """Split values from now on, or make them own ones if they are split already or have too many layouts."""
        layouts = {tuple(value) if value.__class__ is dict else len(value) for value in self.table if _has_parts(value)}
        self.is_split = not self.is_split and 0 < len(layouts) < MAX_LAYOUTS
        self.is_own = not self.is_split
        self.codes, self.table = {}, []


class _TooManyValuesError(Exception):
    """The values at a path are too many to be shared."""

    def __init__(self, values: _PathValues) -> None:
        super().__init__()
        self.values = values


_ITEM: Final = ""


class Packer:
    """Packs the decoded objects of one list.

    Args:
        id_member: The member whose text the caller keeps.
    """

    def __init__(self, id_member: str) -> None:
        self._id_member = id_member
        self._root = _PathValues(is_split=True)
        self._shapes: dict[Hashable, Shape] = {}
        self._new_shapes = 0

    def pack(self, raw: dict[str, Any]) -> tuple[Shape, bytes]:
        """Pack an object.

        Raises:
            RecursionError: It is nested too deeply.
        """
        while True:
            try:
                return self._pack(raw)
            except _TooManyValuesError as error:
                error.values.stop_sharing()
                self._shapes.clear()

    def _pack(self, raw: dict[str, Any]) -> tuple[Shape, bytes]:
        if self._root.is_own:
            return _WHOLE, _own_bytes([raw])
        own: list[Any] = []
        codes: list[int] = []
        layout: list[Any] = [tuple(raw)]
        for name, value in raw.items():
            if name == self._id_member and value.__class__ is str:
                layout.append(str)
            else:
                _encode_value(self._root.part(name), value, own, codes, layout)
        key = tuple(layout)
        shape = self._shapes.get(key)
        if shape is None:
            self._new_shapes += 1
            if self._new_shapes > MAX_SHAPES:
                self._root.is_own = self._new_shapes > MAX_NEW_SHAPES
                return _WHOLE, _own_bytes([raw])
            shape = self._shapes[key] = _ShapeMaker(self._id_member).make(self._root, raw)
        return shape, _own_bytes(own) + bytes(codes)


class _PartKind(IntEnum):
    """The groups of values from which :meth:`Shape.unpack` puts an object together, in their order there."""

    OWN = 0
    SHARED = 1
    ID = 2
    SPLIT = 3


class _ShapeMaker:
    """Finds where each part of an object is packed, in the order of :func:`_encode_value`.

    Args:
        id_member: The member of the root that is not packed.
    """

    def __init__(self, id_member: str) -> None:
        self._id_member = id_member
        self._own: list[Path] = []
        self._shared: list[Path] = []
        self._tables: list[list[Any]] = []
        self._splits: list[tuple[tuple[str, ...] | None, list[tuple[_PartKind, int]]]] = []
        self._slots: dict[Path, int] = {}
        self._layouts: dict[Path, Layout] = {}

    def make(self, root: _PathValues, raw: dict[str, Any]) -> Shape:
        """Return the shape of an object."""
        self._add_part(root, raw, ())
        shared = len(self._own)
        record_id = shared + len(self._shared)
        starts = (0, shared, record_id, record_id + 1)
        slots = {path: slot for slot, path in enumerate(self._own)}
        slots |= {path: slot - len(self._shared) for slot, path in enumerate(self._shared)}
        splits = [(names, tuple([starts[kind] + number for kind, number in parts])) for names, parts in self._splits]
        return Shape(self._tables, splits, slots | self._slots, self._layouts)

    def _add_part(self, values: _PathValues, value: Any, path: Path) -> tuple[_PartKind, int]:
        """Return the kind of a part, and its number among those."""
        if values.is_own:
            self._own.append(path)
            return _PartKind.OWN, len(self._own) - 1
        if not values.is_split or not _has_parts(value):
            self._shared.append(path)
            self._tables.append(values.table)
            return _PartKind.SHARED, len(self._shared) - 1
        names: tuple[str, ...] | None = None
        parts: list[tuple[_PartKind, int]] = []
        if value.__class__ is list:
            parts += [self._add_part(values.part(_ITEM), item, (*path, number)) for number, item in enumerate(value)]
        else:
            names = tuple(value)
            for name, item in value.items():
                if not path and name == self._id_member and item.__class__ is str:
                    self._slots[(name,)] = ID
                    parts.append((_PartKind.ID, 0))
                else:
                    parts.append(self._add_part(values.part(name), item, (*path, name)))
        self._layouts[path] = len(parts) if names is None else names
        self._splits.append((names, parts))
        return _PartKind.SPLIT, len(self._splits) - 1


_WHOLE: Final = Shape((), (), {(): 0}, {})
"""The shape of objects that are kept whole."""


def _encode_value(values: _PathValues, value: Any, own: list[Any], codes: list[int], layout: list[Any]) -> None:
    """Add a value's own values, its codes, and the layouts of what is split in it."""
    kind = value.__class__
    if values.is_own:
        own.append(value)
        return
    if values.is_split:
        if kind is dict:
            layout.append(tuple(value))
            parts = values.parts
            for name, item in value.items():
                _encode_value(parts.get(name) or values.part(name), item, own, codes, layout)
            return
        if kind is list:
            layout.append(len(value))
            items = values.part(_ITEM)
            for item in value:
                _encode_value(items, item, own, codes, layout)
            return
        layout.append(None)
    key = value if kind is str or value is None else _key(value)
    code = values.codes.get(key)
    if code is None:
        code = len(values.table)
        if code >= (MAX_SHARED_OBJECTS if kind is dict or kind is list else MAX_SHARED_VALUES):
            raise _TooManyValuesError(values)
        values.codes[key] = code
        values.table.append(value)
    codes.append(code)


def _has_parts(value: Any) -> bool:
    return value.__class__ is dict or value.__class__ is list


def _key(value: Any) -> bytes:
    """Return bytes that are equal only for values of the same types and digits, with members in the same order."""
    try:
        return marshal.dumps(value, _CANONICAL)
    except ValueError:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _own_bytes(values: list[Any]) -> bytes:
    try:
        return marshal.dumps(values)
    except ValueError:
        # An exact number, or too many levels.
        return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)
