"""Events of a run as a resource, for the filter of event lists and the command's table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import is_final
from runwatch.view.runs.check_results import describe_attempt, describe_recorded_check
from runwatch.view.runs.event_lines import KINDS, describe_event
from runwatch.view.spec.resource import Column, Field, MemberLine, RecordLink, ResourceSpec, SectionSpec
from runwatch.view.text.format import RenderContext, time_of_day
from runwatch.view.text.member_format import detail_state, detail_time, id_cell
from runwatch.view.text.styled_text import CellText


def _time(event: RunEvent, context: RenderContext) -> CellText:
    return time_of_day(event.at, context)


def _kind(event: RunEvent) -> str | None:
    return None if event.type is None else KINDS.get(event.type, event.type)


def _summary(event: RunEvent, context: RenderContext) -> CellText:
    return describe_event(event, context.glyphs)


def _check(event: RunEvent) -> VerificationCheck:
    return event.verification_check or VerificationCheck({})


def _score(event: RunEvent) -> Decimal | None:
    stated = event.recorded_check
    return _check(event).quality_score or (stated.quality_score if stated is not None else None)


def _is_problem(event: RunEvent) -> bool:
    """Whether something failed: the run or a slice failed or expired, or a check rejected or could not run."""
    if event.type == "lifecycle":
        return event.state in {"failed", "expired"}
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
        Column(id="time", title="time", aliases=("at", "age"), value=lambda it: it.at, cell=_time, min_cells=8),
        Column(id="kind", title="kind", aliases=("type",), value=_kind, hide_order=2),
        Column(
            id="slice", title="slice", aliases=("slice_id",), value=lambda it: it.slice_id, format=id_cell, hide_order=1
        ),
        Column(
            id="summary", title="what happened", value=lambda it: it.state, cell=_summary, max_cells=100, min_cells=10
        ),
    ),
    fields=(
        Field(id="state", value=lambda it: it.state), Field(id="reason", value=lambda it: it.reason),
        Field(id="attempt", value=lambda it: _check(it).attempt), Field(id="score", value=_score),
        Field(id="arm", aliases=("arm_id",), value=lambda it: _check(it).arm_id),
        Field(id="by", aliases=("acted_by",), value=lambda it: it.acted_by),
        Field(id="id", aliases=("event_id",), value=lambda it: it.id),
    ),
    sections=(
        SectionSpec(
            "Event",
            (
                MemberLine("event_id"), MemberLine("execution_id"), MemberLine("slice_id"), MemberLine("type"),
                MemberLine("state", format=detail_state), MemberLine("reason"), MemberLine("acted_by"),
                MemberLine("at", format=detail_time),
            ),
        ),
        SectionSpec("Check", (MemberLine("verification_check"),)),
        SectionSpec("Recorded check", (MemberLine("recorded_check"),)),
    ),
    empty="The run has no events yet.",
    flags={
        "final": lambda it: it.ends_run, "live": lambda it: it.type == "lifecycle" and not is_final(it.state),
        "problem": _is_problem,
    },
    links=(RecordLink("run", "run", lambda it: it.execution_id),),
)  # fmt: skip
