"""Decoded objects of a long list in little memory, each readable by itself.

Objects of one list are built alike, and most of their parts have few different values: a status, a model, a whole
route. Such a part is kept once and stands in each object as one byte, its code. An object of which there are too many
is taken apart, and its members are looked at in the same way; a value that differs in most objects, such as a time, is
kept with the object. So an object takes a tenth of its JSON text, what most of it says is read without decoding it,
and all of it is put together again in a few microseconds, with every value exactly as it came.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Callable, Hashable, Sequence
from operator import getitem, itemgetter
from typing import Any, Final

CODES: Final = 256
"""So many different values of a part are kept for all; the next one is kept with its object, as are others like it."""

OBJECTS: Final = 64
"""So many different objects or arrays are kept for all in one place; then it is taken apart."""

FORMS: Final = 8
"""With so many different sets of members, or lengths, or more it is not taken apart but kept with its object."""

SHAPES: Final = 256
"""So many shapes are kept of a list; an object of yet another is kept whole."""

MANY_FORMS: Final = 4_096
"""After so many objects of other shapes all further ones are kept whole without a look at their members."""

Path = tuple[str | int, ...]
"""Where a value is: names of members and positions in arrays."""

_PICKLED: Final = 0x80
"""The first byte of pickled values, by which they differ from marshalled ones."""

_CANONICAL: Final = 2
"""The version of the marshal format in which equal values are equal bytes."""


class Shape:
    """What packed objects have in common: their members, and the values that several of them share.

    A packed object is its own values followed by its codes. Slots number both: own values from the first, which is 0,
    codes from the last, which is -1.
    """

    __slots__ = ("_containers", "_forms", "_result", "_slots", "_tables")

    def __init__(
        self,
        tables: Sequence[list[Any]],
        containers: Sequence[tuple[tuple[str, ...] | None, tuple[int, ...]]],
        slots: dict[Path, int],
        forms: dict[Path, tuple[str, ...] | int],
    ) -> None:
        self._tables = tuple(tables)
        self._containers = tuple((names, _picker(places)) for names, places in containers)
        self._result = -1 if containers else 0
        self._slots = slots
        self._forms = forms

    def unpack(self, packed: bytes, known: str) -> dict[str, Any]:
        """Return the decoded object; parts that it shares with others are the same objects in each.

        Args:
            known: The text of its id, which is not in the packed object.
        """
        values = own_values(packed)
        tables = self._tables
        if tables:
            values += map(getitem, tables, packed[-len(tables) :])
        values.append(known)
        for names, items_of in self._containers:
            items = items_of(values)
            values.append(list(items) if names is None else dict(zip(names, items, strict=True)))
        unpacked: dict[str, Any] = values[self._result]
        return unpacked

    def slot(self, path: Path) -> int | None:
        """Return where the value at a path is, or the value that it is a part of.

        Returns:
            ``None`` if all objects of this shape have an equal value there, as far as it goes without its parts.

        Raises:
            LookupError: It is the known id.
        """
        found = self.holder(path)
        if found is None:
            return None
        if found[1] == ID:
            raise LookupError(path)
        return found[1]

    def holder(self, path: Path) -> tuple[Path, int] | None:
        """Return where the value is that has the one at a path or is it, and its slot, :data:`ID` for that of the id;
        ``None`` if it is in none, because it is taken apart or missing.
        """
        slots = self._slots
        for length in range(len(path), -1, -1):
            found = slots.get(path[:length])
            if found is not None:
                return path[:length], found
        return None

    def form(self, path: Path) -> tuple[str, ...] | int | None:
        """Return the names of an object, or the length of an array, that is taken apart; ``None`` for all else."""
        return self._forms.get(path)

    def table(self, slot: int) -> Sequence[Any]:
        """Return the values in a slot of codes by their code."""
        return self._tables[slot]


ID: Final = 1 << 30
"""In place of the slot of the id."""


def own_values(packed: bytes) -> list[Any]:
    """Return the values that only this object has."""
    values: list[Any] = pickle.loads(packed) if packed[0] == _PICKLED else marshal.loads(packed)  # noqa: S301, S302 - packed here
    return values


def _picker(places: tuple[int, ...]) -> Callable[[list[Any]], tuple[Any, ...]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[place] for place in places])


class _Place:
    """A place in the objects of a list.

    Attributes:
        is_open: Whether objects and arrays at this place are taken apart.
        is_own: Whether values are kept with their object.
        codes: The codes of values by their keys, unless they are kept with their object.
        places: The places of members and items, unless it is no object or array.
    """

    __slots__ = ("codes", "is_open", "is_own", "places", "values")

    def __init__(self) -> None:
        self.is_open = False
        self.is_own = False
        self.codes: dict[str | bytes | None, int] = {}
        self.values: list[Any] = []
        self.places: dict[str, _Place] = {}

    def open(self) -> None:
        """Take objects and arrays apart from now on."""
        self.is_open = True
        self.codes, self.values = {}, []

    def at(self, name: str) -> _Place:
        """Return the place of a member."""
        found = self.places.get(name)
        if found is None:
            found = self.places[name] = _Place()
        return found

    def settle(self) -> None:
        """Choose another way to keep what has too many values to be kept for all."""
        forms = {tuple(value) if value.__class__ is dict else len(value) for value in self.values if _has_parts(value)}
        if not self.is_open and 0 < len(forms) < FORMS:
            self.open()
        else:
            self.is_open, self.is_own = False, True
            self.codes, self.values = {}, []


class _Full(Exception):
    """A place has too many different values."""

    def __init__(self, place: _Place) -> None:
        super().__init__()
        self.place = place


_ITEM: Final = ""
"""The name under which the items of an array share a place."""


class Packer:
    """Packs the decoded objects of one list.

    Args:
        id_member: The member whose text the caller keeps.
    """

    def __init__(self, id_member: str) -> None:
        self._id_member = id_member
        self._root = _Place()
        self._root.open()
        self._shapes: dict[Hashable, Shape] = {}
        self._made = 0

    def pack(self, raw: dict[str, Any]) -> tuple[Shape, bytes]:
        """Pack an object.

        Raises:
            RecursionError: It is nested too deeply.
        """
        while True:
            try:
                return self._pack(raw)
            except _Full as full:
                full.place.settle()
                self._shapes.clear()

    def _pack(self, raw: dict[str, Any]) -> tuple[Shape, bytes]:
        if self._root.is_own:
            return _WHOLE, _own_bytes([raw])
        own: list[Any] = []
        codes: list[int] = []
        form: list[Any] = [tuple(raw)]
        for name, value in raw.items():
            if name == self._id_member and value.__class__ is str:
                form.append(str)
            else:
                _take(self._root.at(name), value, own, codes, form)
        key = tuple(form)
        shape = self._shapes.get(key)
        if shape is None:
            self._made += 1
            if self._made > SHAPES:
                self._root.is_own = self._made > MANY_FORMS
                return _WHOLE, _own_bytes([raw])
            shape = self._shapes[key] = _ShapeMaker(self._id_member).make(self._root, raw)
        return shape, _own_bytes(own) + bytes(codes)


class _ShapeMaker:
    """Finds where each part of an object is packed, in the order of :func:`_take`.

    Args:
        id_member: The member of the root that is not packed.
    """

    def __init__(self, id_member: str) -> None:
        self._id_member = id_member
        self._own: list[Path] = []
        self._coded: list[Path] = []
        self._tables: list[list[Any]] = []
        self._containers: list[tuple[tuple[str, ...] | None, list[tuple[int, int]]]] = []
        self._slots: dict[Path, int] = {}
        self._forms: dict[Path, tuple[str, ...] | int] = {}

    def make(self, root: _Place, raw: dict[str, Any]) -> Shape:
        """Return the shape of an object."""
        self._look(root, raw, ())
        coded = len(self._own)
        known = coded + len(self._coded)
        starts = (0, coded, known, known + 1)
        slots = {path: slot for slot, path in enumerate(self._own)}
        slots |= {path: slot - len(self._coded) for slot, path in enumerate(self._coded)}
        containers = [
            (names, tuple([starts[kind] + place for kind, place in parts])) for names, parts in self._containers
        ]
        return Shape(self._tables, containers, slots | self._slots, self._forms)

    def _look(self, place: _Place, value: Any, path: Path) -> tuple[int, int]:
        """Return the kind of a part, own, coded, the id or taken apart, and its number among those."""
        if place.is_own:
            self._own.append(path)
            return 0, len(self._own) - 1
        if not place.is_open or not _has_parts(value):
            self._coded.append(path)
            self._tables.append(place.values)
            return 1, len(self._coded) - 1
        names: tuple[str, ...] | None = None
        parts: list[tuple[int, int]] = []
        if value.__class__ is list:
            parts += [self._look(place.at(_ITEM), item, (*path, number)) for number, item in enumerate(value)]
        else:
            names = tuple(value)
            for name, item in value.items():
                if not path and name == self._id_member and item.__class__ is str:
                    self._slots[(name,)] = ID
                    parts.append((2, 0))
                else:
                    parts.append(self._look(place.at(name), item, (*path, name)))
        self._forms[path] = len(parts) if names is None else names
        self._containers.append((names, parts))
        return 3, len(self._containers) - 1


_WHOLE: Final = Shape((), (), {(): 0}, {})
"""The shape of objects that are kept whole."""


def _take(place: _Place, value: Any, own: list[Any], codes: list[int], form: list[Any]) -> None:
    """Note the own values and the codes of a value, and how it is built where it is taken apart."""
    kind = value.__class__
    if place.is_own:
        own.append(value)
        return
    if place.is_open:
        if kind is dict:
            form.append(tuple(value))
            places = place.places
            for name, item in value.items():
                _take(places.get(name) or place.at(name), item, own, codes, form)
            return
        if kind is list:
            form.append(len(value))
            each = place.at(_ITEM)
            for item in value:
                _take(each, item, own, codes, form)
            return
        form.append(None)
    key = value if kind is str or value is None else _key(value)
    code = place.codes.get(key)
    if code is None:
        code = len(place.values)
        if code >= (OBJECTS if kind is dict or kind is list else CODES):
            raise _Full(place)
        place.codes[key] = code
        place.values.append(value)
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
