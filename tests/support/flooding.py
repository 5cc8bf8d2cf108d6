"""Callers without a key that try to stop a service, in a separate process.

``python -m tests.support.flooding ATTACK HOST PORT`` goes on until it is ended. It uses loopback only and keeps to
:data:`CONNECTIONS` open connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

CONNECTIONS: Final = 2_000
"""How many connections an attack holds open at most."""

BODY: Final = b"[" + b"1," * (512 * 1024 - 2) + b"1]"
"""A body of nearly 1 MiB whose digest takes long."""

PAUSE_S: Final = 0.5
_CONNECT_S: Final = 5.0


class Attacker:
    """One kind of attack on one address."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._address = f"{host}:{port}"

    async def run(self, name: str) -> None:
        """Attack until cancelled."""
        one, at_once = ATTACKS[name]
        await asyncio.gather(*(self._again(one) for _ in range(at_once)))

    async def _again(self, one: Callable[[Attacker], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await one(self)
            await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def _connected(self):  # type: ignore[no-untyped-def]
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    def _head(self, path: str, *lines: str, method: str = "POST") -> bytes:
        usual = (f"{method} {path} HTTP/1.1", f"Host: {self._address}", "Content-Type: application/json")
        return "\r\n".join([*usual, *lines, "", ""]).encode("ascii")

    async def big_body(self) -> None:
        """A whole large body to the endpoint that takes one without a key."""
        async with self._connected() as (reader, writer):
            writer.write(self._head("/v1/tenants", f"Content-Length: {len(BODY)}") + BODY)
            await reader.read(1 << 16)

    async def half_body(self) -> None:
        """A large body but for its last byte."""
        async with self._connected() as (reader, writer):
            writer.write(self._head("/v1/tenants", f"Content-Length: {len(BODY)}") + BODY[:-1])
            await reader.read()

    async def idle(self) -> None:
        """A connection on which nothing is sent."""
        async with self._connected() as (reader, _):
            await reader.read()

    async def slow_head(self) -> None:
        async with self._connected() as (reader, writer):
            writer.write(b"GET /v1/account HTTP/1.1\r\n")
            while not reader.at_eof() and not writer.is_closing():
                writer.write(b"X: y\r\n")
                await asyncio.sleep(PAUSE_S)

    async def trickle(self) -> None:
        """A body that comes a byte at a time."""
        async with self._connected() as (reader, writer):
            writer.write(self._head("/v1/tenants", "Content-Length: 60000"))
            while not reader.at_eof() and not writer.is_closing():
                writer.write(b" ")
                await asyncio.sleep(PAUSE_S)

    async def bad_key(self) -> None:
        """A key that does not exist, on one connection for as long as that stays."""
        async with self._connected() as (reader, writer):
            while not reader.at_eof():
                writer.write(self._head("/v1/account", "Authorization: Bearer solverapi_test_no", method="GET"))
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))

    async def nonsense(self) -> None:
        """Bytes that are no request."""
        async with self._connected() as (reader, writer):
            writer.write(b"\x16\x03\x01\r\n\r\n")
            await reader.read()

    async def reset(self) -> None:
        """A head and the beginning of a body, then a reset, on as many new connections as the service accepts."""
        async with self._connected() as (_, writer):
            writer.write(self._head("/v1/tenants", "Content-Length: 60000") + b" " * 5_000)

    async def half_form(self) -> None:
        """A form of the sign-in page but for its end."""
        async with self._connected() as (reader, writer):
            form = "Content-Type: application/x-www-form-urlencoded"
            head = f"POST /connect/sign-in HTTP/1.1\r\nHost: {self._address}\r\n{form}\r\nContent-Length: 65000\r\n\r\n"
            writer.write(head.encode("ascii") + b"a" * 60_000)
            await reader.read()

    async def upgrade(self) -> None:
        """A wish for another protocol, after which nothing is sent."""
        async with self._connected() as (reader, writer):
            wish = ("Connection: Upgrade", "Upgrade: websocket", "Content-Length: 10")
            writer.write(self._head("/v1/account", *wish, method="GET"))
            await reader.read()


ATTACKS: Final[dict[str, tuple[Callable[[Attacker], Awaitable[None]], int]]] = {
    "big bodies": (Attacker.big_body, 8),
    "half-sent bodies": (Attacker.half_body, 1_000),
    "idle connections": (Attacker.idle, CONNECTIONS),
    "slow heads": (Attacker.slow_head, 1_000),
    "trickled bodies": (Attacker.trickle, 1_000),
    "bad keys": (Attacker.bad_key, 32),
    "nonsense": (Attacker.nonsense, 32),
    "resets": (Attacker.reset, 64),
    "half-sent forms": (Attacker.half_form, 1_000),
    "upgrades": (Attacker.upgrade, 1_000),
}
"""Each attack with how many of it go on at once."""


@contextlib.contextmanager
def attacking(name: str, host: str, port: int, *, core: int | None = None) -> Iterator[None]:
    """Attack from a separate process, on its own core where one is named, while the block runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.flooding", name, host, str(port), str(core)]
    ) as process:
        try:
            yield
        finally:
            process.kill()


def main() -> None:
    """Attack until this process is ended."""
    name, host, port, core = sys.argv[1:]
    if core != "None":
        os.sched_setaffinity(0, {int(core)})
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(Attacker(host, int(port)).run(name))


if __name__ == "__main__":
    main()
