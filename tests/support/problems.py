"""What the specification asks of the body of an error."""

from __future__ import annotations

from runwatch.records.problem import PROBLEM_MEMBERS, Problem


def is_closed(problem: Problem) -> bool:
    """Whether the body has every required member and none beyond those of the specification."""
    return problem.is_complete and set(problem.raw) <= set(PROBLEM_MEMBERS)
