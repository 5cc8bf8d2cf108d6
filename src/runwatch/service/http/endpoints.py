"""Requests as handlers receive them, their bodies as models, and the declaration of endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.routing import compile_path

from runwatch.records.misplaced_secrets import find_secrets_in_body
from runwatch.records.requests.body import field_errors
from runwatch.service.access.authentication import ANONYMOUS, Principal, is_active
from runwatch.service.access.roles import MANAGE, READ
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.context import RequestContext
from runwatch.service.http.idempotency import IdempotentRequest
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.transaction import Transaction

Body = TypeVar("Body", bound=BaseModel)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """An authenticated, decoded request.

    Attributes:
        content: The decoded JSON body; ``None`` without one.
        keyed: The idempotency key with its scope, for a mutation that has one.
        is_form: Whether the body came from an HTML form, whose response the user sees.
        cookie: The browser session's cookie, whether or not the endpoint accepts it.
        peer: The address it comes from; empty for a Unix socket.
    """

    context: RequestContext
    principal: Principal
    ids: Mapping[str, str]
    query: Mapping[str, str]
    content: Any = None
    keyed: IdempotentRequest | None = None
    is_form: bool = False
    cookie: str | None = None
    is_here: bool = False
    peer: str = ""

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id

    async def read(self, function: Callable[[Transaction], T]) -> T:
        return await self.context.database.read(function)

    async def show(self, look: Callable[[Transaction], object]) -> ServiceResponse:
        """Read from the database, and respond with the result as JSON."""
        return await self.read(lambda transaction: make_json_response(look(transaction)))

    async def write(self, effect: Callable[[Transaction], object]) -> ServiceResponse:
        """Apply an effect and respond with its result; see :meth:`write_with`."""
        answer, _ = await self.write_with(lambda transaction: (effect(transaction), None))
        return answer

    async def write_with(self, effect: Callable[[Transaction], tuple[object, T]]) -> tuple[ServiceResponse, T]:
        """Apply an effect and store its response for the idempotency key atomically; return both results once on disk.

        Args:
            effect: Returns the response, or its JSON, and whatever the caller needs after the commit.

        Raises:
            RefusalError: ``unauthenticated`` when the caller's key was revoked since the request started, for example
                during a slow body.
        """
        keyed, principal, is_shared = self.keyed, self.principal, self.context.is_shared

        def whole(transaction: Transaction) -> tuple[ServiceResponse, T]:
            if principal is not ANONYMOUS and not is_active(transaction, principal.key_id):
                raise RefusalError("unauthenticated", "The key is not active any more.")
            if is_shared and keyed is not None and (first := keyed.first_answer(transaction)) is not None:
                raise AnsweredElsewhere(first)
            result, rest = effect(transaction)
            answer = result if isinstance(result, ServiceResponse) else make_json_response(result)
            if keyed is not None:
                keyed.record(transaction, answer)
            return answer, rest

        return await self.context.database.write(whole)


class AnsweredElsewhere(Exception):
    """Another process has answered the same request meanwhile."""

    def __init__(self, answer: ServiceResponse) -> None:
        super().__init__("another process has answered this request")
        self.answer = answer


Handler = Callable[[AuthenticatedRequest], Awaitable[ServiceResponse]]


def shows(look: Callable[[Transaction, AuthenticatedRequest], object]) -> Handler:
    """Make a handler that responds with what one read of the database gives."""
    return lambda call: call.show(lambda transaction: look(transaction, call))


def writes(effect: Callable[[Transaction, AuthenticatedRequest], object]) -> Handler:
    """Make a handler that applies one effect and responds with its result."""
    return lambda call: call.write(lambda transaction: effect(transaction, call))


def takes(model: type[Body], effect: Callable[[Transaction, AuthenticatedRequest, Body], object]) -> Handler:
    """Make a handler that applies one effect of a body and responds with its result."""

    async def handle(call: AuthenticatedRequest) -> ServiceResponse:
        request = parse_body(model, call.content)
        return await call.write(lambda transaction: effect(transaction, call, request))

    return handle


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    Attributes:
        method: ``GET`` (which also serves ``HEAD``), ``POST``, …
        path: With parameters in braces, ``/v1/executions/{execution_id}``.
        takes_body: Whether a JSON body is required.
        needs_key: Whether an ``Idempotency-Key`` is required; every mutation honors one.
        is_open: Whether no API key is required. A key that is sent must still be valid. Without one the caller is
            :data:`runwatch.service.access.authentication.ANONYMOUS`, and idempotency keys are ignored.
        is_page: Whether the user's browser calls it: it also accepts the fields of an HTML form, as text, and shows
            failures to a browser as a page.
        takes_cookie: Whether a browser session's cookie is accepted like an API key.
        permission: Permission required of the caller's role, unless the endpoint is open; empty for the default of the
            method.
    """

    method: str
    path: str
    handle: Handler
    takes_body: bool = False
    needs_key: bool = False
    is_one_write: bool = False
    is_open: bool = False
    is_page: bool = False
    takes_cookie: bool = False
    permission: str = ""

    @property
    def needs(self) -> str:
        """Return the permission that a caller with a key needs."""
        return self.permission or (MANAGE if self.mutates else READ)

    @property
    def mutates(self) -> bool:
        return self.method != "GET"


class Routes:
    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
        self._paths = [(compile_path(path)[0], methods) for path, methods in by_path.items()]

    def find(self, method: str, path: str) -> tuple[Endpoint, Mapping[str, str]]:
        """Return the endpoint and the path's parameters.

        Raises:
            RefusalError: ``not_found`` for an unknown path, ``method_not_allowed`` for a method that the path does not
                offer.
        """
        wanted = "GET" if method == "HEAD" else method
        for pattern, methods in self._paths:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if wanted in methods:
                return methods[wanted], match.groupdict()
            allowed = [*methods, "HEAD"] if "GET" in methods else list(methods)
            raise RefusalError(
                "method_not_allowed",
                f"This path takes {', '.join(sorted(allowed))}.",
                headers=(("Allow", ", ".join(sorted(allowed))),),
            )
        raise RefusalError("not_found", "There is no such path.")


def parse_body(model: type[Body], content: Any) -> Body:
    """Parse the decoded body of a request; a missing body counts as an empty object.

    Raises:
        RefusalError: ``validation_failed``, with one entry per field.
    """
    try:
        return model.model_validate({} if content is None else content)
    except ValidationError as error:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in field_errors(error))) from None


def refuse_secrets(content: Any) -> None:
    """Refuse a decoded body with a misplaced secret, before any of it is stored.

    Raises:
        RefusalError: ``validation_failed``, with one entry per field and no part of the secret.
    """
    found = find_secrets_in_body(content)
    if found:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in found))
