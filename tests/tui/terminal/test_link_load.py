"""A link whose writes wait rests between pictures, so that the answer to a key finds it free."""

from __future__ import annotations

import pytest

from runwatch.tui.terminal.link_load import BUFFERED, FORGET_S, MAX_REST_S, REST_FACTOR, LinkLoad

RATE = 32_000
"""Bytes a second of a slow link."""


def slow_link() -> LinkLoad:
    """A link that has just made a write of one second wait."""
    load = LinkLoad()
    load.note_write(RATE, 100.0, waiting=RATE, waited_s=1.0)
    return load


@pytest.mark.parametrize(
    ("waiting", "waited_s"),
    [(0, 0.0), (RATE, 0.04), (RATE, 0.1)],
    ids=["took all at once", "waited for a moment", "waited on a fast link"],
)
def test_a_link_that_does_not_make_writes_wait_never_rests(waiting: int, waited_s: float) -> None:
    load = LinkLoad()
    load.note_write(RATE, 100.0, waiting=waiting, waited_s=waited_s)
    assert load.has_rested(100.0)


def test_a_slow_link_rests_after_a_picture_as_a_multiple_of_what_it_needs() -> None:
    load = slow_link()
    load.note_write(RATE // 10, 110.0)
    assert not load.has_rested(110.0 + 0.99 * (1 + REST_FACTOR) / 10)
    assert load.has_rested(110.0 + 1.01 * (1 + REST_FACTOR) / 10)


def test_what_is_on_its_way_counts_too() -> None:
    load = slow_link()
    load.note_write(320, 100.1)
    assert not load.has_rested(100.0 + BUFFERED / RATE)


def test_no_rest_is_long_and_a_link_that_became_faster_is_not_slow_for_ever() -> None:
    load = LinkLoad()
    load.note_write(1000, 100.0, waiting=1000, waited_s=90.0)
    assert load.has_rested(100.0 + MAX_REST_S)
    load.note_write(RATE, 100.1 + FORGET_S)
    assert load.has_rested(100.1 + FORGET_S)
