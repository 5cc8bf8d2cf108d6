"""State machine of runs, without side effects (manual: interface, "Run states"; manual: interface, "Events").

The recorded state alone determines the next step, so a run continues after a restart. Every run goes accepted → queued
→ running → its slice running. A test run continues by itself: platform test check → slice completed → completed. For a
live run :mod:`runwatch.service.execution.live` decides. Cancelling and the runtime cap end a run in any of these
states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps
from runwatch.records.states import is_final
from runwatch.service.ids import new_id

ECHO_IDENTITY: Final = "platform.echo"
ECHO_CHECK: Final = "platform_test"
CAPABILITY: Final = "text.generate"


@dataclass(frozen=True, slots=True)
class SliceState:
    """One part of a run's work.

    Attributes:
        recorded_check: Latest RecordedCheck (manual: interface, "Receipt fields").
        work: ``arm_id``, ``provider``, ``model_key`` and ``phase`` of the last provider call started, for live runs;
            after their end, of the call whose output was taken or judged last, if there is one.
        finish_reason: Why the output of the last call ends; see :data:`runwatch.records.states.INCOMPLETE`.
    """

    slice_id: str
    capability: str
    status: str
    recorded_check: dict[str, Any] | None = None
    work: dict[str, Any] | None = None
    finish_reason: str | None = None
    packet: dict[str, Any] | None = None
    unknown_calls: int = 0
    estimated_calls: int = 0


@dataclass(frozen=True, slots=True)
class RunState:
    """Recorded state of a run.

    Attributes:
        policy: Policy it was submitted with, as exact JSON text.
        max_runtime_s: Runtime cap in seconds from ``created_at``.
        spend_usd: US dollars recorded so far, as decimal digits, without calls of unknown cost.
    """

    execution_id: str
    tenant_id: str
    mode: str
    status: str
    policy: str
    max_runtime_s: float
    created_at: datetime
    slices: tuple[SliceState, ...]
    spend_usd: str = "0"
    reason: str | None = None
    cancelled_by: str | None = None
    completed_at: datetime | None = None

    @property
    def packet(self) -> dict[str, Any] | None:
        """Return the decision packet of a review composer run that has decided."""
        return next((part.packet for part in self.slices if part.packet is not None), None)

    @property
    def unknown_calls(self) -> int:
        """Count the provider calls with unknown cost, one under way among them."""
        return sum(part.unknown_calls for part in self.slices)

    @property
    def estimated_calls(self) -> int:
        return sum(part.estimated_calls for part in self.slices)

    @property
    def is_final(self) -> bool:
        return is_final(self.status)

    def time_left(self, now: datetime) -> float:
        """Return the seconds until the runtime cap; negative after it."""
        return self.max_runtime_s - (now - self.created_at).total_seconds()


class Transition(NamedTuple):
    """A run after a step, and the events of that step without their ids."""

    run: RunState
    events: list[dict[str, Any]]


class ScheduledStep(NamedTuple):
    """The next step of a test run: the seconds before it, and what it changes."""

    wait_s: float
    transition: Callable[[RunState, datetime], Transition]


def next_test_step(run: RunState) -> ScheduledStep | None:
    """Return the next step of a test run, or ``None`` when the run is final."""
    if run.is_final:
        return None
    if run.status == "accepted":
        return ScheduledStep(0.02, queue)
    if run.status == "queued":
        return ScheduledStep(0.03, start)
    part = run.slices[0]
    if part.status == "queued":
        return ScheduledStep(0.01, start_slice)
    if part.recorded_check is None:
        return ScheduledStep(0.05, _check_slice)
    if part.status == "running":
        return ScheduledStep(0.01, _complete_slice)
    return ScheduledStep(0.01, _complete)


def new_run(*, tenant_id: str, mode: str, policy: Any, max_runtime_s: float, now: datetime) -> RunState:
    """Create an accepted run with one slice."""
    return RunState(
        execution_id=new_id("ex", now),
        tenant_id=tenant_id,
        mode=mode,
        status="accepted",
        policy=dumps(policy),
        max_runtime_s=max_runtime_s,
        created_at=_kept(now),
        slices=(SliceState(new_id("sl", now), CAPABILITY, "accepted"),),
    )


def accept(run: RunState) -> Transition:
    return Transition(run, [lifecycle_event(run.status, run.created_at)])


def end(
    run: RunState,
    status: str,
    reason: str,
    now: datetime,
    *,
    acted_by: str | None = None,
    check: dict[str, Any] | None = None,
    note: str | None = None,
) -> Transition:
    """End a run early as ``cancelled``, ``expired`` or ``failed``.

    Every slice that is not final ends with it; an unchecked slice records that no check was attempted.

    Args:
        check: New RecordedCheck of the unfinished slice, if any.
        note: Note on the end of the slice; the event member ``note`` is not in the specification.
    """
    slices = []
    events = []
    for part in run.slices:
        if is_final(part.status):
            slices.append(part)
            continue
        stated = check or part.recorded_check or no_evaluation(reason, now)
        if stated != part.recorded_check:
            events.append(check_event(part, stated, now))
        slices.append(replace(part, status=status, recorded_check=stated))
        events.append(lifecycle_event(status, now, part, reason=reason, acted_by=acted_by, note=note))
    events.append(lifecycle_event(status, now, reason=reason, acted_by=acted_by))
    ended = replace(
        run, status=status, slices=tuple(slices), reason=reason, cancelled_by=acted_by, completed_at=_end_of(run, now)
    )
    return Transition(ended, events)


def complete(run: RunState, check: dict[str, Any], now: datetime) -> Transition:
    """Complete a run and its slice with the slice's last RecordedCheck."""
    part = run.slices[0]
    events = [] if check == part.recorded_check else [check_event(part, check, now)]
    part = replace(part, status="completed", recorded_check=check)
    events += [lifecycle_event("completed", now, part), lifecycle_event("completed", now)]
    return Transition(replace(run, status="completed", slices=(part,), completed_at=_end_of(run, now)), events)


def queue(run: RunState, now: datetime) -> Transition:
    slices = tuple(replace(part, status="queued") for part in run.slices)
    return Transition(replace(run, status="queued", slices=slices), [lifecycle_event("queued", now)])


def start(run: RunState, now: datetime) -> Transition:
    return Transition(replace(run, status="running"), [lifecycle_event("running", now)])


def start_slice(run: RunState, now: datetime) -> Transition:
    part = replace(run.slices[0], status="running")
    return Transition(replace(run, slices=(part,)), [lifecycle_event("running", now, part)])


def progress(
    run: RunState, reason: str, now: datetime, *, arm_id: str | None = None, artifact_id: str | None = None
) -> Transition:
    """Record that the slice's work continues in another way.

    The members ``arm_id``, the saved model that takes over, and ``artifact_id``, the hash of the skill text used, are
    not in the specification.
    """
    part = replace(run.slices[0], status="progress")
    event = lifecycle_event("progress", now, part, reason=reason, arm_id=arm_id, artifact_id=artifact_id)
    return Transition(replace(run, slices=(part,)), [event])


def state_check(run: RunState, check: dict[str, Any], now: datetime) -> Transition:
    part = replace(run.slices[0], recorded_check=check)
    return Transition(replace(run, slices=(part,)), [check_event(part, check, now)])


def _check_slice(run: RunState, now: datetime) -> Transition:
    return state_check(run, {"state": ECHO_CHECK, "identity": ECHO_IDENTITY, "recorded_at": format_iso(now)}, now)


def _complete_slice(run: RunState, now: datetime) -> Transition:
    part = replace(run.slices[0], status="completed")
    return Transition(replace(run, slices=(part,)), [lifecycle_event("completed", now, part)])


def _complete(run: RunState, now: datetime) -> Transition:
    completed = replace(run, status="completed", completed_at=_end_of(run, now))
    return Transition(completed, [lifecycle_event("completed", now)])


def no_evaluation(reason: str, now: datetime) -> dict[str, Any]:
    """Build the RecordedCheck of an output that no check has seen."""
    return {
        "state": "terminal_no_evaluation",
        "no_evaluation_attempted": True,
        "reason": reason,
        "recorded_at": format_iso(now),
    }


def _end_of(run: RunState, now: datetime) -> datetime:
    # The system clock may have been set back; a run does not end before its start.
    return max(run.created_at, _kept(now))


def _kept(moment: datetime) -> datetime:
    # Times are stored in milliseconds; keep a run in memory equal to what will be read back.
    return datetime.fromisoformat(format_iso(moment))


def lifecycle_event(state: str, now: datetime, part: SliceState | None = None, **more: str | None) -> dict[str, Any]:
    """Build an event for a state of the run or its slice; members that are ``None`` are left out."""
    said = {name: value for name, value in more.items() if value is not None}
    return {**_slice_member(part), "type": "lifecycle", "state": state, **said, "at": format_iso(now)}


def check_event(part: SliceState, check: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Build an event that carries a slice's RecordedCheck."""
    return {**_slice_member(part), "type": "recorded_check", "at": format_iso(now), "recorded_check": check}


def verification_event(part: SliceState, check: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Build an event that carries one finished check of a slice's output."""
    return {**_slice_member(part), "type": "verification_check", "at": format_iso(now), "verification_check": check}


def _slice_member(part: SliceState | None) -> dict[str, str]:
    # A run-level event has no slice_id member at all: with a null, a public client would follow for ever.
    return {} if part is None else {"slice_id": part.slice_id}
