"""What the specification asks of the body of an error, and rows of the journal made of one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runwatch.base.clock import format_iso
from runwatch.records.problem import PROBLEM_MEMBERS, Problem
from runwatch.view.problems.journal_entries import ProblemEntry


def is_closed(problem: Problem) -> bool:
    """Whether the body has every required member and none beyond those of the specification."""
    return problem.is_complete and set(problem.raw) <= set(PROBLEM_MEMBERS)


def entry_from_problem(problem: Problem, *, time: datetime, **facts: Any) -> ProblemEntry:
    """The journal's row of a problem; ``facts`` are its other members, those that are ``None`` left out."""
    own = {name: getattr(problem, name) for name in ("status", "code", "title", "detail", "instance")}
    members = {"time": format_iso(time), **own, "code": problem.code or None, "raw": dict(problem.raw), **facts}
    return ProblemEntry({name: value for name, value in members.items() if value is not None})
