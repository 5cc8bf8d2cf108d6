"""The application: what every request passes before and after its handler."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from runwatch.base.errors import DataError
from runwatch.base.network.host_header import names_this_machine
from runwatch.base.network.service_target import is_loopback_address
from runwatch.base.secrets.secret_patterns import remove_known_keys
from runwatch.service.access import browser_sessions
from runwatch.service.access.authentication import ANONYMOUS, Principal
from runwatch.service.access.roles import require
from runwatch.service.address_policy import SAMPLE_CHECKS_PATH
from runwatch.service.errors import DatabaseUnreachableError, RefusalError, make_validation_error
from runwatch.service.http.bodies import decode_body, is_form
from runwatch.service.http.context import RequestContext
from runwatch.service.http.endpoints import Endpoint, Router
from runwatch.service.http.html_pages import PAGE_PATHS, render_problem_page
from runwatch.service.http.idempotency import HEADER, IdempotentRequest, read_key
from runwatch.service.http.rate_limits import ANONYMOUS_BODY_BYTES, BODY_BYTES, Reserve, read_body
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.tables import tenants_table

_ABSOLUTE_TARGET: Final = re.compile(rb"http://([^/]*)(/.*)?", re.IGNORECASE)
_METHOD_CHARACTERS: Final = 20
_PATH_CHARACTERS: Final = 300
_FAILED: Final = 400

# Larger bodies are decoded on threads, with a limit on their number, because each one holds the interpreter for a
# while.
_AT_ONCE_BYTES: Final = 16 * 1024
_DECODED_AT_ONCE: Final = 2

# No key id starts with this.
_PAGES_OF: Final = "pages of "

HEALTH_PATHS: Final = ("/healthz", "/readyz")
"""Paths of a service of several processes that need no key."""

READY_S: Final = 3.0
"""Seconds within which the database must answer for a process to be ready."""

READY_FOR_S: Final = 1.0
"""Seconds for which that answer holds."""

PATIENCE_S: Final = 10.0
"""Seconds without an answer after which a request asks whether the database still lives, and again after as many."""

CONNECTION: Final = "connection"
"""Member of a request's state with its connection, a :class:`KeyedConnection`."""
_UNKEPT: Final = "The service cannot write its data; its disk may be full."
_AWAY_AT_READ: Final = "The database of the service is away for now. Nothing was changed: try again."
_AWAY: Final = "A write that was under way may have been kept: repeat it with the same idempotency key."

# Responses must not be cached or have their type guessed.
_HEADERS: Final = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))

_access: Final = logging.getLogger("runwatch.service.access")
_strangers: Final = logging.getLogger("runwatch.service.access.strangers")
_log: Final = logging.getLogger("runwatch.service")


class KeyedConnection(Protocol):
    def identify(self, *, is_keyed: bool) -> None:
        """Record whether the current request has a valid key."""


class ServiceApp:
    """The ASGI application of one service.

    Args:
        host: The host it listens on, which callers may name besides those of this machine.
    """

    def __init__(
        self, context: RequestContext, endpoints: Sequence[Endpoint], host: str, sample_checks: ASGIApp | None = None
    ) -> None:
        self.context: Final = context
        self._router = Router(endpoints)
        self._host = host
        public = context.options.public_url
        self._public_origins = frozenset({public} - {""})
        self._public_hosts = frozenset(urlsplit(origin).hostname or "" for origin in self._public_origins)
        self._sample_checks = sample_checks
        self._decoding = asyncio.Semaphore(_DECODED_AT_ONCE)
        self._ready_lock = asyncio.Lock()
        self._ready_checked_at = -math.inf
        self._was_ready = False
        self._overdue: set[asyncio.Timeout] = set()
        self._pinging: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, also on unexpected errors."""
        scope = _to_origin_form(scope)
        request = Request(scope, receive)
        path = scope["path"]
        if self.context.options.is_shared and path in HEALTH_PATHS and request.method in {"GET", "HEAD"}:
            await (await self._health(path))(scope, receive, send)
        elif self._sample_checks is not None and path.startswith(SAMPLE_CHECKS_PATH) and self._has_own_origin(request):
            await self._sample_checks(scope, receive, send)
        else:
            await self._serve(_Incoming(request), send)

    async def _serve(self, incoming: _Incoming, send: Send) -> None:
        began = self.context.clock.monotonic()
        self.context.touch()
        try:
            response = await (
                self._respond_unless_hung(incoming) if self.context.options.is_shared else self._respond(incoming)
            )
        except ClientDisconnect:
            return
        except (Exception, asyncio.CancelledError) as error:
            response = await self._refuse(_refusal_from_error(error, incoming.request), incoming)
        http_response, request = _build_response(response, incoming), incoming.request
        if response.further_parts is None:
            await http_response(request.scope, request.receive, send)
        else:
            await self._send_parts(http_response, response.further_parts, request, send)
        self.context.touch()
        _log_access(incoming, response.status, self.context.clock.monotonic() - began)

    async def _send_parts(
        self, http_response: Response, further_parts: AsyncGenerator[bytes, None], request: Request, send: Send
    ) -> None:
        """Send a body as it is made, while the caller stays; make none for ``HEAD``."""
        # The length is not known yet.
        headers = [(name, value) for name, value in http_response.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": http_response.status_code, "headers": headers})
        if request.method != "HEAD":
            leaving = asyncio.ensure_future(_leaving(request))
            try:
                await send({"type": "http.response.body", "body": http_response.body, "more_body": True})
                async with contextlib.aclosing(further_parts):
                    async for part in further_parts:
                        if leaving.done():
                            return
                        await send({"type": "http.response.body", "body": part, "more_body": True})
                        self.context.touch()
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _health(self, path: str) -> Response:
        """Answer whether this process lives, or whether it can do its work now, for a program that watches it."""
        status = "ok" if path == HEALTH_PATHS[0] else "ready" if await self._is_ready() else "unavailable"
        return JSONResponse({"status": status}, 503 if status == "unavailable" else 200, headers=dict(_HEADERS))

    async def _is_ready(self) -> bool:
        """Whether the database answers; asked at most once a second, however many callers want to know."""
        async with self._ready_lock:
            now = self.context.clock.monotonic()
            if now - self._ready_checked_at >= READY_FOR_S:
                try:
                    async with asyncio.timeout(READY_S):
                        await self.context.database.read(lambda transaction: transaction.count(tenants_table, {}))
                    self._was_ready = True
                except (TimeoutError, DataError):
                    self._was_ready = False
                self._ready_checked_at = self.context.clock.monotonic()
        return self._was_ready

    async def _refuse(self, refusal: RefusalError, incoming: _Incoming) -> ServiceResponse:
        """Build the response to a refused request: a Problem, or a page for a browser."""
        principal = None if incoming.principal is ANONYMOUS else incoming.principal
        response = await self.context.problems.respond(
            refusal, method=incoming.request.method, path=incoming.request.scope["path"], principal=principal
        )
        if not incoming.is_page:
            return response
        page: ServiceResponse = (refusal.page or render_problem_page)(response)
        return page

    async def _respond_unless_hung(self, incoming: _Incoming) -> ServiceResponse:
        """Answer a request, unless the database hangs."""
        scope = asyncio.timeout(None)
        timer = self.context.timers.call_later(PATIENCE_S, self._watch_database, scope)
        try:
            async with scope:
                return await self._respond(incoming)
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise DatabaseUnreachableError("The service's database does not answer") from error
        finally:
            timer.cancel()
            self._overdue.discard(scope)

    def _watch_database(self, scope: asyncio.Timeout) -> None:
        """Add a request to those that end if the database does not answer a ping; ping while there are any."""
        self._overdue.add(scope)
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.ensure_future(self._ping())

    async def _ping(self) -> None:
        while self._overdue:
            try:
                await self.context.database.ping()
            except DataError:
                while self._overdue:
                    self._overdue.pop().reschedule(0)
            else:
                await self.context.clock.sleep(READY_S)

    async def _respond(self, incoming: _Incoming) -> ServiceResponse:
        request = incoming.request
        self._check_origin(request)
        if not self.context.options.has_interface:
            raise RefusalError("not_found", "This process drives runs and has no interface.")
        try:
            endpoint, ids = self._router.find(request.method, request.scope["path"])
        except RefusalError:
            # Only authenticated callers learn which paths exist, except those of pages.
            await self._admit(incoming, None)
            raise
        principal = await self._admit(incoming, endpoint)
        if not endpoint.is_open:
            require(principal.role, endpoint.needs)
        call = ServiceCall(
            context=self.context,
            principal=principal,
            ids=ids,
            query=request.query_params,
            is_form=is_form(request),
            cookie=request.cookies.get(browser_sessions.COOKIE) or request.cookies.get(browser_sessions.PAGE_COOKIE),
            is_here=_is_here(request),
            peer=incoming.peer,
        )
        if not endpoint.mutates:
            return await endpoint.handle(call)
        in_flight = self.context.strangers.bytes_in_flight if incoming.is_keyless else self.context.bytes_in_flight
        # Decoded content takes many times the memory of its bytes, so they count until the response is complete.
        with in_flight.share() as reserve:
            return await replace(call, **await self._read(incoming, endpoint, reserve)).respond_once(
                endpoint.handle, is_one_write=endpoint.is_one_write
            )

    async def _read(self, incoming: _Incoming, endpoint: Endpoint, reserve: Reserve) -> dict[str, Any]:
        """Return what a mutation's body adds to the call: its content, and the idempotency key with its scope."""
        request, principal = incoming.request, incoming.principal
        assert principal is not None
        key = read_key(request.headers.getlist(HEADER), is_required=endpoint.needs_key)
        is_keyed = principal is not ANONYMOUS
        body = await read_body(request, reserve, most=BODY_BYTES if is_keyed else ANONYMOUS_BODY_BYTES)
        incoming.leaves_body = False
        reading = partial(
            decode_body,
            body,
            request,
            is_required=endpoint.takes_body,
            takes_form=endpoint.is_page,
            takes_digest=is_keyed,
        )
        if len(body) <= _AT_ONCE_BYTES:
            content, digest = reading()
        else:
            async with self._decoding:
                content, digest = await asyncio.to_thread(reading)
        idempotent = None
        if key is not None and is_keyed:
            path: str = request.scope["path"]
            idempotent = IdempotentRequest(principal, f"{endpoint.method} {path}", key, digest)
        return {"content": content, "idempotent": idempotent}

    async def _admit(self, incoming: _Incoming, endpoint: Endpoint | None) -> Principal:
        """Authenticate the caller before any of the body is read, and count the request.

        A valid key is recognized before any limit applies, so that callers without one never lock it out. A browser's
        requests to private pages count apart from those of a key. Refuses with ``unauthenticated`` or ``rate_limited``.
        """
        try:
            principal = await self._find_principal(incoming, endpoint)
        except RefusalError:
            incoming.set_caller(None)
            self.context.strangers.admit_failure(incoming.peer)
            raise
        incoming.set_caller(principal)
        if principal is not ANONYMOUS:
            self.context.key_uses.record_use(principal.key_id)
        if principal is ANONYMOUS:
            self.context.strangers.admit(incoming.peer)
        elif incoming.has_cookie or (endpoint is not None and endpoint.is_page):
            await self.context.rate_limit.admit(f"{_PAGES_OF}{principal.key_id}")
        else:
            await self.context.rate_limit.admit(principal.key_id)
        return principal

    async def _find_principal(self, incoming: _Incoming, endpoint: Endpoint | None) -> Principal:
        """Return the caller of an endpoint: the holder of the key, or of the session if its cookie is accepted."""
        request = incoming.request
        shown = request.headers.getlist("authorization")
        if shown:
            await self.context.refresh_keys(shown)
        if endpoint is None:
            return ANONYMOUS if incoming.is_page and not shown else self.context.keys.principal_of(shown)
        if endpoint.is_open and not shown:
            return ANONYMOUS
        cookie = request.cookies.get(browser_sessions.COOKIE) if endpoint.takes_cookie and not shown else None
        if cookie is None:
            return self.context.keys.principal_of(shown)
        incoming.has_cookie = True
        key_id = await self.context.database.read(lambda transaction: browser_sessions.find_key(transaction, cookie))
        if key_id is not None:
            await self.context.refresh_keys(key_id=key_id)
        holder = None if key_id is None else self.context.keys.holder_of(key_id)
        if holder is None:
            raise RefusalError("unauthenticated", "The session has expired. Sign in again.")
        return holder

    def _check_origin(self, request: Request) -> None:
        """Refuse what a web page in a browser of this machine may have sent.

        A page of another host can reach a loopback address, through a name of its own that resolves there (detected by
        ``Host``) or across origins (detected by ``Origin``).
        """
        hosts = request.headers.getlist("host")
        if not names_this_machine(hosts, self._host, self._public_hosts):
            raise make_validation_error(
                ("Host", "Must name the machine that the service listens on, or its --public-url behind a proxy.")
            )
        own = {f"http://{hosts[0].lower()}", *self._public_origins}
        if any(origin.lower() not in own for origin in request.headers.getlist("origin")):
            raise RefusalError("permission_denied", "The service takes no requests from pages of other origins.")

    def _has_own_origin(self, request: Request) -> bool:
        """Whether the request passes :meth:`_check_origin`; otherwise the normal path explains why."""
        try:
            self._check_origin(request)
        except RefusalError:
            return False
        return True


class _Incoming:
    """Facts about a request while it is being answered.

    Attributes:
        leaves_body: Whether it announces a body that was not read completely.
        is_page: Whether a browser shows the response to the user.
    """

    __slots__ = ("has_cookie", "is_page", "leaves_body", "peer", "principal", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.principal: Principal | None = None
        is_browser = "text/html" in request.headers.get("accept", "")
        self.is_page = is_browser and request.scope["path"].startswith(PAGE_PATHS)
        self.has_cookie = False
        self.peer = request.client.host if request.client is not None else ""
        length = request.headers.get("content-length", "0")
        self.leaves_body = length.strip("0 ") != "" or "transfer-encoding" in request.headers

    @property
    def is_keyless(self) -> bool:
        """Whether it has no valid key."""
        return self.principal is None or self.principal is ANONYMOUS

    def set_caller(self, principal: Principal | None) -> None:
        """Record the caller, also for the connection; ``None`` for an invalid key."""
        self.principal = principal
        connection: KeyedConnection | None = self.request.scope.get("state", {}).get(CONNECTION)
        if connection is not None:
            connection.identify(is_keyed=not self.is_keyless)


def _refusal_from_error(error: BaseException, request: Request) -> RefusalError:
    """Return what the caller of a failed request learns; log what it does not."""
    match error:
        case RefusalError():
            return error
        case asyncio.CancelledError():
            return RefusalError("internal", cause="the service stopped before the answer")
        case DatabaseUnreachableError():
            _log.error("a request could not be answered: %s", error)
            detail = _AWAY_AT_READ if request.method in {"GET", "HEAD"} else _AWAY
            return RefusalError("service_unavailable", detail, headers=(("Retry-After", "1"),), cause=str(error))
        case DataError():
            _log.error("a request could not be kept: %s", error)
            return RefusalError("internal", _UNKEPT, cause=str(error))
    _log.exception("a request failed with an unexpected error")
    return RefusalError("internal", cause=f"{type(error).__name__}: {error}")


def _build_response(response: ServiceResponse, incoming: _Incoming) -> Response:
    """Build the response with its headers; of a body in parts, the first one."""
    headers = dict(header for header in (*_HEADERS, *response.headers) if header[0] != "Set-Cookie")
    is_doubtful = {"content-length", "transfer-encoding"} <= set(incoming.request.headers)
    if (
        incoming.leaves_body
        or is_doubtful
        or (response.status >= _FAILED and incoming.is_keyless and not incoming.is_page)
    ):
        # The connection closes after this response; without this header a caller would send its next request into it.
        # Where a body has two lengths, a proxy may see another end of it (RFC 9112, section 6.1). A caller without a
        # key whose request fails needs a new connection for the next one, and few of those are accepted at a time.
        headers["connection"] = "close"
    http_response = Response(response.body, response.status, headers, response.media_type if response.body else None)
    for name, value in response.headers:
        if name == "Set-Cookie":
            http_response.headers.append("set-cookie", value)
    return http_response


def _log_access(incoming: _Incoming, status: int, seconds: float) -> None:
    request = incoming.request
    log = _strangers if incoming.is_keyless else _access
    log.info(
        "%s %s%s %d %.1f ms %s",
        remove_known_keys(request.method)[:_METHOD_CHARACTERS],
        remove_known_keys(request.scope["path"])[:_PATH_CHARACTERS],
        # Log only names: a value may be a misplaced secret.
        remove_known_keys(f"?{'&'.join(request.query_params.keys())}")[:_PATH_CHARACTERS]
        if request.query_params
        else "",
        status,
        seconds * 1000,
        (incoming.principal and incoming.principal.key_id) or "-",
    )


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _is_here(request: Request) -> bool:
    """Whether the connection comes from this machine: over the Unix socket, or from a loopback address."""
    server = request.scope.get("server")
    if server is None or server[1] is None:
        return True  # only a Unix socket has no port
    return request.client is not None and is_loopback_address(request.client.host)


def _to_origin_form(scope: Scope) -> Scope:
    """Return the request with its target in origin form, or unchanged if it already is.

    Clients send ``GET http://HOST/PATH`` to proxies (RFC 9112, 3.2.2). As the standard requires, the target's host
    replaces the ``Host`` header, so the check of that header judges the host that the caller means.
    """
    match = _ABSOLUTE_TARGET.fullmatch(scope["raw_path"])
    if match is None:
        return scope
    path = match[2] or b"/"
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {
        **scope,
        "path": unquote(path.decode("ascii")),
        "raw_path": path,
        "headers": [*headers, (b"host", match[1])],
    }
