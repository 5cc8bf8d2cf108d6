"""Programs of the user that run in the background: bounded in time and output, without a terminal or a shell."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from runwatch.base.errors import RunwatchError

MAX_OUTPUT_BYTES: Final = 256 * 1024
"""Output kept of one program; what follows is read and dropped."""

END_S: Final = 1.0
"""How long a program may take to end when asked to, and its output to end after it: a child may still have it open."""

_CHUNK_BYTES: Final = 65_536


class ProgramResult(NamedTuple):
    """How a program ended.

    Attributes:
        output: Standard output and standard error as they came.
        is_cut: Whether more was written than is kept.
        failure: Why it failed, in words; empty after exit status 0.
    """

    output: bytes
    is_cut: bool
    failure: str


def find_program(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program.

    Raises:
        RunwatchError: It does not exist.
    """
    path = shutil.which(Path(name).expanduser() if name.startswith("~") else name, path=environment.get("PATH"))
    if path is None:
        raise RunwatchError("The program is not there", detail=name)
    return path


async def run_program(
    words: Sequence[str],
    environment: Mapping[str, str],
    given: bytes | None,
    *,
    limit_s: float,
    reads_output: bool = True,
    hear: Callable[[bytearray], None] = lambda kept: None,
) -> ProgramResult:
    """Run a program in its own session, and return what it wrote. If the caller is cancelled, it is stopped.

    Args:
        given: Its standard input; ``None`` for nothing.
        limit_s: Seconds after which it and everything it has started are stopped.
        reads_output: Whether its output is wanted; it may leave children that go on if it is not.
        hear: Called with all the output that is kept so far whenever there is more of it.

    Raises:
        RunwatchError: It does not exist or cannot be started.
    """
    program = find_program(words[0], environment)
    with contextlib.ExitStack() as open_files:
        stdin: IO[bytes] | int = asyncio.subprocess.DEVNULL
        if given is not None:
            # A file and no pipe, so that a program that does not read it cannot block.
            stdin = open_files.enter_context(tempfile.TemporaryFile())
            stdin.write(given)
            stdin.seek(0)
        collector = await _Collector.open(hear) if reads_output else None
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                program,
                *words[1:],
                stdin=stdin,
                stdout=collector.end if collector else asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )
        )
        try:
            # Cancelled while it starts, asyncio would end the program alone and not what it has started.
            process = await asyncio.shield(starting)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            if collector is not None:
                collector.close()
            raise RunwatchError("The program cannot be started", detail=reason) from None
        except asyncio.CancelledError:
            with contextlib.suppress(OSError, ValueError):
                await _stop(await starting)
            if collector is not None:
                collector.close()
            raise
    failure = ""
    try:
        async with asyncio.timeout(limit_s):
            await process.wait()
    except TimeoutError:
        failure = f"stopped after {limit_s:g} s"
    finally:
        if process.returncode is None:
            await _stop(process)
        if collector is not None:
            await collector.finish()
    if not failure and process.returncode:
        status = process.returncode
        failure = f"exit status {status}" if status > 0 else f"signal {-status}"
    if collector is None:
        return ProgramResult(b"", is_cut=False, failure=failure)
    return ProgramResult(bytes(collector.kept), collector.is_cut, failure)


class _Collector:
    """Reads a pipe and keeps its beginning."""

    def __init__(
        self,
        end: int,
        reader: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
        hear: Callable[[bytearray], None],
    ) -> None:
        self.end: Final = end
        self._hear: Final = hear
        self.kept: Final = bytearray()
        self.is_cut = False
        self._is_end_open = True
        self._transport = transport
        self._task = asyncio.ensure_future(self._read(reader))

    @classmethod
    async def open(cls, hear: Callable[[bytearray], None]) -> _Collector:
        start, end = os.pipe()
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(start, "rb", 0)
        )
        return cls(end, reader, transport, hear)

    async def finish(self) -> None:
        """Wait for the rest of the output, but not for children that keep it open."""
        self._close_end()
        await asyncio.wait([self._task], timeout=END_S)
        self.close()

    def close(self) -> None:
        self._close_end()
        self._task.cancel()
        self._transport.close()

    def _close_end(self) -> None:
        if self._is_end_open:
            self._is_end_open = False
            os.close(self.end)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            room = MAX_OUTPUT_BYTES - len(self.kept)
            self.is_cut = self.is_cut or len(chunk) > room
            if room > 0:
                self.kept.extend(chunk[:room])
                self._hear(self.kept)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop a program and everything in its session that has not left its group."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_S):
            await process.wait()
    _signal(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, number)
