"""Unix socket of the local service, and the checks of every connection to it.

A TCP port belongs to the process of any user that takes it first. The socket is a file in a directory that only its
owner can enter, and the system reports which user listens on it (manual: security, "Reaching the local service").
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from runwatch.base.errors import LocalServiceError, UntrustedSocketError
from runwatch.base.files import PRIVATE_DIRECTORY, PRIVATE_FILE

MAX_PATH_BYTES: Final = 103
"""Maximum path length of a socket, in bytes: macOS allows 103, Linux 107."""

SHARED_DIRECTORY: Final = Path("/tmp")  # noqa: S108 - only a directory in it that passes the checks is used
"""Parent of the socket's directory if the data directory's path is too long and there is no XDG_RUNTIME_DIR."""

_NO_SOCKETS_HERE: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})
"""Errors of file systems that cannot hold a socket, usually of a network or another system."""

# <sys/un.h> of macOS: struct xucred begins with its version and the user id, and is 76 bytes long.
_MACOS_LEVEL: Final = 0
_MACOS_OPTION: Final = 1
_MACOS_BYTES: Final = 76


def require_unix_sockets() -> None:
    """Refuse a system on which Python has no Unix sockets.

    Raises:
        LocalServiceError: This is Windows.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise LocalServiceError(
            "The local service cannot run on this system",
            detail="It needs a Unix socket, which Python does not offer here.",
            hint="Run runwatch in WSL, or name a service with RUNWATCH_BASE_URL.",
        )


def find_socket_paths(data_dir: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Return the possible socket paths of a data directory, the best first; paths that are too long are left out."""
    import hashlib

    name = f"{hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]}.sock"
    runtime = Path(environment.get("XDG_RUNTIME_DIR") or ".")
    paths = [data_dir / "run" / "service.sock"]
    # sudo may keep the variable of the calling user, and that directory belongs to them.
    if runtime.is_absolute() and _belongs_to_us(runtime):
        paths.append(runtime / "runwatch" / name)
    paths.append(SHARED_DIRECTORY / f"runwatch-{os.geteuid()}" / name)
    return (path for path in paths if len(os.fsencode(path)) <= MAX_PATH_BYTES)


def listen_on_socket(
    data_dir: Path, environment: Mapping[str, str], *, backlog: int = 1024
) -> tuple[Path, socket.socket]:
    """Listen on the socket of a data directory, and also return its path.

    The caller holds the lock of the data directory, so an existing socket is left from a service that has ended. It is
    replaced.

    Raises:
        UntrustedSocketError: The socket's directory belongs to another user, is open to others, or is a link.
        LocalServiceError: No path allows a socket.
    """
    require_unix_sockets()
    refused = ""
    for path in find_socket_paths(data_dir, environment):
        try:
            return path, _bind(path, backlog)
        except OSError as error:
            refused = f"{path}: {error.strerror or error}"
            if error.errno not in _NO_SOCKETS_HERE:
                break
        except UntrustedSocketError as error:
            if path.parent.parent != SHARED_DIRECTORY:
                raise
            raise UntrustedSocketError(
                error.title,
                detail=f"{error.detail}. The data directory's path is too long for a socket of its own.",
                hint="Set XDG_RUNTIME_DIR to a directory of your own, or name a data directory with a shorter path.",
            ) from error
    raise LocalServiceError(
        "The service cannot listen on its socket",
        detail=refused,
        hint="Name a data directory on a disk of this machine with --data-dir or RUNWATCH_DATA_DIR.",
    )


def check_socket_path(path: Path) -> None:
    """Check that a socket and its directory belong to the user, and that other users cannot enter the directory.

    Raises:
        UntrustedSocketError: They do not.
        OSError: One of them is missing or cannot be read.
    """
    _check_directory(path.parent)
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode):
        raise _untrusted(f"{path} is no socket")
    if found.st_uid != os.geteuid():
        raise _untrusted(f"{path} belongs to user {found.st_uid}, and this process runs as user {os.geteuid()}")


def check_socket_peer(connection: socket.socket) -> None:
    """Check that a process of the same user listens at the other end, before anything is sent to it.

    Raises:
        UntrustedSocketError: It belongs to another user, or the system does not say.
    """
    user = _find_peer_user(connection)
    if user is None:
        raise _untrusted("the system does not report which user listens on the socket")
    if user != os.geteuid():
        raise _untrusted(f"user {user} listens on the socket, and this process runs as user {os.geteuid()}")


def connect_to_socket(path: Path, timeout_s: float) -> socket.socket:
    """Return a connection to a local service that passed every check; nothing is sent.

    Raises:
        UntrustedSocketError: The socket, its directory or the listening process does not belong to the user.
        OSError: No process listens there.
    """
    require_unix_sockets()
    check_socket_path(path)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(os.fspath(path))
        check_socket_peer(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _bind(path: Path, backlog: int) -> socket.socket:
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(mode=PRIVATE_DIRECTORY)
    _check_directory(path.parent)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(path))
        path.chmod(PRIVATE_FILE)
        listener.listen(backlog)
        listener.settimeout(0)
    except BaseException:
        listener.close()
        raise
    return listener


def _check_directory(directory: Path) -> None:
    found = directory.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise _untrusted(f"{directory} is a link")
    if not stat.S_ISDIR(found.st_mode):
        raise _untrusted(f"{directory} is not a directory")
    if found.st_uid != os.geteuid():
        raise _untrusted(f"{directory} belongs to user {found.st_uid}, and this process runs as user {os.geteuid()}")
    if found.st_mode & 0o077:
        raise _untrusted(f"{directory} is open to other users (mode {stat.S_IMODE(found.st_mode):04o})")


def _belongs_to_us(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _find_peer_user(connection: socket.socket) -> int | None:
    if sys.platform == "darwin":
        raw = connection.getsockopt(_MACOS_LEVEL, _MACOS_OPTION, _MACOS_BYTES)
        version, user = struct.unpack_from("=II", raw)
        return int(user) if version == 0 else None
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    # struct ucred of Linux: process, user, group.
    _, user, _ = struct.unpack("=iII", connection.getsockopt(socket.SOL_SOCKET, option, 12))
    return int(user)


def _untrusted(why: str) -> UntrustedSocketError:
    return UntrustedSocketError(
        "The local service's socket cannot be trusted",
        detail=why,
        hint=(
            "Nothing was sent. End the local service with 'runwatch serve --stop', remove what is named here, and start"
            " it again; the socket's directory must be yours, with mode 700."
        ),
    )
