"""``runwatch admin copy``: the data of an embedded service into a PostgreSQL database (manual: team-service, "Moving").

All rows and secrets are written in one transaction, and rows are read back before its commit: the database has them
all, or none, and an interrupted copy is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sqlalchemy import Connection, Table, func, select

from runwatch.base.clock import Clock, format_iso
from runwatch.base.errors import DataError, UsageError
from runwatch.base.files import write_atomic
from runwatch.base.network.service_file import SAMPLE_KEYS, SERVICE_FILE
from runwatch.records.states import FINAL_STATES
from runwatch.service.access.vault import Vault
from runwatch.service.backends.data_directory import take_data_dir, unusable
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.options import ServeOptions
from runwatch.service.startup import DATABASE_FILE, find_backend
from runwatch.service.tables import SCHEMA_VERSION, metadata, runs_table, sealed_secrets_table, webhook_deliveries_table

if TYPE_CHECKING:
    from runwatch.service.backends.postgresql import PostgresDatabase

_STEP: Final = 500
"""Rows read and written at once."""

_FILES: Final = (SERVICE_FILE, SAMPLE_KEYS)
"""Files of the data directory that go with the rows: address and key of the owner, keys of the sample organizations."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """One table, equal on both sides.

    Attributes:
        digest: Sum of the SHA-256 of every row, modulo 2**256, in hexadecimal; it does not depend on their order.
    """

    name: str
    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class DataCopy:
    """What was copied.

    Attributes:
        tables: Every table, parents first.
        unfinished: Number of runs that are not final; whichever service starts goes on with them.
        deliveries: Number of webhook deliveries that wait to be sent, likewise.
    """

    tables: tuple[CopiedTable, ...]
    secrets: int
    unfinished: int
    deliveries: int


async def copy_data(source_dir: Path, options: ServeOptions, clock: Clock) -> DataCopy:
    """Copy an embedded service's data into an empty database and its data directory; the source stays as it is.

    A source of an older version is migrated, and its secrets are sealed with the newest master key, as at a start.

    Raises:
        UsageError: The database is not named, or the package for PostgreSQL is not installed.
        LocalServiceError: A service holds one of the data directories or the database.
        DataError: There is nothing to copy, the database is not empty, one of the places is unusable, or a table is
            not the same on both sides.
    """
    if options.database is None:
        raise UsageError(
            "No database to copy to", hint="Name it with --to postgresql://USER@HOST/DATABASE or RUNWATCH_DATABASE."
        )
    source, target = SqliteFile(source_dir / DATABASE_FILE), cast("PostgresDatabase", find_backend(options))
    if source.is_new():
        raise DataError(
            "There is no data of an embedded service to copy",
            detail=f"{source.path} does not exist.",
            hint="Name the service's data directory with --from.",
        )
    with ExitStack() as stack:
        for data_dir in (source_dir, options.data_dir):
            stack.callback((await take_data_dir(data_dir, clock)).release)
        if not target.is_new():
            raise DataError(
                "The database is not empty",
                detail="It has an organization already, and rows of two services cannot be put together.",
                hint="Name an empty database with --to.",
            )
        vault = Vault(source_dir, options.master_keys())
        await vault.take_over()
        secrets = vault.sealed()
        stack.callback(source.close)
        stack.callback(target.close)
        source.open_writer(SCHEMA_VERSION)
        target.open_writer(SCHEMA_VERSION)
        with source.translate_errors(), target.translate_errors():
            copied = _copy_rows(source, target, secrets, format_iso(clock.now()))
        for name in _FILES:
            _copy_file(source_dir / name, options.data_dir / name)
    return copied


def _copy_rows(source: SqliteFile, target: PostgresDatabase, secrets: Mapping[str, bytes], now: str) -> DataCopy:
    with source.writer.begin() as old, target.writer.begin() as new:
        copied = tuple(_sum_rows(table, old, partial(new.execute, table.insert())) for table in metadata.sorted_tables)
        for table, copy in zip(metadata.sorted_tables, copied, strict=True):
            found = _sum_rows(table, new)
            if found != copy:
                raise DataError(
                    "A table is not the same on both sides, and nothing was copied",
                    detail=f"{copy.name}: {copy.rows} rows with {copy.digest}, and {found.rows} with {found.digest}.",
                    hint="Please report this: it is a defect of runwatch.",
                )
        # The secrets of a team service are in its database, for all of its processes.
        for handle, sealed in secrets.items():
            new.execute(sealed_secrets_table.insert(), {"handle": handle, "sealed": sealed, "created_at": now})
        target.continue_sequences(new, source.last_sequences(old))
        unfinished = old.execute(select(func.count()).where(runs_table.c.status.not_in(FINAL_STATES))).scalar_one()
        deliveries = old.execute(
            select(func.count()).where(webhook_deliveries_table.c.status == "pending")
        ).scalar_one()
    return DataCopy(copied, len(secrets), unfinished, deliveries)


def _sum_rows(
    table: Table, connection: Connection, each: Callable[[list[dict[str, Any]]], object] = lambda _: None
) -> CopiedTable:
    """Return the number and the digest of a table's rows, and pass them on in steps."""
    count, total = 0, 0
    with connection.execute(select(table), execution_options={"yield_per": _STEP}) as found:
        for part in found.mappings().partitions():
            rows = [dict(row) for row in part]
            each(rows)
            count += len(rows)
            total += sum(_digest(row.values()) for row in rows)
    return CopiedTable(table.name, count, f"{total % 2**256:064x}")


def _digest(values: Iterable[object]) -> int:
    # Values of JSON, numbers, texts and bytes have one representation each.
    return int.from_bytes(sha256(repr(list(values)).encode("utf-8", "surrogatepass")).digest())


def _copy_file(source: Path, target: Path) -> None:
    try:
        if source.exists():
            write_atomic(target, source.read_bytes(), follows_links=False)
    except OSError as error:
        raise unusable(target.parent, error) from error
