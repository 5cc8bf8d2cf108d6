"""The master keys of services that run in a test's own process."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from runwatch.base.network.service_file import ServiceFile, open_owner_key, read_service_file
from runwatch.base.secrets.sealing import KEY_BYTES, MasterKey, MasterKeys
from runwatch.service.access.vault import DIRECTORY

MASTER_KEYS: Final = MasterKeys((MasterKey(bytes(range(KEY_BYTES))),))
"""The same at every start, as the file of an installation has it."""


def master_keys() -> MasterKeys:
    """What ``ServeOptions`` asks for."""
    return MASTER_KEYS


def vault_secrets(data_dir: Path) -> list[str]:
    """Every secret of a data directory, opened with these keys."""
    files = (data_dir / DIRECTORY).glob("*")
    return [MASTER_KEYS.open(file.read_bytes(), file.name).decode() for file in files]


def opened_service_file(data_dir: Path) -> ServiceFile | None:
    """What ``service.json`` says, with the owner's key opened."""
    written = read_service_file(data_dir)
    return None if written is None else open_owner_key(written, MASTER_KEYS)
