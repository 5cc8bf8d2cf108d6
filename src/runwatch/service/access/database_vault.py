"""Secrets in the database itself, for a service of several processes, each with a data directory of its own."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.base.log import keep_secret
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import Vault, new_handle
from runwatch.service.database import TransactionRunner
from runwatch.service.tables.organization import sealed_secrets
from runwatch.service.transaction import Transaction

UNNAMED_FOR: Final = timedelta(hours=1)
"""How long a secret that no row names is kept: another process may be about to write the row."""


class DatabaseVault(Vault):
    """The secrets of one database, sealed like those of a data directory."""

    def __init__(self, database: TransactionRunner, keys: MasterKeys) -> None:
        super().__init__(Path(), keys)
        self._database = database

    async def put(self, secret: Secret) -> str:
        keep_secret(secret)
        handle = new_handle()
        sealed = self._keys.seal(secret.reveal().encode("utf-8", "surrogatepass"), handle)
        await self._database.write(lambda transaction: transaction.add(sealed_secrets, handle=handle, sealed=sealed))
        return handle

    async def get(self, handle: str) -> Secret | None:
        row = await self._database.read(lambda transaction: transaction.one(sealed_secrets, {"handle": handle}))
        return None if row is None else self._open(handle, row["sealed"])

    async def remove(self, handle: str) -> None:
        await self._database.write(lambda transaction: transaction.remove(sealed_secrets, {"handle": handle}))

    async def sweep(self, named: Collection[str]) -> None:
        """Remove every secret whose handle is not named, unless it is new."""

        def sweep(transaction: Transaction) -> None:
            before = format_iso(transaction.now - UNNAMED_FOR)
            for row in transaction.list_all(sealed_secrets, {}):
                if row["handle"] not in named and row["created_at"] < before:
                    transaction.remove(sealed_secrets, {"handle": row["handle"]})

        await self._database.write(sweep)

    async def take_over(self) -> tuple[str, ...]:
        """Seal what an earlier master key sealed with the newest one; return the handles that no master key opens."""

        def take_over(transaction: Transaction) -> tuple[str, ...]:
            closed = []
            for row in transaction.list_all(sealed_secrets, {}):
                handle, sealed = row["handle"], row["sealed"]
                secret = self._open(handle, sealed)
                if secret is None:
                    closed.append(handle)
                elif not self._keys.is_newest(sealed):
                    renewed = self._keys.seal(secret.reveal().encode("utf-8", "surrogatepass"), handle)
                    transaction.change(sealed_secrets, {"handle": handle}, sealed=renewed)
            return tuple(sorted(closed))

        return await self._database.write(take_over)
