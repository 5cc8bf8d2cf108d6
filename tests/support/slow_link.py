"""A program on a terminal at the far end of a slow link: ``python -m tests.support.slow_link PROGRAM ARG ...``.

What is typed and what is drawn goes through its own line in each direction, which carries this many bits a second
and takes half of the round trip for each. What the far program writes faster than the line carries waits in a buffer of
:data:`BUFFER` bytes, as in a connection over a network; beyond that the program waits.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Sequence
from typing import Final

from tests.support.terminal import take_terminal

BUFFER: Final = 16_384
PIECE: Final = 512
"""Bytes that travel together."""

LOOK_S: Final = 0.005
"""How often a full buffer is looked at."""


def over_slow_link(command: Sequence[str], *, round_trip_s: float, bits_per_s: float) -> list[str]:
    """The command line that runs a command at the far end of a link."""
    numbers = ["--round-trip-s", str(round_trip_s), "--bits-per-s", str(bits_per_s)]
    return [sys.executable, "-m", "tests.support.slow_link", *numbers, "--", *command]


class Line:
    """One direction of a link.

    Args:
        delay_s: How long a byte travels.
        bits_per_s: How many bits can be sent in a second.
    """

    def __init__(self, delay_s: float, bits_per_s: float) -> None:
        self._delay_s = delay_s
        self._per_byte_s = 8 / bits_per_s
        self._free_at = 0.0
        self._on_the_way: deque[tuple[float, bytes]] = deque()

    def has_room(self, now: float) -> bool:
        """Whether what waits to be sent leaves room for more."""
        return self._free_at - now < BUFFER * self._per_byte_s

    def send(self, data: bytes, now: float) -> None:
        """Send after everything that was sent before."""
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            self._free_at = max(self._free_at, now) + len(piece) * self._per_byte_s
            self._on_the_way.append((self._free_at + self._delay_s, piece))

    def due_in_s(self, now: float) -> float | None:
        """Seconds until the next bytes arrive; ``None`` when nothing is on the way."""
        return max(0.0, self._on_the_way[0][0] - now) if self._on_the_way else None

    def arrived(self, now: float) -> bytes:
        """What has arrived since it was asked last."""
        found = bytearray()
        while self._on_the_way and self._on_the_way[0][0] <= now:
            found += self._on_the_way.popleft()[1]
        return bytes(found)


def relay(near_in: int, near_out: int, far: int, down: Line, up: Line) -> None:
    """Carry bytes both ways until the far end closes and all of its bytes have arrived."""
    is_open = True
    while True:
        now = time.monotonic()
        _write(near_out, down.arrived(now))
        if is_open:
            _write(far, up.arrived(now))
        waits = [wait for line in (down, up) if (wait := line.due_in_s(now)) is not None]
        if not is_open and down.due_in_s(now) is None:
            return
        readers = [near_in] if is_open else []
        if is_open and down.has_room(now):
            readers.append(far)
        elif is_open:
            waits.append(LOOK_S)
        ready, _, _ = select.select(readers, [], [], min(waits, default=None))
        now = time.monotonic()
        if near_in in ready:
            up.send(os.read(near_in, PIECE), now)
        if far in ready:
            data = b""
            with contextlib.suppress(OSError):
                data = os.read(far, PIECE)
            is_open = bool(data)
            down.send(data, now)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def main() -> None:
    """Be the link, until the program at its far end ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.slow_link")
    parser.add_argument("--round-trip-s", type=float, required=True)
    parser.add_argument("--bits-per-s", type=float, required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))
    tty.setraw(0)
    with subprocess.Popen(
        take_terminal(given.command), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as program:
        os.close(slave)
        try:
            relay(0, 1, master, *(Line(given.round_trip_s / 2, given.bits_per_s) for _ in range(2)))
        finally:
            # Its terminal is gone, which ends it.
            os.close(master)
    sys.exit(program.returncode)


if __name__ == "__main__":
    main()
