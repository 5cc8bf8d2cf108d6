"""Column values of an event in the event store."""

from __future__ import annotations

from runwatch.records.event import RunEvent
from runwatch.store.db.text_codec import encode_optional, encode_text

ColumnValue = str | bytes | None
EventRow = tuple[ColumnValue, ColumnValue, ColumnValue, ColumnValue, ColumnValue, str | bytes]
"""Id, time, type, slice, state and exact text of an event. A member that is missing or not a text is ``None``."""


def find_event_key(event: RunEvent) -> str | None:
    """Return the event's id if it can be a key: a text, or an integer that a service sent instead."""
    value = event.raw.get("event_id")
    if isinstance(value, str):
        return value or None
    return (event.id or None) if type(value) is int else None


def event_row(event: RunEvent) -> EventRow:
    """Return the columns of an event; the id is that of :func:`find_event_key`."""
    get = event.raw.get
    own = event.text
    name, at, kind, place, state = get("event_id"), get("at"), get("type"), get("slice_id"), get("state")
    if own is None or "\\" in own or not own.isascii():
        name = find_event_key(event)
        return (
            encode_optional(name),
            encode_optional(at),
            encode_optional(kind),
            encode_optional(place),
            encode_optional(state),
            encode_text(event.wire_text),
        )
    # Such a JSON text cannot hold a lone surrogate, so it needs no encoding.
    return (
        (name or None) if type(name) is str else find_event_key(event),
        at if type(at) is str else None,
        kind if type(kind) is str else None,
        place if type(place) is str else None,
        state if type(state) is str else None,
        own,
    )
