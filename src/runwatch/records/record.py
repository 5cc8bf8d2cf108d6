"""Records as they are read: typed views over decoded JSON that keep every value exactly as it came.

A view costs one object; a member is looked at when somebody asks for it. So a page of events becomes records in a
fraction of the time its JSON takes, an unknown member is kept without a line of code, and a member of the wrong type
spoils nothing: it reads as ``None`` and is named by :meth:`Record.flaws`, while :attr:`Record.raw` still has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar, overload

from runwatch.base.json import ExactNumber, dumps

T = TypeVar("T")
R = TypeVar("R", bound="Record")


class Mismatch(Exception):
    """A value is not of the type that the interface gives its member."""


class Member(Generic[T]):
    """One declared member of a record.

    Reading it gives the value, or ``None`` when the member is missing, ``null`` or of another type. Absence never
    means a value (wire reference 0).

    Args:
        name: The member's name on the wire.
        read: Turns the raw value into the typed one, or raises :class:`Mismatch`.
        kind: The record of a nested object, so that its members can be listed before one has come.
        form: What JSON Schema says of the value.
    """

    __slots__ = ("form", "kind", "name", "read")

    def __init__(
        self,
        name: str,
        read: Callable[[Any], T],
        kind: type[Record] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.read = read
        self.kind = kind
        self.form = form or {}

    @overload
    def __get__(self, record: None, owner: type[Record]) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type[Record]) -> T | None: ...
    def __get__(self, record: Record | None, owner: type[Record]) -> Self | T | None:
        if record is None:
            return self
        value = record._raw.get(self.name)
        if value is None:
            return None
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


def text(name: str) -> Member[str]:
    """A string member."""
    return Member(name, _is(str), form={"type": "string"})


def flag(name: str) -> Member[bool]:
    """A boolean member."""
    return Member(name, _is(bool), form={"type": "boolean"})


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise Mismatch
    return value


def integer(name: str) -> Member[int]:
    """A whole number; ``true`` is none."""
    return Member(name, _integer, form={"type": "integer"})


_EXPONENT: Final = 999
"""Beyond this power of ten a number is no amount: a sum with it would overflow, its digits would fill the memory."""


def _amount(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Mismatch
    amount = Decimal(value.literal if isinstance(value, ExactNumber) else repr(value))
    if not amount.is_finite() or abs(amount.adjusted()) > _EXPONENT:
        raise Mismatch
    return amount


def amount(name: str) -> Member[Decimal]:
    """A number, as a decimal with the digits that the service sent; for money, seconds and scores."""
    return Member(name, _amount, form={"type": "number"})


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise Mismatch
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Mismatch from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment(name: str) -> Member[datetime]:
    """An ISO 8601 date-time; one without a zone is taken as UTC."""
    return Member(name, _moment, form={"type": "string", "format": "date-time"})


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Mismatch
    return tuple(value)


def texts(name: str) -> Member[tuple[str, ...]]:
    """An array of strings."""
    return Member(name, _texts, form={"type": "array"})


def mapping(name: str) -> Member[Mapping[str, Any]]:
    """An object whose members are not fixed."""
    return Member(name, _is(dict), form={"type": "object"})


def anything(name: str) -> Member[Any]:
    """A member whose form the interface leaves open."""
    return Member(name, lambda value: value)


def one(kind: type[R], name: str) -> Member[R]:
    """A nested record."""

    def read(value: Any) -> R:
        if not isinstance(value, dict):
            raise Mismatch
        return kind(value)

    return Member(name, read, kind, form={"type": "object"})


def many(kind: type[R], name: str) -> Member[tuple[R, ...]]:
    """An array of nested records; items that are no objects are left to :attr:`Record.raw`."""

    def read(value: Any) -> tuple[R, ...]:
        if not isinstance(value, list):
            raise Mismatch
        return tuple(kind(item) for item in value if isinstance(item, dict))

    return Member(name, read, kind, form={"type": "array"})


class Wire(NamedTuple):
    """Where a resource stands on the wire.

    Attributes:
        path: The collection's path, with its ``/v1`` prefix.
        items: The member that holds the items of a list answer.
        id: The member that identifies a record.
        paged: Whether the list takes ``cursor`` and ``limit`` and answers ``next_cursor`` (wire reference 1.7).
        filters: Query parameters that the service filters by.
    """

    path: str
    items: str
    id: str
    paged: bool = False
    filters: tuple[str, ...] = ()


class Record:
    """A frozen, typed view over one decoded JSON object.

    Two records are equal when their JSON is. Subclasses declare members; a resource of its own also sets
    :attr:`KIND` and :attr:`WIRE`.
    """

    __slots__ = ("_raw",)

    KIND: ClassVar[str] = ""
    """The word that names this kind in links, stores and messages; empty for parts of a record."""

    WIRE: ClassVar[Wire | None] = None
    """The resource's place on the wire; ``None`` for parts of a record."""

    MEMBERS: ClassVar[Mapping[str, Member[Any]]] = {}
    """Declared members by wire name, those of the parent classes first."""

    def __init_subclass__(cls) -> None:
        """Collect the declared members, so that the unknown ones can be told apart."""
        own = {value.name: value for value in vars(cls).values() if isinstance(value, Member)}
        cls.MEMBERS = {**cls.MEMBERS, **own}

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw

    @property
    def raw(self) -> Mapping[str, Any]:
        """The decoded object, exactly as it came; not to be changed."""
        return self._raw

    @property
    def id(self) -> str:
        """The identifier as text, or an empty text when the service sent none that can be written down."""
        value = self._raw.get(self.WIRE.id) if self.WIRE else None
        if isinstance(value, str):
            return value
        try:
            return "" if value is None else dumps(value)
        except ValueError:
            return ""

    def flaws(self) -> tuple[str, ...]:
        """Paths of declared members whose value is not of the declared type, nested ones included."""
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
        """Members that no declaration names, in the order they came."""
        return {name: value for name, value in self._raw.items() if name not in self.MEMBERS}

    def json(self) -> str:
        """The record as one line of ASCII JSON with its exact values."""
        return dumps(self._raw)

    def __eq__(self, other: object) -> bool:
        """Equality of type and JSON."""
        return type(other) is type(self) and isinstance(other, Record) and self._raw == other._raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The kind and the id; never the content."""
        return f"<{type(self).__name__} {self.id}>" if self.WIRE else f"<{type(self).__name__}>"


class Page(Generic[R]):
    """One answer of a list operation.

    Attributes:
        values: Every item as decoded, whatever its type, in the service's order.
        records: Views over the items that are objects.
        next_cursor: The opaque token of the next page, exactly as it came; ``None`` at the proven end.
        end_is_proven: Whether the answer said that nothing follows: an explicit ``null`` on a paged list, or a list
            that has no pages. Without it a count is "at least".
        extra: The answer's other members.
    """

    __slots__ = ("end_is_proven", "extra", "next_cursor", "records", "values")

    def __init__(
        self,
        values: list[Any],
        records: list[R],
        *,
        next_cursor: str | None = None,
        end_is_proven: bool = True,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.values = values
        self.records = records
        self.next_cursor = next_cursor
        self.end_is_proven = end_is_proven
        self.extra = extra or {}

    @property
    def misfits(self) -> int:
        """How many items are no objects and therefore no records."""
        return len(self.values) - len(self.records)
