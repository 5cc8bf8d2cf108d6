"""What SQLite and Alembic see of a database's tables, to be held against those that the code declares."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from alembic.autogenerate import produce_migrations, render_python_code
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, create_engine
from sqlalchemy.pool import NullPool

Shape = dict[str, Any]
"""Tables by name, with their columns, keys and indexes."""


def shape_of(connection: sqlite3.Connection) -> Shape:
    """The tables of a database; the order of the columns makes no difference."""
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name: _table(connection, name, sql) for name, sql in tables.fetchall()}


def _table(connection: sqlite3.Connection, table: str, sql: str) -> Shape:
    def pragma(name: str, of: str = table) -> list[tuple[Any, ...]]:
        return connection.execute(f"PRAGMA {name}({of})").fetchall()

    indexes = {
        (
            origin if name.startswith("sqlite_autoindex") else name,
            unique,
            partial,
            *(row[2] for row in pragma("index_info", name)),
        )
        for _, name, unique, origin, partial in pragma("index_list")
    }
    return {
        "columns": {name: rest for _, name, *rest in pragma("table_xinfo")},
        "foreign keys": {tuple(row[2:]) for row in pragma("foreign_key_list")},
        "indexes": indexes,
        "gives numbers once": "AUTOINCREMENT" in sql,
    }


def shape_of_file(path: Path) -> Shape:
    with closing(sqlite3.connect(path)) as connection:
        return shape_of(connection)


def shape_of_new(declared: MetaData) -> Shape:
    """The same of a new database with the declared tables."""
    engine = create_engine("sqlite://", poolclass=NullPool)
    with engine.connect() as connection:
        declared.create_all(connection)
        return shape_of(cast(sqlite3.Connection, connection.connection.dbapi_connection))


def missing_revision(path: Path, declared: MetaData) -> str:
    """The body of the revision that a file lacks, as Alembic writes it; empty when it lacks none."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "render_as_batch": True}
        )
        operations = produce_migrations(context, declared).upgrade_ops
        if operations is None or operations.is_empty():
            return ""
        return render_python_code(operations, render_as_batch=True)
