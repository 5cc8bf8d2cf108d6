"""The declaration of endpoints, the handlers that are one read or one write, and which endpoint answers a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Table
from starlette.routing import compile_path

from runwatch.service.access.roles import MANAGE, READ
from runwatch.service.errors import RefusalError
from runwatch.service.http.bodies import Body, parse_body
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import Handler, ServiceCall
from runwatch.service.transaction import Row, Transaction


def shows(function: Callable[[Transaction, ServiceCall], object]) -> Handler:
    """Make a handler that responds with what one read of the database gives."""
    return lambda call: call.show(lambda transaction: function(transaction, call))


def lists(member: str, table: Table, row_json: Callable[[Row], object]) -> Handler:
    """Make a handler that responds with all rows of the organization, newest first: such a list has no pages."""
    return shows(
        lambda transaction, call: {
            member: [row_json(row) for row in transaction.newest(table, {"tenant_id": call.tenant_id})]
        }
    )


def writes(effect: Callable[[Transaction, ServiceCall], object]) -> Handler:
    """Make a handler that applies one effect and responds with its result."""
    return lambda call: call.write(lambda transaction: effect(transaction, call))


def takes(model: type[Body], effect: Callable[[Transaction, ServiceCall, Body], object]) -> Handler:
    """Make a handler that applies one effect of a body and responds with its result."""

    async def handle(call: ServiceCall) -> ServiceResponse:
        request = parse_body(model, call.content)
        return await call.write(lambda transaction: effect(transaction, call, request))

    return handle


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    Attributes:
        method: ``GET`` (which also serves ``HEAD``), ``POST``, …
        needs_key: Whether an ``Idempotency-Key`` is required; every mutation honors one.
        is_one_write: Whether the handler changes nothing but by one :meth:`ServiceCall.write_with`; see
            :meth:`ServiceCall.respond_once`.
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


class Router:
    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
        self._paths = [(compile_path(path)[0], methods) for path, methods in by_path.items()]

    def find(self, method: str, path: str) -> tuple[Endpoint, Mapping[str, str]]:
        """Return the endpoint and the path's parameters.

        Refuses with ``not_found`` for an unknown path, ``method_not_allowed`` for a method that the path does not
        offer.
        """
        wanted = "GET" if method == "HEAD" else method
        for pattern, methods in self._paths:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if wanted in methods:
                return methods[wanted], match.groupdict()
            allowed = ", ".join(sorted([*methods, "HEAD"] if "GET" in methods else methods))
            raise RefusalError("method_not_allowed", f"This path takes {allowed}.", headers=(("Allow", allowed),))
        raise RefusalError("not_found", "There is no such path.")
