"""How a run moves: the state machine, pure (specification, States; wire reference 3.1, 3.2, 6.5 and 6.7).

A run's recorded state alone says which step comes next, so that a run goes on after a restart where it stood. A test
run goes accepted → queued → running → its slice running → the platform's test check → slice completed → completed. A
live run goes accepted → queued and fails there, because no provider is connected to this service and so no arm is
eligible. Cancelling and the runtime cap end a run in any of these states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from runwatch.base.clock import iso
from runwatch.base.json import dumps
from runwatch.records.states import is_final
from runwatch.service.ids import new_id

ECHO_IDENTITY: Final = "platform.echo"
ECHO_CHECK: Final = "platform_test"
CAPABILITY: Final = "text.generate"


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a run's work.

    Attributes:
        slice_id: Its id.
        capability: What it needs an arm to be able to do.
        status: One of the states that runs have too.
        recorded_check: The latest statement about its check, in the form of wire reference 3.4.
    """

    slice_id: str
    capability: str
    status: str
    recorded_check: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Run:
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
        spend_usd: US dollars recorded so far, as decimal digits.
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
    slices: tuple[Slice, ...]
    spend_usd: str = "0"
    reason: str | None = None
    cancelled_by: str | None = None
    completed_at: datetime | None = None

    @property
    def is_final(self) -> bool:
        """Whether the run never changes again."""
        return is_final(self.status)

    def time_left(self, now: datetime) -> float:
        """Seconds until the runtime cap; negative when it is over."""
        return self.max_runtime_s - (now - self.created_at).total_seconds()


class Change(NamedTuple):
    """A run after a step, and the events that tell of it, without their ids."""

    run: Run
    events: list[dict[str, Any]]


class Step(NamedTuple):
    """The next thing that happens to a run: how many seconds it takes, and what it changes."""

    wait_s: float
    take: Callable[[Run, datetime], Change]


def next_step(run: Run) -> Step | None:
    """The step that follows from the recorded state, or ``None`` when the run is final."""
    if run.is_final:
        return None
    if run.status == "accepted":
        return Step(0.02, _queue)
    if run.status == "queued":
        return Step(0.03, _start if run.mode == "echo" else _find_no_arm)
    part = run.slices[0]
    if part.status == "queued":
        return Step(0.01, _start_slice)
    if part.recorded_check is None:
        return Step(0.05, _check_slice)
    if part.status == "running":
        return Step(0.01, _complete_slice)
    return Step(0.01, _complete)


def new_run(*, tenant_id: str, mode: str, policy: Any, max_runtime_s: float, now: datetime) -> Run:
    """A run as it is accepted, with one slice."""
    return Run(
        execution_id=new_id("ex", now),
        tenant_id=tenant_id,
        mode=mode,
        status="accepted",
        policy=dumps(policy),
        max_runtime_s=max_runtime_s,
        created_at=_kept(now),
        slices=(Slice(new_id("sl", now), CAPABILITY, "accepted"),),
    )


def accept(run: Run) -> Change:
    """The acceptance of a new run."""
    return Change(run, [_lifecycle(run.status, run.created_at)])


def end(run: Run, status: str, reason: str, now: datetime, *, acted_by: str | None = None) -> Change:
    """End a run before its work is done: ``cancelled``, ``expired`` or ``failed``.

    Every slice that is not final ends with it, and one that was not checked says that no check was attempted.
    """
    slices = []
    events = []
    for part in run.slices:
        if is_final(part.status):
            slices.append(part)
            continue
        check = part.recorded_check
        if check is None:
            check = {
                "state": "terminal_no_evaluation",
                "no_evaluation_attempted": True,
                "reason": reason,
                "recorded_at": iso(now),
            }
            events.append(_check_event(part, check, now))
        slices.append(replace(part, status=status, recorded_check=check))
        events.append(_lifecycle(status, now, part, reason=reason, acted_by=acted_by))
    events.append(_lifecycle(status, now, reason=reason, acted_by=acted_by))
    ended = replace(
        run, status=status, slices=tuple(slices), reason=reason, cancelled_by=acted_by, completed_at=_end_of(run, now)
    )
    return Change(ended, events)


def _queue(run: Run, now: datetime) -> Change:
    slices = tuple(replace(part, status="queued") for part in run.slices)
    return Change(replace(run, status="queued", slices=slices), [_lifecycle("queued", now)])


def _start(run: Run, now: datetime) -> Change:
    return Change(replace(run, status="running"), [_lifecycle("running", now)])


def _find_no_arm(run: Run, now: datetime) -> Change:
    return end(run, "failed", "no_eligible_arms", now)


def _start_slice(run: Run, now: datetime) -> Change:
    part = replace(run.slices[0], status="running")
    return Change(replace(run, slices=(part,)), [_lifecycle("running", now, part)])


def _check_slice(run: Run, now: datetime) -> Change:
    check = {"state": ECHO_CHECK, "identity": ECHO_IDENTITY, "recorded_at": iso(now)}
    part = replace(run.slices[0], recorded_check=check)
    return Change(replace(run, slices=(part,)), [_check_event(part, check, now)])


def _complete_slice(run: Run, now: datetime) -> Change:
    part = replace(run.slices[0], status="completed")
    return Change(replace(run, slices=(part,)), [_lifecycle("completed", now, part)])


def _complete(run: Run, now: datetime) -> Change:
    return Change(replace(run, status="completed", completed_at=_end_of(run, now)), [_lifecycle("completed", now)])


def _end_of(run: Run, now: datetime) -> datetime:
    # The machine's clock may have been set back meanwhile; a run does not end before it began.
    return max(run.created_at, _kept(now))


def _kept(moment: datetime) -> datetime:
    # Moments are kept with milliseconds; a run in memory is the run as it will be read back.
    return datetime.fromisoformat(iso(moment))


def _lifecycle(state: str, now: datetime, part: Slice | None = None, **more: str | None) -> dict[str, Any]:
    said = {name: value for name, value in more.items() if value is not None}
    return {**_place(part), "type": "lifecycle", "state": state, **said, "at": iso(now)}


def _check_event(part: Slice, check: dict[str, Any], now: datetime) -> dict[str, Any]:
    return {**_place(part), "type": "recorded_check", "at": iso(now), "recorded_check": check}


def _place(part: Slice | None) -> dict[str, str]:
    # A run-level event has no slice_id member at all: a null would keep a public client following for ever.
    return {} if part is None else {"slice_id": part.slice_id}
