"""What every error of the service must look like, and rows of the journal made of one."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import httpx

from runwatch.base.clock import format_iso
from runwatch.records.error_codes import CODES
from runwatch.records.problem import PROBLEM_BASE, PROBLEM_MEMBERS, PROBLEM_TYPE, Problem
from runwatch.view.problems.journal_entries import ProblemEntry


def is_closed(problem: Problem) -> bool:
    """Whether the body has every required member and none beyond those of the specification."""
    return problem.is_complete and set(problem.raw) <= set(PROBLEM_MEMBERS)


def check(answer: httpx.Response, code: str) -> Problem:
    """Hold an answer to the form of every Problem."""
    assert answer.headers["content-type"] == PROBLEM_TYPE
    return check_body(answer.status_code, answer.json(), code)


def check_body(status: int, body: dict[str, Any], code: str) -> Problem:
    problem = Problem(body)
    assert is_closed(problem), body
    assert not problem.flaws()
    assert (status, problem.status, problem.type) == (CODES[code].status, CODES[code].status, f"{PROBLEM_BASE}{code}")
    assert problem.code == code
    assert str(uuid.UUID(problem.instance)) == problem.instance
    assert ("errors" in body) == (code == "validation_failed")
    return problem


def fields(problem: Problem) -> list[str | None]:
    """The fields that a Problem names, in its order."""
    return [error.field for error in problem.errors or ()]


def entry_from_problem(problem: Problem, *, time: datetime, **facts: Any) -> ProblemEntry:
    """The journal's row of a problem; ``facts`` are its other members, those that are ``None`` left out."""
    own = {name: getattr(problem, name) for name in ("status", "code", "title", "detail", "instance")}
    members = {"time": format_iso(time), **own, "code": problem.code or None, "raw": dict(problem.raw), **facts}
    return ProblemEntry({name: value for name, value in members.items() if value is not None})
