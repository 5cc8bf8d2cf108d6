"""Requests as handlers receive them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from runwatch.service.access.authentication import ANONYMOUS, Principal, is_active
from runwatch.service.errors import RefusalError
from runwatch.service.http.context import RequestContext
from runwatch.service.http.idempotency import IdempotentRequest
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.transaction import Transaction

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A request as a handler receives it, its caller known and its body decoded.

    Attributes:
        principal: The holder of its key or session, or
            :data:`~runwatch.service.access.authentication.ANONYMOUS` at an open endpoint.
        idempotent: The same request with its idempotency key, for a mutation that has one.
        is_form: Whether the body came from an HTML form, whose response the user sees.
        cookie: The browser session's cookie, whether or not the endpoint accepts it.
        is_here: Whether it comes from this machine: over the Unix socket, or from a loopback address.
        peer: The address it comes from; empty for a Unix socket.
    """

    context: RequestContext
    principal: Principal
    ids: Mapping[str, str]
    query: Mapping[str, str]
    content: Any = None
    idempotent: IdempotentRequest | None = None
    is_form: bool = False
    cookie: str | None = None
    is_here: bool = False
    peer: str = ""

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id

    async def read(self, function: Callable[[Transaction], T]) -> T:
        return await self.context.database.read(function)

    async def show(self, function: Callable[[Transaction], object]) -> ServiceResponse:
        """Read from the database, and respond with the result as JSON."""
        return await self.read(lambda transaction: make_json_response(function(transaction)))

    async def write(self, effect: Callable[[Transaction], object]) -> ServiceResponse:
        """Apply an effect and respond with its result; see :meth:`write_with`."""
        response, _ = await self.write_with(lambda transaction: (effect(transaction), None))
        return response

    async def write_with(self, effect: Callable[[Transaction], tuple[object, T]]) -> tuple[ServiceResponse, T]:
        """Apply an effect and store its response for the idempotency key atomically; return both results once on disk.

        Args:
            effect: Returns the response, or its JSON, and whatever the caller needs after the commit.

        Raises:
            RefusalError: ``unauthenticated`` when the caller's key was revoked since the request started, for example
                during a slow body.
        """
        idempotent, principal, is_shared = self.idempotent, self.principal, self.context.options.is_shared

        def write_once(transaction: Transaction) -> tuple[ServiceResponse, T]:
            if principal is not ANONYMOUS and not is_active(transaction, principal.key_id):
                raise RefusalError("unauthenticated", "The key is not active any more.")
            if is_shared and idempotent is not None and (first := idempotent.first_response(transaction)) is not None:
                raise _AnsweredElsewhere(first)
            result, extra = effect(transaction)
            response = result if isinstance(result, ServiceResponse) else make_json_response(result)
            if idempotent is not None:
                idempotent.record(transaction, response)
            return response, extra

        return await self.context.database.write(write_once)

    async def respond_once(self, handle: Handler, *, is_one_write: bool) -> ServiceResponse:
        """Answer a mutation. A request whose key was answered before gets that response again, not its handler's.

        Requests with the same key wait for each other, and :meth:`write_with` stores the response (manual: interface,
        "Idempotency"). In a team another process may answer meanwhile, so there that write looks for a response too.

        Args:
            is_one_write: Whether the handler changes nothing but by one write, so that in a team its look suffices.

        Raises:
            RefusalError: ``permission_denied`` or ``idempotency_conflict`` when the key belongs to another request, or
                a refusal of the handler.
        """
        if self.idempotent is None:
            return await handle(self)
        find_first = partial(self.context.database.read_statement, self.idempotent.first_response)
        is_found_in_write = is_one_write and self.context.options.is_shared
        async with self.context.key_locks.setdefault(self.idempotent.identity, asyncio.Lock()):
            try:
                return (None if is_found_in_write else await find_first()) or await handle(self)
            except _AnsweredElsewhere as known:
                return known.response
            except RefusalError:
                # A handler may refuse before its write; the first response counts all the same.
                if is_found_in_write and (first := await find_first()) is not None:
                    return first
                raise


Handler = Callable[[ServiceCall], Awaitable[ServiceResponse]]


@dataclass(eq=False)
class _AnsweredElsewhere(Exception):
    """Another process has answered the same request meanwhile."""

    response: ServiceResponse
