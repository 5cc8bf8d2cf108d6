"""Records as read: typed views over decoded JSON that keep every value exactly as received (manual: decisions,
"Records").

A view costs one object, and a member is read only when used. So a page of events becomes records in a fraction of its
JSON decoding time, unknown members are kept without any code, and a member of the wrong type affects nothing else: it
reads as ``None`` and is named by :meth:`Record.flaws`, while :attr:`Record.raw` still has it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar, overload

from runwatch.base.json import ExactNumber, dumps
from runwatch.records.packing import Packer, Shape

T = TypeVar("T")
R = TypeVar("R", bound="Record")


class Mismatch(Exception):
    """A value does not have the member's type in the interface."""


@dataclass(slots=True, eq=False)
class Member(Generic[T]):
    """One declared member of a record.

    Reading it gives the value, or ``None`` if the member is missing, ``null`` or of another type. A missing member
    never implies a value (manual: interface, "Resources").

    Attributes:
        name: Its name on the wire; empty if that is the attribute's name.
        read: Converts the raw value to the typed one, or raises :class:`Mismatch`.
        kind: The record of a nested object, so that its members can be listed without a value.
        schema: The JSON Schema of the value.
        identity_type: A raw value of exactly this type is returned as it is, without calling ``read``.
    """

    name: str
    read: Callable[[Any], T]
    kind: type[Record] | None = None
    schema: Mapping[str, str] = field(default_factory=dict)
    identity_type: Any = None

    def __set_name__(self, owner: type[Record], name: str) -> None:
        self.name = self.name or name

    @overload
    def __get__(self, record: None, owner: type[Record]) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type[Record]) -> T | None: ...
    def __get__(self, record: Record | None, owner: type[Record]) -> Self | T | None:
        if record is None:
            return self
        value: Any = record._raw.get(self.name)
        if value is None:
            return None
        if value.__class__ is self.identity_type:
            typed: T = value
            return typed
        try:
            return self.read(value)
        except Mismatch:
            return None

    def __set__(self, record: Record, value: object) -> None:
        raise AttributeError(f"records are frozen: {self.name}")


def _is(kind: type[T]) -> Callable[[Any], T]:
    def read(value: Any) -> T:
        if not isinstance(value, kind):
            raise Mismatch
        return value

    return read


def text(name: str = "") -> Member[str]:
    return Member(name, _is(str), schema={"type": "string"}, identity_type=str)


def flag(name: str = "") -> Member[bool]:
    return Member(name, _is(bool), schema={"type": "boolean"})


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise Mismatch
    return value


def integer(name: str = "") -> Member[int]:
    """Declare a whole number; ``true`` does not count as one."""
    return Member(name, _integer, schema={"type": "integer"})


_EXPONENT: Final = 999
"""Beyond this power of ten a number is not an amount: sums would overflow, its digits would fill the memory."""


def _amount(value: Any) -> Decimal:
    if value.__class__ is float and value - value == 0:
        return Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Mismatch
    amount = Decimal(value.literal if isinstance(value, ExactNumber) else repr(value))
    if not amount.is_finite() or abs(amount.adjusted()) > _EXPONENT:
        raise Mismatch
    return amount


def amount(name: str = "") -> Member[Decimal]:
    """Declare a number, as a decimal with the digits as sent; for money, seconds and scores."""
    return Member(name, _remember_last(_amount), schema={"type": "number"})


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise Mismatch
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Mismatch from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment(name: str = "") -> Member[datetime]:
    """Declare an ISO 8601 date-time; without a zone it is UTC."""
    return Member(name, _moment, schema={"type": "string", "format": "date-time"})


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Mismatch
    return tuple(value)


def texts(name: str = "") -> Member[tuple[str, ...]]:
    return Member(name, _texts, schema={"type": "array"})


def mapping(name: str = "") -> Member[Mapping[str, Any]]:
    return Member(name, _is(dict), schema={"type": "object"}, identity_type=dict)


def anything(name: str = "") -> Member[Any]:
    return Member(name, lambda value: value)


def one(kind: type[R], name: str = "") -> Member[R]:
    def read(value: Any) -> R:
        if not isinstance(value, dict):
            raise Mismatch
        return kind(value)

    return Member(name, _remember_last(read), kind, schema={"type": "object"})


def many(kind: type[R], name: str = "") -> Member[tuple[R, ...]]:
    """Declare an array of nested records; items that are not objects stay in :attr:`Record.raw` only."""

    def read(value: Any) -> tuple[R, ...]:
        if not isinstance(value, list):
            raise Mismatch
        return tuple([kind(item) for item in value if isinstance(item, dict)])

    return Member(name, _remember_last(read), kind, schema={"type": "array"})


def _remember_last(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return the same typed value for the same object, because a row reads the parts of its record many times."""
    last: tuple[Any, Any] = (None, None)

    def read_again(value: Any) -> T:
        nonlocal last
        before, typed = last
        if value is not before:
            typed = read(value)
            last = value, typed
        made: T = typed
        return made

    return read_again


class Wire(NamedTuple):
    """A resource on the wire.

    Attributes:
        path: The collection's path, with its ``/v1`` prefix.
        items: The member that holds the items of a list response.
        id: The member that identifies a record.
        paged: Whether the list takes ``cursor`` and ``limit`` and returns ``next_cursor`` (manual: interface,
            "Paging").
        filters: Query parameters for server filters.
    """

    path: str
    items: str
    id: str
    paged: bool = False
    filters: tuple[str, ...] = ()


class Record:
    """A frozen, typed view over one decoded JSON object.

    Two records are equal if their JSON is. Subclasses declare members; a separate resource also sets :attr:`KIND` and
    :attr:`WIRE`. A record of a long list is packed (:class:`RecordPacker`), and unpacked for each use.
    """

    __slots__ = ("_id", "_packed", "_raw", "_shape")

    KIND: ClassVar[str] = ""
    """Name of this kind in links, stores and messages; empty for parts of a record."""

    CONTENT: ClassVar[frozenset[str]] = frozenset()
    """Members that can hold a part of a prompt or an output. They are shown, and never stored on this machine."""

    WIRE: ClassVar[Wire | None] = None
    """The resource on the wire; ``None`` for parts of a record."""

    MEMBERS: ClassVar[Mapping[str, Member[Any]]] = {}
    """Declared members by wire name, those of the parent classes first."""

    def __init_subclass__(cls) -> None:
        """Collect the declared members, to tell them from unknown ones."""
        own = {value.name: value for value in vars(cls).values() if isinstance(value, Member)}
        cls.MEMBERS = {**cls.MEMBERS, **own}

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw
        self._shape: Shape | None = None

    def __getattr__(self, name: str) -> Any:
        """Unpack the decoded object of a packed record, which has none of its own."""
        if name != "_raw":
            raise AttributeError(name)
        assert self._shape is not None
        return _unpack(self._shape, self._packed, self._id)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        """Return a view over an object that a member holds."""
        assert isinstance(raw, dict)
        return cls(raw)

    def _pack(self, shape: Shape, packed: bytes) -> None:
        self._id: str = self.id
        self._shape, self._packed = shape, packed
        del self._raw

    def unpacked(self) -> Self:
        """Return the same record for reading many members in a row, which is faster than reading a packed one."""
        return self if self._shape is None else type(self)(self._raw)

    def decoded(self) -> dict[str, Any]:
        """Return :attr:`raw` for reading it once: of a packed record it is not kept for later reads."""
        return self._raw if self._shape is None else self._shape.unpack(self._packed, self._id)

    @property
    def packed(self) -> tuple[Shape, bytes] | None:
        """The packed form of the record, from which single values can be read; ``None`` if it is not packed."""
        return None if self._shape is None else (self._shape, self._packed)

    @property
    def raw(self) -> Mapping[str, Any]:
        """The decoded object, exactly as received; not to be changed."""
        return self._raw

    @property
    def id(self) -> str:
        """The identifier as text, or an empty text if there is none that can be encoded."""
        if self._shape is not None:
            return self._id
        value = self._raw.get(self.WIRE.id) if self.WIRE else None
        if isinstance(value, str):
            return value
        try:
            return "" if value is None else dumps(value)
        except ValueError:
            return ""

    def flaws(self) -> tuple[str, ...]:
        """Return the paths of declared members with a value of another type, including nested ones."""
        return tuple(self._flaws(""))

    def _flaws(self, prefix: str) -> Iterator[str]:
        for name, member in self.MEMBERS.items():
            value = self._raw.get(name)
            if value is None:
                continue
            try:
                typed = member.read(value)
            except Mismatch:
                yield prefix + name
                continue
            if isinstance(typed, Record):
                yield from typed._flaws(f"{prefix}{name}.")
            elif isinstance(typed, tuple) and isinstance(value, list):
                nested = iter(typed)
                for position, item in enumerate(value):
                    if typed and not isinstance(typed[0], Record):
                        break
                    if not isinstance(item, dict):
                        yield f"{prefix}{name}[{position}]"
                    else:
                        yield from next(nested)._flaws(f"{prefix}{name}[{position}].")

    def unknown(self) -> dict[str, Any]:
        """Return the undeclared members, in the order received."""
        return {name: value for name, value in self._raw.items() if name not in self.MEMBERS}

    def json(self) -> str:
        """Return the record as one line of ASCII JSON with its exact values."""
        return dumps(self._raw)

    def __eq__(self, other: object) -> bool:
        """Compare type and JSON."""
        return type(other) is type(self) and isinstance(other, Record) and self._raw == other._raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the kind and the id, never the content."""
        return f"<{type(self).__name__} {self.id}>" if self.WIRE else f"<{type(self).__name__}>"


UNPACKED_RECORDS: Final = 64
"""Records kept unpacked, because what is shown of a record reads many members of it in a row."""


class RecordPacker:
    """Keeps the decoded objects of a long list in a tenth of their memory or less (:mod:`runwatch.records.packing`)."""

    def __init__(self, kind: type[Record]) -> None:
        self._packer = Packer(kind.WIRE.id if kind.WIRE else "")

    def pack(self, records: Iterable[Record]) -> None:
        """Pack records that are not packed yet; one that is nested too deeply stays as it is."""
        for record in records:
            if record.packed is None:
                with contextlib.suppress(RecursionError):
                    record._pack(*self._packer.pack(record._raw))


@lru_cache(UNPACKED_RECORDS)
def _unpack(shape: Shape, packed: bytes, record_id: str) -> dict[str, Any]:
    return shape.unpack(packed, record_id)


@dataclass(slots=True, eq=False)
class Page(Generic[R]):
    """One response of a list operation.

    Attributes:
        values: Every decoded item of any type, in the service's order; where a list is compared with stored records,
            the record in place of each object.
        records: Views over the items that are objects.
        next_cursor: The opaque token of the next page, exactly as received; ``None`` without one.
        end_is_proven: Whether the response said that nothing follows: an explicit ``null`` on a paged list, or a list
            without pages. Otherwise a count is "at least".
        extra: The other members of the response.
    """

    values: list[Any]
    records: list[R]
    next_cursor: str | None = None
    end_is_proven: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def misfits(self) -> int:
        """Number of items that are not objects, and so not records."""
        return len(self.values) - len(self.records)
