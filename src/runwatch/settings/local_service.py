"""Control of the local service from outside: find it through its data directory, start it, stop it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from runwatch.base.errors import LocalServiceError, SettingsError
from runwatch.base.files import FileLock, UnsafePlaceError, check_data_dir, open_private_append, private_directory
from runwatch.base.log import keep_secret, redact
from runwatch.base.network.service_file import (
    ServiceFile,
    is_running,
    open_owner_key,
    parse_service_line,
    read_process_id,
    read_service_file,
)
from runwatch.base.network.service_socket import connect_to_socket, require_unix_sockets
from runwatch.base.network.service_target import Target, normalise_base_url
from runwatch.base.paths import find_paths
from runwatch.base.secrets.sealing import UnsealError
from runwatch.base.secrets.secret import Secret
from runwatch.base.shell_words import quote_word
from runwatch.base.text import clean_block
from runwatch.settings.declarations import LOCAL

IDLE_EXIT_S: Final = 600.0
"""Seconds without a caller and without a live run after which an automatically started service ends (manual: decisions,
"Local service process").
"""

START_TIMEOUT_S: Final = 30.0
"""How long a service may take to accept connections, or to end."""

_PAUSE_S: Final = 0.05
_CONNECT_S: Final = 1.0
_ERROR_LOG_BYTES: Final = 262_144
_TAIL_BYTES: Final = 2000
_LINE_BYTES: Final = 65_536
_NOT_INHERITED: Final = frozenset(
    {"RUNWATCH_API_KEY", "RUNWATCH_BASE_URL", "RUNWATCH_PROFILE", "RUNWATCH_DATABASE"}
    | {name for plain in ("http", "https", "all", "no", "ftp") for name in (f"{plain}_proxy", f"{plain}_proxy".upper())}
)


@dataclass(frozen=True, slots=True)
class LocalService:
    """A local service that accepts connections.

    Attributes:
        base_url: Scheme, host and port for other clients and browsers.
        socket: The Unix socket on which runwatch reaches it.
        start_hint: As for :class:`~runwatch.base.network.service_target.Target`.
    """

    base_url: str
    key: Secret = field(repr=False)
    pid: int
    socket: Path
    start_hint: str = ""

    def target(self) -> Target:
        """Return the target of the service, with its own key and no other."""
        return Target(LOCAL, self.base_url, self.key, "local service", socket=self.socket, start_hint=self.start_hint)


@dataclass(frozen=True, slots=True)
class WaitTiming:
    """Clock and limit of the waits here, for tests to replace."""

    patience_s: float = START_TIMEOUT_S
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


_USUAL: Final = WaitTiming()


def find_running(
    data_dir: Path, *, settings_file: Path | None = None, pace: WaitTiming = _USUAL
) -> LocalService | None:
    """Return the running service of a data directory once it accepts connections, or ``None`` if none runs.

    Args:
        settings_file: Locates the master key that opens the service's own key; by default this installation's.
        pace: Clock and limit of the wait.

    Raises:
        SettingsError: The master key is not available.
        UntrustedSocketError: Its socket, the socket's directory or the listening process does not belong to the user.
        LocalServiceError: A service holds the directory and does not accept connections in time, or it is of version
            0.1.0 and has no socket.
        DataError: Other users own the directory or may change it.
    """
    found = _find_running(data_dir, pace, _accepts)
    return None if found is None else _service(_with_key(found, settings_file or find_paths().settings_file))


def ensure_running(
    data_dir: Path,
    *,
    settings_file: Path | None = None,
    idle_exit_s: float = IDLE_EXIT_S,
    more: Sequence[str] = (),
    command: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    pace: WaitTiming = _USUAL,
) -> LocalService:
    """Return the running service of a data directory, and start it first if needed.

    A concurrent caller waits and gets the same service. The started service outlives this process and its terminal.

    Args:
        data_dir: The service's data directory; created if missing.
        settings_file: As for :func:`find_running`, and for the started service.
        idle_exit_s: Seconds without a caller and without a live run after which it ends by itself.
        more: Further arguments for ``runwatch serve``, if it is started.
        command: Replaces ``runwatch serve``, with the same arguments; for tests.
        environment: Replaces this process's environment.

    Raises:
        RunwatchError: As for :func:`find_running`.
        LocalServiceError: The data directory is not usable, the service does not start, or this system has no Unix
            sockets.
    """
    _check(data_dir)
    require_unix_sockets()
    with _usable(data_dir, "Make it writable, or name another place in RUNWATCH_DATA_DIR."):
        data_dir = private_directory(data_dir.absolute())
        starting = FileLock(data_dir / "start.lock")
        starting.acquire(wait=True)
    try:
        settings_file = settings_file or find_paths().settings_file
        found = find_running(data_dir, settings_file=settings_file, pace=pace)
        if found is not None:
            return found
        words = command or (sys.executable, "-m", "runwatch", "serve")
        arguments = ("--json", "--data-dir", str(data_dir), "--idle-exit-s", f"{idle_exit_s:g}", *more)
        # An absolute path, because the service works in another directory.
        own = {**(os.environ if environment is None else environment), "RUNWATCH_CONFIG": str(settings_file)}
        return _start(data_dir, [*words, *arguments], own, pace)
    finally:
        starting.release()


def stop_running(data_dir: Path, *, pace: WaitTiming = _USUAL) -> bool:
    """Stop the service of a data directory and wait for its end; return whether one ran.

    Raises:
        LocalServiceError: It does not respond, may not be stopped from here, or does not end in time.
    """
    stays = "It may be ending already. If it stays, end its process; what the service acknowledged is kept."
    running = _find_running(data_dir, pace, _accepts_anywhere, stays)
    if running is None:
        return False
    try:
        os.kill(running.pid, signal.SIGTERM)
    except ProcessLookupError:
        return True
    except OSError as error:
        raise LocalServiceError(
            "The service cannot be stopped from here", detail=f"process {running.pid}: {error.strerror}"
        ) from None
    deadline = pace.monotonic() + pace.patience_s
    while _is_running(data_dir):
        if pace.monotonic() >= deadline:
            raise LocalServiceError(
                "The service has not stopped",
                detail=f"process {running.pid}",
                hint=stays,
            )
        pace.sleep(_PAUSE_S)
    return True


def _find_running(
    data_dir: Path,
    pace: WaitTiming,
    accepts: Callable[[ServiceFile], bool],
    hint: str = "End it with 'runwatch serve --stop' and the same data directory, or end its process.",
) -> ServiceFile | None:
    """Return the service file of the running service once it accepts connections, or ``None`` if none runs."""
    _check(data_dir)
    deadline = pace.monotonic() + pace.patience_s
    while _is_running(data_dir):
        written = _read(data_dir)
        # Until the running service has written the file, it is that of an earlier one.
        if written is not None and _lives(written.pid) and accepts(written):
            return written
        if pace.monotonic() >= deadline:
            raise LocalServiceError(
                "The service is running but does not respond",
                detail=f"{data_dir}, process {written.pid}" if written else str(data_dir),
                hint=hint,
                retryable=True,
            )
        pace.sleep(_PAUSE_S)
    return None


def _start(data_dir: Path, command: Sequence[str], environment: Mapping[str, str], pace: WaitTiming) -> LocalService:
    """Start the service as a detached process and wait for its one line."""
    log = data_dir / "log" / "serve.err"
    try:
        errors, before = _open_error_log(log)
        try:
            process = subprocess.Popen(  # noqa: S603 - this very program
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={name: value for name, value in environment.items() if name not in _NOT_INHERITED},
                cwd=os.sep,
                start_new_session=True,
            )
        finally:
            os.close(errors)
    except UnsafePlaceError as error:
        raise LocalServiceError(
            "The local service cannot be started, because its error log is not a file of this user alone",
            detail=str(error),
            hint="Move it away; a new one is created.",
        ) from None
    except OSError as error:
        raise LocalServiceError(
            "The local service cannot be started", detail=f"{error.filename or command[0]}: {error.strerror}"
        ) from None
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_attend, args=(process, lines), name="local service", daemon=True).start()
    try:
        line = lines.get(timeout=pace.patience_s)
    except queue.Empty:
        process.kill()
        raise _not_started(f"It was not ready within {pace.patience_s:g} seconds.", log, before) from None
    if line:
        try:
            return _service(parse_service_line(line, data_dir))
        except ValueError:
            raise LocalServiceError(
                "The local service does not report where it listens", detail=str(data_dir)
            ) from None
    # It has ended. If the user started one by hand at the same time, that one serves and this one refused to start.
    found = find_running(data_dir, settings_file=Path(environment["RUNWATCH_CONFIG"]), pace=pace)
    if found is None:
        raise _not_started("It has ended.", log, before)
    return found


def _attend(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Pass on the child's first line, then wait for its end, so that it does not stay in the process table."""
    assert process.stdout is not None
    with process.stdout as output:
        lines.put(output.readline(_LINE_BYTES))
    process.wait()


def _service(written: ServiceFile) -> LocalService:
    keep_secret(written.api_key)
    if written.socket is None:
        raise _no_socket(written)
    try:
        origin = normalise_base_url(written.base_url)
    except SettingsError as error:
        raise LocalServiceError(
            "The local service does not listen on this machine alone", detail=str(written.data_dir)
        ) from error
    return LocalService(origin, written.api_key, written.pid, written.socket)


def _read(data_dir: Path) -> ServiceFile | None:
    try:
        return read_service_file(data_dir)
    except UnsafePlaceError as error:
        raise LocalServiceError(
            "The local service is not called, because its file is not private",
            detail=str(error),
            hint=_mend_service_file(data_dir, error),
        ) from None


def _mend_service_file(data_dir: Path, error: UnsafePlaceError) -> str:
    """Return the remedy for a service file that is not private. Its key is sealed, so other users did not learn it."""
    pid = read_process_id(data_dir)
    if pid is not None and error.mend:
        return f"Run {error.mend} and try again. The service is process {pid}."
    return (
        f"Run rm -f {quote_word(str(error.path))}, end the service's process, and start it again;"
        " it makes a new file and a new key."
    )


def _with_key(written: ServiceFile, settings_file: Path) -> ServiceFile:
    if not written.sealed_key:
        return written
    from runwatch.settings.master_key import find_master_keys

    try:
        return open_owner_key(written, find_master_keys(settings_file))
    except UnsealError as error:
        raise LocalServiceError(
            "The key of the local service cannot be opened",
            detail=f"{written.data_dir}: {error}",
            hint="Name the settings file that it was started with in RUNWATCH_CONFIG, or end it with 'runwatch serve"
            " --stop' and the same data directory; the next start makes a new key.",
        ) from None


def _check(data_dir: Path) -> None:
    """Refuse a directory that other users may have changed, because its files say where the key goes."""
    with _usable(data_dir):
        check_data_dir(data_dir)


def _is_running(data_dir: Path) -> bool:
    with _usable(data_dir):
        return is_running(data_dir)


@contextlib.contextmanager
def _usable(data_dir: Path, hint: str | None = None) -> Iterator[None]:
    """Report an error of the block as that of the data directory."""
    try:
        yield
    except OSError as error:
        raise LocalServiceError(
            "The data directory of the local service is not usable", detail=f"{data_dir}: {error.strerror}", hint=hint
        ) from None


def _lives(pid: int) -> bool:
    """Return whether there is a process with this number."""
    if pid <= 1:
        return False  # these mean groups of processes, or the init process
    if sys.platform == "win32":
        return True  # os.kill would interrupt it there
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists and belongs to another user
    return True


def _accepts(written: ServiceFile) -> bool:
    """Return whether a service accepts connections on its socket; nothing is sent."""
    if written.socket is None:
        if _accepts_on_port(written.base_url):
            raise _no_socket(written)
        return False
    try:
        connect_to_socket(written.socket, _CONNECT_S).close()
    except OSError:
        return False
    return True


def _accepts_anywhere(written: ServiceFile) -> bool:
    """Return whether a service accepts connections at all: enough to stop it, because nothing is sent to it."""
    try:
        is_reached = _accepts(written)
    except LocalServiceError:
        is_reached = False
    return is_reached or _accepts_on_port(written.base_url)


def _accepts_on_port(base_url: str) -> bool:
    try:
        parts = urlsplit(base_url)
        socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_CONNECT_S).close()
    except (OSError, ValueError):
        return False
    return True


def _no_socket(written: ServiceFile) -> LocalServiceError:
    return LocalServiceError(
        "The local service is of an earlier version",
        detail=f"It has no socket that proves its owner ({written.data_dir}, process {written.pid}).",
        hint="End it with 'runwatch serve --stop' and the same data directory; the next start uses this version.",
    )


def _open_error_log(path: Path) -> tuple[int, int]:
    """Open the file for the service's error output; also return where new text begins."""
    private_directory(path.parent)
    descriptor = open_private_append(path)
    try:
        if os.fstat(descriptor).st_size > _ERROR_LOG_BYTES:
            os.ftruncate(descriptor, 0)
        return descriptor, os.fstat(descriptor).st_size
    except BaseException:
        os.close(descriptor)
        raise


def _not_started(reason: str, log: Path, before: int) -> LocalServiceError:
    """Build the error for a service that did not start, with the last lines of its error output."""
    try:
        written = log.read_bytes()[before:][-_TAIL_BYTES:].decode("utf-8", "replace")
    except OSError:
        written = ""
    last = clean_block(redact(written)).strip()
    where = f"Its error output is in {log}" if last else "It wrote no error, as on a full disk"
    return LocalServiceError(
        "The local service did not start",
        detail=f"{reason} It wrote:\n{last}" if last else reason,
        hint=f"{where}; 'runwatch serve' in a terminal shows more.",
    )
