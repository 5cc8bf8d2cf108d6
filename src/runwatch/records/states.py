"""States of runs and slices (manual: interface, "Run states")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

FINAL_STATES: Final = frozenset({"completed", "failed", "cancelled", "expired"})
"""A run in one of these states never changes again."""

UNWANTED_STATES: Final = frozenset({"failed", "expired"})
"""Final states that ``is:broken`` finds. A cancelled run ended on request."""

LIVE_STATES: Final = ("accepted", "queued", "running", "progress")
"""Non-final states that public clients know, in the order of a run."""

QUEUED_STATES: Final = ("queued", "accepted")
"""States of a live run that has not started."""


def is_final(state: object) -> bool:
    """Return whether a status ends a run; an unknown, missing or non-text status means "still live"."""
    return isinstance(state, str) and state in FINAL_STATES


CUT: Final = "length"
"""Finish reason of an output that was cut at a token limit."""

FILTERED: Final = "content_filter"
REFUSED: Final = "refusal"
PAUSED: Final = "pause_turn"
TOOLS: Final = "tool_calls"
EMPTY: Final = "empty"
BROKEN: Final = "error"

INCOMPLETE: Final[Mapping[str, str]] = {
    CUT: "cut at the limit of output tokens",
    FILTERED: "stopped by the provider's content filter",
    REFUSED: "a refusal: the model would not do the task",
    PAUSED: "paused by the provider before the model had finished, and the service does not go on with it",
    TOOLS: "a call of tools, which the service does not carry out",
    EMPTY: "empty",
    BROKEN: "broken off by an error of the provider",
}
"""What became of an output that is not a whole answer, by its finish reason."""


def describe_incomplete(finish_reasons: Iterable[str | None]) -> str | None:
    """Return a sentence about the first output that is not a whole answer, or ``None`` if every one is."""
    found = next((INCOMPLETE[reason] for reason in finish_reasons if reason is not None and reason in INCOMPLETE), None)
    return None if found is None else f"the output was {found}"
