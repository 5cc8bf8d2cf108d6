"""Model servers of a machine, as a search finds them. Ours: only the local service searches."""

from __future__ import annotations

from runwatch.records.record import Record, flag, many, text, texts


class ModelServer(Record):
    """A server that answered.

    ``name`` is the server whose usual port it is on, which proves nothing; ``models`` are names, none of them where the
    server asks for a key before it tells.
    """

    base_url = text("base_url")
    name = text("name")
    protocol_profile = text("protocol_profile")
    models = texts("models")
    needs_key = flag("needs_key")


class ModelServerSearch(Record):
    """What a search found; empty where nobody answered."""

    servers = many(ModelServer, "servers")
