"""Model servers found on a machine. Not in the specification; only the local service searches."""

from __future__ import annotations

from runwatch.records.record import Record, flag, many, text, texts


class ModelServer(Record):
    """A server that responded.

    ``name`` is the server that usually has this port, which is only a guess. ``models`` are names, empty if the server
    requires a key to list them.
    """

    base_url = text("base_url")
    name = text("name")
    protocol_profile = text("protocol_profile")
    models = texts("models")
    needs_key = flag("needs_key")


class ModelServerSearch(Record):
    """Result of a search; empty if no server responded."""

    servers = many(ModelServer, "servers")
