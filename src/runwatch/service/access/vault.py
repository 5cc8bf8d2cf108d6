"""Secrets of providers, checks, agents and webhooks: one sealed file each, named by a handle.

Rows of the database hold handles and never a secret. A secret is stored before the row that names it and removed after
the row let go of it, so a crash in between leaves a file that no row names, which :meth:`Vault.sweep` removes. A file
is sealed with the master key for its handle alone: a copy of the data directory gives no secret away (manual,
Security: Secrets at rest).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from runwatch.base.errors import DataError
from runwatch.base.files import private_directory, write_atomic
from runwatch.base.log import keep_secret
from runwatch.base.sealing import MasterKeys, UnsealError, is_sealed
from runwatch.base.secret import Secret
from runwatch.service.ids import random_digits

DIRECTORY: Final = "secrets"

_HANDLE_DIGITS: Final = 32
_LEFTOVER: Final = re.compile(rf"\.cred_v_[0-9a-f]{{{_HANDLE_DIGITS}}}\..+")
_HANDLE: Final = re.compile(rf"cred_v_[0-9a-f]{{{_HANDLE_DIGITS}}}")

_log: Final = logging.getLogger(__name__)


def new_handle() -> str:
    """A handle in the form that the interface shows for staged keys: ``cred_v_`` and 32 hex digits."""
    return f"cred_v_{random_digits(_HANDLE_DIGITS)}"


class Vault:
    """The secrets of one data directory.

    Args:
        data_dir: The service's data directory; the caller holds its lock.
        keys: The master keys.
    """

    def __init__(self, data_dir: Path, keys: MasterKeys) -> None:
        self._directory = data_dir / DIRECTORY
        self._keys = keys

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
        """The secret of a handle, or ``None`` when there is none that a master key opens.

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

    async def take_over(self) -> tuple[str, ...]:
        """Seal what is not sealed with the newest master key, and return the handles of what no master key opens.

        That are the plain files of version 0.1.0, and those that were sealed before a rotation. Every file is replaced
        by itself, so that a start that is cut off leaves the rest for the next one. What cannot be opened stays as it
        is: the master key may come back.

        Raises:
            DataError: the secrets cannot be read or written.
        """
        return await asyncio.to_thread(self._take_over)

    def _take_over(self) -> tuple[str, ...]:
        try:
            self._remove_leftovers()
            return tuple(handle for handle in sorted(self._handles()) if not self._renew(self._directory / handle))
        except OSError as error:
            raise _unusable(self._directory, error) from error

    def _remove_leftovers(self) -> None:
        """Remove the temporary files of writes that were cut off; those of version 0.1.0 hold plain secrets."""
        if self._directory.is_dir():
            for file in self._directory.iterdir():
                if _LEFTOVER.fullmatch(file.name):
                    file.unlink()

    def _renew(self, file: Path) -> bool:
        """Seal one file with the newest key; answer whether it can be opened."""
        content = file.read_bytes()
        if not is_sealed(content):
            write_atomic(file, self._keys.seal(content, file.name), follows_links=False)
            return True
        try:
            plain = self._keys.open(content, file.name)
        except UnsealError as error:
            _log.warning("the secret %s cannot be opened: %s", file.name, error)
            return False
        if not self._keys.is_newest(content):
            write_atomic(file, self._keys.seal(plain, file.name), follows_links=False)
        return True

    def _handles(self) -> list[str]:
        if not self._directory.is_dir():
            return []
        return [file.name for file in self._directory.iterdir() if _HANDLE.fullmatch(file.name)]

    def _write(self, handle: str, secret: Secret) -> None:
        try:
            private_directory(self._directory)
            plain = secret.reveal().encode("utf-8", "surrogatepass")
            write_atomic(self._directory / handle, self._keys.seal(plain, handle), follows_links=False)
        except OSError as error:
            raise _unusable(self._directory, error) from error

    def _read(self, handle: str) -> Secret | None:
        if not _HANDLE.fullmatch(handle):
            return None
        try:
            plain = self._keys.open((self._directory / handle).read_bytes(), handle)
        except FileNotFoundError:
            return None
        except UnsealError as error:
            _log.warning("the secret %s cannot be opened: %s", handle, error)
            return None
        except OSError as error:
            raise _unusable(self._directory, error) from error
        secret = Secret(plain.decode("utf-8", "surrogatepass"))
        keep_secret(secret)
        return secret


def _unusable(directory: Path, error: OSError) -> DataError:
    return DataError(
        "The service's secrets cannot be kept",
        detail=f"{directory}: {error.strerror}",
        hint="Make the data directory writable, or name another one with --data-dir.",
    )
