"""States of runs and slices (manual: interface, "Run states")."""

from __future__ import annotations

from typing import Final

FINAL_STATES: Final = frozenset({"completed", "failed", "cancelled", "expired"})
"""A run in one of these states never changes again."""

LIVE_STATES: Final = ("accepted", "queued", "running", "progress")
"""Non-final states that public clients know, in the order of a run."""


def is_final(state: object) -> bool:
    """Return whether a status ends a run; an unknown, missing or non-text status means "still live"."""
    return isinstance(state, str) and state in FINAL_STATES


CUT: Final = "length"
"""Finish reason of an output that was cut at a token limit."""
