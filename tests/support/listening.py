"""What the servers of tests have in common: a free loopback port, and nothing that is left when they are done."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import ssl
from pathlib import Path
from typing import Final, Self

from runwatch.base.network.service_socket import listen_on_socket
from tests.support.http1 import HEAD_LIMIT, Malformed

_TURNS: Final = 10
"""Turns of the loop after which a connection that is just being accepted has appeared."""


_UNGIVEN: Final = range(20_000, 32_000)
"""Ports that systems do not assign by themselves."""


def own_port() -> int:
    """A free loopback port that no other server gets while its own one is down.

    Raises:
        OSError: none of many is free.
    """
    # Not from the common generator, which tests set to the same start in every process.
    ports = random.SystemRandom().sample(_UNGIVEN, 100)
    for port in ports:
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


class Listening:
    """Accepts connections, each in its own task. A subclass says what happens on one.

    Args:
        tls: What it proves itself with; ``None`` where it listens without encryption.

    Attributes:
        origin: Scheme, host and port; empty before it listens.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.origin = ""
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._local_server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._errors: list[Exception] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT, ssl=self._tls)
        scheme = "http" if self._tls is None else "https"
        self.origin = f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def listen_locally(self, data_dir: Path) -> Path:
        """Listen on the Unix socket of a data directory too, as a local service does, and answer its path."""
        data_dir.mkdir(parents=True, exist_ok=True)
        path, listener = listen_on_socket(data_dir, os.environ)
        self._local_server = await asyncio.start_unix_server(self._accept, sock=listener, limit=HEAD_LIMIT)
        return path

    async def __aexit__(self, *_: object) -> None:
        """Close everything.

        Raises:
            ExceptionGroup: the server itself went wrong while it served.
        """
        # A connection of a caller that gave up at once may just be in acceptance. It would be left open for ever when
        # the server closed before it appears.
        for _turn in range(_TURNS):
            await asyncio.sleep(0)
        self.stop_listening()
        running = list(self._connections)
        for task, writer in self._connections.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._errors:
            raise ExceptionGroup(f"{type(self).__name__} went wrong", self._errors)

    def stop_listening(self) -> None:
        """Refuse new connections from now on."""
        assert self._server is not None, "the server does not run"
        self._server.close()
        if self._local_server is not None:
            self._local_server.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.serve(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            await self._talk(reader, writer)
        except (OSError, Malformed):
            writer.transport.abort()
        except Exception as error:
            self._errors.append(error)
            writer.transport.abort()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests on one connection until it ends."""
        raise NotImplementedError
