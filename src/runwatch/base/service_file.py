"""How a local service and those who call it find each other: two files in the service's data directory.

``service.lock`` is held by the running service for as long as it lives, so that a data directory has one service at
most and a stale file is recognised. ``service.json`` (mode 0600) says where it listens; address and key are kept over
restarts.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from runwatch.base.files import FileLock, read_private, write_atomic
from runwatch.base.sealing import MasterKeys
from runwatch.base.secret import Secret

_HANDLE: Final = "owner"
"""What the owner's key is sealed for."""

_MAX_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """What ``service.json`` says.

    Attributes:
        base_url: ``http://HOST:PORT``.
        api_key: The owner's bearer key.
        data_dir: The service's data directory.
        pid: The process that wrote the file; it may be gone.
        sealed_key: The owner's key as the file has it; ``api_key`` is empty then.
        socket: The Unix socket that it listens on; ``None`` from a service of version 0.1.0, which had none. What the
            file says is not trusted: see :mod:`runwatch.base.service_socket`.
    """

    base_url: str
    api_key: Secret = field(repr=False)
    data_dir: Path
    pid: int
    socket: Path | None = None
    sealed_key: bytes = field(default=b"", repr=False)


def lock_path(data_dir: Path) -> FileLock:
    """The lock that the running service of this data directory holds."""
    return FileLock(data_dir / "service.lock")


def is_running(data_dir: Path) -> bool:
    """Whether a service holds the data directory right now."""
    if not (data_dir / "service.lock").exists():
        return False
    lock = lock_path(data_dir)
    free = lock.acquire(wait=False)
    lock.release()
    return not free


def read_service_file(data_dir: Path) -> ServiceFile | None:
    """What the last service of this directory wrote, or ``None`` when there is nothing readable.

    The key is sealed in it, or in plain text from a service of version 0.1.0; see :func:`open_owner_key`.

    Raises:
        UnsafePlaceError: it is not a regular file of this user alone.
    """
    try:
        return parse_service_line(read_private(data_dir / "service.json", max_bytes=_MAX_BYTES), data_dir)
    except (OSError, ValueError):
        return None


def read_process_id(data_dir: Path) -> int | None:
    """The process that a service file names which others may read and not change; ``None`` for any other file.

    No key in it is opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(data_dir / "service.json", flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
                return None
            pid = json.loads(file.read(_MAX_BYTES))["pid"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return pid if type(pid) is int and pid > 0 else None


def open_owner_key(written: ServiceFile, keys: MasterKeys) -> ServiceFile:
    """The same with the owner's key, which may have been sealed.

    Raises:
        CannotOpen: no master key opens it.
    """
    if not written.sealed_key:
        return written
    key = keys.open(written.sealed_key, _HANDLE).decode("utf-8", "surrogatepass")
    return replace(written, api_key=Secret(key), sealed_key=b"")


def write_service_file(content: ServiceFile, keys: MasterKeys) -> None:
    """Replace ``service.json`` at once and privately, with the owner's key sealed.

    Raises:
        OSError: the data directory is not writable.
    """
    line = json.loads(service_line(content))
    sealed = keys.seal(line.pop("api_key").encode("utf-8", "surrogatepass"), _HANDLE)
    line["sealed_key"] = base64.b64encode(sealed).decode("ascii")
    write_atomic(content.data_dir / "service.json", json.dumps(line).encode(), follows_links=False)


def parse_service_line(line: bytes, data_dir: Path) -> ServiceFile:
    """What :func:`service_line` or :func:`write_service_file` made, of the service of a data directory.

    Raises:
        ValueError: it is not such a line.
    """
    try:
        content = json.loads(line)
        socket = content.get("socket")
        sealed = base64.b64decode(content.get("sealed_key", ""), validate=True)
        return ServiceFile(
            str(content["base_url"]),
            Secret("" if sealed else str(content["api_key"])),
            data_dir,
            int(content["pid"]),
            Path(socket) if isinstance(socket, str) and socket.startswith("/") and "\0" not in socket else None,
            sealed,
        )
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError("not the line of a service") from None


def service_line(content: ServiceFile) -> str:
    """The one line that ``serve --json`` prints; the only place where runwatch shows a key."""
    line: dict[str, object] = {
        "base_url": content.base_url,
        "api_key": content.api_key.reveal(),
        "data_dir": str(content.data_dir),
        "pid": content.pid,
    }
    return json.dumps(line if content.socket is None else {**line, "socket": str(content.socket)})
