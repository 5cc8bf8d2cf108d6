"""The console over a slow link: the time from a key to its paint, at rest and with a thousand events a second.

The link carries 256 kbit/s each way, and a round trip takes 150 ms. Times leave out the link's own round trip, and are
compared with the framework's plainest list over a link of the same kind.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.performance.keys import (
    BARE_CURSOR_ON,
    BUSY,
    CURSOR_ON,
    LISTED,
    RESTING,
    bare_list,
    list_console,
    press_in_turns,
)
from tests.performance.measure import Figure
from tests.support.slow_link import BUFFER, over_slow_link
from tests.support.terminal import Terminal

ROUND_TRIP_S: Final = 0.150
BITS_PER_S: Final = 256_000.0
REST_S: Final = 0.4
"""Seconds without drawing before a key at rest is pressed: as long as the detail takes to follow the cursor."""

PRESSES: Final = 5
"""Keys pressed in one direction, then in the other; both are done twice."""

BUSY_PRESSES: Final = 20
"""The same while events arrive: the 95th percentile of few keys is the worst of them, which chance decides."""

TURNS: Final = 12
"""How often following is stopped and started again."""

FLOOD_S: Final = 2.0
"""Seconds that events flood the link before the first key, and at least before each key that stops following. Up to as
many more go by at random: pictures come every two seconds, and a fixed time would always meet the same part of one.
"""

TARGET_KEY: Final = 1.5
TARGET_KEY_BUSY: Final = 4.0

_NOTE: Final = (
    "A key over the link with 1,000 events a second: what was sent before the key must come through first, and a"
    " picture of changing events is 8 to 20 kB, a quarter to two thirds of a second. The console draws only when the"
    " terminal has taken what was drawn before, and lets a slow link rest three times as long as a picture took. What"
    " changed during the rest is drawn with the answer to the key: Textual draws all that has changed, or nothing."
)


def _far(command: Sequence[str]) -> Sequence[str]:
    return over_slow_link(command, round_trip_s=ROUND_TRIP_S, bits_per_s=BITS_PER_S)


def figures() -> list[Figure]:
    """Measure and judge."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        with bare_list(home, _far) as bare, list_console(home / "rest", RESTING, "ex_0003", way=_far) as resting:
            lists = (bare, BARE_CURSOR_ON), (resting, CURSOR_ON)
            alone, at_rest = press_in_turns(*lists, presses=PRESSES, rest_s=REST_S)
        with list_console(home / "busy", BUSY, "▸", way=_far) as busy:
            _flood(busy, FLOOD_S)
            (under_load,) = press_in_turns((busy, CURSOR_ON), presses=BUSY_PRESSES)
        with list_console(home / "tail", BUSY, "Tail of 50 runs", "--open", "tail", way=_far) as tail:
            chance = random.Random(1)
            flooded = [_stop_following(tail, chance.uniform(FLOOD_S, 2 * FLOOD_S)) for _ in range(TURNS)]
    beyond, ours, loaded = alone - ROUND_TRIP_S, at_rest - ROUND_TRIP_S, under_load - ROUND_TRIP_S
    worst = max(flooded) - ROUND_TRIP_S
    link = f"{ROUND_TRIP_S * 1000:.0f} ms and {BITS_PER_S / 1000:.0f} kbit/s"
    return [
        Figure(f"over a link of {link}: a key until it is painted, beyond the round trip, p95, bare Textual list",
               f"{beyond * 1000:.0f} ms", "1.00"),
        Figure(f"… on the list of {LISTED} runs, at rest", f"{ours * 1000:.0f} ms", f"{ours / beyond:.2f}",
               f"≤ {TARGET_KEY:g} × the bare list", ours <= TARGET_KEY * beyond),
        Figure("… on a list of 50 runs with 1,000 events/s", f"{loaded * 1000:.0f} ms", f"{loaded / beyond:.2f}",
               f"≤ {TARGET_KEY_BUSY:g} × the bare list", loaded <= TARGET_KEY_BUSY * beyond, _NOTE),
        Figure(f"… in the tail of 50 runs with 1,000 events/s, {BUFFER // 1024} KiB of buffer on the way: median, most",
               f"{(statistics.median(flooded) - ROUND_TRIP_S) * 1000:.0f}, {worst * 1000:.0f} ms"),
    ]  # fmt: skip


def _flood(terminal: Terminal, seconds: float) -> None:
    """Let events fill the link."""
    deadline = time.monotonic() + seconds
    terminal.wait_until(lambda: time.monotonic() >= deadline, "the link to be full", seconds + 60.0, poll=True)


def _stop_following(terminal: Terminal, flood_s: float) -> float:
    """Return the seconds from the key that stops following to the frame that says so, over a link full of events."""
    _flood(terminal, flood_s)
    start = time.perf_counter()
    terminal.type("f", until="PAUSED")
    taken = time.perf_counter() - start
    terminal.type("f")
    terminal.wait_gone("PAUSED")
    return taken
