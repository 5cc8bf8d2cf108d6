"""The console and the real service with one fault a second between them; ``python -m tests.performance soak`` is the
long form, this is the short one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.performance.soak import TARGET_GROWTH, soak

SLOWEST_KEY_S: Final = 10.0
"""Far more than a key takes: a busy machine does not fail this, a console that waits for the network does."""


@pytest.mark.parametrize("seconds", [5.0, pytest.param(14.0, marks=pytest.mark.exhaustive)])
def test_a_console_under_a_fault_a_second_answers_keys_keeps_its_size_and_has_every_event_once(
    tmp_path: Path, seconds: float
) -> None:
    made = soak(tmp_path, seconds)
    print(made.faults, made.keys)
    assert made.exit_code == 0
    assert sum(made.faults.values()) >= seconds / 4
    assert len(made.keys) >= seconds / 5
    assert max(made.keys) < SLOWEST_KEY_S
    assert made.growth < TARGET_GROWTH
    assert made.service_growth < TARGET_GROWTH
    assert made.more_descriptors <= 4
    assert made.service_more_descriptors <= 8
    assert made.events > 0
    assert made.wrong == []
