"""Files that survive a power cut at any time, and locks between processes."""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from runwatch.base.errors import DataError
from runwatch.base.shell_words import quote_word

if sys.platform == "win32":
    import msvcrt

    def _take_lock(descriptor: int, *, wait: bool) -> None:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError from None

else:
    import fcntl

    def _take_lock(descriptor: int, *, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700

_SYSTEM_DIRECTORIES: Final = frozenset({"dev", "proc", "sys"})
"""Below ``/``: directories with names such as ``/dev/stdout``, links that root could replace."""

BLOCK: Final = 1 << 20
"""Block size, in bytes, for writing a file that comes in pieces.

Each write passes the interpreter lock to a waiting thread and takes it back before that wakes. A thread that writes
more often than the interpreter switches would block the UI thread until its end; making a block takes several switch
intervals.
"""


def private_directory(path: Path) -> Path:
    """Create a directory that only its owner can enter, and its missing parents likewise; return it.

    Raises:
        OSError: It cannot be created or is not a directory.
    """
    missing = list(itertools.takewhile(lambda directory: not directory.exists(), path.parents))
    for directory in (*reversed(missing), path):
        directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    return path


class UnsafePlaceError(Exception):
    """A file or directory that other users own, may change, or may read although they must not.

    Args:
        path: The file or the directory above it that is unsafe.
        reason: What is wrong with it, in words that follow its name.
        mend: The command that fixes it; empty if there is no single one.
    """

    def __init__(self, path: Path, reason: str, mend: str = "") -> None:
        super().__init__(f"{path} {reason}")
        self.path = path
        self.reason = reason
        self.mend = mend


def read_private(path: Path, *, max_bytes: int, follows_links: bool = False) -> bytes:
    """Return the content of a file that belongs to this user and that other users can neither read nor write.

    Args:
        max_bytes: A larger file is not read.
        follows_links: Whether ``path`` may be a symbolic link; its target is checked then.

    Raises:
        UnsafePlaceError: It is not such a file.
        OSError: It is missing or cannot be read.
    """
    # Non-blocking, because it could be a pipe without a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follows_links else getattr(os, "O_NOFOLLOW", 0))
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise UnsafePlaceError(path, "is a symbolic link") from None
        raise
    try:
        information = os.fstat(descriptor)
        _check_own_file(path, information)
        mode = stat.S_IMODE(information.st_mode)
        if mode & 0o077 and sys.platform != "win32":
            what = "may be changed by others" if mode & 0o022 else "may be read by others"
            raise UnsafePlaceError(path, f"{what} (mode {mode:04o})", f"chmod 600 {quote_word(str(path))}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        raise UnsafePlaceError(path, f"is larger than {max_bytes:,} bytes")
    return content


def open_private_append(path: Path) -> int:
    """Open a file of this user alone for appending, and create it with mode 0600 if missing; return its descriptor.

    Raises:
        UnsafePlaceError: It is a link, not a regular file, a file of another user, or has a second name.
        OSError: It cannot be opened.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise UnsafePlaceError(path, "is a symbolic link") from None
        if error.errno == errno.ENXIO:  # a pipe without a reader
            raise UnsafePlaceError(path, "is not a regular file") from None
        raise
    try:
        information = os.fstat(descriptor)
        _check_own_file(path, information)
        if information.st_nlink > 1:
            raise UnsafePlaceError(path, "has a second name elsewhere")
        if sys.platform != "win32":
            os.fchmod(descriptor, PRIVATE_FILE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_own_file(path: Path, information: os.stat_result) -> None:
    if not stat.S_ISREG(information.st_mode):
        raise UnsafePlaceError(path, "is not a regular file")
    # Windows files have neither these modes nor a numeric owner.
    if sys.platform != "win32" and information.st_uid != os.geteuid():
        raise UnsafePlaceError(path, "belongs to another user")


def check_place(path: Path) -> None:
    """Check that other users can neither change nor replace a file or directory.

    It and every directory above it, with and without symbolic links resolved, must belong to this user or to root.
    Other users must not be able to write there, except in a directory above with the sticky bit, such as ``/tmp``.
    Group write permission counts unless the group is the user's own: the primary group, with the user's name and no
    other member. Missing paths pass. Access lists beyond the mode are not read (manual: security, "Files and
    directories").

    Raises:
        UnsafePlaceError: Other users can.
        OSError: A directory on the path cannot be read.
    """
    if sys.platform == "win32":
        return  # it has neither these modes nor numeric owners
    absolute = path.absolute()
    resolved = Path(os.path.realpath(absolute))
    seen: set[Path] = set()
    for place in (absolute, resolved):
        for each in (place, *place.parents):
            if each not in seen:
                seen.add(each)
                _check_writers(each, is_above=each not in (absolute, resolved))


def _check_writers(path: Path, *, is_above: bool) -> None:
    try:
        information = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    owner, mode = information.st_uid, stat.S_IMODE(information.st_mode)
    if owner not in (os.geteuid(), 0) and not _is_unmapped(owner):
        raise UnsafePlaceError(path, "belongs to another user")
    if is_above and mode & stat.S_ISVTX:
        return
    who = "every user" if mode & 0o002 else "its group"
    if mode & 0o002 or (mode & 0o020 and not _is_own_group(information.st_gid)):
        raise UnsafePlaceError(
            path, f"may be changed by {who} (mode {mode:04o})", f"chmod go-w {quote_word(str(path))}"
        )


def is_readable_by_others(information: os.stat_result) -> bool:
    """Return whether the mode lets other users read a file; the user's own group does not count."""
    if sys.platform == "win32":
        return False
    mode = information.st_mode
    return bool(mode & 0o004 or (mode & 0o040 and not _is_own_group(information.st_gid)))


def check_data_dir(path: Path) -> None:
    """Refuse a data directory that other users own or may change; see :func:`check_place`.

    Raises:
        DataError: They do.
        OSError: A directory on the path cannot be read.
    """
    try:
        check_place(path)
    except UnsafePlaceError as error:
        step = f"Run {error.mend}" if error.mend else "Use a directory of your own"
        raise DataError(
            "The data directory is not used, because other users own or may change it",
            detail=str(error),
            hint=f"{step} or name another data directory with RUNWATCH_DATA_DIR or --data-dir.",
        ) from None


@functools.cache
def _is_own_group(group_id: int) -> bool:
    """Return whether this user, or root, is the only member of a group.

    Distributions with a group for each user create files with mode 0664. Such a group has the user's name, and its
    member list omits users whose primary group it is.
    """
    import grp
    import pwd

    try:
        group = grp.getgrgid(group_id)
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    if not set(group.gr_mem) <= {user.pw_name, "root"}:
        return False
    return group_id == 0 or (group_id == user.pw_gid and group.gr_name == user.pw_name)


@functools.cache
def _is_unmapped(user_id: int) -> bool:
    """Return whether a user id is the one that a sandbox (a user namespace) shows for every owner unknown to it.

    Directories of the host's root have this owner inside a sandbox.
    """
    try:
        mapped = [line.split() for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()]
        unmapped = int(Path("/proc/sys/kernel/overflowuid").read_text("ascii"))
    except (OSError, ValueError):
        return False
    return user_id == unmapped and mapped != [["0", "0", "4294967295"]]


def write_atomic(path: Path, content: bytes | Iterable[bytes], *, follows_links: bool = True) -> None:
    """Replace a file so that a reader, or the next start after a power cut, finds the old content or the new.

    The content, whole or in pieces, goes to a temporary file beside the target, is flushed to disk, and renamed to the
    target; then the directory is flushed. A symbolic link is followed, because users keep their settings in their own
    repository; without ``follows_links`` the file replaces the link.

    Raises:
        OSError: The directory is not writable or the disk is full. The file is whole then, with the old content unless
            only the last step failed.
    """
    target = Path(os.path.realpath(path)) if follows_links else path
    with _written_beside(target, content) as temporary:
        temporary.replace(target)
    _flush_directory(target.parent)


@contextlib.contextmanager
def _written_beside(target: Path, content: bytes | Iterable[bytes]) -> Iterator[Path]:
    """Write and flush a temporary file beside the target, and remove it unless the block renames it."""
    private_directory(target.parent)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb", buffering=BLOCK) as file:
            temporary.chmod(PRIVATE_FILE)
            for piece in (content,) if isinstance(content, bytes) else content:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def export_refusal(path: Path, *, replace: bool) -> str | None:
    """Return why an export may not be written to a path, or ``None`` (manual: security, "Files and directories").

    Args:
        replace: Whether an existing regular file or link may be replaced.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        # The path is free or impossible; writing will tell.
        return None
    if not replace:
        return "a link already exists there" if stat.S_ISLNK(mode) else "it is there already"
    top = Path(os.path.realpath(path.parent)).parts[1:2]
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)) or not _SYSTEM_DIRECTORIES.isdisjoint(top):
        return "it is not a regular file"
    return None


def write_export(path: Path, content: bytes | Iterable[bytes], *, replace: bool = False) -> None:
    """Write a new file, mode 0600, completely or not at all, without following a link of its name.

    Args:
        path: Its directory is created if missing.
        replace: Whether to replace an existing regular file; for a link, the link itself is replaced.

    Raises:
        FileExistsError: The path exists and may not be replaced; nothing was written.
        OSError: The directory is not usable or not writable, or the disk is full; the previous content is unchanged.
    """
    refusal = export_refusal(path, replace=replace)
    if refusal is not None:
        raise FileExistsError(errno.EEXIST, refusal, str(path))
    # The directory is resolved first, so that the temporary file and the last step use the same one.
    target = Path(os.path.realpath(path.parent)) / path.name
    try:
        private_directory(target.parent)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), error.filename) from None
    with _written_beside(target, content) as temporary:
        if replace:
            temporary.replace(target)
        else:
            _take_free_name(temporary, target)
    _flush_directory(target.parent)


def _take_free_name(temporary: Path, target: Path) -> None:
    """Rename a file to a free name."""
    try:
        os.link(temporary, target, follow_symlinks=False)
    except (OSError, NotImplementedError) as error:
        if isinstance(error, FileExistsError):
            raise FileExistsError(errno.EEXIST, "it is there already", str(target)) from None
        # File systems without hard links: an empty file takes the name first, which fails if it is taken.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        temporary.replace(target)


def _flush_directory(path: Path) -> None:
    if sys.platform == "win32":
        return  # a directory cannot be opened there
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems, usually of networks, cannot flush a directory; the rename has to do.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


def copy_aside(path: Path, suffix: str) -> Path:
    """Copy a file beside itself as ``name.suffix`` (mode 0600), and return the copy.

    Raises:
        OSError: The copy cannot be written.
    """
    copy = path.with_name(f"{path.name}.{suffix}")
    write_atomic(copy, path.read_bytes())
    return copy


class FileLock:
    """Advisory lock between processes, held until :meth:`release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, *, wait: bool) -> bool:
        """Take the lock; without ``wait`` return False if another process holds it.

        Raises:
            OSError: The lock file cannot be created, or is a symbolic link.
        """
        private_directory(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
        try:
            _take_lock(descriptor, wait=wait)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return False
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Wait for the lock of ``path`` and hold it while the block runs."""
    lock = FileLock(path)
    lock.acquire(wait=True)
    try:
        yield
    finally:
        lock.release()
