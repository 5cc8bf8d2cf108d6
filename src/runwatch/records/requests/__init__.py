"""Bodies that are sent, validated on both sides: before the client sends, and when the local service accepts.

Types are strict (a number in quotes is no number). Unknown members pass where the interface leaves the body open and
are refused where it closes it (wire reference 2.1, checklist 8). One file a resource.
"""

from __future__ import annotations

from runwatch.records.requests.body import ClosedBody, OpenBody, field_errors
from runwatch.records.requests.run import OBJECTIVE_CHARACTERS, ON_EVAL, RunRequest

__all__ = ["OBJECTIVE_CHARACTERS", "ON_EVAL", "ClosedBody", "OpenBody", "RunRequest", "field_errors"]
