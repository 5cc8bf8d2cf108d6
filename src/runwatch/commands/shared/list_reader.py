"""Lists of the service: pages up to a limit, filtered by the service where it can and here always."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from runwatch.api.operations import Operation
from runwatch.base.clock import format_iso
from runwatch.base.errors import UsageError
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession
from runwatch.records.record import Record
from runwatch.view.query.parser import parse_filter
from runwatch.view.query.server_filter import server_parameters
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.values import parse_time, parse_value, value_to_time

DEFAULT_LIMIT: Final = 1000
"""How many records a list command reads unless it is told otherwise (DESIGN 2)."""

NOT_OFFERED: Final = frozenset({404, 405, 501})
"""Statuses by which a collection says that the service does not have it (DESIGN 4, Lists)."""


def parse_limit(call: Invocation) -> int | None:
    """How many records to read; ``None`` for all."""
    limit = DEFAULT_LIMIT if call.options.limit is None else call.options.limit
    return limit or None


def parse_since(call: Invocation) -> datetime | None:
    """The moment that ``--since`` means, or ``None``.

    Raises:
        UsageError: it is neither a moment nor a span of time.
    """
    text = call.options.since
    if text is None:
        return None
    bound = parse_value(text)
    moment = None if bound is None or text.isdigit() else value_to_time(bound, call.clock.now())
    if moment is None:
        raise UsageError(
            f"--since takes a moment or an age, not '{text}'", hint="For example 2026-11-20, 2026-11-20T10:00Z or 2h."
        )
    return moment


def build_query(call: Invocation, spec: ResourceSpec[Any], named: Mapping[str, str]) -> dict[str, Any]:
    """The part of the options that the service filters by.

    Raises:
        UsageError: ``--since`` or ``--filter`` cannot be read.
    """
    assert spec.record.WIRE is not None
    query: dict[str, Any] = {}
    if call.options.filter:
        parsed = parse_filter(call.options.filter, spec, named=named)
        query.update(server_parameters(parsed, spec.record.WIRE.filters, call.clock.now()))
    since = parse_since(call)
    given = {name: call.options[name] for name in spec.record.WIRE.filters} | {"since": since and format_iso(since)}
    query.update({name: given[name] for name in spec.record.WIRE.filters if given[name] is not None})
    return query


async def read_list(session: CommandSession, operation: str | Operation, query: Mapping[str, Any]) -> list[Any]:
    """Every item of a list up to the limit; a notice says so when the limit has cut it.

    Raises:
        ApiError: a page could not be read.
    """
    limit = parse_limit(session.call)
    values: list[Any] = []
    is_cut = False
    async for page in session.client.pages(operation, query=query, limit=limit):
        values += page.values
        is_cut = len(values) == limit and not page.end_is_proven
    if is_cut:
        session.call.output.note(f"these are the first {limit}; there may be more, --limit 0 reads all")
    return values


def filter_by_options(call: Invocation, values: Sequence[Any]) -> list[Any]:
    """The items that ``--status``, ``--kind`` and ``--since`` ask for, whatever the service made of them.

    An item that does not tell its moment stays, and so does one that is no record.
    """
    words = {name: call.options[name] for name in ("status", "kind") if call.options[name] is not None}
    since = parse_since(call)
    return [value for value in values if not isinstance(value, dict) or _meets(value, words, since)]


def _meets(value: Mapping[str, Any], words: Mapping[str, str], since: datetime | None) -> bool:
    if any(value.get(name) != word for name, word in words.items()):
        return False
    created = value.get("created_at")
    moment = parse_time(created) if isinstance(created, str) else None
    return since is None or moment is None or moment >= since


def to_raw_objects(records: Sequence[Record]) -> list[Any]:
    """The decoded objects of records."""
    return [dict(record.raw) for record in records]
