"""HTTP transport; it imports httpx with the first request, because the import takes 70 ms.

Its guarantees (manual: decisions, "Client and retries"; manual: interface, "Headers"):

- The key goes to the target's exact origin and nowhere else, and to a target with a socket only through that socket.
- Before a byte is sent on a connection, the peer of a socket is checked, and that plain http ends on this machine
  (manual: security, "Reaching the local service").
- Redirects are not followed.
- A loopback service is called without proxies and environment, a remote one through the proxy variables and with the
  profile's certificate file.
- A body is read up to a limit on unpacked bytes, and an exchange ends by itself, however slowly its response trickles.
- Exceptions of httpx become :class:`ConnectionLostError`, without its types, requests or headers behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from runwatch import __version__
from runwatch.api.http.body_reader import ACCEPTED, BodyDamagedError, BodyReader, BodyTooLargeError
from runwatch.api.http.exchange import ConnectionLostError, HttpRequest, HttpResponse
from runwatch.base.errors import SettingsError, UntrustedSocketError
from runwatch.base.log import redact_headers
from runwatch.base.network.hidden_modules import hidden_modules
from runwatch.base.network.service_socket import check_socket_path, check_socket_peer
from runwatch.base.network.service_target import Target, is_loopback_address

if TYPE_CHECKING:
    import httpx

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""Maximum body of a success, in unpacked bytes (manual: decisions, "Client and retries")."""

MAX_ERROR_BYTES: Final = 64 * 1024
"""How much of an error response is read; a Problem is far smaller."""

KEEP_ALIVE_S: Final = 4.0
"""How long an idle connection is reused. Many servers close theirs after 5 s, and a request that meets the close is
lost.
"""

CONNECTIONS: Final = 100
"""Maximum connections; further requests wait for one, up to the pool timeout."""

_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits, in seconds: of each part of a request, and of all parts together (``whole_s``)."""

    connect_s: float = 5.0
    read_s: float = 30.0
    write_s: float = 30.0
    pool_s: float = 5.0
    whole_s: float = 120.0


def import_library() -> None:
    """Import httpx, and httpcore, which it imports when it opens a connection pool."""
    with hidden_modules():
        import httpcore  # noqa: F401
        import httpx  # noqa: F401


class Transport:
    """Sends requests to one target over shared, kept connections.

    Args:
        target: The service, and the key for it.
        timeouts: The read timeout counts from one piece to the next.
    """

    def __init__(self, target: Target, timeouts: Timeouts = Timeouts()) -> None:
        self._target = target
        self._timeouts = timeouts
        self._http: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()
        is_checked = target.socket is not None or target.origin.startswith("http:")
        self._extensions: Mapping[str, Any] = {"trace": self._check_connection} if is_checked else {}

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request once and read its response to the end.

        Raises:
            ConnectionLostError: No complete response came.
            SettingsError: The key, the proxy variables or the certificate file cannot be used.
        """
        http = await self._opened()
        import httpx

        progress = _Progress()
        try:
            return await self._converse(http, request, progress)
        except (httpx.HTTPError, OSError) as error:
            lost = _lost(error, progress)
        except _EndlessError:
            lost = ConnectionLostError("endless", was_sent=True, received_bytes=progress.received)
        except BodyTooLargeError:
            lost = ConnectionLostError("too_large", was_sent=True, received_bytes=progress.received)
        except UntrustedSocketError as error:
            lost = ConnectionLostError("untrusted", was_sent=False, detail=error.detail or "")
        except _NotThisMachine as error:
            lost = ConnectionLostError("untrusted", was_sent=False, detail=str(error))
        # Raised outside of the handlers: the exception of httpx holds the request, and that holds the key.
        raise lost

    async def can_connect(self) -> bool | None:
        """Return whether a connection to the target opens; ``None`` if that says nothing, as behind a proxy.

        Nothing is sent on it, so it counts for no rate limit.
        """
        target = self._target
        if not target.is_loopback and target.socket is None:
            from urllib.request import getproxies

            if getproxies():
                return None
        parts = urlsplit(target.origin)
        try:
            async with asyncio.timeout(self._timeouts.connect_s):
                if target.socket is not None:
                    _, writer = await asyncio.open_unix_connection(target.socket)
                else:
                    port = parts.port or (443 if parts.scheme == "https" else 80)
                    _, writer = await asyncio.open_connection(parts.hostname, port)
        except (OSError, UnicodeError):
            # A name that no look-up can encode raises the second.
            return False
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    @cached_property
    def _origin(self) -> httpx.URL:
        import httpx

        return httpx.URL(self._target.origin)

    async def _opened(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._http is None:
                # In a thread, because the import and the certificates would block the loop for more than a frame.
                self._http = await asyncio.to_thread(self._open)
            return self._http

    def _open(self) -> httpx.AsyncClient:
        import_library()
        import httpx

        key = self._target.key
        if key is not None and not _SENDABLE.fullmatch(key.reveal().strip()):
            raise SettingsError(
                "The key cannot be sent",
                detail="it is empty or has characters that a header cannot carry",
                hint="Check where the key comes from.",
            )
        limits = httpx.Limits(
            max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S
        )
        path = self._target.socket
        try:
            trust = self._trust()
            return httpx.AsyncClient(
                auth=self._authorise,
                verify=trust,
                transport=None
                if path is None
                else httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=limits, uds=str(path)),
                trust_env=path is None and not self._target.is_loopback,
                follow_redirects=False,
                timeout=httpx.Timeout(
                    connect=self._timeouts.connect_s,
                    read=self._timeouts.read_s,
                    write=self._timeouts.write_s,
                    pool=self._timeouts.pool_s,
                ),
                limits=limits,
                headers={
                    "User-Agent": f"runwatch/{__version__}",
                    "Accept": "application/json",
                    "Accept-Encoding": ACCEPTED,
                },
            )
        except (ImportError, ValueError, httpx.InvalidURL):
            # The value is not repeated: a proxy's address may hold a password.
            problem = SettingsError(
                "A proxy variable cannot be used",
                hint="Check HTTPS_PROXY, ALL_PROXY and NO_PROXY; http and https proxies are supported.",
            )
        raise problem

    def _trust(self) -> ssl.SSLContext:
        """Return the trusted certificates; the profile's file replaces the default ones."""
        import httpx

        if self._target.origin.startswith("http:"):
            # Without TLS, an empty context costs nothing and trusts no certificate.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        path = self._target.ca_file
        try:
            if path is None:
                return httpx.create_ssl_context(trust_env=not self._target.is_loopback)
            return ssl.create_default_context(cafile=str(path))
        except OSError as error:
            raise SettingsError(
                "The certificate file cannot be used",
                detail=f"{path or 'SSL_CERT_FILE'}: {error.strerror or 'not a certificate bundle'}",
                hint="Name a readable file with certificates in PEM form as ca_file.",
            ) from None

    def _authorise(self, request: httpx.Request) -> httpx.Request:
        """Add the key if, and only if, the request goes to the target's origin."""
        asked, own = ((url.scheme, url.host, url.port) for url in (request.url, self._origin))
        if asked == own and self._target.key is not None:
            request.headers["Authorization"] = f"Bearer {self._target.key.reveal().strip()}"
        return request

    async def _check_connection(self, event: str, info: Mapping[str, Any]) -> None:
        """Check the peer of a new connection; httpx calls this at each step of a request.

        Raises:
            UntrustedSocketError: The socket, its directory or the listening process does not belong to the user.
            _NotThisMachine: Plain http would leave this machine.
            httpx.ConnectError: The connection broke before the check.
        """
        match event:
            case "connection.connect_unix_socket.started":
                assert self._target.socket is not None
                # A missing socket is reported by the connection itself.
                with contextlib.suppress(OSError):
                    check_socket_path(self._target.socket)
            case "connection.connect_unix_socket.complete" | "connection.connect_tcp.complete":
                import httpx

                stream = info["return_value"]
                try:
                    self._check_peer(stream)
                except OSError as error:
                    await stream.aclose()
                    raise httpx.ConnectError("the connection broke off") from error
                except BaseException:
                    await stream.aclose()
                    raise

    def _check_peer(self, stream: Any) -> None:
        if self._target.socket is not None:
            check_socket_peer(stream.get_extra_info("socket"))
            return
        peer = stream.get_extra_info("server_addr")
        if peer is None:
            raise OSError("the other end closed the connection")
        address = str(peer[0])
        if not is_loopback_address(address):
            raise _NotThisMachine(f"the name leads to {address}, and plain http is only for this machine")

    async def _converse(self, http: httpx.AsyncClient, request: HttpRequest, progress: _Progress) -> HttpResponse:
        raw_path = request.path + (f"?{request.query}" if request.query else "")
        headers = {}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        url = self._origin.copy_with(raw_path=raw_path.encode("ascii"))
        outgoing = http.build_request(
            request.method, url, headers=headers, content=request.body, extensions=self._extensions
        )
        end = asyncio.get_running_loop().time() + self._timeouts.whole_s
        async with _until(end):
            response = await http.send(outgoing, stream=True)
        progress.status = response.status_code
        try:
            return await _read(response, progress, end)
        finally:
            await response.aclose()


class _NotThisMachine(Exception):
    """The address of a plain http service leads to another machine."""


class _EndlessError(Exception):
    """The response did not end in the time of a whole request."""


@contextlib.asynccontextmanager
async def _until(end: float) -> AsyncIterator[None]:
    """Stop the block at a time of the loop's clock."""
    try:
        async with asyncio.timeout_at(end):
            yield
    except TimeoutError:
        raise _EndlessError from None


@dataclass(slots=True)
class _Progress:
    """Progress of an exchange: the status once it came, and the bytes of the body on the wire."""

    status: int | None = None
    received: int = 0


async def _read(response: httpx.Response, progress: _Progress, end: float) -> HttpResponse:
    """Read the body, until ``end`` at most.

    A broken body of a success is a lost response. For an error response the known status decides, so the part that came
    is kept and the flaw named.
    """
    import httpx

    is_success = response.is_success
    flaw = None
    body = b""
    try:
        content = BodyReader(
            response.headers.get("content-encoding", ""), MAX_BODY_BYTES if is_success else MAX_ERROR_BYTES
        )
        try:
            async with _until(end):
                async for piece in response.aiter_raw():
                    progress.received += len(piece)
                    content.add(piece)
            content.check_end()
        except (BodyTooLargeError, _EndlessError, httpx.HTTPError, OSError) as error:
            if is_success:
                raise
            match error:
                case BodyTooLargeError():
                    flaw = f"it is longer than {MAX_ERROR_BYTES} bytes"
                case _EndlessError():
                    flaw = "it did not end"
                case _:
                    flaw = "it broke off"
        body = content.body
    except BodyDamagedError as error:
        flaw = str(error)
    return HttpResponse(response.status_code, redact_headers(response.headers), body, progress.received, flaw)


def _lost(error: Exception, progress: _Progress) -> ConnectionLostError:
    import httpx

    received = progress.received
    if progress.status is not None:
        kind = "timeout" if isinstance(error, httpx.TimeoutException) else "cut"
        return ConnectionLostError(kind, was_sent=True, received_bytes=received)
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ConnectionLostError("timeout", was_sent=False, detail="the connection timed out")
        case httpx.ConnectError():
            return _not_connected(error)
        case httpx.ProxyError():
            return ConnectionLostError("network", was_sent=False, detail=f"the proxy refused: {str(error)[:200]}")
        case httpx.TimeoutException():
            return ConnectionLostError("timeout", was_sent=True)
        case httpx.RemoteProtocolError():
            # If httpx read something that is not HTTP, its parser's error is among the causes.
            parser = next((cause for cause in _causes(error) if type(cause).__module__.startswith("h11")), None)
            if parser is not None:
                return ConnectionLostError(
                    "network", was_sent=True, detail=f"the answer is not HTTP: {str(parser)[:200]}"
                )
            return ConnectionLostError("reset", was_sent=True)
        case httpx.NetworkError() | OSError():
            return ConnectionLostError("reset", was_sent=True)
    return ConnectionLostError("network", was_sent=True, detail=type(error).__name__)


def _not_connected(error: Exception) -> ConnectionLostError:
    """Say why there was no connection; the service has seen nothing of the request."""
    causes = list(_causes(error))
    for cause in causes:
        match cause:
            case ssl.SSLCertVerificationError():
                return ConnectionLostError("tls", was_sent=False, detail=cause.verify_message)
            case ssl.SSLError():
                return ConnectionLostError("tls", was_sent=False, detail=(cause.reason or "").replace("_", " ").lower())
            case socket.gaierror():
                return ConnectionLostError("dns", was_sent=False, detail=cause.strerror or "")
            case ConnectionRefusedError() | FileNotFoundError():
                return ConnectionLostError("refused", was_sent=False)
    system = next((cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror), "")
    return ConnectionLostError("network", was_sent=False, detail=system)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and everything that led to it, from the outside in."""
    waiting: list[BaseException] = [error]
    while waiting:
        cause = waiting.pop(0)
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting.extend(cause.exceptions)
        inner = cause.__cause__ or cause.__context__
        if inner is not None:
            waiting.append(inner)
