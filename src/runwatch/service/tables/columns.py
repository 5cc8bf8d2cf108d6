"""Tables declared in words, one for each column."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, ForeignKey, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata: Final = MetaData()

# Texts compare by their characters and numbers have 64 bits, as they do in SQLite by themselves. JSON is kept as it was
# written.
_TYPES: Final[dict[str | None, TypeEngine[Any]]] = {
    "int": Integer().with_variant(BigInteger(), "postgresql"),
    "float": Float(),
    "bool": Boolean(),
    "json": JSON(),
    "bytes": LargeBinary(),
    None: Text().with_variant(Text(collation="C"), "postgresql"),
}
_WORD: Final = re.compile(r"(?P<name>\w+)(>(?P<parent>\w+))?(:(?P<type>\w+))?(?P<marks>[?!*^]*)")


def table(name: str, words: str, *items: SchemaItem) -> Table:
    """Declare a table from a word for each column: ``name``, ``>table`` of a foreign key, ``:type`` and marks.

    A column is a text that may not be null, unless its word says otherwise. The marks are ``?`` nullable, ``!`` unique,
    ``*`` primary key and ``^`` indexed. A foreign key refers to the column of the same name. ``sequence`` grows with
    every insert and gives lists their order and cursors.

    Args:
        words: Columns in order, with spaces between them.
        items: Indexes and constraints over several columns.

    Raises:
        ValueError: A word has another form.
    """
    columns = [_column(word) for word in words.split()]
    return Table(name, metadata, *columns, *items, sqlite_autoincrement="sequence:int*" in words.split())


def _column(word: str) -> Column[Any]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"'{word}' declares no column")
    name, parent, marks = found["name"], found["parent"], found["marks"]
    keys = [ForeignKey(f"{parent}.{name}")] if parent else []
    return Column(
        name,
        _TYPES[found["type"]],
        *keys,
        primary_key="*" in marks,
        nullable="?" in marks,
        unique="!" in marks or None,
        index="^" in marks or None,
    )
