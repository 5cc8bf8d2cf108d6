"""SQLite databases of services in a test's own process: their tables are made once, and then copied."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from runwatch.service.backends import sqlite

_prepare = sqlite._prepare
_new_files: dict[int, bytes] = {}


def _prepare_from_copy(engine: Engine, path: Path, schema_version: int) -> None:
    is_new, copy = path.stat().st_size == 0, _new_files.get(schema_version)
    if is_new and copy is not None:
        path.write_bytes(copy)
    _prepare(engine, path, schema_version)
    if is_new and copy is None:
        with closing(sqlite3.connect(path)) as connection:
            _new_files[schema_version] = connection.serialize()


@contextmanager
def tables_copied() -> Iterator[None]:
    """Write the tables of each new database as the first one had them: making them takes most of a service's start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_prepare", _prepare_from_copy)
        yield
