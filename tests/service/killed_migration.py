"""A migration that is killed: ``python -m tests.service.killed_migration FILE MOMENT``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn
from unittest import mock

from alembic.operations import Operations
from sqlalchemy import Connection, Engine, event

from runwatch.base.clock import SystemClock
from runwatch.service import database
from runwatch.service.backends import sqlite
from runwatch.service.tables import SCHEMA_VERSION


def die(*_: Any) -> NoReturn:
    """End at once, as in a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed already")


def while_it_is_copied() -> None:
    """Before the copy gets its name."""
    mock.patch.object(Path, "replace", die).start()


def between_two_revisions() -> None:
    """When some tables were made and others not."""
    create, made = Operations.create_table, []

    def create_or_die(operations: Operations, name: str, *parts: Any, **named: Any) -> Any:
        made.append(name)
        return die() if len(made) == 3 else create(operations, name, *parts, **named)

    mock.patch.object(Operations, "create_table", create_or_die).start()


def before_the_commit() -> None:
    """When all is written and nothing is final."""

    def die_over_the_new_version(connection: Connection) -> None:
        if connection.exec_driver_sql("PRAGMA user_version").scalar_one() == SCHEMA_VERSION:
            die()

    event.listen(Engine, "commit", die_over_the_new_version)


def after_the_commit() -> None:
    """Before the copy is removed."""
    mock.patch.object(sqlite, "remove_backup", die).start()


MOMENTS: Final[dict[str, Callable[[], None]]] = {
    moment.__name__: moment
    for moment in (while_it_is_copied, between_two_revisions, before_the_commit, after_the_commit)
}


if __name__ == "__main__":
    MOMENTS[sys.argv[2]]()
    database.ServiceDatabase.open(Path(sys.argv[1]), SystemClock())
