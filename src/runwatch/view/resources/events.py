"""Events of a run as a resource, for the filter of event lists and the command's table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import UNWANTED_STATES, is_final
from runwatch.view.runs.check_results import describe_attempt, describe_recorded_check
from runwatch.view.runs.event_lines import KINDS, describe_event
from runwatch.view.spec.members import column, field, fields, member_lines
from runwatch.view.spec.resource import RecordLink, ResourceSpec, SectionSpec
from runwatch.view.text.format import time_of_day
from runwatch.view.text.member_format import id_cell


def _kind(event: RunEvent) -> str | None:
    return None if event.type is None else KINDS.get(event.type, event.type)


def _check(event: RunEvent) -> VerificationCheck:
    return event.verification_check or VerificationCheck({})


def _score(event: RunEvent) -> Decimal | None:
    stated = event.recorded_check
    return _check(event).quality_score or (stated.quality_score if stated is not None else None)


def _is_problem(event: RunEvent) -> bool:
    """Whether something failed: the run or a slice failed or expired, or a check rejected or could not run."""
    if event.type == "lifecycle":
        return event.state in UNWANTED_STATES
    findings = []
    if event.verification_check is not None:
        findings.append(describe_attempt(event.verification_check))
    if event.recorded_check is not None:
        findings.append(describe_recorded_check(event.recorded_check))
    return any(finding.kind in {"rejected", "unavailable"} for finding in findings)


EVENTS: Final[ResourceSpec[Any]] = ResourceSpec[RunEvent](
    record=RunEvent,
    name="events",
    singular="event",
    title="Events",
    columns=(
        column("time|at|age=at", cell=lambda it, context: time_of_day(it.at, context), min_cells=8, searched="nothing"),
        column("kind|type", _kind, hide_order=2),
        column("slice|slice_id", format=id_cell, hide_order=1),
        column(
            "summary=state", title="what happened", max_cells=100, min_cells=10,
            cell=lambda it, context: describe_event(it, context.glyphs),
        ),
    ),
    fields=(
        *fields("state reason"), field("attempt=verification_check.attempt", value_type="number"),
        field("score", _score, value_type="number"),
        *fields("arm|arm_id=verification_check.arm_id by|acted_by id|event_id=id"),
    ),
    sections=(
        SectionSpec("Event", member_lines("event_id execution_id slice_id type state:state reason acted_by at:time")),
        SectionSpec("Check", member_lines("verification_check")),
        SectionSpec("Recorded check", member_lines("recorded_check")),
    ),
    empty="The run has no events yet.",
    flags={
        "final": lambda it: it.ends_run, "live": lambda it: it.type == "lifecycle" and not is_final(it.state),
        "problem": _is_problem,
    },
    links=(RecordLink("run", "run", lambda it: it.execution_id),),
)  # fmt: skip
