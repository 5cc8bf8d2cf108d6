"""The two files of a local service."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from runwatch.base.network.service_file import (
    ServiceFile,
    is_running,
    open_owner_key,
    read_service_file,
    service_line,
    service_lock,
    write_service_file,
)
from runwatch.base.secrets.sealing import MasterKeys, UnsealError
from runwatch.base.secrets.secret import Secret
from tests.support.master_keys import MASTER_KEYS


def test_a_service_file_comes_back_as_it_was_written_and_is_private(tmp_path: Path) -> None:
    written = ServiceFile("http://127.0.0.1:4021", Secret("rw_local_key"), tmp_path, 4711, tmp_path / "a.sock")
    write_service_file(written, MASTER_KEYS)
    sealed = read_service_file(tmp_path)
    assert sealed is not None
    assert open_owner_key(sealed, MASTER_KEYS) == written
    assert not sealed.api_key
    assert "rw_local_key" not in (tmp_path / "service.json").read_text()
    with pytest.raises(UnsealError):
        open_owner_key(sealed, MasterKeys.new())
    assert stat.S_IMODE((tmp_path / "service.json").stat().st_mode) == 0o600
    assert "rw_local_key" not in repr(written)


def test_a_service_file_takes_the_place_of_a_planted_link(tmp_path: Path) -> None:
    victim = tmp_path / "precious"
    victim.write_text("precious")
    (tmp_path / "service.json").symlink_to(victim)
    write_service_file(ServiceFile("http://127.0.0.1:4021", Secret("k"), tmp_path, 4711, None), MASTER_KEYS)
    assert victim.read_text() == "precious"
    assert not (tmp_path / "service.json").is_symlink()


def test_the_line_of_serve_has_five_members(tmp_path: Path) -> None:
    line = service_line(ServiceFile("http://127.0.0.1:4021", Secret("rw_local_key"), tmp_path, 4711, Path("/r/a.sock")))
    assert "\n" not in line
    assert json.loads(line) == {
        "base_url": "http://127.0.0.1:4021",
        "api_key": "rw_local_key",
        "data_dir": str(tmp_path),
        "pid": 4711,
        "socket": "/r/a.sock",
    }


@pytest.mark.parametrize("socket", ["", "relative/a.sock", "/a\0b", 7, None, ["/a.sock"]])
def test_a_service_file_whose_socket_is_no_path_names_none(socket: object, tmp_path: Path) -> None:
    content = {"base_url": "http://127.0.0.1:4021", "api_key": "k", "pid": 4711, "socket": socket}
    (tmp_path / "service.json").write_text(json.dumps(content))
    (tmp_path / "service.json").chmod(0o600)
    found = read_service_file(tmp_path)
    assert found is not None
    assert found.socket is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"1", b"\xff", b"{}", b'{"base_url": "x", "api_key": "y", "pid": "z"}', b"[" * 100_000,
     b'{"base_url": "x", "api_key": "y", "pid": 1e999}', b'{"base_url": "x", "sealed_key": "%", "pid": 1}',
     b'{"base_url": "x", "sealed_key": 7, "pid": 1}'],
)  # fmt: skip
def test_a_service_file_that_cannot_be_read_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "service.json").write_bytes(content)
    (tmp_path / "service.json").chmod(0o600)
    assert read_service_file(tmp_path) is None
    assert read_service_file(tmp_path / "nowhere") is None


def test_a_service_runs_while_its_lock_is_held(tmp_path: Path) -> None:
    assert not is_running(tmp_path)
    assert list(tmp_path.iterdir()) == [], "asking leaves no trace"
    lock = service_lock(tmp_path)
    lock.acquire(wait=True)
    assert is_running(tmp_path)
    lock.release()
    assert not is_running(tmp_path)
