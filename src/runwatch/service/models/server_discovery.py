"""Looking for model servers on this machine, because somebody asked for it. Ours: no reference has such a search.

Every server is asked for its models in the OpenAI form, without a key, at the port on which it listens unless it is
told otherwise. Nothing is kept, and nothing is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from runwatch.service.models.providers import ProviderAddress, ProviderError, Providers

PROTOCOL: Final = "openai_chat"
"""The protocol profile in which servers are asked, and which those that answer speak."""

LIMIT_S: Final = 1.5
"""Seconds until the last byte of an answer; all servers are asked at once, so that the search takes no longer."""

_NO_KEY: Final = 401
"""The status of a server that asks for a key. 403 is none: other programs on these ports answer it to everybody."""


@dataclass(frozen=True, slots=True)
class KnownPort:
    """Where a model server listens on loopback unless it is told otherwise.

    Attributes:
        name: What the server is called.
        port: The port.
    """

    name: str
    port: int


KNOWN_PORTS: Final = (
    KnownPort("Ollama", 11434),
    KnownPort("llama.cpp", 8080),
    KnownPort("vLLM", 8000),
    KnownPort("LM Studio", 1234),
    KnownPort("SGLang", 30000),
)
"""The servers that are looked for, as each documents its port."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server of this machine.

    Attributes:
        base_url: The address under which it can be connected.
        name: The server whose usual port it is on; nothing proves that it is that one.
        models: The names of its models; empty where it does not tell without a key.
        needs_key: Whether it asks for a key.
    """

    base_url: str
    name: str
    models: tuple[str, ...]
    needs_key: bool

    def read_form(self) -> dict[str, Any]:
        """As it is answered."""
        return {
            "base_url": self.base_url,
            "name": self.name,
            "protocol_profile": PROTOCOL,
            "models": list(self.models),
            "needs_key": self.needs_key,
        }


async def find_servers(
    providers: Providers, ports: Sequence[KnownPort], tenant_id: str, *, limit_s: float = LIMIT_S
) -> list[FoundServer]:
    """The model servers that answer on some ports of this machine, in the order of the ports.

    A port where nobody listens, where no answer comes in time, or where something else answers, is left out.

    Args:
        providers: Asks them.
        ports: Where to look.
        tenant_id: The organization that asks.
        limit_s: Seconds until the last byte of an answer.
    """
    found = await asyncio.gather(*(_ask(providers, port, tenant_id, limit_s) for port in ports))
    return [server for server in found if server is not None]


async def _ask(providers: Providers, port: KnownPort, tenant_id: str, limit_s: float) -> FoundServer | None:
    base_url = f"http://127.0.0.1:{port.port}/v1"
    try:
        async with asyncio.timeout(limit_s):
            served = await providers.find_models(ProviderAddress(base_url, PROTOCOL, "none", None, tenant_id))
    except TimeoutError:
        return None
    except ProviderError as error:
        return FoundServer(base_url, port.name, (), needs_key=True) if error.http_status == _NO_KEY else None
    models = tuple(model.upstream_ref for model in served.models)
    return FoundServer(served.base_url, port.name, models, needs_key=False)
