"""What is recorded of a live run beside its row: choices of the request, ranked options, provider calls, checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from runwatch.base.json import ExactNumber
from runwatch.service import amounts
from runwatch.service.models.providers.error_kinds import REFUSALS

CANDIDATE: Final = "candidate"
SKILL_BASELINE: Final = "skill_baseline"
SKILL_DRAFT: Final = "skill_draft"
SKILL_REPAIR: Final = "skill_repair"
"""Phases of attempts. Wire reference 3.4 names all but ``skill_draft``, which is ours: the call that rewrites a skill,
whose answer is no candidate and goes through no check."""

STARTED: Final = "started"
ANSWERED: Final = "answered"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
CANCELLED_IN_FLIGHT: Final = "cancelled_in_flight"
EXPIRED_IN_FLIGHT: Final = "expired_in_flight"
"""States of attempts (ours). The last three are calls whose answer nobody waited for to the end: the service stopped,
the run was cancelled, its time was over. What they used is not known, and the calls cannot be reversed."""

BASELINE_ID: Final = "vrf_builtin_baseline"
"""The built-in check, which looks at whether there is output at all (wire reference 4.3)."""


@dataclass(frozen=True, slots=True)
class RankedArm:
    """A model arm that may work on the run, as it was when the options were ranked.

    Attributes:
        arm_id: The arm.
        score: What it was ranked by, 0 to 1; see :mod:`runwatch.service.execution.routing`.
        selected: The receipt's words for it: arm, provider, model, deployment, connection and lane.
        provenance: The ModelAttemptProvenance of wire reference 2.5, not yet resolved.
    """

    arm_id: str
    score: float
    selected: dict[str, Any]
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Skill:
    """The skill arm that ``repair_retry`` works with, as it was when the options were ranked.

    Attributes:
        arm_id: The arm.
        artifact_hash: The hash of its artifact.
        content: The artifact's text.
        editable_regions: Names of the regions that may be rewritten.
    """

    arm_id: str
    artifact_hash: str | None
    content: str
    editable_regions: list[str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One provider call.

    Attributes:
        number: Its number within the run, from 1.
        arm_id: The model arm that is called.
        skill_arm_id: The skill arm that the call goes through.
        phase: One of the phases above.
        state: One of the states above.
        started_at: When it was begun.
        ended_at: When its end was recorded.
        reason: Why the run would end with it, one of wire reference 3.3, where it failed.
        failure_kind: What went wrong with the call, in the words of :data:`runwatch.service.models.providers.KINDS`.
        http_status: The status with which the provider refused the call.
        was_sent: Whether the provider may have got the call.
        input_tokens: Tokens read; ``None`` where nobody told.
        output_tokens: Tokens written; likewise.
        usd: What it cost in US dollars; 0 where that is not known.
        pricing_basis: Where ``usd`` is from; ``None`` where the cost is not known, nothing was sent, or the provider
            refused the call.
        resolved: Which model answered, as in wire reference 2.5.
        candidate: The output, until the run is final.
        worst_usd: What a budget assumes the call to cost in US dollars while its cost is not known; ``None`` where
            nothing bounds that.
    """

    number: int
    arm_id: str
    skill_arm_id: str | None
    phase: str
    state: str
    started_at: str
    ended_at: str | None = None
    reason: str | None = None
    failure_kind: str | None = None
    was_sent: bool = True
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: str = "0"
    pricing_basis: str | None = None
    resolved: dict[str, Any] | None = None
    candidate: str | None = None
    worst_usd: str | None = None
    http_status: int | None = None

    @property
    def is_cost_known(self) -> bool:
        """Whether the cost is known; a call that was not sent, or that the provider refused unread, costs nothing."""
        return not self.was_sent or self.pricing_basis is not None or self._is_refused

    @property
    def _is_refused(self) -> bool:
        """Whether the provider refused the call before a model read it."""
        return self.failure_kind in REFUSALS and self.input_tokens == 0 == self.output_tokens

    @property
    def checked_arm_id(self) -> str:
        """The arm whose output this is."""
        return self.skill_arm_id or self.arm_id

    @property
    def is_usage_known(self) -> bool:
        """Whether somebody told what the call used, or it never went out."""
        return not self.was_sent or (self.input_tokens is not None and self.output_tokens is not None)


@dataclass(frozen=True, slots=True)
class FinishedCheck:
    """A finished check of one attempt's output.

    Attributes:
        form: The VerificationCheck of wire reference 3.4.
        anchor_results: Verdicts of single anchors, where the check gives any.
        declaration: The check's correctness declaration with its revision, as the receipt shows it.
        at: When it was finished.
    """

    form: dict[str, Any]
    anchor_results: dict[str, bool] | None
    declaration: dict[str, Any] | None
    at: str

    @property
    def attempt(self) -> int:
        """The number of the attempt."""
        return int(self.form["attempt"])

    @property
    def has_verdict(self) -> bool:
        """Whether it could be run at all; a technical failure is never a verdict."""
        return bool(self.form["outcome"] == "valid_verdict")

    @property
    def accepts(self) -> bool:
        """Whether its verdict is that the output is correct."""
        return self.has_verdict and self.form["is_correct"] is True

    @property
    def is_baseline(self) -> bool:
        """Whether it is the built-in one."""
        return bool(self.form["activity"] == "platform_baseline")


@dataclass(frozen=True, slots=True)
class LiveRun:
    """Everything recorded of a live run that decides how it goes on.

    Attributes:
        verifier_id: The customer's check, ``None`` for the built-in one.
        required_arm_id: The one model arm that may run.
        on_eval: Reactions to a verdict, in the order in which they are tried.
        max_cost_usd: The cost cap.
        options: Ranked options, best first.
        skill: What ``repair_retry`` works with, where there is something.
        attempts: Provider calls, oldest first.
        checks: Finished checks, oldest first.
        acted_on_eval: How the policy reacted, once that is known.
    """

    verifier_id: str | None
    required_arm_id: str | None
    on_eval: tuple[str, ...]
    max_cost_usd: Decimal
    options: tuple[RankedArm, ...] = ()
    skill: Skill | None = None
    attempts: tuple[Attempt, ...] = ()
    checks: tuple[FinishedCheck, ...] = ()
    acted_on_eval: dict[str, Any] | None = None

    @property
    def spend(self) -> Decimal:
        """US dollars recorded so far, without the calls whose cost is not known."""
        return sum_spend(self.attempts)

    @property
    def unknown_calls(self) -> int:
        """How many calls have ended without their cost being known."""
        return sum(attempt.state != STARTED and not attempt.is_cost_known for attempt in self.attempts)

    @property
    def worst_spend(self) -> Decimal | None:
        """US dollars that may have been spent so far at the most; ``None`` where nothing bounds them."""
        worst = [attempt.usd if attempt.is_cost_known else attempt.worst_usd for attempt in self.attempts]
        known = [Decimal(usd) for usd in worst if usd is not None]
        return amounts.sum_amounts(known) if len(known) == len(worst) else None

    def check_of(self, attempt: Attempt) -> FinishedCheck | None:
        """The check of an attempt's output, once it is finished."""
        return next((check for check in self.checks if check.attempt == attempt.number), None)

    def option_of(self, arm_id: str) -> RankedArm:
        """The option of a model arm that was ranked."""
        return next(option for option in self.options if option.arm_id == arm_id)

    def attempt_in(self, phase: str) -> Attempt | None:
        """The last attempt of a phase."""
        return next((attempt for attempt in reversed(self.attempts) if attempt.phase == phase), None)


def sum_spend(attempts: Iterable[Attempt]) -> Decimal:
    """What some attempts cost together, in US dollars."""
    return amounts.sum_amounts(Decimal(attempt.usd) for attempt in attempts)


def to_json_value(usd: Decimal) -> str:
    """An amount as plain digits, without an exponent or zeros at its end."""
    return f"{usd.normalize():f}" if usd else "0"


def to_json_number(usd: Decimal) -> ExactNumber:
    """An amount as a JSON number with plain digits."""
    return ExactNumber(to_json_value(usd))
