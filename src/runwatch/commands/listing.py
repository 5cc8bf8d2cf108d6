"""Lists of the service: pages up to a limit, filtered by the service where it can and here always."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from runwatch.api.operations import Operation
from runwatch.base.clock import iso
from runwatch.base.errors import UsageError
from runwatch.commands.call import Call
from runwatch.commands.session import Session
from runwatch.records.record import Record
from runwatch.view.bounds import as_moment, read_bound, read_moment
from runwatch.view.query import server_part
from runwatch.view.query_text import parse
from runwatch.view.resource import ResourceSpec

LIMIT: Final = 1000
"""How many records a list verb reads unless it is told otherwise (DESIGN 2)."""

NOT_OFFERED: Final = frozenset({404, 405, 501})
"""Statuses by which a collection says that the service does not have it (DESIGN 4, Lists)."""


def limit_of(call: Call) -> int | None:
    """How many records to read; ``None`` for all."""
    limit = LIMIT if call.options.limit is None else call.options.limit
    return limit or None


def since_of(call: Call) -> datetime | None:
    """The moment that ``--since`` means, or ``None``.

    Raises:
        UsageError: it is neither a moment nor a span of time.
    """
    text = call.options.since
    if text is None:
        return None
    bound = read_bound(text)
    moment = None if bound is None or text.isdigit() else as_moment(bound, call.clock.now())
    if moment is None:
        raise UsageError(
            f"--since takes a moment or an age, not '{text}'", hint="For example 2026-11-20, 2026-11-20T10:00Z or 2h."
        )
    return moment


def query_of(call: Call, spec: ResourceSpec[Any], named: Mapping[str, str]) -> dict[str, Any]:
    """The part of the options that the service filters by.

    Raises:
        UsageError: ``--since`` or ``--filter`` cannot be read.
    """
    assert spec.record.WIRE is not None
    query: dict[str, Any] = {}
    if call.options.filter:
        parsed = parse(call.options.filter, spec, named=named)
        query.update(server_part(parsed, spec.record.WIRE.filters, call.clock.now()))
    since = since_of(call)
    given = {name: call.options[name] for name in spec.record.WIRE.filters} | {"since": since and iso(since)}
    query.update({name: given[name] for name in spec.record.WIRE.filters if given[name] is not None})
    return query


async def read_list(session: Session, operation: str | Operation, query: Mapping[str, Any]) -> list[Any]:
    """Every item of a list up to the limit; a notice says so when the limit has cut it.

    Raises:
        ApiError: a page could not be read.
    """
    limit = limit_of(session.call)
    values: list[Any] = []
    is_cut = False
    async for page in session.client.pages(operation, query=query, limit=limit):
        values += page.values
        is_cut = len(values) == limit and not page.end_is_proven
    if is_cut:
        session.call.output.note(f"these are the first {limit}; there may be more, --limit 0 reads all")
    return values


def meets_options(call: Call, values: Sequence[Any]) -> list[Any]:
    """The items that ``--status``, ``--kind`` and ``--since`` ask for, whatever the service made of them.

    An item that does not tell its moment stays, and so does one that is no record.
    """
    words = {name: call.options[name] for name in ("status", "kind") if call.options[name] is not None}
    since = since_of(call)
    return [value for value in values if not isinstance(value, dict) or _meets(value, words, since)]


def _meets(value: Mapping[str, Any], words: Mapping[str, str], since: datetime | None) -> bool:
    if any(value.get(name) != word for name, word in words.items()):
        return False
    created = value.get("created_at")
    moment = read_moment(created) if isinstance(created, str) else None
    return since is None or moment is None or moment >= since


def raws(records: Sequence[Record]) -> list[Any]:
    """The decoded objects of records."""
    return [dict(record.raw) for record in records]
