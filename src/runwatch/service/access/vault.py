"""Secrets of providers, checks, agents and webhooks: one sealed file each, named by a handle.

Database rows hold handles and never a secret. A secret is stored before the row that names it and removed after the row
drops it, so a crash in between leaves a file that no row names, which :meth:`Vault.sweep` removes. A file is sealed
with the master key for its own handle, so a copy of the data directory reveals no secret (manual: security, "Secrets at
rest").
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Collection, Iterable
from pathlib import Path
from typing import Final

from runwatch.base.errors import DataError
from runwatch.base.files import private_directory, write_atomic
from runwatch.base.log import keep_secret
from runwatch.base.secrets.sealing import MasterKeys, UnsealError, is_sealed
from runwatch.base.secrets.secret import Secret
from runwatch.service.ids import random_digits

DIRECTORY: Final = "secrets"

_HANDLE_DIGITS: Final = 32
_LEFTOVER: Final = re.compile(rf"\.cred_v_[0-9a-f]{{{_HANDLE_DIGITS}}}\..+")
_HANDLE: Final = re.compile(rf"cred_v_[0-9a-f]{{{_HANDLE_DIGITS}}}")

_log: Final = logging.getLogger(__name__)


def new_handle() -> str:
    """Create a handle in the specification's format for staged keys: ``cred_v_`` and 32 hex digits."""
    return f"cred_v_{random_digits(_HANDLE_DIGITS)}"


class Vault:
    """The secrets of one data directory.

    Args:
        data_dir: The service's data directory; the caller holds its lock.
    """

    def __init__(self, data_dir: Path, keys: MasterKeys) -> None:
        self._directory = data_dir / DIRECTORY
        self._keys = keys

    async def put(self, secret: Secret) -> str:
        """Store a secret and return its handle once it is on disk. Raises DataError if it cannot be written."""
        keep_secret(secret)
        handle = new_handle()
        await asyncio.to_thread(self._write, handle, secret)
        return handle

    async def get(self, handle: str) -> Secret | None:
        """Return the secret of a handle, or ``None`` if it does not exist or no master key opens it.

        Raises DataError if it cannot be read.
        """
        return await asyncio.to_thread(self._read, handle)

    async def remove(self, handle: str) -> None:
        """Remove a secret; do nothing if it does not exist."""
        if _HANDLE.fullmatch(handle):
            await asyncio.to_thread((self._directory / handle).unlink, missing_ok=True)

    async def remove_all(self, handles: Iterable[str | None]) -> None:
        """Remove the secrets of some handles, ``None`` being no handle."""
        for handle in handles:
            if handle is not None:
                await self.remove(handle)

    @contextlib.asynccontextmanager
    async def stored(self, secret: Secret) -> AsyncIterator[str]:
        """Store a secret for the block that writes the row naming it, and remove it if the block fails.

        It stays on cancellation, because the row may be on disk nevertheless.
        """
        handle = await self.put(secret)
        try:
            yield handle
        except Exception:
            await self.remove(handle)
            raise

    async def sweep(self, named: Collection[str]) -> None:
        """Remove every secret whose handle is not named."""
        for handle in await asyncio.to_thread(self._handles):
            if handle not in named:
                await self.remove(handle)

    async def take_over(self) -> tuple[str, ...]:
        """Seal what is not sealed with the newest master key, and return the handles that no master key opens.

        These are the plain files of version 0.1.0 and files sealed before a rotation. Each file is replaced on its own,
        so an interrupted start leaves the rest for the next one. What cannot be opened is kept: the master key may come
        back. Raises DataError if the secrets cannot be read or written.
        """
        return await asyncio.to_thread(self._take_over)

    def sealed(self) -> dict[str, bytes]:
        """Return every secret by its handle, sealed as it is. Raises DataError if one cannot be read."""
        try:
            return {handle: (self._directory / handle).read_bytes() for handle in sorted(self._handles())}
        except OSError as error:
            raise _unusable(self._directory, error) from error

    def _take_over(self) -> tuple[str, ...]:
        try:
            self._remove_leftovers()
            return tuple(handle for handle in sorted(self._handles()) if not self._renew(self._directory / handle))
        except OSError as error:
            raise _unusable(self._directory, error) from error

    def _remove_leftovers(self) -> None:
        """Remove temporary files of interrupted writes; those of version 0.1.0 hold plain secrets."""
        if self._directory.is_dir():
            for file in self._directory.iterdir():
                if _LEFTOVER.fullmatch(file.name):
                    file.unlink()

    def _renew(self, file: Path) -> bool:
        """Seal one file with the newest key; return whether it can be opened."""
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
            sealed = (self._directory / handle).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._directory, error) from error
        return self._open(handle, sealed)

    def _open(self, handle: str, sealed: bytes) -> Secret | None:
        try:
            plain = self._keys.open(sealed, handle)
        except UnsealError as error:
            _log.warning("the secret %s cannot be opened: %s", handle, error)
            return None
        secret = Secret(plain.decode("utf-8", "surrogatepass"))
        keep_secret(secret)
        return secret


def _unusable(directory: Path, error: OSError) -> DataError:
    return DataError(
        "The service's secrets cannot be kept",
        detail=f"{directory}: {error.strerror}",
        hint="Make the data directory writable, or name another one with --data-dir.",
    )
