"""The service in one process: data directory, socket, HTTP server and engine, from start to stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, cast
from urllib.parse import urlsplit

import uvicorn

from runwatch.base.clock import Clock, Timers
from runwatch.base.errors import LocalServiceError, RunwatchError, UsageError
from runwatch.base.files import UnsafePlaceError
from runwatch.base.log import LineRateFilter, keep_secret, start_log
from runwatch.base.network.service_file import (
    ServiceFile,
    open_owner_key,
    read_service_file,
    write_service_file,
)
from runwatch.base.network.service_socket import listen_on_socket, require_unix_sockets
from runwatch.base.network.service_target import is_loopback_address, may_be_loopback
from runwatch.base.secrets.sealing import MasterKeys, UnsealError
from runwatch.service.access.authentication import new_key
from runwatch.service.access.database_vault import DatabaseVault
from runwatch.service.access.vault import Vault
from runwatch.service.backends.data_directory import take_data_dir, unusable
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import DatabaseUnreachableError
from runwatch.service.http.app import ServiceApp
from runwatch.service.http.connections import Bounds, Connections, raise_descriptor_limit
from runwatch.service.http.context import RequestContext
from runwatch.service.http.lobby import Lobby
from runwatch.service.http.protocol import PoliteH11Protocol
from runwatch.service.http.sample_checks import SampleCheckApp
from runwatch.service.options import ServeOptions
from runwatch.service.routes import ENDPOINTS
from runwatch.service.startup import find_backend, open_service_context

STOP_S: Final = 5
"""Seconds that responses in progress may take once the service is stopping."""

LOG_LINES_PER_MINUTE: Final = 120
"""Log lines per minute allowed for each of the event loop, the HTTP server and callers without a key."""

_BELOW: Final = ("uvicorn", "asyncio", "procrastinate", "psycopg")
_NEW_KEY: Final = "the key of the owner: a new one takes its place, and the one before is revoked"
_LAST_PORT: Final = 65_535
_BACKLOG: Final = 1024

_log: Final = logging.getLogger("runwatch.service")


@dataclass(slots=True)
class RunningServer:
    """A service that accepts connections.

    Attributes:
        stop: Set it to end the service.
        failure: Why the service ends by itself, if that is a failure.
    """

    file: ServiceFile
    context: RequestContext
    stop: asyncio.Event
    failure: RunwatchError | None = None

    def give_up(self, failure: RunwatchError) -> None:
        _log.error("the service ends: %s", failure)
        self.failure = failure
        self.stop.set()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers and without its ten wake-ups a second."""

    def __init__(self, config: uvicorn.Config, context: RequestContext, stop: asyncio.Event) -> None:
        super().__init__(config)
        self._context = context
        self.accepts = asyncio.Event()
        self._stop = stop

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections and say so."""
        # uvicorn listens on none of them itself.
        await super().startup([])
        build = partial(PoliteH11Protocol, self.config, self.server_state, self.lifespan.state)
        lobbies = [Lobby(listener, self._context, build) for listener in sockets or ()]
        # uvicorn only closes what it finds here, and waits until that is done.
        self.servers = cast("list[asyncio.Server]", lobbies)
        self.accepts.set()

    async def main_loop(self) -> None:
        """Keep the Date header current until the service is stopping."""
        while not self._stop.is_set():
            await self.on_tick(0)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 1.0)


@contextlib.asynccontextmanager
async def run_server(
    options: ServeOptions, clock: Clock, *, timers: Timers | None = None, bounds: Bounds | None = None
) -> AsyncIterator[RunningServer]:
    """Run a listening service during the block.

    Args:
        timers: Ends connections that are too slow; the event loop by default.
        bounds: Limit of connections; by default as many as the limit of open files allows.

    Raises:
        UsageError: The host is not of this machine and ``allow_remote`` is off, or the port is invalid.
        LocalServiceError: Another service holds the data directory, the address or the socket cannot be listened on, or
            this system has no Unix sockets.
        DataError: The data directory or its database is unusable.
    """
    require_unix_sockets()
    if not options.allow_remote and not may_be_loopback(options.host):
        raise _not_this_machine(f"{options.host} is not a loopback address.")
    if not 0 <= options.port <= _LAST_PORT:
        raise UsageError(
            f"--port takes a number up to {_LAST_PORT}, not {options.port}",
            hint="With 0 the system chooses a free port.",
        )
    async with contextlib.AsyncExitStack() as stack:
        lock = await take_data_dir(options.data_dir, clock)
        stack.callback(lock.release)
        # A command that prints the keys may be slow; the lock is already held, so it runs only once.
        keys = await asyncio.to_thread(options.master_keys)
        before, is_closed = _read_before(options.data_dir, keys)
        listener = _listen(options, before)
        stack.callback(listener.close)
        path, local_listener = listen_on_socket(options.data_dir, os.environ, backlog=_BACKLOG)
        stack.callback(_remove, path)
        stack.callback(local_listener.close)
        file = ServiceFile(
            _base_url(options.host, listener),
            before.api_key if before and before.api_key else new_key(),
            options.data_dir,
            os.getpid(),
            path,
        )
        # Write it at once: the old content may be another user's address by now, and the id of no service.
        _write_down(file, keys)
        context, key = await open_service_context(
            options, keys, file.api_key, clock=clock, origin=file.base_url, timers=timers
        )
        context.connections = Connections(bounds or Bounds.within(raise_descriptor_limit()))
        stack.push_async_callback(context.close)
        if key != file.api_key:
            file = replace(file, api_key=key)
            _write_down(file, keys)
        if is_closed:
            context.closed_secrets = (_NEW_KEY, *context.closed_secrets)
        keep_secret(key)
        stop = asyncio.Event()
        service = RunningServer(file, context, stop)
        context.database.when_taken(service.give_up)
        sample_checks = SampleCheckApp(clock, context.strangers.bytes_in_flight) if options.sample else None
        server = _Server(_config(ServiceApp(context, ENDPOINTS, options.host, sample_checks)), context, stop)
        task = asyncio.create_task(server.serve([listener, local_listener]), name="http server")
        stack.push_async_callback(_end, stop, task)
        await server.accepts.wait()
        if options.sample and options.sample_trickle:
            await stack.enter_async_context(_trickling(context))
        yield service


async def reseal_data_dir(options: ServeOptions, clock: Clock) -> int:
    """Seal every secret of a data directory and its database with the newest master key; return how many no key opens.

    The owner's key counts as one of them.

    Raises:
        LocalServiceError: A service holds the data directory or the database.
        DataError: The data directory or the database is unusable.
    """
    lock = await take_data_dir(options.data_dir, clock)
    try:
        keys = await asyncio.to_thread(options.master_keys)
        if options.database is None:
            closed = await Vault(options.data_dir, keys).take_over()
        else:
            closed = await _reseal_database(options, keys, clock)
        written, is_closed = _read_before(options.data_dir, keys)
        if written is not None and not is_closed and written.api_key:
            _write_down(written, keys)
        return len(closed) + is_closed
    finally:
        lock.release()


async def _reseal_database(options: ServeOptions, keys: MasterKeys, clock: Clock) -> tuple[str, ...]:
    """Seal the secrets of a database with the newest master key; return the handles that no key opens."""
    backend = find_backend(options)
    if await asyncio.to_thread(backend.is_new):
        return ()
    database = await asyncio.to_thread(ServiceDatabase.open, backend, clock)
    try:
        return await DatabaseVault(database, keys).rotate()
    finally:
        await asyncio.to_thread(database.close)


@contextlib.asynccontextmanager
async def _trickling(context: RequestContext) -> AsyncIterator[None]:
    """Submit background runs in the sample organization during the block."""
    from runwatch.service.sample.background_runs import BackgroundRuns

    trickle = BackgroundRuns(context, Random(int(context.clock.now().timestamp())))  # noqa: S311 - no secret
    task = asyncio.create_task(trickle.run(), name="sample runs")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


async def _end(stop: asyncio.Event, task: asyncio.Task[None]) -> None:
    stop.set()
    await task


def _config(application: ServiceApp) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=PoliteH11Protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
        timeout_graceful_shutdown=STOP_S,
    )


def _read_before(data_dir: Path, keys: MasterKeys) -> tuple[ServiceFile | None, bool]:
    """Return what the last service of this directory wrote, and whether its key exists but cannot be opened."""
    try:
        before = read_service_file(data_dir)
    except UnsafePlaceError as error:
        # Others may have read the key in it, so the owner gets a new one.
        _log.warning("the owner gets a new key: %s", error)
        return None, False
    try:
        return (None if before is None else open_owner_key(before, keys)), False
    except UnsealError as error:
        _log.warning("the owner gets a new key: %s", error)
        return before, True


def _write_down(file: ServiceFile, keys: MasterKeys) -> None:
    try:
        write_service_file(file, keys)
    except OSError as error:
        raise unusable(file.data_dir, error) from error


def _listen(options: ServeOptions, before: ServiceFile | None) -> socket.socket:
    """Open a listening socket on the requested port, else on that of the last start, else on any free one."""
    kept = 0
    if before is not None and not options.port:
        with contextlib.suppress(ValueError):
            kept = urlsplit(before.base_url).port or 0
    try:
        try:
            return _bind(options.host, options.port or kept, allow_remote=options.allow_remote)
        except OSError as error:
            if not kept or error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            _log.warning("port %d of the last start is taken; taking a free one", kept)
            return _bind(options.host, 0, allow_remote=options.allow_remote)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocalServiceError(
            "The service cannot listen on its address",
            detail=f"{options.host}, port {options.port or kept}: {reason}",
            hint="Name a free port with --port, or leave it out to have one chosen.",
        ) from error


def _not_this_machine(detail: str) -> UsageError:
    return UsageError(
        "The service listens only on this machine",
        detail=detail,
        hint="Use 127.0.0.1, or add --allow-remote to let other machines reach it.",
    )


def _bind(host: str, port: int, *, allow_remote: bool) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    if not allow_remote and not is_loopback_address(str(address[0])):
        raise _not_this_machine(f"{host} leads to {address[0]}, which is not a loopback address.")
    # With an explicit protocol asyncio disables Nagle's algorithm; otherwise a response in two parts takes 40 ms more.
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.settimeout(0)
    except BaseException:
        listener.close()
        raise
    return listener


def _base_url(host: str, listener: socket.socket) -> str:
    """Return the service's address for callers on this machine."""
    named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    shown = f"[{named}]" if ":" in named else named
    return f"http://{shown}:{listener.getsockname()[1]}"


def open_log(data_dir: Path) -> None:
    """Send the logs of the service, its HTTP server and the event loop to the data directory.

    Lines caused by callers without a key are limited per minute, so that they cannot push everything else out of the
    log.
    """
    handler = start_log(data_dir / "log" / "service.log")
    if handler is not None:
        handler.addFilter(_is_no_outage)
    # It warns of every connection that is lost or not made.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    for name in _BELOW:
        below = logging.getLogger(name)
        below.propagate = False
        below.addHandler(handler or logging.NullHandler())
    for name in (*_BELOW, "uvicorn.error", "runwatch.service.access.strangers"):
        # A logger's filter does not apply to its child loggers.
        logging.getLogger(name).addFilter(LineRateFilter(LOG_LINES_PER_MINUTE))


def _is_no_outage(record: logging.LogRecord) -> bool:
    """Drop what follows from a database that is away: the database itself logs the beginning and the end of that."""
    causes = [*(record.args or ()), *(record.exc_info or ())]
    causes += [getattr(cause, "__cause__", None) for cause in causes]
    return not any(isinstance(cause, DatabaseUnreachableError) for cause in causes)
