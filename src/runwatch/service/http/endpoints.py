"""Requests as handlers receive them, their bodies as models, and the declaration of endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.routing import compile_path

from runwatch.records.references import find_secret_references
from runwatch.records.requests import field_errors
from runwatch.service.access.authentication import ANONYMOUS, Principal, is_active
from runwatch.service.access.roles import MANAGE, READ
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.context import RequestContext
from runwatch.service.http.idempotency import IdempotentRequest
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.transaction import Transaction

Body = TypeVar("Body", bound=BaseModel)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AuthenticatedRequest:
    """An authenticated, decoded request.

    Attributes:
        principal: The caller.
        ids: Parameters of the path.
        query: Parameters of the query.
        content: The decoded JSON body; ``None`` without one.
        keyed: The idempotency key with its scope, for a mutation that has one.
        is_form: Whether the body came from an HTML form, whose response the user sees.
        cookie: The browser session's cookie, whether or not the endpoint accepts it.
        is_here: Whether the connection comes from this machine.
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

    async def read(self, function: Callable[[Transaction], T]) -> T:
        """Read from the database."""
        return await self.context.database.read(function)

    async def write(self, effect: Callable[[Transaction], ServiceResponse]) -> ServiceResponse:
        """Apply an effect and store its response for the idempotency key atomically; return it once on disk.

        Raises:
            RefusalError: ``unauthenticated`` when the caller's key was revoked since the request started, for example
                during a slow body.
        """
        keyed, principal = self.keyed, self.principal

        def whole(transaction: Transaction) -> ServiceResponse:
            if principal is not ANONYMOUS and not is_active(transaction, principal.key_id):
                raise RefusalError("unauthenticated", "The key is not active any more.")
            answer = effect(transaction)
            if keyed is not None:
                keyed.record(transaction, answer)
            return answer

        return await self.context.database.write(whole)


Handler = Callable[[AuthenticatedRequest], Awaitable[ServiceResponse]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    Attributes:
        method: ``GET`` (which also serves ``HEAD``), ``POST``, …
        path: With parameters in braces, ``/v1/executions/{execution_id}``.
        handle: Handles the request.
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
        """Whether a call may change something."""
        return self.method != "GET"


class Routes:
    """Lookup of endpoints by method and path."""

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


def refuse_secret_references(content: Any) -> None:
    """Refuse a decoded body with a secret in place of a reference, before any of it is stored.

    Raises:
        RefusalError: ``validation_failed``, with one entry per field and no part of the secret.
    """
    found = find_secret_references(content)
    if found:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in found))
