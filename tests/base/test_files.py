"""Files are replaced whole or not at all, and locks hold between processes."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runwatch.base import files
from runwatch.base.files import (
    FileLock,
    copy_aside,
    export_refusal,
    hold_lock,
    private_directory,
    write_atomic,
    write_export,
)

HOLDER = """
import sys
from pathlib import Path
from runwatch.base.files import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.acquire(wait=True), flush=True)
sys.stdin.read()
"""


def can_take(path: Path) -> bool:
    lock = FileLock(path)
    taken = lock.acquire(wait=False)
    lock.release()
    return taken


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def broken(*arguments: Any, **named: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


class Disk:
    """A file that takes its name and no content."""

    def __init__(self, descriptor: int, mode: str, buffering: int) -> None:
        self._file = io.FileIO(descriptor, mode.removesuffix("b"))

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, content: bytes) -> None:
        self._file.write(content[:3])
        broken()


STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "make the temporary file": lambda patch: patch.setattr(tempfile, "mkstemp", broken),
    "set its mode": lambda patch: patch.setattr(Path, "chmod", broken),
    "write": lambda patch: patch.setattr(os, "fdopen", Disk),
    "flush it to the disk": lambda patch: patch.setattr(os, "fsync", broken),
    "give it its name": lambda patch: patch.setattr(Path, "replace", broken),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_leaves_the_old_content_whole_and_nothing_beside_it(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    write_atomic(path, b"old")
    with monkeypatch.context() as patch:
        STEPS[step](patch)
        with pytest.raises(OSError, match="No space left"):
            write_atomic(path, b"new content")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.toml"]


def test_an_interruption_leaves_nothing_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "settings.toml"
    write_atomic(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.toml"]


def fsync_of_directories_fails(patch: pytest.MonkeyPatch, number: int) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        real(descriptor)

    patch.setattr(os, "fsync", fsync)


def test_a_directory_that_cannot_be_flushed_is_reported_and_the_file_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    write_atomic(path, b"old")
    fsync_of_directories_fails(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_file_system_that_flushes_no_directories_is_good_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync_of_directories_fails(monkeypatch, errno.EINVAL)
    write_atomic(tmp_path / "settings.toml", b"new")
    assert (tmp_path / "settings.toml").read_bytes() == b"new"


def test_a_written_file_is_private_whatever_it_was_before(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomic(path, b"new")
    assert mode_of(path) == 0o600


def test_a_file_that_comes_in_small_pieces_goes_to_the_system_in_large_blocks(tmp_path: Path) -> None:
    piece, count = b"0123456789abcdef" * 64, 5000
    sizes: set[int] = set()

    def pieces() -> Iterator[bytes]:
        for _ in range(count):
            yield piece
            [temporary] = tmp_path.iterdir()
            sizes.add(temporary.stat().st_size)

    write_atomic(tmp_path / "export.csv", pieces())
    assert (tmp_path / "export.csv").read_bytes() == piece * count
    assert len(sizes) <= 1 + len(piece) * count // files.BLOCK


def test_a_symbolic_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings.toml"
    write_atomic(target, b"old")
    link = tmp_path / "settings.toml"
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_link_that_leads_to_itself_is_an_os_error_or_replaced(tmp_path: Path) -> None:
    link = tmp_path / "settings.toml"
    link.symlink_to(link)
    write_atomic(link, b"new")
    assert link.read_bytes() == b"new"


def test_missing_directories_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    made = private_directory(tmp_path / "data" / "log" / "deep")
    assert [mode_of(path) for path in (made, made.parent, made.parent.parent)] == [0o700] * 3


def test_a_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert private_directory(tmp_path) == tmp_path
    assert mode_of(tmp_path) == 0o755


def test_a_file_in_the_place_of_a_directory_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"")
    with pytest.raises(OSError):
        private_directory(tmp_path / "data")
    with pytest.raises(OSError):
        private_directory(tmp_path / "data" / "log")


def test_a_file_set_aside_is_a_private_copy(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"broken")
    copy = copy_aside(path, "bad-1")
    assert copy == tmp_path / "settings.toml.bad-1"
    assert copy.read_bytes() == b"broken"
    assert path.read_bytes() == b"broken"
    assert mode_of(copy) == 0o600


def test_a_lock_holds_between_processes_until_its_holder_ends(tmp_path: Path) -> None:
    path = tmp_path / "a" / "service.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert not can_take(path)
        holder.kill()
        holder.wait()
        assert can_take(path)


def test_a_waiting_lock_comes_when_the_holder_gives_it_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.lock"
    mine = FileLock(path)
    mine.acquire(wait=True)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        mine.release()
        assert other.stdout.readline() == b"True\n"
        assert not can_take(path)
        other.stdin.close()


def test_a_lock_is_not_handed_down_to_children(tmp_path: Path) -> None:
    path = tmp_path / "start.lock"
    lock = FileLock(path)
    lock.acquire(wait=True)
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        close_fds=False,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        lock.release()
        assert can_take(path)
        child.stdin.close()


def test_a_lock_is_given_back_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "settings.lock"

    def fail() -> None:
        with hold_lock(path):
            assert not can_take(path)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert can_take(path)


def test_a_lock_that_is_held_is_not_given_to_another_and_can_be_given_back_twice(tmp_path: Path) -> None:
    lock, other = FileLock(tmp_path / "settings.lock"), FileLock(tmp_path / "settings.lock")
    assert lock.acquire(wait=True)
    assert not other.acquire(wait=False)
    lock.release()
    assert other.acquire(wait=False)


def test_a_lock_that_cannot_be_made_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        files.FileLock(tmp_path / "file" / "service.lock").acquire(wait=False)


EXPORT_STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    **{name: step for name, step in STEPS.items() if name != "give it its name"},
    "give it a new name": lambda patch: (patch.setattr(os, "link", broken), patch.setattr(os, "open", broken))[0],
}


@pytest.mark.parametrize("step", EXPORT_STEPS)
def test_an_export_that_fails_at_any_step_leaves_nothing(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "export.csv"
    with monkeypatch.context() as patch:
        EXPORT_STEPS[step](patch)
        with pytest.raises(OSError, match="No space left"):
            write_export(path, b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", STEPS)
def test_a_forced_export_that_fails_at_any_step_leaves_the_old_content(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        STEPS[step](patch)
        with pytest.raises(OSError, match="No space left"):
            write_export(path, b"new", replace=True)
    assert [each.name for each in tmp_path.iterdir()] == ["export.csv"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_name_that_is_taken_while_an_export_is_written_stays_as_it_is(
    has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "export.csv", tmp_path / "other"
    if not has_links:
        monkeypatch.setattr(os, "link", lambda *names, **named: broken())

    def pieces() -> Iterator[bytes]:
        yield b"new"
        path.symlink_to(other)

    with pytest.raises(FileExistsError):
        write_export(path, pieces())
    assert path.is_symlink()
    assert not other.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["export.csv"]


def test_an_export_is_written_on_a_file_system_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", lambda *names, **named: broken())
    write_export(tmp_path / "new" / "export.csv", b"new")
    assert (tmp_path / "new" / "export.csv").read_bytes() == b"new"
    assert mode_of(tmp_path / "new" / "export.csv") == 0o600


def test_devices_and_links_to_streams_are_never_replaced() -> None:
    for name in ("/dev/null", "/dev/stdout", "/dev/fd/1"):
        assert export_refusal(Path(name), replace=True) is not None
