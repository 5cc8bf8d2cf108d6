"""Request bodies, validated before the client sends and when the local service receives. One file for each resource.

Types are strict (a number in quotes is not a number). Unknown members pass where the interface leaves the body open and
are refused where it closes it (manual: interface, "Runs").
"""

from __future__ import annotations

from runwatch.records.requests.body import ClosedBody, OpenBody, field_errors
from runwatch.records.requests.run import OBJECTIVE_CHARACTERS, ON_EVAL, RunRequest

__all__ = ["OBJECTIVE_CHARACTERS", "ON_EVAL", "ClosedBody", "OpenBody", "RunRequest", "field_errors"]
