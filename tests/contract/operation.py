"""One operation of the interface, as the suites look at it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.organization import Organization
from tests.contract.shapes import Shape, places


@dataclass(frozen=True, slots=True)
class Good:
    """A request that must succeed.

    Attributes:
        ids: Parameters of the path.
        query: Parameters of the query.
        body: The JSON body; ``None`` for none.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def content(self) -> bytes:
        return b"" if self.body is None else json.dumps(self.body).encode()


Make = Callable[[Organization], Awaitable[Good]]


async def nothing(_: Organization) -> Good:
    """A request that needs neither ids nor a body."""
    return Good()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    Attributes:
        id: Its name; of what is ours, made by the same pattern.
        call: Method and path, the parameters in braces.
        answers: What a success has to have; ``None`` for no body at all, a text for what a page has to say.
        make: Makes a request that must succeed, with everything it needs.
        status: The status of a success.
        takes: The members of the JSON body; ``None`` where no body is expected.
        takes_nothing: Whether at least an empty body is required, although no member is.
        closed: Objects in the body that take no other member, by their place; the empty text is the body itself.
        names: Members of the body that name something of the organization.
        needs_key: Whether an ``Idempotency-Key`` is required.
        changes: Whether it changes something, so that a reader's key is refused.
        is_owners: Whether a reader's key is refused although it changes nothing.
        items: The member of the answer that holds the items of a list.
        pages: Whether the list comes in pages.
        filters: Filters of the list, each with a value that it takes and one that it refuses (empty: it takes all).
        calls_out: Whether it calls a provider, a check or an agent, so that one of those may be out of reach.
        is_open: Whether it needs no key.
        is_page: Whether it belongs to the user's browser and not to the REST operations.
        is_sample: Whether only a service with a sample organization does it; the others answer ``invalid_state``.
        ours: Whether it is named by no reference.
    """

    id: str
    call: str
    answers: Shape
    make: Make = nothing
    status: int = 200
    takes: Shape = None
    takes_nothing: bool = False
    closed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    needs_key: bool = False
    changes: bool = True
    is_owners: bool = False
    items: str = ""
    pages: bool = False
    filters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls_out: bool = False
    is_open: bool = False
    is_page: bool = False
    is_sample: bool = False
    ours: bool = False

    @property
    def method(self) -> str:
        return self.call.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.call.partition(" ")[2]

    @property
    def parameters(self) -> list[str]:
        """The names of the path's parameters."""
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def requires(self) -> list[str]:
        return [str(place[0]) for place, _, is_required in places(self.takes) if is_required and len(place) == 1]

    @property
    def mutates(self) -> bool:
        return self.method != "GET" and self.changes

    def path_of(self, ids: Mapping[str, str]) -> str:
        return self.path.format(**ids)
