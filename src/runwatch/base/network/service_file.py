"""Two files in the data directory through which a local service and its callers find each other.

The running service holds ``service.lock`` as long as it lives, so a data directory has at most one service and a stale
file is recognized. ``service.json`` (mode 0600) says where it listens; address and key survive restarts.
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
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret

SERVICE_FILE: Final = "service.json"

SAMPLE_KEYS: Final = "sample-keys.json"
"""File in the data directory with the keys of the sample organizations, for trying out roles and organizations."""

SAMPLE_LABS: Final = "Sample Labs"
"""The second of the sample organizations."""

_HANDLE: Final = "owner"
"""Handle under which the owner's key is sealed."""

_MAX_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """Content of ``service.json``.

    Attributes:
        base_url: ``http://HOST:PORT``.
        api_key: The owner's bearer key.
        pid: The process that wrote the file; it may have ended.
        sealed_key: The owner's key as in the file; ``api_key`` is empty then.
        socket: The Unix socket that it listens on; ``None`` for version 0.1.0, which had none. Do not trust it without
            the checks of :mod:`runwatch.base.network.service_socket`.
    """

    base_url: str
    api_key: Secret = field(repr=False)
    data_dir: Path
    pid: int
    socket: Path | None = None
    sealed_key: bytes = field(default=b"", repr=False)


def service_lock(data_dir: Path) -> FileLock:
    """Return the lock that the running service of this data directory holds."""
    return FileLock(data_dir / "service.lock")


def is_running(data_dir: Path) -> bool:
    """Return whether a service holds the data directory now."""
    if not (data_dir / "service.lock").exists():
        return False
    lock = service_lock(data_dir)
    free = lock.acquire(wait=False)
    lock.release()
    return not free


def read_service_file(data_dir: Path) -> ServiceFile | None:
    """Return the file of the directory's last service, or ``None`` if it is missing or unreadable.

    Its key is sealed, or in plain text from a service of version 0.1.0; see :func:`open_owner_key`.

    Raises:
        UnsafePlaceError: It is not a regular file of this user alone.
    """
    try:
        return parse_service_line(read_private(data_dir / SERVICE_FILE, max_bytes=_MAX_BYTES), data_dir)
    except (OSError, ValueError):
        return None


def read_process_id(data_dir: Path) -> int | None:
    """Return the process id from a service file that other users may read but not change; ``None`` for any other file.

    It does not open the key.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(data_dir / SERVICE_FILE, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
                return None
            pid = json.loads(file.read(_MAX_BYTES))["pid"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return pid if type(pid) is int and pid > 0 else None


def open_owner_key(written: ServiceFile, keys: MasterKeys) -> ServiceFile:
    """Return the file's content with the owner's key opened, if it was sealed.

    Raises:
        UnsealError: No master key opens it.
    """
    if not written.sealed_key:
        return written
    key = keys.open(written.sealed_key, _HANDLE).decode("utf-8", "surrogatepass")
    return replace(written, api_key=Secret(key), sealed_key=b"")


def write_service_file(content: ServiceFile, keys: MasterKeys) -> None:
    """Replace ``service.json`` atomically and privately, with the owner's key sealed.

    Raises:
        OSError: The data directory is not writable.
    """
    line = json.loads(service_line(content))
    sealed = keys.seal(line.pop("api_key").encode("utf-8", "surrogatepass"), _HANDLE)
    line["sealed_key"] = base64.b64encode(sealed).decode("ascii")
    write_atomic(content.data_dir / SERVICE_FILE, json.dumps(line).encode(), follows_links=False)


def parse_service_line(line: bytes, data_dir: Path) -> ServiceFile:
    """Parse the output of :func:`service_line` or :func:`write_service_file`.

    Raises:
        ValueError: It is not such a line.
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


def service_line(content: ServiceFile, *, has_interface: bool = True) -> str:
    """Return the one line that ``serve --json`` prints; the only place where runwatch shows a key.

    A process without an interface takes no key, and its line has none.
    """
    line: dict[str, object] = {
        "base_url": content.base_url,
        **({"api_key": content.api_key.reveal()} if has_interface else {}),
        "data_dir": str(content.data_dir),
        "pid": content.pid,
    }
    return json.dumps(line if content.socket is None else {**line, "socket": str(content.socket)})
