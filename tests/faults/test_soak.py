"""The console and the real service with one fault a second between them; ``python -m tests.performance soak`` is the
long form, this is the short one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.performance.soak import TARGET_GROWTH, soak

SECONDS: Final = 14.0
SLOWEST_KEY_S: Final = 10.0
"""Far more than a key takes: a busy machine does not fail this, a console that waits for the network does."""


def test_a_console_under_a_fault_a_second_answers_keys_keeps_its_size_and_has_every_event_once(tmp_path: Path) -> None:
    made = soak(tmp_path, SECONDS)
    print(made.faults, made.keys)
    assert made.exit_code == 0
    assert sum(made.faults.values()) >= SECONDS / 4
    assert len(made.keys) >= 3
    assert max(made.keys) < SLOWEST_KEY_S
    assert made.growth < TARGET_GROWTH
    assert made.service_growth < TARGET_GROWTH
    assert made.more_descriptors <= 4
    assert made.service_more_descriptors <= 8
    assert made.events > 0
    assert made.wrong == []
