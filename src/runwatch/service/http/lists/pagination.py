"""Query parameters shared by lists (manual: interface, "Paging"; manual: decisions, "Error responses")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.service.errors import make_validation_error
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.transaction import Row

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class PageParameters:
    """The requested page of a list.

    Attributes:
        limit: Number of rows to read: one more than the page may have, which shows whether the list continues.
        before: Sequence number before which the page starts; ``None`` for the first page.
    """

    limit: int
    before: int | None
    seal: Callable[[int], str]

    def page(self, member: str, rows: Sequence[Row], rows_json: Callable[[Sequence[Row]], object]) -> dict[str, object]:
        """Build the response: the page under the name of its member, and the cursor of the next one."""
        most = self.limit - 1
        cursor = self.seal(rows[most - 1]["sequence"]) if len(rows) > most else None
        return {member: rows_json(rows[:most]), "next_cursor": cursor}


def parse_page_parameters(call: ServiceCall, *names: str) -> PageParameters:
    """Parse ``limit`` and ``cursor`` of a list request.

    Args:
        names: Identify the list: its name, and the id of the record it belongs to.

    Raises:
        RefusalError: ``validation_failed``, also for a cursor of another list or organization.
    """
    query = call.query
    limit = query.get("limit", "")
    if limit and not (limit.isascii() and limit.isdecimal() and len(limit) <= 3 and 1 <= int(limit) <= MAX_LIMIT):
        raise make_validation_error(("limit", f"Must be a whole number from 1 to {MAX_LIMIT}."))
    cursor = query.get("cursor", "")
    cursors, scope = call.context.cursors, (call.principal.tenant_id, *names)
    try:
        before = cursors.open(scope, cursor) if cursor else None
    except ValueError:
        raise make_validation_error(("cursor", "Must be the next_cursor of an earlier page of this list.")) from None
    return PageParameters(int(limit or DEFAULT_LIMIT) + 1, before, partial(cursors.seal, scope))


def read_since(query: Mapping[str, str], name: str = "since") -> str | None:
    """Parse ``since`` of a list request, or another timestamp, to the stored format; without a zone it is UTC.

    Refuses with ``validation_failed``.
    """
    text = query.get(name, "")
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return format_iso(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise make_validation_error((name, "Must be an ISO 8601 date or date-time.")) from None


def read_choice(query: Mapping[str, str], name: str, choices: Collection[str]) -> str | None:
    """Parse a filter with fixed values. Refuses with ``validation_failed``."""
    value = query.get(name, "")
    if value and value not in choices:
        raise make_validation_error((name, f"Must be one of {', '.join(choices)}."))
    return value or None


def read_filters(call: ServiceCall, **choices: Collection[str]) -> dict[str, object]:
    """Return the condition for the organization's rows that match the filters given, each with its fixed values.

    Refuses with ``validation_failed``.
    """
    given = {name: read_choice(call.query, name, values) for name, values in choices.items()}
    return {"tenant_id": call.tenant_id, **{name: value for name, value in given.items() if value is not None}}
