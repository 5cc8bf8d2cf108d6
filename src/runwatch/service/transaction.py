"""The statements of one transaction; those that are sent often are built once for their shape and get their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Delete,
    Insert,
    Integer,
    Result,
    RowMapping,
    Select,
    Table,
    Update,
    bindparam,
    func,
    select,
)

Row = RowMapping
"""One row, by column name."""


class Transaction:
    """The statements of one transaction, in the few forms that every resource needs.

    In a ``where`` each member is a column and the value it has to have; a tuple means "one of these".

    Attributes:
        now: The moment at which the transaction's function began; what it writes happened then.
        added: The tables that rows were added to.
    """

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self.now: Final = now
        self.added: Final[set[Table]] = set()

    def add(self, table: Table, **values: object) -> None:
        """Insert one row."""
        self._connection.execute(_inserting(table), values)
        self.added.add(table)

    def change(self, table: Table, where: Mapping[str, object], **values: object) -> None:
        """Set columns of every row that matches."""
        self._connection.execute(_updating(table, _shape(where)), {**_parameters(where), **values})

    def remove(self, table: Table, where: Mapping[str, object], *, until: tuple[str, object] | None = None) -> None:
        """Delete the rows that match; with ``until`` only those whose column is at most the value."""
        statement = _removing(table, _shape(where), until and until[0])
        self._connection.execute(statement, {**_parameters(where), "until": until and until[1]})

    def one(self, table: Table, where: Mapping[str, object]) -> Row | None:
        """The one row that matches, or ``None``."""
        return self._found(table, where).mappings().one_or_none()

    def oldest(
        self,
        table: Table,
        where: Mapping[str, object],
        *,
        after: int = 0,
        since: tuple[str, str] | None = None,
        until: tuple[str, str] | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """The rows that match, in the order they were inserted.

        Args:
            table: A table with a ``sequence``.
            where: What the columns have to be.
            after: The sequence number behind which the rows start.
            since: A column and the least value it may have.
            until: A column and the first value that it may no longer have.
            limit: How many rows at most.
        """
        return self._listed(table, where, since, until, after or None, None, limit, is_newest=False)

    def least(self, table: Table, column: str, where: Mapping[str, object], *, since: object = None) -> Any:
        """The least value of a column among the rows that match, ``None`` when none does.

        Args:
            table: Any table.
            column: The column whose least value is wanted.
            where: What the columns have to be.
            since: The least value that counts; ``None`` counts every value.
        """
        statement = select(func.min(table.c[column])).where(*_conditions(table, where))
        if since is not None:
            statement = statement.where(table.c[column] >= since)
        return self._connection.execute(statement).scalar_one()

    def oldest_of_each(
        self, table: Table, group: str, where: Mapping[str, object], *, until: tuple[str, str], limit: int
    ) -> Sequence[Row]:
        """The rows that match, at most so many of each group, in the order they were inserted.

        Args:
            table: A table with a ``sequence``.
            group: The column whose equal values make a group.
            where: What the columns have to be.
            until: A column and the first value that it may no longer have.
            limit: How many rows of a group at most.
        """
        place = func.row_number().over(partition_by=table.c[group], order_by=table.c.sequence)
        ranked = select(table.c.sequence, place.label("place")).where(
            *_conditions(table, where), table.c[until[0]] < until[1]
        )
        first = ranked.subquery()
        statement = (
            select(table)
            .join(first, first.c.sequence == table.c.sequence)
            .where(first.c.place <= limit)
            .order_by(table.c.sequence)
        )
        return self._connection.execute(statement).mappings().all()

    def newest(
        self,
        table: Table,
        where: Mapping[str, object],
        *,
        since: tuple[str, str] | None = None,
        until: tuple[str, str] | None = None,
        before: int | None = None,
        within: tuple[Table, str, Mapping[str, object]] | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """The rows that match, newest first.

        Args:
            table: A table with a ``sequence``.
            where: What the columns have to be.
            since: A column and the least value it may have.
            until: A column and the first value that it may no longer have.
            before: The sequence number in front of which the rows start.
            within: Another table, a column that both have, and what has to be true there of the same column's value.
            limit: How many rows at most.
        """
        return self._listed(table, where, since, until, before, within, limit, is_newest=True)

    def list_all(self, table: Table, where: Mapping[str, object]) -> Sequence[Row]:
        """The rows that match, in no order."""
        return self._found(table, where).mappings().all()

    def count(self, table: Table, where: Mapping[str, object], *, since: tuple[str, str] | None = None) -> int:
        """How many rows match; with ``since`` only those whose column has at least the value."""
        conditions = _conditions(table, where)
        if since is not None:
            conditions.append(table.c[since[0]] >= since[1])
        return int(self._connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one())

    def last_sequence(self, table: Table) -> int:
        """The highest sequence number of a table, 0 when it is empty."""
        return int(self._connection.execute(select(func.coalesce(func.max(table.c.sequence), 0))).scalar_one())

    def _listed(
        self,
        table: Table,
        where: Mapping[str, object],
        since: tuple[str, str] | None,
        until: tuple[str, str] | None,
        edge: int | None,
        within: tuple[Table, str, Mapping[str, object]] | None,
        limit: int | None,
        *,
        is_newest: bool,
    ) -> Sequence[Row]:
        listing = _Listing(
            table,
            _shape(where),
            since=since and since[0],
            until=until and until[0],
            has_edge=edge is not None,
            within=within and (within[0], within[1], _shape(within[2])),
            has_limit=limit is not None,
            is_newest=is_newest,
        )
        bounds = {"since": since and since[1], "until": until and until[1], "edge": edge, "limit": limit}
        values = {**bounds, **_parameters(where), **_parameters(within[2] if within else {}, "within")}
        return self._connection.execute(_listing(listing), values).mappings().all()

    def _found(self, table: Table, where: Mapping[str, object]) -> Result[Any]:
        return self._connection.execute(_selecting(table, _shape(where)), _parameters(where))


def _conditions(table: Table, where: Mapping[str, object]) -> list[ColumnElement[bool]]:
    return [
        table.c[name].in_(value) if isinstance(value, tuple) else table.c[name] == value
        for name, value in where.items()
    ]


# Most statements are the same again and again but for their values, and making one costs more than carrying it out.
# Such statements are made once for the shape of their conditions: the columns, and how each is compared.
_Shape = tuple[tuple[str, str], ...]


def _shape(where: Mapping[str, object]) -> _Shape:
    return tuple(
        (name, "null" if value is None else "in" if isinstance(value, tuple) else "is") for name, value in where.items()
    )


def _parameters(where: Mapping[str, object], prefix: str = "where") -> dict[str, object]:
    # No column's name begins so; a parameter that is called as a column would be taken for a new value of it.
    return {f"{prefix}_{name}": value for name, value in where.items() if value is not None}


def _matching(table: Table, shape: _Shape, prefix: str = "where") -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for name, how in shape:
        column = table.c[name]
        value: BindParameter[Any] = bindparam(f"{prefix}_{name}", expanding=how == "in")
        conditions.append(column.is_(None) if how == "null" else column.in_(value) if how == "in" else column == value)
    return conditions


@cache
def _inserting(table: Table) -> Insert:
    return table.insert()


@cache
def _updating(table: Table, shape: _Shape) -> Update:
    return table.update().where(*_matching(table, shape))


@cache
def _removing(table: Table, shape: _Shape, until: str | None) -> Delete:
    conditions = _matching(table, shape)
    if until is not None:
        conditions.append(table.c[until] <= bindparam("until"))
    return table.delete().where(*conditions)


@cache
def _selecting(table: Table, shape: _Shape) -> Select[Any]:
    return select(table).where(*_matching(table, shape))


class _Listing(NamedTuple):
    """What makes the statement of a list: everything of :meth:`Transaction.newest` but the values."""

    table: Table
    shape: _Shape
    since: str | None
    until: str | None
    has_edge: bool
    within: tuple[Table, str, _Shape] | None
    has_limit: bool
    is_newest: bool


@cache
def _listing(listing: _Listing) -> Select[Any]:
    columns = listing.table.c
    conditions = _matching(listing.table, listing.shape)
    if listing.since is not None:
        conditions.append(columns[listing.since] >= bindparam("since"))
    if listing.until is not None:
        conditions.append(columns[listing.until] < bindparam("until"))
    if listing.has_edge:
        edge: BindParameter[int] = bindparam("edge")
        conditions.append(columns.sequence < edge if listing.is_newest else columns.sequence > edge)
    if listing.within is not None:
        other, column, shape = listing.within
        conditions.append(columns[column].in_(select(other.c[column]).where(*_matching(other, shape, "within"))))
    order = columns.sequence.desc() if listing.is_newest else columns.sequence
    statement = select(listing.table).where(*conditions).order_by(order)
    return statement.limit(bindparam("limit", type_=Integer)) if listing.has_limit else statement
