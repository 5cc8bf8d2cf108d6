"""One console as a process: its start, its packets, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

from runwatch.base.console_packets import CONSOLE_DRIVER, META, ConsolePacket, PacketReader, encode_packet
from runwatch.base.text import clean_block

END_S: Final = 6.0
"""How long a console may take to end, first by itself and then after SIGTERM; it ends itself in five seconds."""

READ_BYTES: Final = 64 * 1024
MAX_LAST_OUTPUT_BYTES: Final = 2048

MIN_CELLS: Final = (10, 4)
MAX_CELLS: Final = (1000, 400)
"""Sizes of a window that a console draws."""

_NOT_HERE: Final = ("TMUX", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "KITTY_WINDOW_ID", "LC_TERMINAL")
"""Variables that describe the terminal in which the server was started."""


def console_environment(environment: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Return the variables of a console in a browser: those of the server, with a terminal that is the browser's."""
    kept = {name: value for name, value in environment.items() if name not in _NOT_HERE}
    width, height = clamp_size(width, height)
    return {
        **kept,
        "TEXTUAL_DRIVER": CONSOLE_DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": str(width),
        "LINES": str(height),
    }


def clamp_size(width: int, height: int) -> tuple[int, int]:
    """Return the nearest size in cells that a console draws."""
    low, high = MIN_CELLS, MAX_CELLS
    return min(max(width, low[0]), high[0]), min(max(height, low[1]), high[1])


class ConsoleProcess:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process: Final = process
        self._keys: Final = process.stdin
        self._screen: Final = process.stdout
        self._errors: Final = process.stderr
        self._error_output = b""
        self._listener: Final = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int]
    ) -> ConsoleProcess:
        """Start a console.

        Args:
            command: Its command line; holds no secret.

        Raises:
            OSError: It cannot be started.
        """
        # A session of its own: ctrl+c in the server's terminal is for the server, which then ends its consoles.
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=console_environment(environment, *size),
                start_new_session=True,
            )
        )

    @property
    def last_output(self) -> str:
        """The end of what it wrote to standard error, cleaned."""
        return clean_block(self._error_output.decode("utf-8", "replace")).strip()

    @property
    def failure(self) -> str:
        """Why it ended on an error, in its own words where it has any; empty if it ended well or still runs."""
        code = self._process.returncode
        return (self.last_output or f"It ended with code {code} and said nothing.") if code else ""

    async def send(self, kind: bytes, content: bytes) -> None:
        """Send a packet; do nothing when the console is gone."""
        with contextlib.suppress(OSError, RuntimeError):
            self._keys.write(encode_packet(kind, content))
            await self._keys.drain()

    async def send_message(self, kind: str, **members: object) -> None:
        await self.send(META, json.dumps({"type": kind, **members}).encode())

    async def packets(self) -> AsyncIterator[ConsolePacket]:
        """Yield the console's packets until it ends.

        Raises:
            ValueError: It wrote something else.
        """
        reader = PacketReader()
        while data := await self._screen.read(READ_BYTES):
            for packet in reader.feed(data):
                yield packet

    async def end(self) -> None:
        """End the console, by force if it does not end by itself."""
        self._keys.close()
        for stop in (self._process.terminate, self._process.kill):
            # It can end only once what it still writes is read.
            done = asyncio.gather(self._process.wait(), self._drain())
            try:
                await asyncio.wait_for(done, END_S)
                break
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    stop()
        await self._process.wait()
        await self._listener

    async def _drain(self) -> None:
        while await self._screen.read(READ_BYTES):
            pass

    async def _listen(self) -> None:
        while data := await self._errors.read(READ_BYTES):
            self._error_output = (self._error_output + data)[-MAX_LAST_OUTPUT_BYTES:]
