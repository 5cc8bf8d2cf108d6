"""The statements of one transaction; frequent ones are built once per shape and reused with new values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, Protocol, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Insert,
    Integer,
    Select,
    Table,
    Update,
    bindparam,
    false,
    func,
    select,
)
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from runwatch.base.clock import format_iso

Row = Mapping[str, Any]
"""One row, by column name."""

MAX_KEPT: Final = 2048
"""Most statements of each form that are kept to be used again."""

_Statement = Select[Any] | Insert | Update | Delete


def pick(row: Row, names: str) -> dict[str, Any]:
    """Return the members with these names, which are separated by spaces, in this order."""
    return {name: row[name] for name in names.split()}


class RunQueue(Protocol):
    """Runs that wait in the database for a driver."""

    def add(self, connection: Connection, execution_id: str) -> None:
        """Have the run driven once the transaction is committed; do nothing if it waits already."""

    def abort(self, connection: Connection, execution_id: str) -> None:
        """Have the run's driver drop what it does once the transaction is committed, and drive it no more."""


class _Driver(Protocol):
    """A connection of SQLite's driver or of PostgreSQL's."""

    def execute(self, statement: str, values: Any = ..., /) -> Any: ...


class Transaction:
    """The statements of one transaction, in the few forms that every resource needs.

    In a ``where`` each member is a column and its required value; a tuple means "one of these".

    Attributes:
        now: Time at which the transaction's function started; its writes carry this time.

    Args:
        queue: Where runs wait for a driver; ``None`` if the engine of this process drives every run.
    """

    def __init__(self, connection: Connection, now: datetime, queue: RunQueue | None = None) -> None:
        self._connection = connection
        self._driver = driver_of(connection)
        self._queue = queue
        self.now: Final = now
        self.added: Final[set[Table]] = set()

    @property
    def has_queue(self) -> bool:
        return self._queue is not None

    def enqueue_run(self, execution_id: str) -> None:
        """Have a run driven, if runs wait in the database for a driver."""
        if self._queue is not None:
            self._queue.add(self._connection, execution_id)

    def abort_run(self, execution_id: str) -> None:
        """Have a run driven no more, if runs wait in the database for a driver."""
        if self._queue is not None:
            self._queue.abort(self._connection, execution_id)

    def add(self, table: Table, **values: object) -> None:
        """Insert one row; its ``created_at`` and ``updated_at`` are the time of this transaction unless given."""
        stamps = {name: format_iso(self.now) for name in ("created_at", "updated_at") if name in table.c}
        self._execute(_build_insert(table), stamps | values)
        self.added.add(table)

    def change(self, table: Table, where: Mapping[str, object], **values: object) -> None:
        """Set columns of every matching row."""
        self._execute(_build_update(table, _shape(where)), {**_parameters(where), **values})

    def put(self, table: Table, where: Mapping[str, object], known: Row | None, **values: object) -> None:
        """Change the row that matches, or add it if none is known."""
        if known is None:
            self.add(table, **where, **values)
        else:
            self.change(table, where, **values)

    def remove(self, table: Table, where: Mapping[str, object], *, until: tuple[str, object] | None = None) -> None:
        """Delete the matching rows; with ``until`` only those whose column is at most the value."""
        statement = _build_delete(table, _shape(where), until and until[0])
        self._execute(statement, _parameters(where) | ({} if until is None else {"until": until[1]}))

    def one(self, table: Table, where: Mapping[str, object]) -> Row | None:
        found = self.list_all(table, where)
        assert len(found) <= 1, f"more than one row of {table.name}"
        return found[0] if found else None

    def get(self, table: Table, where: Mapping[str, object]) -> Row:
        """Return the one matching row, which is known to exist."""
        (row,) = self.list_all(table, where)
        return row

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
        """Return the matching rows in insertion order.

        Args:
            since: A column and its lowest value, inclusive.
            until: A column and its upper bound, exclusive.
        """
        return self._select_ordered(table, where, since, until, after or None, None, limit, is_newest=False)

    def least(self, table: Table, column: str, where: Mapping[str, object], *, since: object = None) -> Any:
        """Return the lowest value of a column among the matching rows, or ``None``."""
        statement = select(func.min(table.c[column])).where(*_build_conditions(table, _shape(where)))
        if since is not None:
            statement = statement.where(table.c[column] >= since)
        return self._connection.execute(statement, _parameters(where)).scalar_one()

    def oldest_of_each(
        self, table: Table, group: str, where: Mapping[str, object], *, until: tuple[str, str], limit: int
    ) -> Sequence[Row]:
        """Return the matching rows in insertion order, with a limit per group.

        Args:
            until: A column and its upper bound, exclusive.
        """
        rank = func.row_number().over(partition_by=table.c[group], order_by=table.c.sequence)
        ranked = select(table.c.sequence, rank.label("rank")).where(
            *_build_conditions(table, _shape(where)), table.c[until[0]] < until[1]
        )
        first = ranked.subquery()
        statement = (
            select(table)
            .join(first, first.c.sequence == table.c.sequence)
            .where(first.c.rank <= limit)
            .order_by(table.c.sequence)
        )
        return cast("Sequence[Row]", self._connection.execute(statement, _parameters(where)).mappings().all())

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
        """Return the matching rows, newest first.

        Args:
            since: A column and its lowest value, inclusive.
            until: A column and its upper bound, exclusive.
            within: Another table, a shared column, and conditions there on rows with the same value of it.
        """
        return self._select_ordered(table, where, since, until, before, within, limit, is_newest=True)

    def list_all(self, table: Table, where: Mapping[str, object]) -> Sequence[Row]:
        """Return the matching rows, unordered."""
        return self._execute(_build_select(table, _shape(where)), _parameters(where))

    def count(self, table: Table, where: Mapping[str, object]) -> int:
        (row,) = self._execute(_build_count(table, _shape(where)), _parameters(where))
        return int(row["number"])

    def _select_ordered(
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
        shape = _OrderedShape(
            table,
            _shape(where),
            since=since and since[0],
            until=until and until[0],
            has_edge=edge is not None,
            within=within and (within[0], within[1], _shape(within[2])),
            has_limit=limit is not None,
            is_newest=is_newest,
        )
        bounds = (("since", since and since[1]), ("until", until and until[1]), ("edge", edge), ("limit", limit))
        values: dict[str, object] = {name: value for name, value in bounds if value is not None}
        values |= _parameters(where)
        values |= _parameters(within[2] if within else {}, "within")
        return self._execute(_build_ordered_select(shape), values)

    def _execute(self, statement: _Statement, values: Mapping[str, object]) -> Sequence[Row]:
        dialect = self._connection.dialect
        try:
            return _driver_statement(statement, tuple(values), dialect).run(self._driver, values)
        except Exception as error:
            if dialect.is_disconnect(error, self._driver, None):  # type: ignore[arg-type]  # it asks the driver's own
                self._connection.invalidate(error)
            raise


def driver_of(connection: Connection) -> _Driver:
    return cast("_Driver", connection.connection.dbapi_connection)


# Most statements repeat with different values, and building one costs more than executing it. They are built once for
# the shape of their conditions: the columns, and how each is compared; a number is that of the values, one of which it
# must be.
_Shape = tuple[tuple[str, str | int], ...]


def _shape(where: Mapping[str, object]) -> _Shape:
    return tuple(
        (name, "null" if value is None else len(value) if isinstance(value, tuple) else "is")
        for name, value in where.items()
    )


def _parameters(where: Mapping[str, object], prefix: str = "where") -> dict[str, object]:
    # The prefix is part of no column's name; a parameter named like a column would be taken as its new value.
    parameters: dict[str, object] = {}
    for name, value in where.items():
        if isinstance(value, tuple):
            parameters.update((f"{prefix}_{name}_{position}", item) for position, item in enumerate(value))
        elif value is not None:
            parameters[f"{prefix}_{name}"] = value
    return parameters


def _build_conditions(table: Table, shape: _Shape, prefix: str = "where") -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for name, how in shape:
        column = table.c[name]
        if how == "null":
            conditions.append(column.is_(None))
        elif isinstance(how, int):
            values = [bindparam(f"{prefix}_{name}_{position}", type_=column.type) for position in range(how)]
            conditions.append(column.in_(values) if values else false())
        else:
            conditions.append(column == bindparam(f"{prefix}_{name}"))
    return conditions


@cache
def _build_insert(table: Table) -> Insert:
    # Without a RETURNING for keys that the database makes.
    return table.insert().inline()


@lru_cache(MAX_KEPT)
def _build_update(table: Table, shape: _Shape) -> Update:
    return table.update().where(*_build_conditions(table, shape))


@lru_cache(MAX_KEPT)
def _build_delete(table: Table, shape: _Shape, until: str | None) -> Delete:
    conditions = _build_conditions(table, shape)
    if until is not None:
        conditions.append(table.c[until] <= bindparam("until"))
    return table.delete().where(*conditions)


@lru_cache(MAX_KEPT)
def _build_select(table: Table, shape: _Shape) -> Select[Any]:
    return select(table).where(*_build_conditions(table, shape))


@lru_cache(MAX_KEPT)
def _build_count(table: Table, shape: _Shape) -> Select[Any]:
    return select(func.count().label("number")).select_from(table).where(*_build_conditions(table, shape))


class _OrderedShape(NamedTuple):
    """The shape of an ordered select: everything of :meth:`Transaction.newest` but the values."""

    table: Table
    shape: _Shape
    since: str | None
    until: str | None
    has_edge: bool
    within: tuple[Table, str, _Shape] | None
    has_limit: bool
    is_newest: bool


@lru_cache(MAX_KEPT)
def _build_ordered_select(ordered: _OrderedShape) -> Select[Any]:
    columns = ordered.table.c
    conditions = _build_conditions(ordered.table, ordered.shape)
    if ordered.since is not None:
        conditions.append(columns[ordered.since] >= bindparam("since"))
    if ordered.until is not None:
        conditions.append(columns[ordered.until] < bindparam("until"))
    if ordered.has_edge:
        edge = bindparam("edge", type_=Integer)
        conditions.append(columns.sequence < edge if ordered.is_newest else columns.sequence > edge)
    if ordered.within is not None:
        other, column, shape = ordered.within
        conditions.append(
            columns[column].in_(select(other.c[column]).where(*_build_conditions(other, shape, "within")))
        )
    order = columns.sequence.desc() if ordered.is_newest else columns.sequence
    statement = select(ordered.table).where(*conditions).order_by(order)
    return statement.limit(bindparam("limit", type_=Integer)) if ordered.has_limit else statement


class _DriverStatement:
    """A statement as the database's driver takes it.

    SQLAlchemy builds it. Executing it through SQLAlchemy takes several times as long as the driver itself needs, so
    what that would do again at each execution (compile, order the parameters, find the types of the columns) is done
    once.

    Args:
        names: Names of the parameters that get values at each execution.
    """

    def __init__(self, statement: _Statement, names: tuple[str, ...], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        assert isinstance(compiled, SQLCompiler)
        self._sql = compiled.string
        # Some parameters are SQLAlchemy's own, such as the offset of a limit.
        binds = {name: bind for bind, name in compiled.bind_names.items()}
        self._own: dict[str, Any] = {name: bind.value for name, bind in binds.items() if name not in names}
        self._parameter_order = compiled.positiontup
        self._binders = _processors(
            {name: bind.type for name, bind in binds.items()},
            lambda kind: kind.dialect_impl(dialect).bind_processor(dialect),
        )
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        self._columns = [str(column.key) for column in columns]
        # Other drivers than that of SQLite give values of the right types by themselves.
        self._readers = _processors(
            {str(column.key): column.type for column in columns if dialect.name == "sqlite"},
            lambda kind: kind.dialect_impl(dialect).result_processor(dialect, None),
        )

    def run(self, driver: _Driver, values: Mapping[str, object]) -> list[dict[str, Any]]:
        """Execute it and return its rows by column name. Errors are those of the driver."""
        given = {**self._own, **values}
        for name, bind in self._binders:
            given[name] = bind(given[name])
        cursor = driver.execute(
            self._sql, given if self._parameter_order is None else [given[name] for name in self._parameter_order]
        )
        if not self._columns:
            return []
        rows = [dict(zip(self._columns, row, strict=True)) for row in cursor.fetchall()]
        for name, read in self._readers:
            for row in rows:
                row[name] = read(row[name])
        return rows


def _processors(
    types: Mapping[str, TypeEngine[Any]], find: Callable[[TypeEngine[Any]], Callable[[Any], Any] | None]
) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(name, processor) for name, kind in types.items() if (processor := find(kind)) is not None]


_driver_statement = lru_cache(MAX_KEPT)(_DriverStatement)
