"""States of runs and slices (specification, States; wire reference 3.1)."""

from __future__ import annotations

from typing import Final

FINAL_STATES: Final = frozenset({"completed", "failed", "cancelled", "expired"})
"""A run whose status is one of these never changes again."""

LIVE_STATES: Final = ("accepted", "queued", "running", "progress")
"""Non-final states that public clients know, in the order a run meets them."""


def is_final(state: object) -> bool:
    """Whether a status ends a run; a state nobody knows, a value that is no text, and none at all mean "still live"."""
    return isinstance(state, str) and state in FINAL_STATES


CUT: Final = "length"
"""The finish reason of an output that was cut at a limit of tokens."""
