"""How a run moves: the state machine, pure (specification, States; wire reference 3.1, 3.2, 6.5 and 6.7).

A run's recorded state alone says which step comes next, so that a run goes on after a restart where it stood. Every
run goes accepted → queued → running → its slice running. A test run goes on by itself: the platform's test check →
slice completed → completed. What a live run does there is decided in :mod:`runwatch.service.execution.live`.
Cancelling and the runtime cap end a run in any of these states.
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
        slice_id: Its id.
        capability: What it needs an arm to be able to do.
        status: One of the states that runs have too.
        recorded_check: The latest statement about its check, in the form of wire reference 3.4.
        work: ``provider``, ``model`` and ``phase`` of the provider call that was begun last, on live runs.
        finish_reason: Why the output of the last call ends; ``length`` where it was cut at a limit of tokens.
        packet: The decision packet of a review composer run, in the form of wire reference 2.13.
        unknown_calls: How many provider calls have ended without their cost being known.
    """

    slice_id: str
    capability: str
    status: str
    recorded_check: dict[str, Any] | None = None
    work: dict[str, Any] | None = None
    finish_reason: str | None = None
    packet: dict[str, Any] | None = None
    unknown_calls: int = 0


@dataclass(frozen=True, slots=True)
class RunState:
    """What is recorded of a run.

    Attributes:
        execution_id: Its id.
        tenant_id: The organization it belongs to.
        mode: ``echo`` or ``live``.
        status: Its state.
        policy: The policy it was submitted with, as exact JSON text.
        max_runtime_s: The runtime cap, in seconds from ``created_at``.
        created_at: When it was accepted.
        slices: Its parts.
        spend_usd: US dollars recorded so far, as decimal digits; without the calls whose cost is not known.
        reason: Why it ended, where there is something to say.
        cancelled_by: Who cancelled it.
        completed_at: When it became final.
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
        """The decision packet, on review composer runs after the decision."""
        return next((part.packet for part in self.slices if part.packet is not None), None)

    @property
    def unknown_calls(self) -> int:
        """How many provider calls have ended without their cost being known."""
        return sum(part.unknown_calls for part in self.slices)

    @property
    def is_final(self) -> bool:
        """Whether the run never changes again."""
        return is_final(self.status)

    def time_left(self, now: datetime) -> float:
        """Seconds until the runtime cap; negative when it is over."""
        return self.max_runtime_s - (now - self.created_at).total_seconds()


class Transition(NamedTuple):
    """A run after a step, and the events that tell of it, without their ids."""

    run: RunState
    events: list[dict[str, Any]]


class ScheduledStep(NamedTuple):
    """The next thing that happens to a run: how many seconds it takes, and what it changes."""

    wait_s: float
    take: Callable[[RunState, datetime], Transition]


def next_step(run: RunState) -> ScheduledStep | None:
    """The step of a test run that follows from its recorded state, or ``None`` when the run is final."""
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
    """A run as it is accepted, with one slice."""
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
    """The acceptance of a new run."""
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
    """End a run before its work is done: ``cancelled``, ``expired`` or ``failed``.

    Every slice that is not final ends with it, and one that was not checked says that no check was attempted.

    Args:
        run: The run.
        status: How it ends.
        reason: Why.
        now: When.
        acted_by: Who ended it.
        check: What is to be stated about the check of its unfinished slice, where something new is.
        note: What else there is to know of the slice's end; the member ``note`` of its event is ours.
    """
    slices = []
    events = []
    for part in run.slices:
        if is_final(part.status):
            slices.append(part)
            continue
        stated = check or part.recorded_check or _unchecked(reason, now)
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
    """Complete a run and its slice, with the last statement about the slice's check."""
    part = run.slices[0]
    events = [] if check == part.recorded_check else [check_event(part, check, now)]
    part = replace(part, status="completed", recorded_check=check)
    events += [lifecycle_event("completed", now, part), lifecycle_event("completed", now)]
    return Transition(replace(run, status="completed", slices=(part,), completed_at=_end_of(run, now)), events)


def queue(run: RunState, now: datetime) -> Transition:
    """Put an accepted run into the queue."""
    slices = tuple(replace(part, status="queued") for part in run.slices)
    return Transition(replace(run, status="queued", slices=slices), [lifecycle_event("queued", now)])


def start(run: RunState, now: datetime) -> Transition:
    """Begin to work on a run."""
    return Transition(replace(run, status="running"), [lifecycle_event("running", now)])


def start_slice(run: RunState, now: datetime) -> Transition:
    """Begin to work on its slice."""
    part = replace(run.slices[0], status="running")
    return Transition(replace(run, slices=(part,)), [lifecycle_event("running", now, part)])


def progress(run: RunState, reason: str, now: datetime, *, artifact_id: str | None = None) -> Transition:
    """Go on with the work on its slice in another way.

    Args:
        run: The run.
        reason: In which way.
        now: When.
        artifact_id: The hash of the skill text that is used; the member is not in the specification.
    """
    part = replace(run.slices[0], status="progress")
    event = lifecycle_event("progress", now, part, reason=reason, artifact_id=artifact_id)
    return Transition(replace(run, slices=(part,)), [event])


def state_check(run: RunState, check: dict[str, Any], now: datetime) -> Transition:
    """State something about the check of its slice."""
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


def _unchecked(reason: str, now: datetime) -> dict[str, Any]:
    return {
        "state": "terminal_no_evaluation",
        "no_evaluation_attempted": True,
        "reason": reason,
        "recorded_at": format_iso(now),
    }


def _end_of(run: RunState, now: datetime) -> datetime:
    # The machine's clock may have been set back meanwhile; a run does not end before it began.
    return max(run.created_at, _kept(now))


def _kept(moment: datetime) -> datetime:
    # Moments are kept with milliseconds; a run in memory is the run as it will be read back.
    return datetime.fromisoformat(format_iso(moment))


def lifecycle_event(state: str, now: datetime, part: SliceState | None = None, **more: str | None) -> dict[str, Any]:
    """An event that tells a state of the run, or of its slice; members that are ``None`` are left out."""
    said = {name: value for name, value in more.items() if value is not None}
    return {**_place(part), "type": "lifecycle", "state": state, **said, "at": format_iso(now)}


def check_event(part: SliceState, check: dict[str, Any], now: datetime) -> dict[str, Any]:
    """An event that carries a statement about a slice's check."""
    return {**_place(part), "type": "recorded_check", "at": format_iso(now), "recorded_check": check}


def verification_event(part: SliceState, check: dict[str, Any], now: datetime) -> dict[str, Any]:
    """An event that carries one finished check of a slice's output."""
    return {**_place(part), "type": "verification_check", "at": format_iso(now), "verification_check": check}


def _place(part: SliceState | None) -> dict[str, str]:
    # A run-level event has no slice_id member at all: a null would keep a public client following for ever.
    return {} if part is None else {"slice_id": part.slice_id}
