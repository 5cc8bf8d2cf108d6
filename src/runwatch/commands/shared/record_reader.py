"""Single records as a command reads them: by an operation, or from the response to a write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from runwatch.api.operations import OPERATIONS, fill_path
from runwatch.base.errors import RunwatchError
from runwatch.commands.shared.session import CommandSession
from runwatch.records.record import Record

R = TypeVar("R", bound=Record)

_NO_QUERY: Final[Mapping[str, str | None]] = {}


async def read_one(
    session: CommandSession, operation: str, record_id: str, kind: type[R], query: Mapping[str, str | None] = _NO_QUERY
) -> R:
    """Read one record by an operation with its id in the path.

    Raises:
        RunwatchError: The response is not a record.
    """
    result = await session.client.request(operation, path=fill_path(OPERATIONS[operation], record_id), query=query)
    return parse_record_of_kind(kind, result.value)


def list_record_names(record: Record) -> set[str]:
    """Return the names that the user may use for a record: its id and, for a model, its key."""
    model = record.raw.get("model")
    key = model.get("model_key") if isinstance(model, Mapping) else None
    return {record.id} | ({key} if isinstance(key, str) else set())


def parse_record_of_kind(kind: type[R], value: object) -> R:
    """Return a decoded response as a record.

    Raises:
        RunwatchError: It is not a JSON object.
    """
    if not isinstance(value, dict):
        raise RunwatchError(
            "The response is not a record",
            detail=f"it is {'empty' if value is None else 'not a JSON object'}",
            hint="Check the base URL.",
        )
    return kind(value)
