"""Recorded state of a live run beside its row: request choices, ranked options, provider calls, checks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from runwatch.base.json import ExactNumber
from runwatch.service import amounts
from runwatch.service.models.providers.error_kinds import REFUSALS
from runwatch.service.models.providers.prices import ESTIMATED

CANDIDATE: Final = "candidate"
SKILL_BASELINE: Final = "skill_baseline"
SKILL_DRAFT: Final = "skill_draft"
SKILL_REPAIR: Final = "skill_repair"
"""Phases of attempts. ``skill_draft`` is not in the specification: it is the call that rewrites a skill, whose answer
is no candidate and is not checked.
"""

STARTED: Final = "started"
ANSWERED: Final = "answered"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
CANCELLED_IN_FLIGHT: Final = "cancelled_in_flight"
EXPIRED_IN_FLIGHT: Final = "expired_in_flight"
"""States of attempts; not in the specification. The last three are calls whose response was not awaited: the service
stopped, the run was cancelled, or its time was over. Their usage is unknown, and they cannot be reversed.
"""

BASELINE_ID: Final = "vrf_builtin_baseline"
"""The built-in check, which tests whether there is any output (manual: interface, "Scores and policy")."""


def members_of(state: Any) -> dict[str, Any]:
    """Return the members of a dataclass with slots, for a column of JSON.

    Values are not copied, unlike with ``asdict``, whose copies take a tenth of a run's time without its model.
    """
    return {name: getattr(state, name) for name in state.__slots__}


@dataclass(frozen=True, slots=True)
class RankedArm:
    """A model arm that may work on the run, as of the ranking.

    Attributes:
        score: Ranking score, 0 to 1; see :mod:`runwatch.service.execution.routing`.
        selected: The arm as in the receipt: arm, provider, model, deployment, connection and lane.
        provenance: Unresolved ModelAttemptProvenance.
        connection_id: Its connection, also one of the pool, which ``selected`` leaves out.
    """

    arm_id: str
    score: float
    selected: dict[str, Any]
    provenance: dict[str, Any]
    connection_id: str | None = None


@dataclass(frozen=True, slots=True)
class Skill:
    """The skill arm used by ``repair_retry``, as of the ranking."""

    arm_id: str
    artifact_hash: str | None
    content: str
    editable_regions: list[str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One provider call.

    Attributes:
        number: Number of the call within the run, from 1; see :meth:`LiveRun.number_of` for the number that users see.
        reason: Reason of the run if it ends with this failure (manual: interface, "Reasons").
        failure_kind: One of :data:`runwatch.service.models.providers.types.KINDS`.
        body_kind: What came in place of an answer; see :data:`runwatch.records.failed_calls.BODY_TEXTS`.
        was_sent: Whether the call may have reached the provider.
        usd: Cost in US dollars; 0 when unknown.
        pricing_basis: Origin of ``usd``; ``None`` when the cost is unknown, nothing was sent, or the provider refused
            the call.
        resolved: The model that answered (manual: interface, "Model catalog, definitions and deployments").
        worst_usd: Cost in US dollars that a budget assumes while the real cost is unknown; ``None`` without a bound.
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
    retry_after_s: int | None = None
    body_kind: str | None = None
    content_type: str | None = None

    @property
    def is_cost_known(self) -> bool:
        """Whether the cost is known. A call that was not sent, or that the provider refused unread, costs nothing."""
        return not self.was_sent or self.pricing_basis is not None or self._is_refused

    @property
    def _is_refused(self) -> bool:
        """Whether the provider refused the call before a model read it."""
        return self.failure_kind in REFUSALS and self.input_tokens == 0 == self.output_tokens

    @property
    def checked_arm_id(self) -> str:
        return self.skill_arm_id or self.arm_id

    @property
    def is_usage_known(self) -> bool:
        """Whether the usage was reported, or the call was never sent."""
        return not self.was_sent or (self.input_tokens is not None and self.output_tokens is not None)


@dataclass(frozen=True, slots=True)
class FinishedCheck:
    """A finished check of one attempt's output.

    Attributes:
        form: The VerificationCheck (manual: interface, "Receipt fields"), under the name that stored runs have for it.
        declaration: Correctness declaration and revision of the check, as in the receipt.
    """

    form: dict[str, Any]
    anchor_results: dict[str, bool] | None
    declaration: dict[str, Any] | None
    at: str
    call: int | None = None

    @property
    def attempt(self) -> int:
        """Return the number of the checked call; older records have it in the form alone."""
        return int(self.form["attempt"]) if self.call is None else self.call

    @property
    def has_verdict(self) -> bool:
        """Whether the check could run; a technical failure is never a verdict."""
        return bool(self.form["outcome"] == "valid_verdict")

    @property
    def accepts(self) -> bool:
        """Whether the verdict is that the output is correct."""
        return self.has_verdict and self.form["is_correct"] is True

    @property
    def is_baseline(self) -> bool:
        return bool(self.form["activity"] == "platform_baseline")


@dataclass(frozen=True, slots=True)
class LiveRun:
    """Recorded facts of a live run that decide its next step.

    Attributes:
        verifier_id: The customer's check; ``None`` for the built-in one.
        required_arm_id: The only model arm that may run.
        on_eval: Reactions to a verdict, in the order to try them.
        options: Ranked options, best first.
        attempts: Provider calls, oldest first.
        checks: Finished checks, oldest first.
        acted_on_eval: How the policy reacted, once known.
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
    review_composer: dict[str, Any] | None = None

    @property
    def spend(self) -> Decimal:
        """Return the US dollars recorded so far, without calls of unknown cost."""
        return amounts.sum_amounts(Decimal(attempt.usd) for attempt in self.attempts)

    @property
    def unknown_calls(self) -> int:
        """Count the calls of unknown cost; what a call under way will cost is not known either."""
        return sum(not attempt.is_cost_known for attempt in self.attempts)

    @property
    def estimated_calls(self) -> int:
        return sum(attempt.pricing_basis == ESTIMATED for attempt in self.attempts)

    @property
    def worst_spend(self) -> Decimal | None:
        """Return the most US dollars that may have been spent so far, or ``None`` without a bound."""
        worst = [attempt.usd if attempt.is_cost_known else attempt.worst_usd for attempt in self.attempts]
        known = [Decimal(usd) for usd in worst if usd is not None]
        return amounts.sum_amounts(known) if len(known) == len(worst) else None

    @property
    def decisive(self) -> Attempt | None:
        """Return the attempt whose output was taken or judged last; the last attempt if there is no output."""
        answered = (attempt for attempt in reversed(self.attempts) if attempt.state == ANSWERED)
        return next(answered, self.attempts[-1] if self.attempts else None)

    def check_of(self, attempt: Attempt) -> FinishedCheck | None:
        return next((check for check in self.checks if check.attempt == attempt.number), None)

    def number_of(self, attempt: Attempt) -> int:
        """Return the number of an attempt to make an output, from 1. The call that rewrites a skill belongs to the
        attempt with the rewritten skill.
        """
        return sum(earlier.phase != SKILL_DRAFT for earlier in self.attempts if earlier.number < attempt.number) + 1

    def option_of(self, arm_id: str) -> RankedArm:
        return next(option for option in self.options if option.arm_id == arm_id)

    def attempt_in(self, phase: str) -> Attempt | None:
        return next((attempt for attempt in reversed(self.attempts) if attempt.phase == phase), None)


def to_json_value(usd: Decimal) -> str:
    """Format an amount as plain digits without exponent or trailing zeros."""
    return f"{usd.normalize():f}" if usd else "0"


def to_json_number(usd: Decimal) -> ExactNumber:
    """Convert an amount to a JSON number with plain digits."""
    return ExactNumber(to_json_value(usd))
