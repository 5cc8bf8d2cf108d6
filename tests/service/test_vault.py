"""Secrets at rest: one private file each, by handle."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from runwatch.base.errors import DataError
from runwatch.base.log import redact
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import DIRECTORY, Vault
from tests.support.master_keys import MASTER_KEYS

SENTINEL = "sk-sentinel-5f3a"


async def test_a_secret_is_found_by_its_handle_until_it_is_removed(tmp_path: Path) -> None:
    vault = Vault(tmp_path, MASTER_KEYS)
    handle = await vault.put(Secret(SENTINEL))
    assert await Vault(tmp_path, MASTER_KEYS).get(handle) == Secret(SENTINEL)
    await vault.remove(handle)
    await vault.remove(handle)
    assert await vault.get(handle) is None


async def test_nobody_else_can_read_it_and_no_log_shows_it(tmp_path: Path) -> None:
    handle = await Vault(tmp_path, MASTER_KEYS).put(Secret(SENTINEL))
    file = tmp_path / DIRECTORY / handle
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert SENTINEL not in redact(f"failed with {SENTINEL}")


@pytest.mark.parametrize(
    "handle", ["", "cred_v_", "../service.json", "cred_v_" + "0" * 32 + "/..", "cred_v_" + "G" * 32]
)
async def test_what_is_no_handle_names_no_file(tmp_path: Path, handle: str) -> None:
    (tmp_path / "service.json").write_text("kept")
    vault = Vault(tmp_path, MASTER_KEYS)
    await vault.put(Secret(SENTINEL))
    assert await vault.get(handle) is None
    await vault.remove(handle)
    assert (tmp_path / "service.json").read_text() == "kept"


async def test_a_sweep_leaves_what_is_named(tmp_path: Path) -> None:
    vault = Vault(tmp_path, MASTER_KEYS)
    await vault.sweep([])
    kept, left = await vault.put(Secret(SENTINEL)), await vault.put(Secret("another-secret"))
    await vault.sweep([kept])
    assert await vault.get(kept) is not None
    assert await vault.get(left) is None


async def test_a_place_that_takes_no_files_is_reported(tmp_path: Path) -> None:
    (tmp_path / DIRECTORY).write_text("a file is in the way")
    with pytest.raises(DataError) as told:
        await Vault(tmp_path, MASTER_KEYS).put(Secret(SENTINEL))
    assert SENTINEL not in str(told.value)
    with pytest.raises(DataError):
        await Vault(tmp_path, MASTER_KEYS).get("cred_v_" + "0" * 32)
