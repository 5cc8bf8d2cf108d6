"""The slow link carries what it is told to, no faster, and waits when it is full."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from tests.support.environment import clean_environment
from tests.support.slow_link import BUFFER, PIECE, Line, over_slow_link
from tests.support.terminal import Terminal

KBIT_256 = 256_000.0


def test_bytes_arrive_in_order_after_the_delay_and_at_the_pace_of_the_line() -> None:
    link = Line(0.075, KBIT_256)
    sent = bytes(itertools.islice(itertools.cycle(range(256)), 4 * PIECE))
    link.send(sent, 10.0)
    assert link.arrived(10.075) == b""
    first = 10.0 + PIECE * 8 / KBIT_256 + 0.075
    assert link.arrived(first) == sent[:PIECE]
    assert link.arrived(10.0 + 4 * PIECE * 8 / KBIT_256 + 0.0751) == sent[PIECE:]
    assert link.due_in_s(11.0) is None


def test_a_line_has_room_until_its_buffer_waits_to_be_sent() -> None:
    link = Line(1.0, KBIT_256)
    assert link.has_room(0.0)
    link.send(bytes(BUFFER), 0.0)
    assert not link.has_room(0.0)
    assert link.has_room(PIECE * 8 / KBIT_256)


def test_a_program_at_its_far_end_is_typed_to_seen_and_its_exit_status_known(tmp_path: Path) -> None:
    what = "import os; print(os.get_terminal_size(), flush=True); print(input()[::-1]); raise SystemExit(7)"
    program = [sys.executable, "-c", what]
    command = over_slow_link(program, round_trip_s=0.02, bits_per_s=1e6)
    with Terminal(command, env=clean_environment(tmp_path), columns=70, rows=20) as terminal:
        terminal.wait_for("columns=70, lines=20")
        terminal.type("abc\r")
        terminal.wait_for("cba")
        assert terminal.wait_exit() == 7
