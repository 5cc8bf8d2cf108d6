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
from runwatch.base.json import DuplicateMemberError, loads_strict
from runwatch.base.network.host_header import names_this_machine
from runwatch.base.network.service_target import is_loopback_address
from runwatch.base.secrets.secret_patterns import remove_known_keys
from runwatch.service.access import browser_sessions
from runwatch.service.access.authentication import ANONYMOUS, Principal
from runwatch.service.access.roles import require
from runwatch.service.address_policy import SAMPLE_CHECKS_PATH
from runwatch.service.errors import DatabaseUnreachableError, RefusalError, make_validation_error
from runwatch.service.http.context import RequestContext
from runwatch.service.http.endpoints import AnsweredElsewhere, AuthenticatedRequest, Endpoint, Routes, refuse_secrets
from runwatch.service.http.html_pages import FORM_TYPE, PAGE_PATHS, FormRefusalError, read_form, render_problem_page
from runwatch.service.http.idempotency import HEADER, IdempotentRequest, hash_body, read_key
from runwatch.service.http.rate_limits import ANONYMOUS_BODY_BYTES, BODY_BYTES, Share, read_body
from runwatch.service.http.responses import JSON_TYPE, ServiceResponse
from runwatch.service.tables import tenants

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
"""Member of a request's state with its connection, a :class:`Caller`."""
_UNKEPT: Final = "The service cannot write its data; its disk may be full."
_AWAY_AT_READ: Final = "The database of the service is away for now. Nothing was changed: try again."
_AWAY: Final = "A write that was under way may have been kept: repeat it with the same idempotency key."

# Responses must not be cached or have their type guessed.
_HEADERS: Final = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))

_PLAIN_BODIES: Final = (("Accept-Encoding", "identity"),)

_access: Final = logging.getLogger("runwatch.service.access")
_strangers: Final = logging.getLogger("runwatch.service.access.strangers")
_log: Final = logging.getLogger("runwatch.service")


class Caller(Protocol):
    """A connection that knows who uses it."""

    def identify(self, *, is_keyed: bool) -> None:
        """Record whether the current request has a valid key."""
        ...


class ServiceApp:
    """The ASGI application of one service.

    Args:
        host: The host it listens on, which callers may name besides those of this machine.
        sample_checks: Serves the sample organization's output checks; ``None`` without a sample.
    """

    def __init__(
        self, context: RequestContext, endpoints: Sequence[Endpoint], host: str, sample_checks: ASGIApp | None = None
    ) -> None:
        self.context: Final = context
        self._routes = Routes(endpoints)
        self._host = host
        public = context.options.public_url
        self._public_origins = frozenset({public} - {""})
        self._public_hosts = frozenset(urlsplit(origin).hostname or "" for origin in self._public_origins)
        self._sample_checks = sample_checks
        self._decoding = asyncio.Semaphore(_DECODED_AT_ONCE)
        self._asking = asyncio.Lock()
        self._asked_at = -math.inf
        self._was_ready = False
        self._doubted: set[asyncio.Timeout] = set()
        self._pinging: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, also on unexpected errors."""
        scope = _to_origin_form(scope)
        request = Request(scope, receive)
        if self.context.is_shared and scope["path"] in HEALTH_PATHS and request.method in {"GET", "HEAD"}:
            await (await self._health(scope["path"]))(scope, receive, send)
            return
        if (
            self._sample_checks is not None
            and scope["path"].startswith(SAMPLE_CHECKS_PATH)
            and self._has_own_origin(request)
        ):
            await self._sample_checks(scope, receive, send)
            return
        began = self.context.clock.monotonic()
        self.context.touch()
        visit = _Visit(request)
        try:
            answer = await (self._answer_in_reach(visit) if self.context.is_shared else self._answer(visit))
        except ClientDisconnect:
            return
        except RefusalError as refusal:
            answer = await self.refuse(refusal, visit)
        except asyncio.CancelledError:
            answer = await self.refuse(RefusalError("internal", cause="the service stopped before the answer"), visit)
        except DatabaseUnreachableError as error:
            _log.error("a request could not be answered: %s", error)
            words = _AWAY_AT_READ if request.method in {"GET", "HEAD"} else _AWAY
            away = RefusalError("service_unavailable", words, headers=(("Retry-After", "1"),), cause=str(error))
            answer = await self.refuse(away, visit)
        except DataError as error:
            _log.error("a request could not be kept: %s", error)
            answer = await self.refuse(RefusalError("internal", _UNKEPT, cause=str(error)), visit)
        except Exception as error:
            _log.exception("a request failed with an unexpected error")
            answer = await self.refuse(RefusalError("internal", cause=f"{type(error).__name__}: {error}"), visit)
        cookies = [value for name, value in answer.headers if name == "Set-Cookie"]
        headers = dict(each for each in (*_HEADERS, *answer.headers) if each[0] != "Set-Cookie")
        is_doubtful = {"content-length", "transfer-encoding"} <= set(request.headers)
        if visit.leaves_body or is_doubtful or (answer.status >= _FAILED and visit.is_strangers and not visit.is_page):
            # The connection closes after this response; without this header a caller would send its next request into
            # it. Where a body has two lengths, a proxy may see another end of it (RFC 9112, section 6.1). A caller
            # without a key whose request fails needs a new connection for the next one, and few of those are accepted
            # at a time.
            headers["connection"] = "close"
        media_type = answer.media_type if answer.body else None
        response = Response(answer.body, answer.status, headers, media_type)
        for cookie in cookies:
            response.headers.append("set-cookie", cookie)
        if answer.rest is None:
            await response(scope, receive, send)
        else:
            await self._send_parts(response, answer.rest, request, send)
        self.context.touch()
        log = _strangers if visit.is_strangers else _access
        log.info(
            "%s %s%s %d %.1f ms %s",
            remove_known_keys(request.method)[:_METHOD_CHARACTERS],
            remove_known_keys(scope["path"])[:_PATH_CHARACTERS],
            # Log only names: a value may be a misplaced secret.
            remove_known_keys(f"?{'&'.join(request.query_params.keys())}")[:_PATH_CHARACTERS]
            if request.query_params
            else "",
            answer.status,
            (self.context.clock.monotonic() - began) * 1000,
            (visit.principal and visit.principal.key_id) or "-",
        )

    async def _send_parts(
        self, response: Response, rest: AsyncGenerator[bytes, None], request: Request, send: Send
    ) -> None:
        """Send a body as it is made, while the caller stays; make none for ``HEAD``."""
        # The length is not known yet.
        headers = [(name, value) for name, value in response.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        if request.method != "HEAD":
            leaving = asyncio.ensure_future(_leaving(request))
            try:
                await send({"type": "http.response.body", "body": response.body, "more_body": True})
                async with contextlib.aclosing(rest):
                    async for part in rest:
                        if leaving.done():
                            return
                        await send({"type": "http.response.body", "body": part, "more_body": True})
                        self.context.touch()
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _health(self, path: str) -> Response:
        """Answer whether this process lives, or whether it can do its work now, for a program that watches it."""
        if path == HEALTH_PATHS[0]:
            return JSONResponse({"status": "ok"}, headers=dict(_HEADERS))
        if await self._is_ready():
            return JSONResponse({"status": "ready"}, headers=dict(_HEADERS))
        return JSONResponse({"status": "unavailable"}, 503, headers=dict(_HEADERS))

    async def _is_ready(self) -> bool:
        """Whether the database answers; asked at most once a second, however many callers want to know."""
        async with self._asking:
            now = self.context.clock.monotonic()
            if now - self._asked_at >= READY_FOR_S:
                try:
                    async with asyncio.timeout(READY_S):
                        await self.context.database.read(lambda transaction: transaction.count(tenants, {}))
                    self._was_ready = True
                except (TimeoutError, DataError):
                    self._was_ready = False
                self._asked_at = self.context.clock.monotonic()
        return self._was_ready

    async def refuse(self, refusal: RefusalError, visit: _Visit | None = None) -> ServiceResponse:
        """Build the response to a refused request; without a visit, to bytes that are not a request."""
        if visit is None:
            return await self.context.problems.answer(refusal)
        principal = None if visit.principal is ANONYMOUS else visit.principal
        answer = await self.context.problems.answer(
            refusal, method=visit.request.method, path=visit.request.scope["path"], principal=principal
        )
        if not visit.is_page:
            return answer
        return (refusal.page if isinstance(refusal, FormRefusalError) else render_problem_page)(answer)

    async def _answer_in_reach(self, visit: _Visit) -> ServiceResponse:
        """Answer a request, unless the database hangs."""
        scope = asyncio.timeout(None)
        timer = self.context.timers.call_later(PATIENCE_S, self._doubt, scope)
        try:
            async with scope:
                return await self._answer(visit)
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise DatabaseUnreachableError("The service's database does not answer") from error
        finally:
            timer.cancel()
            self._doubted.discard(scope)

    def _doubt(self, scope: asyncio.Timeout) -> None:
        """End a request if the database hangs."""
        self._doubted.add(scope)
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.ensure_future(self._ping())

    async def _ping(self) -> None:
        while self._doubted:
            try:
                await self.context.database.ping()
            except DataError:
                while self._doubted:
                    self._doubted.pop().reschedule(0)
            else:
                await self.context.clock.sleep(READY_S)

    async def _answer(self, visit: _Visit) -> ServiceResponse:
        request = visit.request
        self._check_origin(request)
        if not self.context.options.has_interface:
            raise RefusalError("not_found", "This process drives runs and has no interface.")
        try:
            endpoint, ids = self._routes.find(request.method, request.scope["path"])
        except RefusalError:
            # Only authenticated callers learn which paths exist, except those of pages.
            await self._admit(visit, None)
            raise
        principal = await self._admit(visit, endpoint)
        if not endpoint.is_open:
            require(principal.role, endpoint.needs)
        call = AuthenticatedRequest(
            context=self.context,
            principal=principal,
            ids=ids,
            query=request.query_params,
            is_form=_is_form(request),
            cookie=request.cookies.get(browser_sessions.COOKIE) or request.cookies.get(browser_sessions.PAGE_COOKIE),
            is_here=_is_here(request),
            peer=visit.peer,
        )
        if not endpoint.mutates:
            return await endpoint.handle(call)
        in_flight = self.context.strangers.bytes_in_flight if visit.is_strangers else self.context.bytes_in_flight
        # Decoded content takes many times the memory of its bytes, so they count until the response is complete.
        with in_flight.share() as share:
            return await self._change(replace(call, **await self._read(visit, endpoint, share)), endpoint)

    async def _read(self, visit: _Visit, endpoint: Endpoint, share: Share) -> dict[str, Any]:
        """Return what a mutation's body adds to the call: its content, and the idempotency key with its scope."""
        request, principal = visit.request, visit.principal
        assert principal is not None
        key = read_key(request.headers.getlist(HEADER), is_required=endpoint.needs_key)
        is_keyed = principal is not ANONYMOUS
        body = await read_body(request, share, most=BODY_BYTES if is_keyed else ANONYMOUS_BODY_BYTES)
        visit.leaves_body = False
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
        keyed = None
        if key is not None and is_keyed:
            path: str = request.scope["path"]
            keyed = IdempotentRequest(principal, f"{endpoint.method} {path}", key, digest)
        return {"content": content, "keyed": keyed}

    async def _change(self, call: AuthenticatedRequest, endpoint: Endpoint) -> ServiceResponse:
        """Answer a mutation. A request whose key was answered before gets that response again, without its handler.

        The turn makes requests with the same key wait for each other; the handler's transaction stores the response
        (manual: interface, "Idempotency").

        Raises:
            RefusalError: ``permission_denied`` or ``idempotency_conflict`` when the key belongs to another request, or
                a refusal of the handler.
        """
        if call.keyed is None:
            return await endpoint.handle(call)
        async with self.context.turns.of(call.keyed):
            look = partial(self.context.database.look, call.keyed.first_answer)
            # One write of a shared database looks by itself.
            is_unseen = endpoint.is_one_write and self.context.is_shared
            try:
                return (None if is_unseen else await look()) or await endpoint.handle(call)
            except AnsweredElsewhere as known:
                return known.answer
            except RefusalError:
                # It may be refused before its write; the first response counts all the same.
                if is_unseen and (first := await look()) is not None:
                    return first
                raise

    async def _admit(self, visit: _Visit, endpoint: Endpoint | None) -> Principal:
        """Authenticate the caller before any of the body is read, and count the request.

        A valid key is recognized before any limit applies, so that callers without one never lock it out. A browser's
        requests to private pages count apart from those of a key.

        Raises:
            RefusalError: ``unauthenticated`` or ``rate_limited``.
        """
        try:
            principal = await self._caller(visit, endpoint)
        except RefusalError as refusal:
            visit.know(None)
            raise self.context.strangers.refuse(visit.peer, refusal) from refusal
        visit.know(principal)
        if principal is not ANONYMOUS:
            self.context.key_uses.note(principal.key_id)
        if principal is ANONYMOUS:
            self.context.strangers.admit(visit.peer)
        elif visit.has_cookie or (endpoint is not None and endpoint.is_page):
            await self.context.rate_limit.admit(f"{_PAGES_OF}{principal.key_id}")
        else:
            await self.context.rate_limit.admit(principal.key_id)
        return principal

    async def _caller(self, visit: _Visit, endpoint: Endpoint | None) -> Principal:
        """Return the caller of an endpoint: the holder of the key, or of the session if its cookie is accepted."""
        request = visit.request
        shown = request.headers.getlist("authorization")
        if shown:
            await self.context.refresh_keys(shown)
        if endpoint is None:
            return ANONYMOUS if visit.is_page and not shown else self.context.keys.principal_of(shown)
        if endpoint.is_open and not shown:
            return ANONYMOUS
        cookie = request.cookies.get(browser_sessions.COOKIE) if endpoint.takes_cookie and not shown else None
        if cookie is None:
            return self.context.keys.principal_of(shown)
        visit.has_cookie = True
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


class _Visit:
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
    def is_strangers(self) -> bool:
        """Whether it has no valid key."""
        return self.principal is None or self.principal is ANONYMOUS

    def know(self, principal: Principal | None) -> None:
        """Record the caller, also for the connection; ``None`` for an invalid key."""
        self.principal = principal
        connection: Caller | None = self.request.scope.get("state", {}).get(CONNECTION)
        if connection is not None:
            connection.identify(is_keyed=not self.is_strangers)


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def decode_body(
    body: bytes, request: Request, *, is_required: bool, takes_form: bool = False, takes_digest: bool = True
) -> tuple[Any, str]:
    """Decode the JSON value of a request body and its digest; with ``takes_form`` also the fields of an HTML form.

    Runs on any thread. Without ``takes_digest`` the digest is empty.

    Raises:
        RefusalError: ``unsupported_media_type`` when the body is compressed or not declared as JSON,
            ``validation_failed`` when it is not JSON, has duplicate members or a misplaced secret, or is missing where
            required.
    """
    if body and any(encoding.strip().lower() != "identity" for encoding in request.headers.getlist("content-encoding")):
        raise RefusalError("unsupported_media_type", "Send the body without a Content-Encoding.", headers=_PLAIN_BODIES)
    if takes_form and _is_form(request):
        # A form without inputs, such as a page that only asks for confirmation, is sent without a body.
        return read_form(body) if body else {}, ""
    if not body:
        if is_required:
            raise make_validation_error(("body", "Required."))
        return None, ""
    if _media_type(request) != JSON_TYPE:
        raise RefusalError("unsupported_media_type", f"Send the body as {JSON_TYPE}{' or as a form' * takes_form}.")
    try:
        value = loads_strict(body)
        if not takes_form:
            # A private page is where a secret belongs.
            refuse_secrets(value)
        return value, hash_body(value) if takes_digest else ""
    except DuplicateMemberError as error:
        raise make_validation_error(
            ("body", "Each member of an object may appear only once."), cause=str(error)
        ) from None
    except ValueError as error:
        raise make_validation_error(("body", "Must be one JSON value in UTF-8."), cause=str(error)) from None


def _is_here(request: Request) -> bool:
    """Whether the connection comes from this machine: over the Unix socket, or from a loopback address."""
    server = request.scope.get("server")
    if server is None or server[1] is None:
        return True  # only a Unix socket has no port
    return request.client is not None and is_loopback_address(request.client.host)


def _is_form(request: Request) -> bool:
    return _media_type(request) == FORM_TYPE


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


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
