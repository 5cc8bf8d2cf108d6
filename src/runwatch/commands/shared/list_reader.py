"""Read lists of the service: pages up to a limit, filtered by the service if possible and always locally."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import OPERATIONS, Operation, list_operation
from runwatch.base.clock import format_iso
from runwatch.base.errors import UsageError
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession
from runwatch.records.problem import NOT_OFFERED_STATUS
from runwatch.records.record import Record, RecordPacker
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.values import parse_time, parse_value, value_to_time

R = TypeVar("R", bound=Record)

DEFAULT_LIMIT: Final = 1000
"""Default number of records that a list command prints (manual: decisions, "Command line")."""

MAX_SELECTED_FROM: Final = 10_000
"""From so many records on, no further page is read for a selection; ``--limit 0`` reads all."""

_NOTHING: Final[Mapping[str, str]] = {}

_CLOCK: Final = re.compile(r"\d+:[\d:]+\Z")


def parse_limit(call: Invocation) -> int | None:
    """Return the number of records to print; ``None`` for all."""
    limit = DEFAULT_LIMIT if call.options.limit is None else call.options.limit
    return limit or None


def parse_since(call: Invocation) -> datetime | None:
    """Return the time given by ``--since``, or ``None``.

    Raises:
        UsageError: It is neither a time nor a duration.
    """
    text = call.options.since
    if text is None:
        return None
    # A filter reads 25:00 as 25 minutes; here it would look like a time of day.
    bound = None if _CLOCK.match(text) else parse_value(text)
    moment = None if bound is None or text.isdigit() else value_to_time(bound, call.clock.now())
    if moment is None:
        raise UsageError(
            f"--since takes a time or an age, not '{text}'", hint="For example 2026-11-20, 2026-11-20T10:00Z or 2h."
        )
    return moment


def build_query(session: CommandSession, spec: ResourceSpec[Any]) -> dict[str, Any]:
    """Return the query parameters for the options that the service can filter by.

    Raises:
        UsageError: ``--since`` or ``--filter`` is invalid.
    """
    assert spec.record.WIRE is not None
    call = session.call
    query: dict[str, Any] = {}
    if call.options.filter:
        # Imported here, because most lists are read without a filter.
        from runwatch.view.query.parser import parse_filter
        from runwatch.view.query.server_filter import server_parameters

        parsed = parse_filter(call.options.filter, spec, named=session.settings.filters)
        query.update(server_parameters(parsed, spec.record.WIRE.filters, call.clock.now()))
    since = parse_since(call)
    given = {name: call.options[name] for name in spec.record.WIRE.filters} | {"since": since and format_iso(since)}
    query.update({name: given[name] for name in spec.record.WIRE.filters if given[name] is not None})
    return query


class ListedItems(Sequence[Any]):
    """The decoded items of a list, each decoded again whenever it is read: many together would take much memory.

    Args:
        items: The items, with a record in place of each object.
    """

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    @property
    def records(self) -> list[Any]:
        """The items that are records."""
        return [item for item in self._items if isinstance(item, Record)]

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        item = self._items[place]
        return item.decoded() if isinstance(item, Record) else item


async def read_list(
    session: CommandSession,
    operation: str | Operation,
    query: Mapping[str, Any] = _NOTHING,
    keep: Callable[[list[Any]], list[Any]] = list,
    *,
    path: Mapping[str, str] = _NOTHING,
) -> ListedItems:
    """Read a list up to the limit, and print a note if it was cut.

    If the options select records, the limit counts those. All of a list that comes in one response are looked at, and
    of one that comes in pages the first :data:`MAX_SELECTED_FROM`.

    Args:
        keep: Returns those of a page's selected items that match ``--filter``.
    """
    limit, selects = parse_limit(session.call), is_selective(session.call)
    kind = (OPERATIONS[operation] if isinstance(operation, str) else operation).record or Record
    packer = RecordPacker(kind)
    items: list[Any] = []
    read, is_cut, is_left = 0, False, False
    # With ``intern``, a page has records in place of objects, packed if it is long.
    intern = None if selects else _itself
    most = None if selects else limit
    async for page in session.client.pages(operation, path=path, query=query, limit=most, intern=intern):
        read += len(page.values)
        came = page.values
        if selects:
            kept = keep(filter_by_options(session.call, came))
            came = [kind(value) if isinstance(value, dict) else value for value in kept]
        items += came
        if limit is None:
            packer.pack(item for item in came if isinstance(item, Record))
            continue
        is_cut = len(items) > limit or (len(items) == limit and not page.end_is_proven)
        is_left = selects and page.next_cursor is not None and read >= max(limit, MAX_SELECTED_FROM)
        if is_cut or is_left:
            break
    if is_left and not is_cut:
        session.call.output.note(f"{len(items)} of the first {read} records match; use --limit 0 to read all")
    elif is_cut:
        which = "record" if limit == 1 else f"{limit} records"
        matching = " that match" if selects else ""
        session.call.output.note(f"showing the first {which}{matching}; use --limit 0 to read all")
    return ListedItems(items[:limit])


def _itself(record: Record) -> Record:
    return record


def is_selective(call: Invocation) -> bool:
    """Whether records are selected by options that the service may not apply."""
    return any(call.options[name] is not None for name in ("filter", "status", "kind", "since"))


async def check_list_is_missing(session: CommandSession, problem: ApiProblem) -> None:
    """Return if a failed read means that the service does not offer the list (manual: decisions, "Lists").

    Raises:
        ApiProblem: It means something else, or what answers is no service of this interface.
    """
    if problem.status not in NOT_OFFERED_STATUS:
        raise problem
    if problem.is_synthetic:
        await session.client.get_account()


async def read_all(session: CommandSession, kind: type[R]) -> list[R]:
    """Read every record of a kind."""
    return [record async for page in session.client.pages(list_operation(kind)) for record in page.records]


def filter_by_options(call: Invocation, values: Sequence[Any]) -> list[Any]:
    """Filter by ``--status``, ``--kind`` and ``--since``, whether or not the service applied them.

    Items without a creation time and items that are not records are kept.
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
