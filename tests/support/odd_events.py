"""Events of unknown kinds and shapes."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.event import RunEvent

_AT: Final = "2026-11-21T12:04:00Z"

SHAPES: Final[dict[str, dict[str, Any]]] = {
    "a new type": {"type": "telemetry_burst", "at": _AT, "samples": [1, {"deep": None}]},
    "no type": {"at": _AT, "state": "progress"},
    "a null type": {"type": None, "at": _AT},
    "a number as type": {"type": 7, "at": _AT},
    "an object as type": {"type": {"name": "lifecycle"}, "at": _AT, "state": "completed"},
    "a hostile type": {"type": "li\x1b[2Jfe\u202e\ncycle", "at": _AT},
    "an unknown member": {"type": "lifecycle", "state": "progress", "at": _AT, "unheard_of": {"deep": [1, None]}},
    "no time": {"type": "lifecycle", "state": "progress"},
    "a null time": {"type": "lifecycle", "state": "progress", "at": None},
    "a number as time": {"type": "lifecycle", "state": "progress", "at": 1763726640},
    "a new state": {"type": "lifecycle", "state": "hovering", "at": _AT},
    "an object as state": {"type": "lifecycle", "state": {"is": "running"}, "at": _AT},
    "a number as slice": {"type": "lifecycle", "state": "running", "slice_id": 5, "at": _AT},
    "a text as check": {"type": "verification_check", "verification_check": "rejected", "at": _AT},
    "a list as recorded check": {"type": "recorded_check", "recorded_check": [1], "at": _AT},
    "a check of nulls": {"type": "verification_check", "verification_check": {"is_correct": None}, "at": _AT},
    "a reason that is none": {"type": "lifecycle", "state": "progress", "reason": ["a", "b"], "acted_by": 3, "at": _AT},
}
"""Members of odd events, by what is odd about them."""


def odd_events(run_id: str) -> list[RunEvent]:
    """One event of each shape, with an id, a run, and a text by which it is known again."""
    return [
        RunEvent({"event_id": f"ev_odd_{number:02}", "execution_id": run_id, **shape, "mark": mark(number)})
        for number, shape in enumerate(SHAPES.values())
    ]


def mark(number: int) -> str:
    """The text that the event of a number alone has."""
    return f"unheard-{number:02}"
