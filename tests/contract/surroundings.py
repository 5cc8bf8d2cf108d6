"""What an organization calls: model servers, output checks, a review agent and a receiver, all on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from tests.contract.organization import AGENT_KEY, ENDPOINT_KEY, PROVIDER_KEY, Organization
from tests.support.dock import Dock
from tests.support.http1 import Head, Malformed, answer_bytes, answer_head, read_head
from tests.support.model_server import HANG, ModelServer
from tests.support.receiver import Receiver

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

REPAIRED: Final = "An output check rejected"
"""Stands in every output of a repaired skill: the model server repeats what it is asked, the repair's request too."""


class Strict(Dock):
    """An output check that is content with a repaired skill's output only, and asks for no key."""

    def _answer(self, head: Head) -> bytes:
        is_repaired = REPAIRED in json.dumps(self.bodies[-1])
        verdict = {"is_correct": is_repaired, "quality_score": 0.9 if is_repaired else 0.2}
        return answer_bytes(200, json.dumps({**verdict, "anchor_results": {"is_repaired": is_repaired}}).encode())


@contextlib.asynccontextmanager
async def organization_of(base_url: str, key: str) -> AsyncIterator[Organization]:
    """The organization of an owner's key, with every server that it calls, while the block runs."""
    dock = Dock("", content=b'{"is_correct": true, "quality_score": 0.9}', keys={ENDPOINT_KEY})
    silent = ModelServer(models=("silent-1",), key=PROVIDER_KEY)
    silent.say("POST", ".*", HANG)
    async with contextlib.AsyncExitStack() as stack:
        organization = Organization(
            base_url, key, models_url=(await stack.enter_async_context(ModelServer(key=PROVIDER_KEY))).base_url,
            silent_url=(await stack.enter_async_context(silent)).base_url,
            check_url=await stack.enter_async_context(_listening(dock.serve)),
            strict_check_url=await stack.enter_async_context(_listening(Strict("").serve)),
            agent_url=await stack.enter_async_context(_listening(_serve_agent)),
            hook_url=(await stack.enter_async_context(Receiver())).url,
        )  # fmt: skip
        yield await stack.enter_async_context(organization)


@contextlib.asynccontextmanager
async def _listening(serve: Serve) -> AsyncIterator[str]:
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"


async def _serve_agent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A review agent that begins no job: it answers 405 to who shows its key and 401 to everybody else."""
    with contextlib.suppress(ConnectionError, Malformed), contextlib.closing(writer):
        head = await read_head(reader)
        if head is not None:
            status = 405 if head.header("authorization") == f"Bearer {AGENT_KEY}" else 401
            writer.write(answer_head(status, [("Content-Length", "0"), ("Connection", "close")]))
            await writer.drain()
