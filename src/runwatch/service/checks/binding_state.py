"""State machine of the protected key of an output check or review agent: pure steps over a frozen state.

::

    unbound ──stage──▶ (pending) ──promote──▶ active ──revoke──▶ revoked ──stage, promote──▶ active
                           │                    │ ──stop date──▶ expired      (a new key restores)
                           └──failed test       └──other origin──▶ revoked (origin_invalidated)

A staged key is kept beside the one in use and does not affect it until promoted. Discarded keys are scheduled for
destruction and marked destroyed once their secret is removed (manual: interface, "Verifiers"). How long a staged key is
kept, and that every step raises the generation by one, is not in the specification.
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
"""Number of operations, and of destroyed keys, to remember."""

Status = Literal["unbound", "active", "revoked", "expired"]


@dataclass(frozen=True, slots=True)
class StagedKey:
    """A key that was entered and is not in use yet.

    Attributes:
        operation_key: The intent through which it was entered.
    """

    handle: str
    captured_generation: int
    staged_until: str
    operation_key: str
    origin: str
    stop: StopDate


@dataclass(frozen=True, slots=True)
class RetiredBindingKey:
    """A discarded key: ``scheduled_for_destruction``, then ``destroyed``."""

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
        kind: ``stage``, ``promote`` or ``revoke``.
        phase: ``admitted`` for a staged key, ``committed`` for a completed step.
        resulting_state: Handles after it.
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
        status: Whether a key is in use; if no longer, why.
        stop: Its stop date, kept after it has stopped.
        stop_reason: ``revoked``, ``origin_invalidated`` or ``stop_date``.
        retired: Discarded keys, oldest first.
        operations: Steps with a key of their own, oldest first.
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
        """Whether a key was in use and none is any longer."""
        return self.status in {"revoked", "expired"}

    @property
    def handles(self) -> set[str]:
        """Return the keys whose secrets must be kept."""
        return {handle for handle in (self.handle, self.pending and self.pending.handle) if handle}

    @property
    def doomed(self) -> list[str]:
        """Return the keys whose secrets must be removed."""
        return [key.handle for key in self.retired if key.state == "scheduled_for_destruction"]

    def operation(self, operation_key: str) -> BindingOperation | None:
        return next((step for step in reversed(self.operations) if step.operation_key == operation_key), None)


def advance_to(binding: Binding, now: datetime) -> Binding:
    """Apply everything that is due by time alone."""
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
    """Stage an entered key in place of an earlier staged one."""
    binding = _without_pending(binding, "replaced", format_iso(now))
    generation = binding.generation + 1
    pending = StagedKey(handle, generation, format_iso(now + STAGED_FOR), operation_key, origin, stop)
    staged = replace(binding, generation=generation, pending=pending)
    return _noted(staged, operation_key, "stage", "admitted", {"handle": handle}, now)


def find_staged(binding: Binding, handle: str, captured_generation: int) -> StagedKey:
    """Return the staged key requested for a test.

    Refuses with ``invalid_state`` when no key or a different key is staged.
    """
    pending = binding.pending
    if pending is None:
        raise RefusalError("invalid_state", "No key waits for its test. Begin with a new connection intent.")
    if pending.handle != handle or pending.captured_generation != captured_generation:
        raise RefusalError("invalid_state", "The connection has changed since this key was entered. Read it again.")
    return pending


def promote(binding: Binding, staged: StagedKey, operation_key: str | None, now: datetime) -> Binding:
    """Put a staged key that passed its test in place of the one in use."""
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
    """Discard a staged key that failed its test; the one in use is unaffected."""
    moment = format_iso(now)
    tested = KeyTestResult("failed", staged.handle, reason, moment)
    return replace(_without_pending(binding, "test_failed", moment), last_test=tested)


def revoke(binding: Binding, operation_key: str | None, now: datetime) -> Binding:
    """Stop using the key, and discard a staged one.

    Repeating an operation key has no effect, and a stopped key stays as it is. Refuses with ``invalid_state`` when
    there never was a key.
    """
    done = binding.operation(operation_key) if operation_key else None
    if done is not None and done.kind == "revoke":
        return binding
    if binding.status == "unbound" and binding.pending is None:
        raise RefusalError("invalid_state", "No key is in use, and none waits for its test.")
    handles = {"handle": binding.handle} if binding.handle else {}
    moment = format_iso(now)
    revoked = _without_pending(binding, "revoked", moment)
    if revoked.status == "active":
        revoked = _stopped(revoked, "revoked", "revoked", moment)
    return _noted(revoked, operation_key, "revoke", "committed", handles, now) if operation_key else revoked


def withdraw(binding: Binding, now: datetime) -> Binding:
    """Discard the staged key, because the API key used to enter it is not active."""
    return _without_pending(binding, "revoked", format_iso(now))


def follow_origin(binding: Binding, origin: str, now: datetime) -> Binding:
    """Record the endpoint's current origin: a key entered for another origin is never sent there."""
    moment = format_iso(now)
    if binding.pending is not None and binding.pending.origin != origin:
        binding = _without_pending(binding, "origin_invalidated", moment)
    if binding.status == "active" and binding.origin != origin:
        binding = _stopped(binding, "revoked", "origin_invalidated", moment)
    return binding


def destroyed(binding: Binding, handles: Collection[str], now: datetime) -> Binding:
    """Mark the keys whose secrets have been removed."""
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
