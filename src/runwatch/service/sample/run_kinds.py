"""Kinds of runs of the sample organization, and how each one ends.

A run is controlled by marks in its objective (:mod:`runwatch.service.models.providers.sample_provider`), by its policy,
and by its check; ``status`` and ``reason`` are the expected result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, Final

from runwatch.base.json import ExactNumber
from runwatch.service.execution.live.state import to_json_value
from runwatch.service.models.providers.sample_provider import BULLETS_WANTED, OBJECT_WANTED

TOPICS: Final = (
    "the sample meeting notes",
    "the sample release notes",
    "the sample incident report",
    "the sample customer letter",
    "the sample product page",
    "the sample survey answers",
    "the sample contract summary",
    "the sample test results",
)
WIDGETS: Final = "sample-organization/widgets"

TASKS: Final = ("Summarize", "Sort the main points of", "Draft a reply to", "Find the open questions in", "Shorten")

BULLETS: Final = f" Answer with {BULLETS_WANTED}."
OBJECT: Final = f" Answer with {OBJECT_WANTED}."
INVALID: Final = " [[text There is nothing to say.]]"
"""Endings of objectives: the required output format, and an output that no format check accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """A kind of run.

    Attributes:
        check: The output check, by the name of its endpoint; see :mod:`runwatch.service.checks.sample_checks`.
        arm: The required model, by its name in :data:`runwatch.service.sample.models.MODELS`, or the agent.
    """

    name: str
    status: str = "completed"
    reason: str | None = None
    end: str = ""
    mode: str = "live"
    check: str | None = None
    on_eval: tuple[str, ...] = ()
    arm: str | None = None
    is_review: bool = False
    data_classes: tuple[str, ...] = ("public",)
    max_cost_usd: Decimal = field(default=Decimal("0.25"))
    max_runtime_s: int = 120
    cost_coefficient: float | None = None
    cancel_after_s: float | None = None
    least: int = 1
    weight: int = 1


def build_request(work: RunKind, chance: Random, arms: Mapping[str, str], checks: Mapping[str, str]) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "data_classes": list(work.data_classes),
        "budget": {"max_cost_usd": ExactNumber(to_json_value(work.max_cost_usd)), "max_runtime_s": work.max_runtime_s},
    }
    if work.cost_coefficient is not None:
        policy["cost_coefficient"] = work.cost_coefficient
    if work.on_eval:
        policy["on_eval"] = list(work.on_eval)
    objective = f"{chance.choice(TASKS)} {chance.choice(TOPICS)}.{work.end}"
    body: dict[str, Any] = {"mode": work.mode, "task": {"objective": objective}, "policy": policy}
    if work.check is not None:
        body["verifier_id"] = checks[work.check]
    if work.is_review:
        body["review_composer"] = {
            "version": "v1",
            "repository": WIDGETS,
            "base_ref": "main",
            "base_sha": f"{chance.getrandbits(160):040x}",
            "agent_arm_id": arms[work.arm or ""],
            "sources": [{"id": "github", "minimum_approvals": 1}, {"id": "coderabbit"}],
            "combine": "all",
            "veto_sources": ["coderabbit"],
        }
    elif work.arm is not None:
        body["routing"] = {"required_arm_id": arms[work.arm]}
    return body


def _echo(name: str, **more: Any) -> RunKind:
    usual: dict[str, Any] = {"max_cost_usd": Decimal("0.01"), "max_runtime_s": 60}
    return RunKind(name=name, mode="echo", data_classes=("public", "sandbox"), **usual | more)


def _failing(reason: str, end: str, **more: Any) -> RunKind:
    return RunKind(name=reason, status="failed", reason=reason, end=end, **more)


CAREFUL: Final = 0.1
"""Weight of cost that ranks better models first; 1.0 ranks the cheapest first."""

REPAIR: Final = RunKind(
    name="repair_proposed",
    check="five-bullets",
    on_eval=("repair_retry",),
    arm="ember-classic",
    least=6,
    weight=2,
)
"""Rejected twice, repaired, accepted; creates a proposal."""

HISTORY: Final = (
    REPAIR,
    _echo("echo", least=2, weight=30),
    _echo("echo_cancelled", status="cancelled", reason="cancelled", cancel_after_s=1.2, weight=3),
    _echo("echo_expired", status="expired", reason="runtime_exceeded", max_runtime_s=1, weight=2),
    RunKind(name="plain", weight=30),
    RunKind(name="plain_careful", cost_coefficient=CAREFUL, data_classes=("tenant_internal",), weight=10),
    RunKind(name="long_answer", end=" [[long 3000]]", cost_coefficient=CAREFUL, weight=6),
    RunKind(name="checked", end=BULLETS, check="five-bullets", cost_coefficient=CAREFUL, weight=14),
    RunKind(name="checked_by_key", check="protected", weight=5),
    RunKind(
        name="gate_passed", end=OBJECT, check="json-object", on_eval=("gate",), cost_coefficient=CAREFUL, weight=10
    ),
    RunKind(name="verdict_recorded", check="five-bullets", weight=4),
    RunKind(name="fell_back", end=OBJECT, check="json-object", on_eval=("fallback",), cost_coefficient=1.0, weight=8),
    RunKind(
        name="fell_back_after_failure", end=" [[fail capacity on river/river-mini]] [[fail capacity on ember-small]]",
        on_eval=("fallback",), cost_coefficient=1.0, weight=4,
    ),
    RunKind(
        name="repair_accepted", check="five-bullets", on_eval=("repair_retry",), data_classes=("tenant_internal",),
        cost_coefficient=CAREFUL, weight=2,
    ),
    RunKind(name="reviewed", is_review=True, arm="reviewer", data_classes=("tenant_internal",), least=2, weight=2),
    RunKind(name="check_timeout", check="slow", weight=2),
    RunKind(name="check_invalid", check="invalid", weight=2),
    RunKind(name="check_refuses", check="unauthorised"),
    RunKind(name="check_fails", check="http-500"),
    RunKind(name="check_without_key", check="unlocked"),
    RunKind(
        name="rejected", status="failed", reason="rejected_by_check", end=INVALID, check="five-bullets",
        on_eval=("gate",), weight=4,
    ),
    RunKind(
        name="repair_rejected", status="failed", reason="rejected_by_check", end=INVALID, check="five-bullets",
        on_eval=("repair_retry",), cost_coefficient=CAREFUL,
    ),
    RunKind(
        name="fallback_rejected", status="failed", reason="fallback_exhausted", end=INVALID, check="json-object",
        on_eval=("fallback",), arm="ember-small", weight=2,
    ),
    RunKind(name="unjudged", status="failed", reason="check_unavailable", check="http-500", on_eval=("gate",)),
    _failing("fallback_exhausted", " [[fail rate_limited]]", on_eval=("fallback",)),
    _failing(
        "cost_budget_exhausted", INVALID, check="json-object", on_eval=("fallback",), max_cost_usd=Decimal("0.000001")
    ),
    _failing("no_eligible_arms", "", data_classes=("sandbox", "tenant_internal")),
    _failing("arm_not_ready", "", arm="no-route"),
    _failing("dispatch_timeout", " [[fail timeout]]", max_runtime_s=900),
    _failing("dispatch_network_error", " [[fail network]]"),
    _failing("dispatch_internal_error", " [[fail source_5xx]]", weight=2),
    _failing("response_too_large", " [[fail response_too_large]]"),
    _failing("candidate_too_large", " [[slow 40]] [[long 1100000]]", arm="river-mini"),
    RunKind(
        name="expired", status="expired", reason="runtime_exceeded", end=" [[slow 90]]", max_runtime_s=30, weight=3
    ),
    RunKind(name="cancelled", status="cancelled", reason="cancelled", end=" [[slow 20]]", cancel_after_s=6, weight=4),
)  # fmt: skip
"""Runs of the past."""

_NORTH_DOWN: Final = " ".join(
    f"[[fail network on {model}]]" for model in ("ember-small", "ember-large", "ember-classic")
)
_NORTH_FAILS: Final = _failing("dispatch_network_error", " [[fail network]]", arm="ember-small")
_NORTH_WORKS: Final = RunKind(name="plain", arm="ember-small")
_ELSEWHERE: Final = RunKind(name="plain", arm="river-pro")

INCIDENT: Final = (
    (68, _NORTH_WORKS), (61, _NORTH_WORKS), (55, _NORTH_FAILS), (52, _NORTH_FAILS), (47, _ELSEWHERE),
    (41, _NORTH_FAILS), (36, _NORTH_WORKS), (33, _NORTH_FAILS), (27, _NORTH_FAILS), (22, _NORTH_FAILS),
    (16, _ELSEWHERE),
)  # fmt: skip
"""Runs of the last hour, each with the minutes since it started: one provider has network failures, so that the console
has something to find.
"""

BACKGROUND: Final = (
    _echo("echo", weight=2),
    RunKind(name="plain", end=" [[slow 4]]", arm="river-mini", weight=4),
    RunKind(name="plain_slow", end=" [[slow 9]]", arm="cedar-standard", data_classes=("tenant_internal",), weight=2),
    RunKind(name="checked", end=f"{BULLETS} [[slow 3]]", check="five-bullets", arm="river-pro", weight=3),
    RunKind(name="gate_passed", end=f"{OBJECT} [[slow 3]]", check="json-object", on_eval=("gate",), weight=2,
         arm="cedar-deep"),
    RunKind(name="fell_back", end=f"{OBJECT} [[slow 2]] {_NORTH_DOWN}", check="json-object", on_eval=("fallback",),
         weight=3, cost_coefficient=1.0),
    _failing("dispatch_network_error", f" [[slow 2]] {_NORTH_DOWN}", arm="ember-small", weight=4),
    RunKind(name="rejected", status="failed", reason="rejected_by_check", end=f"{INVALID} [[slow 3]]",
         check="five-bullets", on_eval=("gate",), arm="river-pro"),
    RunKind(name="check_invalid", end=" [[slow 2]]", check="invalid", arm="river-mini"),
    RunKind(name="expired", status="expired", reason="runtime_exceeded", end=" [[slow 30]]", max_runtime_s=6,
         arm="cedar-deep"),
    RunKind(name="cancelled", status="cancelled", reason="cancelled", end=" [[slow 20]]", cancel_after_s=5,
         arm="river-mini"),
)  # fmt: skip
"""Runs submitted in the background; each takes a few seconds. The provider of :data:`INCIDENT` goes on failing."""

STEADY: Final = RunKind(
    name="repair_accepted",
    end=" [[slow 20]]",
    check="five-bullets",
    on_eval=("repair_retry",),
    data_classes=("tenant_internal",),
    arm="cedar-standard",
)
"""A run that is live for two slow calls of its model, 40 seconds: rejected, repaired, accepted."""
