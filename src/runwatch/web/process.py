"""``runwatch web``: the server in this process until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from aiohttp import web

from runwatch.base.errors import UsageError
from runwatch.base.network.host_header import EVERYWHERE
from runwatch.base.network.service_target import is_loopback_host
from runwatch.web.admission import Admission
from runwatch.web.server import ConsoleCommand, ConsoleServer

INTERRUPTED: Final = 130
KEEP_ALIVE_S: Final = 60.0

MAX_CONNECTIONS: Final = 128
"""Connections at once; for one more, the oldest that shows no console is closed."""

_log: Final = logging.getLogger(__name__)


class WebOptions(NamedTuple):
    """Options of the server.

    Attributes:
        host: The address or name to listen on.
        port: The port; 0 for any free one.
        max_consoles: How many consoles may run at once.
        tls_cert: Certificate chain in PEM; needed for a host that other machines reach.
    """

    host: str
    port: int
    max_consoles: int
    tls_cert: Path | None = None
    tls_key: Path | None = None


def serve_consoles(
    options: WebOptions,
    command: ConsoleCommand,
    show_link: Callable[[str], None],
    report_failure: Callable[[str], None],
) -> int:
    """Serve consoles until the process is stopped; end them all, and return the exit code.

    SIGTERM and SIGHUP return 0, ctrl+c returns 130 after the same orderly stop.

    Args:
        show_link: Gets the address of each link, the first one once the server listens.
        report_failure: Gets why a console ended on an error.

    Raises:
        UsageError: The address cannot be listened on, or needs TLS, or the certificate cannot be used.
    """
    context = _make_tls_context(options)
    return asyncio.run(_serve(options, command, context, show_link, report_failure))


def _make_tls_context(options: WebOptions) -> ssl.SSLContext | None:
    """Make the TLS context of a server."""
    if options.max_consoles < 1:
        raise UsageError("--max-consoles must be at least 1")
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key go together")
    if options.tls_cert is None:
        if is_loopback_host(options.host):
            return None
        raise UsageError(
            "Other machines could reach this host, so it needs TLS",
            detail=options.host,
            hint="Give --tls-cert and --tls-key; or leave --host out and use an SSH tunnel: ssh -L PORT:127.0.0.1:PORT",
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password callback the library would ask on the terminal.
        context.load_cert_chain(options.tls_cert, options.tls_key, password="")
    except (OSError, ssl.SSLError) as error:
        raise UsageError("The certificate or its key cannot be used", detail=error.strerror or str(error)) from None
    return context


def _accept(http: web.Server | None, consoles: ConsoleServer) -> asyncio.Protocol:
    """Return the protocol of a new connection, after making room for it."""
    assert http is not None
    opened = [connection for connection in http.connections if not consoles.shows_console(connection.transport)]
    if len(http.connections) >= MAX_CONNECTIONS and opened:
        opened[0].force_close()
    return http()


async def _serve(
    options: WebOptions,
    command: ConsoleCommand,
    context: ssl.SSLContext | None,
    show_link: Callable[[str], None],
    report_failure: Callable[[str], None],
) -> int:
    host = options.host.strip("[]")
    name = socket.gethostname() if host in EVERYWHERE else host
    admission = Admission(host, names=(name,), is_secure=context is not None)
    stopped: asyncio.Queue[int] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(ending, stopped.put_nowait, ending)

    def show() -> None:
        shown = f"[{name}]" if ":" in name else name
        show_link(f"http{'s' * (context is not None)}://{shown}:{port}{admission.make_link()}")

    # Of this server alone: what one user saw is no start for another.
    views = TemporaryDirectory(prefix="runwatch-web-")
    server = ConsoleServer(
        admission,
        command,
        Path(views.name),
        max_consoles=options.max_consoles,
        link_used=show,
        report_failure=report_failure,
    )
    runner = web.AppRunner(server.app(), access_log=None, logger=_log, keepalive_timeout=KEEP_ALIVE_S)
    await runner.setup()
    try:
        try:
            listener = await loop.create_server(lambda: _accept(runner.server, server), host, options.port, ssl=context)
        except OSError as error:
            raise UsageError(
                f"Port {options.port} of {host} cannot be used", detail=error.strerror, hint="Give another --port."
            ) from None
        port = listener.sockets[0].getsockname()[1]
        show()
        number = await stopped.get()
        listener.close()
    finally:
        await runner.cleanup()
        views.cleanup()
    return INTERRUPTED if number == signal.SIGINT else 0
