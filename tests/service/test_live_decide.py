"""What follows from the recorded state of a live run, and how a skill is repaired: the pure parts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from runwatch.service.execution.live.next_live_step import (
    AcceptOutput,
    CallProvider,
    FailRun,
    LiveStep,
    RecordInterruption,
    RunCheck,
    next_live_step,
    reaction_to_rejections,
)
from runwatch.service.execution.live.skill import (
    REPAIR_CHARACTERS,
    apply_repair,
    build_repair_request,
    diff_region,
    find_skill_region,
)
from runwatch.service.execution.live.state import (
    Attempt,
    FinishedCheck,
    LiveRun,
    RankedArm,
    Skill,
    to_json_number,
    to_json_value,
)

SKILL = Skill("arm_s", "sha256:5", "Plain.\n[[region:a]]\nold\n[[/region:a]]\nEnd.", ["none", "a"])
OPTIONS = tuple(RankedArm(f"arm_{name}", 0.5, {}, {}) for name in "abc")


def attempt(number: int, arm: str = "a", state: str = "answered", phase: str = "candidate", **more: Any) -> Attempt:
    skilled = None if phase == "candidate" else SKILL.arm_id
    basis = "source_reported" if state == "answered" else None
    told = {"pricing_basis": basis, "worst_usd": "0.01", **more}
    return Attempt(number, f"arm_{arm}", skilled, phase, state, "2026-11-21T12:00:00.000Z", **told)


def accepts(number: int) -> FinishedCheck:
    """A check that accepts an attempt's output."""
    return _check(number, outcome="valid_verdict", is_correct=True)


def rejects(number: int) -> FinishedCheck:
    """A check that rejects an attempt's output."""
    return _check(number, outcome="valid_verdict", is_correct=False)


def no_verdict(number: int) -> FinishedCheck:
    """A check that could not look at an attempt's output."""
    return _check(number, outcome="technical_failure", is_correct=None)


def _check(number: int, **form: object) -> FinishedCheck:
    return FinishedCheck({"attempt": number, "activity": "customer", **form}, None, None, "2026-11-21T12:00:00.000Z")


def live(
    *on_eval: str, attempts: tuple[Attempt, ...] = (), checks: tuple[FinishedCheck, ...] = (), cap: str = "1"
) -> LiveRun:
    return LiveRun("vrf_1", None, on_eval, Decimal(cap), OPTIONS, None, attempts, checks)


def test_the_best_option_is_called_first() -> None:
    assert next_live_step(live()) == CallProvider(OPTIONS[0], "candidate")


def test_a_call_that_nobody_waited_for_is_interrupted_before_anything_else() -> None:
    begun = attempt(1, state="started")
    assert next_live_step(live("fallback", attempts=(begun,))) == RecordInterruption(begun)


def test_an_answer_is_judged_once() -> None:
    answer = attempt(1)
    assert next_live_step(live(attempts=(answer,))) == RunCheck(answer)
    assert next_live_step(live(attempts=(answer,), checks=(accepts(1),))) == AcceptOutput(answer, None)


@pytest.mark.parametrize("state", ["failed", "interrupted"])
def test_a_lost_call_falls_back_or_fails(state: str) -> None:
    lost = (attempt(1, state=state, reason="dispatch_timeout"),)
    assert next_live_step(live("gate", attempts=lost)) == FailRun("dispatch_timeout")
    assert next_live_step(live("gate", "fallback", attempts=lost)) == CallProvider(OPTIONS[1], "candidate", "fallback")
    all_lost = tuple(attempt(number, arm, state, reason="dispatch_timeout") for number, arm in enumerate("abc", 1))
    assert next_live_step(live("fallback", attempts=all_lost)) == FailRun("fallback_exhausted")
    alone = replace(live("fallback", attempts=lost), options=OPTIONS[:1])
    assert next_live_step(alone) == FailRun("dispatch_timeout")


@pytest.mark.parametrize(
    ("on_eval", "expected"),
    [
        ((), AcceptOutput(attempt(1), None)),
        (("gate",), FailRun("rejected_by_check")),
        (("fallback",), CallProvider(OPTIONS[1], "candidate", "fallback")),
        (("gate", "fallback"), CallProvider(OPTIONS[1], "candidate", "fallback")),
        (("repair_retry",), CallProvider(OPTIONS[0], "skill_baseline", "repair_retry")),
        (("repair_retry", "fallback"), CallProvider(OPTIONS[0], "skill_baseline", "repair_retry")),
        (("fallback", "repair_retry"), CallProvider(OPTIONS[1], "candidate", "fallback")),
    ],
)
def test_reactions_to_a_rejection_are_tried_in_the_order_of_the_request(
    on_eval: tuple[str, ...], expected: LiveStep
) -> None:
    rejected = live(*on_eval, attempts=(attempt(1),), checks=(rejects(1),))
    assert next_live_step(replace(rejected, skill=SKILL)) == expected


def test_a_repair_that_is_rejected_leaves_the_other_reactions() -> None:
    tried = (
        attempt(1), attempt(2, phase="skill_baseline"), attempt(3, phase="skill_draft"),
        attempt(4, phase="skill_repair"),
    )  # fmt: skip
    checks = (rejects(1), rejects(2), rejects(4))
    state = replace(live("repair_retry", "fallback", attempts=tried, checks=checks), skill=SKILL)
    assert next_live_step(state) == CallProvider(OPTIONS[1], "candidate", "fallback")
    alone = replace(state, on_eval=("repair_retry",))
    assert next_live_step(alone) == FailRun("rejected_by_check")
    assert reaction_to_rejections(alone) == {"action": "repair_retry", "outcome": "repair_rejected"}


def test_only_a_skill_with_a_region_is_repaired() -> None:
    tried = (attempt(1), attempt(2, phase="skill_baseline"))
    state = live("repair_retry", attempts=tried, checks=(rejects(1), rejects(2)))
    assert next_live_step(replace(state, skill=replace(SKILL, editable_regions=["b"]))) == FailRun("rejected_by_check")
    assert next_live_step(replace(state, skill=SKILL)) == CallProvider(OPTIONS[0], "skill_draft", "repair_retry")
    drafted = (*tried, attempt(3, phase="skill_draft"))
    assert next_live_step(replace(state, skill=SKILL, attempts=drafted)) == CallProvider(
        OPTIONS[0], "skill_repair", "repair_retry"
    )


@pytest.mark.parametrize("on_eval", [("gate",), ("fallback",), ("repair_retry",)])
def test_a_check_that_could_not_run_is_no_rejection(on_eval: tuple[str, ...]) -> None:
    state = live(*on_eval, attempts=(attempt(1),), checks=(no_verdict(1),))
    assert next_live_step(replace(state, skill=SKILL)) == FailRun("check_unavailable")


@pytest.mark.parametrize(("spent", "is_called"), [("0.9999", True), ("1", False), ("1.50", False)])
def test_the_cap_stops_further_calls_only(spent: str, is_called: bool) -> None:
    state = live("fallback", attempts=(attempt(1, usd=spent),), checks=(rejects(1),))
    assert isinstance(next_live_step(state), CallProvider) is is_called
    accepted = replace(state, checks=(accepts(1),))
    assert isinstance(next_live_step(accepted), AcceptOutput)


@pytest.mark.parametrize(("worst", "is_called"), [("0.29", True), ("0.3", False), ("9", False), (None, False)])
def test_a_call_of_unknown_cost_counts_with_the_most_that_it_may_have_cost(worst: str | None, is_called: bool) -> None:
    lost = attempt(2, "b", "failed", reason="dispatch_timeout", worst_usd=worst)
    state = live("fallback", attempts=(attempt(1, usd="0.7"), lost), checks=(rejects(1),))
    assert (state.spend, state.unknown_calls) == (Decimal("0.7"), 1)
    assert isinstance(next_live_step(state), CallProvider) is is_called
    if not is_called:
        assert next_live_step(state) == FailRun("cost_budget_exhausted")


def test_a_call_that_was_never_sent_costs_a_known_nothing() -> None:
    missed = attempt(1, state="failed", was_sent=False, reason="arm_not_ready", worst_usd=None)
    state = live("fallback", attempts=(missed,))
    assert (state.spend, state.unknown_calls, state.worst_spend) == (Decimal(0), 0, Decimal(0))
    assert next_live_step(state) == CallProvider(OPTIONS[1], "candidate", "fallback")


def test_spend_is_exact() -> None:
    spent = live(attempts=(attempt(1, usd="0.1"), attempt(2, usd="0.2"))).spend
    assert (spent, to_json_value(spent), to_json_number(Decimal("1E-7")).literal) == (
        Decimal("0.3"), "0.3", "0.0000001",
    )  # fmt: skip
    assert (to_json_value(Decimal("100")), to_json_value(Decimal("0.00"))) == ("100", "0")


def test_a_region_is_rewritten_and_nothing_else() -> None:
    region = find_skill_region(SKILL)
    assert region is not None
    assert (region.name, region.text) == ("a", "old\n")
    assert apply_repair(SKILL, region, "\nnew\n\n") == "Plain.\n[[region:a]]\nnew\n[[/region:a]]\nEnd."
    assert diff_region(region, "new") == "@@ region:a @@\n@@ -1 +1 @@\n-old\n+new"
    assert len(apply_repair(SKILL, region, "x" * (2 * REPAIR_CHARACTERS))) < REPAIR_CHARACTERS + len(SKILL.content)


def test_a_repair_is_asked_for_with_the_failed_anchors() -> None:
    region = find_skill_region(SKILL)
    assert region is not None
    asked = build_repair_request(SKILL, region, {"five": False, "good": True, "brief": False})
    assert "failed: brief, five." in asked
    assert "failed:" not in build_repair_request(SKILL, region, None)


@pytest.mark.parametrize("name", ["x.*", "a\n", "[", "a]]"])
def test_a_region_name_is_text_and_no_pattern(name: str) -> None:
    assert find_skill_region(replace(SKILL, editable_regions=[name])) is None
