"""Model servers that were found on this machine: what is said of each, and the command that connects it."""

from __future__ import annotations

from typing import Final

from runwatch.base.shell import runwatch_command
from runwatch.records.modelserver import ModelServer
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import UNICODE, Glyphs

ANOTHER: Final = "runwatch sources connect --local --openai-compatible URL"
"""How a server is connected that was not found; a person puts its address in."""


def connect_command(server: ModelServer) -> str:
    """The exact command that connects a server to the local service; the verb asks for the key where one is needed."""
    scheme = "api_key" if server.needs_key else None
    address = server.base_url or ""
    return runwatch_command("sources connect", local=True, openai_compatible=address, auth_scheme=scheme)


def server_words(server: ModelServer, glyphs: Glyphs = UNICODE) -> Drawn:
    """Which server it may be, its port, and how many models it serves."""
    port = (server.base_url or "").removesuffix("/v1").rpartition(":")[2]
    if server.needs_key:
        offer = "wants a key"
    elif server.models is None:
        offer = "?"
    else:
        offer = "1 model" if len(server.models) == 1 else f"{len(server.models)} models"
    return line(f"{server.name or '?'}, port {port} {glyphs.dot} {offer}")
