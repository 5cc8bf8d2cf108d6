"""Events of a run, as a resource: what the filter of the tail and the table form of the verb know of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from runwatch.records.check import VerificationCheck
from runwatch.records.event import RunEvent
from runwatch.records.states import is_final
from runwatch.view.checks import attempt, recorded
from runwatch.view.format import Context, time_of_day
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown
from runwatch.view.resources.common import as_moment, as_state, elided
from runwatch.view.timeline import KINDS, what_happened


def _time(event: RunEvent, context: Context) -> Shown:
    return time_of_day(event.at, context)


def _kind(event: RunEvent) -> str | None:
    return None if event.type is None else KINDS.get(event.type, event.type)


def _summary(event: RunEvent, context: Context) -> Shown:
    return what_happened(event, context.glyphs)


def _check(event: RunEvent) -> VerificationCheck:
    return event.verification_check or VerificationCheck({})


def _score(event: RunEvent) -> Decimal | None:
    stated = event.recorded_check
    return _check(event).quality_score or (stated.quality_score if stated is not None else None)


def _is_problem(event: RunEvent) -> bool:
    """Whether something failed: the run or a slice, or a check that rejected or could not run."""
    if event.type == "lifecycle":
        return event.state in {"failed", "expired"}
    findings = []
    if event.verification_check is not None:
        findings.append(attempt(event.verification_check))
    if event.recorded_check is not None:
        findings.append(recorded(event.recorded_check))
    return any(finding.kind in {"rejected", "unavailable"} for finding in findings)


EVENTS: Final[ResourceSpec[Any]] = ResourceSpec[RunEvent](
    record=RunEvent,
    name="events",
    singular="event",
    title="Events",
    columns=(
        Column(id="time", title="time", aliases=("at", "age"), value=lambda it: it.at, cell=_time, least=8),
        Column(id="kind", title="kind", aliases=("type",), value=_kind, leaves=2),
        Column(id="slice", title="slice", aliases=("slice_id",), value=lambda it: it.slice_id, format=elided, leaves=1),
        Column(id="summary", title="what happened", value=lambda it: it.state, cell=_summary, most=100, least=10),
    ),
    fields=(
        Field(id="state", value=lambda it: it.state),
        Field(id="reason", value=lambda it: it.reason),
        Field(id="attempt", value=lambda it: _check(it).attempt),
        Field(id="score", value=_score),
        Field(id="arm", aliases=("arm_id",), value=lambda it: _check(it).arm_id),
        Field(id="by", aliases=("acted_by",), value=lambda it: it.acted_by),
        Field(id="id", aliases=("event_id",), value=lambda it: it.id),
    ),
    sections=(
        SectionSpec(
            "Event",
            (
                At("event_id"), At("execution_id"), At("slice_id"), At("type"), At("state", format=as_state),
                At("reason"), At("acted_by"), At("at", format=as_moment),
            ),
        ),
        SectionSpec("Check", (At("verification_check"),)),
        SectionSpec("Recorded check", (At("recorded_check"),)),
    ),
    empty="The run has no events yet.",
    flags={
        "final": lambda it: it.ends_run,
        "live": lambda it: it.type == "lifecycle" and not is_final(it.state),
        "problem": _is_problem,
    },
    links=(Link("run", "run", lambda it: it.execution_id),),
)  # fmt: skip
