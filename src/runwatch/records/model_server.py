"""Model servers found on a machine. Not in the specification; only the local service searches."""

from __future__ import annotations

from runwatch.records.record import Record, flag, many, text, texts


class ModelServer(Record):
    """A server that responded, or a port that answers too slowly to know.

    ``name`` is the server that usually has this port, which is only a guess. ``models`` are names, empty if the server
    requires a key to list them or ``is_slow``.
    """

    base_url = text()
    name = text()
    protocol_profile = text()
    models = texts()
    needs_key = flag()
    is_slow = flag()


class ModelServerSearch(Record):
    """Result of a search; empty if no port took the request."""

    servers = many(ModelServer)
