"""The search for model servers of this machine: who is found, who is not, and that it happens only when asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from runwatch.service.address_policy import PROVIDERS
from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.server_discovery import KNOWN_PORTS, LIMIT_S, FoundServer, KnownPort, find_servers
from runwatch.service.outbound import OutboundClient
from tests.service.conftest import Json, Local
from tests.support.clock import FakeClock
from tests.support.model_server import CUT, DROP, HANG, Fault, ModelServer
from tests.support.problems import check
from tests.support.scripted import Said

PATH = "/v1/model-server-searches"


@pytest.fixture
async def providers() -> AsyncIterator[Providers]:
    outbound = OutboundClient()
    yield Providers(outbound, FakeClock(), lambda _: PROVIDERS)
    await outbound.close()


def usual(name: str, base_url: str) -> KnownPort:
    port = urlsplit(base_url).port
    assert port is not None
    return KnownPort(name, port)


def listening(*servers: ModelServer) -> tuple[KnownPort, ...]:
    return tuple(usual(f"Server {number}", server.base_url) for number, server in enumerate(servers, 1))


@asynccontextmanager
async def no_http() -> AsyncIterator[KnownPort]:
    """A port where a server speaks first, and no HTTP."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-greeter\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield KnownPort("vLLM", server.sockets[0].getsockname()[1])


@asynccontextmanager
async def nobody() -> AsyncIterator[KnownPort]:
    """A port that no other process can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield KnownPort("Ollama", bound.getsockname()[1])


async def search(local: Local, **headers: str) -> list[Json]:
    answer = await local.http.post(PATH, headers=headers)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"servers"}
    return list(answer.json()["servers"])


async def test_a_server_is_found_with_its_address_and_its_models(local: Local) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        local.context.usual_ports = (usual("Ollama", server.base_url),)
        assert await search(local) == [
            {
                "base_url": server.base_url, "name": "Ollama", "protocol_profile": "openai_chat",
                "models": ["tiny-1", "tiny-2"], "needs_key": False, "is_slow": False,
            },
        ]  # fmt: skip
        (heard,) = server.heard
        assert (heard.head.method, heard.head.path) == ("GET", "/v1/models")
        assert heard.head.header("authorization") is None


async def test_a_server_without_a_model_is_one_too(providers: Providers) -> None:
    async with ModelServer(models=()) as server:
        assert await find_servers(providers, listening(server), "ten_owner") == [
            FoundServer(server.base_url, "Server 1", (), needs_key=False)
        ]


async def test_a_server_that_asks_for_a_key_says_so(local: Local) -> None:
    async with ModelServer(key="sk-sentinel-0c77") as server:
        local.context.usual_ports = (usual("vLLM", server.base_url),)
        (found,) = await search(local)
        assert (found["base_url"], found["models"], found["needs_key"]) == (server.base_url, [], True)


async def test_what_was_found_is_in_the_order_of_the_ports_and_the_rest_is_left_out(local: Local) -> None:
    first, second = ModelServer(models=("one",)), ModelServer(key="sk-sentinel-0c77")
    async with first, second, no_http() as greeter, nobody() as free:
        local.context.usual_ports = (*listening(first), greeter, free, usual("Server 2", second.base_url))
        assert [(found["name"], found["models"]) for found in await search(local)] == [
            ("Server 1", ["one"]),
            ("Server 2", []),
        ]


@pytest.mark.parametrize(
    "said",
    [
        Said(200, b"<h1>It works!</h1>", content_type="text/html"),
        Said(200, {"status": "ok"}),
        Said(200, b"", content_type=None),
        Said(204),
        Said(302, b"", headers=(("Location", "http://127.0.0.1/"),)),
        Said(403, b"", content_type=None),
        Said(404, {"detail": "Not Found"}),
        Said(500, b"", content_type=None),
        DROP,
        CUT,
    ],
    ids=str,
)
async def test_whatever_else_answers_is_no_model_server(providers: Providers, said: Said | Fault) -> None:
    async with ModelServer() as server:
        server.say("GET", ".*", said)
        assert await find_servers(providers, listening(server), "ten_owner") == []
        assert server.heard


async def test_a_port_that_says_nothing_is_told_as_slow_when_the_time_is_over(providers: Providers) -> None:
    async with ModelServer() as server:
        server.say("GET", ".*", HANG)
        assert await find_servers(providers, listening(server), "ten_owner", limit_s=0.1) == [
            FoundServer(server.base_url, "Server 1", (), needs_key=False, is_slow=True)
        ]


async def test_all_ports_are_asked_at_once_so_that_the_search_is_over_within_two_seconds(providers: Providers) -> None:
    assert LIMIT_S < 2
    servers = [ModelServer() for _ in range(3)]
    async with servers[0], servers[1], servers[2]:
        for server in servers:
            server.say("GET", ".*", HANG)
        looking = asyncio.create_task(find_servers(providers, listening(*servers), "ten_owner", limit_s=60))
        await asyncio.wait_for(asyncio.gather(*(server.until_heard() for server in servers)), 30)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def test_the_service_does_not_find_itself(local: Local) -> None:
    local.context.usual_ports = (KnownPort("vLLM", local.address[1]),)
    assert await search(local) == []


async def test_nobody_is_asked_before_somebody_searches_and_every_search_asks_anew(local: Local) -> None:
    async with ModelServer() as server:
        local.context.usual_ports = listening(server)
        await local.get("/v1/account")
        await local.get("/v1/model-catalog")
        assert server.heard == []
        for count in (1, 2):
            await search(local, **{"Idempotency-Key": "the same"})
            assert len(server.heard) == count


async def test_nothing_is_connected_by_it(local: Local) -> None:
    async with ModelServer() as server:
        local.context.usual_ports = listening(server)
        assert len(await search(local)) == 1
    assert (await local.get("/v1/source-connections"))["connections"] == []
    assert (await local.get("/v1/model-catalog"))["models"] == []


@pytest.mark.parametrize("role", ["runner", "reader"])
async def test_only_who_may_connect_a_source_may_have_it_look(local: Local, role: str) -> None:
    key, _ = await local.add_key(role=role)
    async with ModelServer() as server:
        local.context.usual_ports = listening(server)
        check(await local.http.post(PATH, headers={"Authorization": f"Bearer {key}"}), "permission_denied")
        assert server.heard == []


async def test_unless_told_otherwise_it_looks_on_the_usual_ports_each_once(local: Local) -> None:
    assert local.context.usual_ports == KNOWN_PORTS
    assert len({port.port for port in KNOWN_PORTS}) == len({port.name for port in KNOWN_PORTS}) == len(KNOWN_PORTS)
