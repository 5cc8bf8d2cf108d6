"""Search for model servers on this machine, on request. Not in the specification.

Each server is asked for its models in the OpenAI protocol, without a key, at its default port. Nothing is stored or
connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.providers.types import ProviderAddress, ProviderError

PROTOCOL: Final = "openai_chat"
"""Protocol profile of the search and of the servers found."""

LIMIT_S: Final = 1.5
"""Seconds until the last byte of a response. All servers are asked at once, so this bounds the whole search."""

_NO_KEY: Final = 401
"""Status of a server that requires a key. Not 403: unrelated programs on these ports answer 403 to every request."""


@dataclass(frozen=True, slots=True)
class KnownPort:
    name: str
    port: int


KNOWN_PORTS: Final = (
    KnownPort("Ollama", 11434),
    KnownPort("llama.cpp", 8080),
    KnownPort("vLLM", 8000),
    KnownPort("LM Studio", 1234),
    KnownPort("SGLang", 30000),
)
"""The servers to search for, with their documented ports."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this machine, or a port that took the request and did not answer in time.

    Attributes:
        name: The server that usually has this port; its identity is not proved.
        models: Names of its models; empty if it does not list them without a key, or not in time.
        is_slow: Whether there was no answer in time, so that it may be no model server at all.
    """

    base_url: str
    name: str
    models: tuple[str, ...]
    needs_key: bool
    is_slow: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "base_url": self.base_url,
            "name": self.name,
            "protocol_profile": PROTOCOL,
            "models": list(self.models),
            "needs_key": self.needs_key,
            "is_slow": self.is_slow,
        }


async def find_servers(
    providers: Providers, ports: Sequence[KnownPort], tenant_id: str, *, limit_s: float = LIMIT_S
) -> list[FoundServer]:
    """Return the model servers that respond on the given ports of this machine, in the order of the ports.

    A port is left out when it is closed or used by something else. One that is too slow may be either.
    """
    found = await asyncio.gather(*(_ask(providers, port, tenant_id, limit_s) for port in ports))
    return [server for server in found if server is not None]


async def _ask(providers: Providers, port: KnownPort, tenant_id: str, limit_s: float) -> FoundServer | None:
    base_url = f"http://127.0.0.1:{port.port}/v1"
    try:
        async with asyncio.timeout(limit_s):
            served = await providers.find_models(ProviderAddress(base_url, PROTOCOL, "none", None, tenant_id))
    except TimeoutError:
        return FoundServer(base_url, port.name, (), needs_key=False, is_slow=True)
    except ProviderError as error:
        return FoundServer(base_url, port.name, (), needs_key=True) if error.http_status == _NO_KEY else None
    models = tuple(model.upstream_ref for model in served.models)
    return FoundServer(served.base_url, port.name, models, needs_key=False)
