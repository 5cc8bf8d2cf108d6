"""Secrets of providers, checks, agents and webhooks: one file each that only its owner can read, named by a handle.

Rows of the database hold handles and never a secret. A secret is stored before the row that names it and removed after
the row let go of it, so a crash in between leaves a file that nobody names, which :meth:`Vault.sweep` removes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from runwatch.base.errors import DataError
from runwatch.base.files import private_directory, write_atomic
from runwatch.base.log import keep_secret
from runwatch.base.secret import Secret
from runwatch.service.ids import random_digits

DIRECTORY: Final = "secrets"

_HANDLE_DIGITS: Final = 32
_HANDLE: Final = re.compile(rf"cred_v_[0-9a-f]{{{_HANDLE_DIGITS}}}")


def new_handle() -> str:
    """A handle in the form that the interface shows for staged keys: ``cred_v_`` and 32 hex digits."""
    return f"cred_v_{random_digits(_HANDLE_DIGITS)}"


class Vault:
    """The secrets of one data directory.

    Args:
        data_dir: The service's data directory; the caller holds its lock.
    """

    def __init__(self, data_dir: Path) -> None:
        self._directory = data_dir / DIRECTORY

    async def put(self, secret: Secret) -> str:
        """Keep a secret and return its handle once it is on the disk.

        Raises:
            DataError: it cannot be written.
        """
        keep_secret(secret)
        handle = new_handle()
        await asyncio.to_thread(self._write, handle, secret)
        return handle

    async def get(self, handle: str) -> Secret | None:
        """The secret of a handle, or ``None`` when there is none.

        Raises:
            DataError: it cannot be read.
        """
        return await asyncio.to_thread(self._read, handle)

    async def remove(self, handle: str) -> None:
        """Forget a secret; harmless when there is none."""
        if _HANDLE.fullmatch(handle):
            await asyncio.to_thread((self._directory / handle).unlink, missing_ok=True)

    async def sweep(self, named: Collection[str]) -> None:
        """Remove every secret whose handle is not among those that are named."""
        for handle in await asyncio.to_thread(self._handles):
            if handle not in named:
                await self.remove(handle)

    def _handles(self) -> list[str]:
        if not self._directory.is_dir():
            return []
        return [file.name for file in self._directory.iterdir() if _HANDLE.fullmatch(file.name)]

    def _write(self, handle: str, secret: Secret) -> None:
        try:
            private_directory(self._directory)
            write_atomic(self._directory / handle, secret.reveal().encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise _unusable(self._directory, error) from error

    def _read(self, handle: str) -> Secret | None:
        if not _HANDLE.fullmatch(handle):
            return None
        try:
            secret = Secret((self._directory / handle).read_bytes().decode("utf-8", "surrogatepass"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._directory, error) from error
        keep_secret(secret)
        return secret


def _unusable(directory: Path, error: OSError) -> DataError:
    return DataError(
        "The service's secrets cannot be kept",
        detail=f"{directory}: {error.strerror}",
        hint="Make the data directory writable, or name another one with --data-dir.",
    )
