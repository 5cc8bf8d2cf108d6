"""Programs in the background: what they get, what is kept of them, and how they end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.tui.terminal.program import MAX_OUTPUT_BYTES, ProgramResult, run_program

LONG_S = 600.0


async def sh(script: str, given: bytes | None = None, *, limit_s: float = LONG_S) -> ProgramResult:
    return await run_program(["sh", "-c", script], {"PATH": os.defpath, "MINE": "1"}, given, limit_s=limit_s)


async def test_a_program_gets_input_and_variables_and_no_terminal() -> None:
    result = await sh('cat; echo "$MINE ${HOME-none}"; echo wrong >&2; tty; : </dev/tty', b"given\n")
    assert result.output.startswith(b"given\n1 none\nwrong\nnot a tty\n")
    assert b"/dev/tty" in result.output


@pytest.mark.parametrize(("script", "failure"), [("true", ""), ("exit 3", "exit status 3"), ("kill -9 $$", "signal 9")])
async def test_how_a_program_ended_is_reported(script: str, failure: str) -> None:
    assert (await sh(script)).failure == failure


async def test_only_the_beginning_of_a_long_output_is_kept() -> None:
    result = await sh(f"head -c {MAX_OUTPUT_BYTES + 1} /dev/zero")
    assert (len(result.output), result.is_cut, result.failure) == (MAX_OUTPUT_BYTES, True, "")


async def test_what_has_come_so_far_is_told(tmp_path: Path) -> None:
    fifo, heard = tmp_path / "fifo", asyncio.Queue[bytes]()
    os.mkfifo(fifo)
    words = ["sh", "-c", f"echo first; cat {fifo}"]
    running = asyncio.create_task(
        run_program(words, {"PATH": os.defpath}, None, limit_s=LONG_S, hear=lambda kept: heard.put_nowait(bytes(kept)))
    )
    assert await heard.get() == b"first\n"
    await asyncio.to_thread(fifo.write_text, "second\n")
    assert await heard.get() == (await running).output == b"first\nsecond\n"


async def test_a_child_that_keeps_the_output_open_is_not_waited_for() -> None:
    result = await sh("sleep 600 & echo done; echo $! >&2")
    done, pid = result.output.split()
    os.kill(int(pid), 9)
    assert done == b"done"


async def test_a_program_without_end_is_stopped_at_its_limit() -> None:
    assert (await sh("sleep 600", limit_s=0.01)).failure == "stopped after 0.01 s"


async def test_a_stopped_program_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # The end of the pipe shows that no process has it open, not even a child that ignores signals.
    gone = asyncio.create_task(asyncio.to_thread(fifo.read_text))
    running = asyncio.create_task(sh(f"(trap '' TERM; echo up; touch {tmp_path}/up; sleep 600) >{fifo}"))
    while not (tmp_path / "up").exists():
        await asyncio.sleep(0.01)
    running.cancel()
    assert await gone == "up\n"
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(RunwatchError, match="is not there: no-such-program"):
        await run_program(["no-such-program"], {"PATH": os.defpath}, None, limit_s=LONG_S)
