"""Secrets in the database itself, for a service of several processes, each with a data directory of its own."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

from runwatch.base.clock import format_iso
from runwatch.base.errors import LocalServiceError
from runwatch.base.log import keep_secret
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import Vault, new_handle
from runwatch.service.database import TransactionRunner
from runwatch.service.tables import sealed_secrets_table
from runwatch.service.transaction import Transaction

UNNAMED_FOR: Final = timedelta(hours=1)
"""How long a secret that no row names is kept: another process may be about to write the row."""

PROOF: Final = "master_key"
"""Handle of no secret: a rotation shows with it which master key the database has from then on."""


class DatabaseVault(Vault):
    """The secrets of one database, sealed like those of a data directory."""

    def __init__(self, database: TransactionRunner, keys: MasterKeys) -> None:
        super().__init__(Path(), keys)
        self._database = database

    @classmethod
    async def open(cls, database: TransactionRunner, keys: MasterKeys) -> Self:
        """Return the vault of a database for a start.

        Raises LocalServiceError if there are secrets and the key of none is here.
        """
        kept = await database.read(lambda transaction: transaction.list_all(sealed_secrets_table, {}))
        if kept and not any(keys.has_key_of(row["sealed"]) for row in kept):
            raise LocalServiceError(
                "No master key here opens the secrets of this database",
                detail=f"Secrets whose master key is missing: {len(kept)}",
                hint=(
                    "Bring the master key here, master.key beside the settings or local_service.master_key_command, and"
                    " start again. If it is lost for ever, 'runwatch serve --rotate-master-key' with the same database"
                    " goes on with another one, and every secret has to be entered again."
                ),
            )
        return cls(database, keys)

    async def put(self, secret: Secret) -> str:
        keep_secret(secret)
        handle = new_handle()
        sealed = self._keys.seal(secret.reveal().encode("utf-8", "surrogatepass"), handle)
        await self._database.write(
            lambda transaction: transaction.add(sealed_secrets_table, handle=handle, sealed=sealed)
        )
        return handle

    async def get(self, handle: str) -> Secret | None:
        row = await self._database.read(lambda transaction: transaction.one(sealed_secrets_table, {"handle": handle}))
        return None if row is None else self._open(handle, row["sealed"])

    async def remove(self, handle: str) -> None:
        await self._database.write(lambda transaction: transaction.remove(sealed_secrets_table, {"handle": handle}))

    async def sweep(self, named: Collection[str]) -> None:
        """Remove every secret whose handle is not named, unless it is new."""

        def sweep(transaction: Transaction) -> None:
            before = format_iso(transaction.now - UNNAMED_FOR)
            for row in transaction.list_all(sealed_secrets_table, {}):
                if row["handle"] not in {*named, PROOF} and row["created_at"] < before:
                    transaction.remove(sealed_secrets_table, {"handle": row["handle"]})

        await self._database.write(sweep)

    async def take_over(self) -> tuple[str, ...]:
        """Seal what an earlier master key sealed with the newest one; return the handles that no master key opens."""

        def take_over(transaction: Transaction) -> tuple[str, ...]:
            closed = []
            for row in transaction.list_all(sealed_secrets_table, {}):
                handle, sealed = row["handle"], row["sealed"]
                secret = self._open(handle, sealed)
                if secret is None:
                    closed.append(handle)
                elif not self._keys.is_newest(sealed):
                    renewed = self._keys.seal(secret.reveal().encode("utf-8", "surrogatepass"), handle)
                    transaction.change(sealed_secrets_table, {"handle": handle}, sealed=renewed)
            return tuple(sorted(closed))

        return await self._database.write(take_over)

    async def rotate(self) -> tuple[str, ...]:
        """Do the same, and have the database take the newest master key, even if no secret opens with the others."""

        def prove(transaction: Transaction) -> None:
            transaction.remove(sealed_secrets_table, {"handle": PROOF})
            transaction.add(sealed_secrets_table, handle=PROOF, sealed=self._keys.seal(b"", PROOF))

        await self._database.write(prove)
        return await self.take_over()
