"""What becomes of the protected key of an output check or a review agent: pure steps over a frozen state.

::

    unbound ──stage──▶ (pending) ──promote──▶ active ──revoke──▶ revoked ──stage, promote──▶ active
                           │                    │ ──stop date──▶ expired      (a new key restores)
                           └──failed test       └──other origin──▶ revoked (origin_invalidated)

A staged key waits beside the one in use and touches it only when it is promoted. Keys that are let go of are scheduled
for destruction and marked as destroyed once their secret is gone. The states and members are those of wire reference
2.4; how long a staged key waits, and that every step raises the generation by one, is ours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from runwatch.base.clock import format_iso
from runwatch.service.checks.stop_date import NEVER, StopDate
from runwatch.service.errors import RefusalError

STAGED_FOR: Final = timedelta(hours=24)
"""How long a staged key waits for its test."""

KEPT: Final = 20
"""How many operations, and how many destroyed keys, are remembered."""

Status = Literal["unbound", "active", "revoked", "expired"]


@dataclass(frozen=True, slots=True)
class StagedKey:
    """A key that was entered and is not in use yet.

    Attributes:
        handle: Names it in the vault.
        captured_generation: The generation that came of its staging.
        staged_until: When it is forgotten.
        operation_key: The intent by which it was entered.
        origin: The origin that it was entered for.
        stop: When it shall stop once it is in use.
    """

    handle: str
    captured_generation: int
    staged_until: str
    operation_key: str
    origin: str
    stop: StopDate


@dataclass(frozen=True, slots=True)
class RetiredBindingKey:
    """A key that was let go of: ``scheduled_for_destruction``, then ``destroyed``."""

    handle: str
    state: str
    reason: str | None
    retired_at: str
    destroyed_at: str | None = None


@dataclass(frozen=True, slots=True)
class KeyTestResult:
    """The last test of a staged key: ``passed`` or ``failed``, with the reason of a failure."""

    outcome: str
    handle: str
    reason: str | None
    at: str


@dataclass(frozen=True, slots=True)
class BindingOperation:
    """One step that a caller can look up by its key.

    Attributes:
        operation_key: Under which it is looked up.
        kind: ``stage``, ``promote`` or ``revoke``.
        phase: ``admitted`` for a staged key, ``committed`` for what is done.
        generation: What it made the generation.
        resulting_state: Handles after it.
        recorded_at: When.
    """

    operation_key: str
    kind: str
    phase: str
    generation: int
    resulting_state: Mapping[str, str]
    recorded_at: str


@dataclass(frozen=True, slots=True)
class Binding:
    """The protected connection of one subject.

    Attributes:
        generation: Grows with every step.
        status: Whether a key is in use, and if not any more, why.
        handle: Names the key in use.
        origin: The origin to which it is sent.
        stop: When it stops; kept once it has.
        stopped_at: When it did.
        stop_reason: ``revoked``, ``origin_invalidated`` or ``stop_date``.
        pending: A staged key.
        last_test: The last test of a staged key.
        retired: Keys that were let go of, the oldest first.
        operations: Steps with a key of their own, the oldest first.
    """

    generation: int = 0
    status: Status = "unbound"
    handle: str | None = None
    origin: str | None = None
    stop: StopDate = NEVER
    stopped_at: str | None = None
    stop_reason: str | None = None
    pending: StagedKey | None = None
    last_test: KeyTestResult | None = None
    retired: tuple[RetiredBindingKey, ...] = ()
    operations: tuple[BindingOperation, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether a key was in use and none is any more."""
        return self.status in {"revoked", "expired"}

    @property
    def handles(self) -> set[str]:
        """The keys whose secrets have to stay."""
        return {handle for handle in (self.handle, self.pending and self.pending.handle) if handle}

    @property
    def doomed(self) -> list[str]:
        """The keys whose secrets have to go."""
        return [key.handle for key in self.retired if key.state == "scheduled_for_destruction"]

    def operation(self, operation_key: str) -> BindingOperation | None:
        """The last step with this key."""
        return next((step for step in reversed(self.operations) if step.operation_key == operation_key), None)


def advance_to(binding: Binding, now: datetime) -> Binding:
    """The binding once everything has happened that the time alone brings about."""
    moment = format_iso(now)
    if binding.status == "active" and binding.stop.at is not None and binding.stop.at <= moment:
        binding = _stopped(binding, "expired", "stop_date", binding.stop.at)
    pending = binding.pending
    if pending is not None:
        if pending.stop.at is not None and pending.stop.at <= moment:
            binding = _without_pending(binding, "stop_date", pending.stop.at)
        elif pending.staged_until <= moment:
            binding = _without_pending(binding, "not_tested", pending.staged_until)
    return binding


def stage(binding: Binding, handle: str, origin: str, stop: StopDate, operation_key: str, now: datetime) -> Binding:
    """A key was entered; one that waited before gives way."""
    binding = _without_pending(binding, "replaced", format_iso(now))
    generation = binding.generation + 1
    pending = StagedKey(handle, generation, format_iso(now + STAGED_FOR), operation_key, origin, stop)
    staged = replace(binding, generation=generation, pending=pending)
    return _noted(staged, operation_key, "stage", "admitted", {"handle": handle}, now)


def find_staged(binding: Binding, handle: str, captured_generation: int) -> StagedKey:
    """The staged key that a test is asked for.

    Raises:
        Refusal: ``invalid_state``, when there is none, or another one by now.
    """
    pending = binding.pending
    if pending is None:
        raise RefusalError("invalid_state", "No key waits for its test. Begin with a new connection intent.")
    if pending.handle != handle or pending.captured_generation != captured_generation:
        raise RefusalError("invalid_state", "The connection has changed since this key was entered. Read it again.")
    return pending


def promote(binding: Binding, staged: StagedKey, operation_key: str | None, now: datetime) -> Binding:
    """The staged key passed its test: it takes the place of the one in use."""
    generation, moment = binding.generation + 1, format_iso(now)
    handles = {"handle": staged.handle} | ({"replaced_handle": binding.handle} if binding.handle else {})
    promoted = replace(
        _retiring(binding, binding.handle, "replaced", moment),
        generation=generation,
        status="active",
        handle=staged.handle,
        origin=staged.origin,
        stop=staged.stop,
        stopped_at=None,
        stop_reason=None,
        pending=None,
        last_test=KeyTestResult("passed", staged.handle, None, moment),
    )
    for key in dict.fromkeys((staged.operation_key, operation_key or staged.operation_key)):
        promoted = _noted(promoted, key, "promote", "committed", handles, now)
    return promoted


def fail_test(binding: Binding, staged: StagedKey, reason: str, now: datetime) -> Binding:
    """The staged key failed its test and is let go of; the one in use is untouched."""
    moment = format_iso(now)
    tested = KeyTestResult("failed", staged.handle, reason, moment)
    return replace(_without_pending(binding, "test_failed", moment), last_test=tested)


def revoke(binding: Binding, operation_key: str | None, now: datetime) -> Binding:
    """Stop the use of the key, and forget the one that waits.

    The same operation key stops nothing twice, and what is stopped already stays as it is.

    Raises:
        Refusal: ``invalid_state``, when there never was a key.
    """
    done = binding.operation(operation_key) if operation_key else None
    if done is not None and done.kind == "revoke":
        return binding
    if binding.status == "unbound" and binding.pending is None:
        raise RefusalError("invalid_state", "No key is connected.")
    handles = {"handle": binding.handle} if binding.handle else {}
    moment = format_iso(now)
    revoked = _without_pending(binding, "revoked", moment)
    if revoked.status == "active":
        revoked = _stopped(revoked, "revoked", "revoked", moment)
    return _noted(revoked, operation_key, "revoke", "committed", handles, now) if operation_key else revoked


def withdraw(binding: Binding, now: datetime) -> Binding:
    """Let go of the staged key, because the API key that it was entered with is not active."""
    return _without_pending(binding, "revoked", format_iso(now))


def follow_origin(binding: Binding, origin: str, now: datetime) -> Binding:
    """The endpoint is at this origin now: a key that was entered for another one is never sent there."""
    moment = format_iso(now)
    if binding.pending is not None and binding.pending.origin != origin:
        binding = _without_pending(binding, "origin_invalidated", moment)
    if binding.status == "active" and binding.origin != origin:
        binding = _stopped(binding, "revoked", "origin_invalidated", moment)
    return binding


def destroyed(binding: Binding, handles: Collection[str], now: datetime) -> Binding:
    """The secrets of these keys are gone."""
    marked = [
        replace(key, state="destroyed", destroyed_at=format_iso(now)) if key.handle in handles else key
        for key in binding.retired
    ]
    waiting = [key for key in marked if key.state != "destroyed"]
    gone = [key for key in marked if key.state == "destroyed"][-KEPT:]
    return replace(binding, retired=tuple(sorted((*gone, *waiting), key=lambda key: key.retired_at)))


def _stopped(binding: Binding, status: Status, reason: str, at: str) -> Binding:
    retired = _retiring(binding, binding.handle, reason, at)
    return replace(
        retired, generation=binding.generation + 1, status=status, handle=None, stopped_at=at, stop_reason=reason
    )


def _without_pending(binding: Binding, reason: str, at: str) -> Binding:
    if binding.pending is None:
        return binding
    retired = _retiring(binding, binding.pending.handle, reason, at)
    return replace(retired, generation=binding.generation + 1, pending=None)


def _retiring(binding: Binding, handle: str | None, reason: str, at: str) -> Binding:
    if handle is None:
        return binding
    return replace(
        binding, retired=(*binding.retired, RetiredBindingKey(handle, "scheduled_for_destruction", reason, at))
    )


def _noted(
    binding: Binding, operation_key: str, kind: str, phase: str, handles: Mapping[str, str], now: datetime
) -> Binding:
    result = {**handles, "operation_key": operation_key}
    step = BindingOperation(operation_key, kind, phase, binding.generation, result, format_iso(now))
    return replace(binding, operations=(*binding.operations, step)[-KEPT:])
