"""How checks have judged, day by day."""

from __future__ import annotations

from typing import Any

from runwatch.base.json import dumps
from runwatch.records.evaluation import EvalSummary
from runwatch.service.organization import eval_summary
from tests.service.conftest import Json, Local, bearing, other_tenant
from tests.service.test_proposals import propose
from tests.service.test_usage import keep, receipt
from tests.support.parts import AT
from tests.support.problems import check, fields
from tests.support.receipts import baseline_receipt, echo_receipt


def verdict(*, is_correct: bool | None, score: float | None = None, **more: Any) -> Json:
    """A check of the organization's own that came to a verdict."""
    said = {"outcome": "valid_verdict", "is_correct": is_correct, "quality_score": score}
    return {"verifier_id": "vrf_1", "activity": "customer", **said, **more}


FAILURE = {"verifier_id": "vrf_1", "activity": "customer", "outcome": "technical_failure", "is_correct": None}


def checked(day: str, *checks: Json) -> Json:
    """The receipt of a run with one slice that was checked like this."""
    return receipt(f"ex_{day}", day, [{"slice_id": "sl_1", "verification_checks": list(checks)}], "0")


def test_verdicts_of_a_day_and_a_check_are_counted_together() -> None:
    day = "2026-11-20"
    checks = (verdict(is_correct=True, score=0.8), verdict(is_correct=False, score=0.3), FAILURE)
    (row,) = eval_summary.trend([checked(day, *checks), checked(day, verdict(is_correct=True, score=0.9))])
    assert row == {
        "day": day, "verifier_id": "vrf_1", "activity": "customer", "attempted_checks": 4, "valid_customer_verdicts": 3,
        "technical_failures": 1, "coverage": 0.75, "total": 3, "passed": 2, "pass_rate": 0.6667,
        "mean_quality_score": 0.6667,
    }  # fmt: skip
    assert '"pass_rate":0.6667' in dumps(row)


def test_days_checks_and_activities_are_kept_apart_in_order() -> None:
    rows = eval_summary.trend(
        [
            checked("2026-11-21", verdict(is_correct=True)),
            checked("2026-11-20", verdict(is_correct=True, verifier_id="vrf_2"), verdict(is_correct=True)),
            checked("2026-11-20", {**FAILURE, "activity": None, "verifier_id": None}),
        ]
    )
    assert [(row["day"], row["verifier_id"], row["activity"]) for row in rows] == [
        ("2026-11-20", None, "unknown"),
        ("2026-11-20", "vrf_1", "customer"),
        ("2026-11-20", "vrf_2", "customer"),
        ("2026-11-21", "vrf_1", "customer"),
    ]


def test_where_nothing_was_judged_there_is_no_rate() -> None:
    (failed,) = eval_summary.trend([checked("2026-11-20", FAILURE)])
    assert (failed["coverage"], failed["total"]) == (0, 0)
    assert (failed["pass_rate"], failed["mean_quality_score"]) == (None, None)
    (silent,) = eval_summary.trend([checked("2026-11-20", verdict(is_correct=None, score=0.5))])
    assert (silent["coverage"], silent["total"], silent["pass_rate"]) == (1, 0, None)
    assert silent["mean_quality_score"] == 0.5


def test_what_only_the_platform_looked_at_is_no_verdict_of_the_customer() -> None:
    rows = eval_summary.trend([echo_receipt("ex_1").raw, {**baseline_receipt("ex_2").raw, "completed_at": AT}])
    assert {(row["activity"], row["verifier_id"]) for row in rows} == {
        ("platform_echo", None),
        ("platform_baseline", "vrf_builtin_baseline"),
    }
    for row in rows:
        assert (row["valid_customer_verdicts"], row["coverage"]) == (0, None)
        assert (row["attempted_checks"], row["total"], row["passed"], row["pass_rate"]) == (1, 1, 1, 1)


def test_a_run_that_ended_before_any_check_is_in_no_row() -> None:
    ended = {"recorded_check": {"state": "terminal_no_evaluation", "reason": "cancelled"}}
    assert eval_summary.trend([receipt("ex_1", "2026-11-20", [ended, {}], "0")]) == []


async def test_the_summary_covers_a_window_or_everything(local: Local) -> None:
    for day in ("2026-10-01", "2026-11-20"):
        await keep(local, checked(day, verdict(is_correct=True, score=1.0)))
    await keep(local, checked("2026-11-19", FAILURE), tenant_id=await other_tenant(local))
    whole = await local.get("/v1/eval-summary")
    shown = EvalSummary(whole)
    assert not shown.flaws()
    assert not shown.unknown()
    assert whole["window"] == {"from": None, "to": None}
    assert [row["day"] for row in whole["pass_rate_trend"]] == ["2026-10-01", "2026-11-20"]
    later = await local.get("/v1/eval-summary", **{"from": "2026-10-02"})
    assert later["window"] == {"from": "2026-10-02", "to": None}
    assert [row["day"] for row in later["pass_rate_trend"]] == ["2026-11-20"]
    answer = await local.http.get("/v1/eval-summary", params={"to": "soon"})
    assert fields(check(answer, "validation_failed")) == ["to"]


async def test_the_repair_history_tells_of_proposals_and_their_decisions(held: Local) -> None:
    run_id = (await held.submit())["execution_id"]
    ids = [await propose(held, run_id) for _ in range(2)]
    await held.http.post(f"/v1/proposals/{ids[0]}/approve")
    history = (await held.get("/v1/eval-summary"))["repair_history"]
    assert [(row["proposal_id"], row["status"], row["decision"]) for row in history] == [
        (ids[1], "pending", None),
        (ids[0], "approved", "approved"),
    ]
    assert set(history[0]) == {
        "proposal_id", "execution_id", "slice_id", "arm_id", "parent_artifact_id", "parent_score", "candidate_score",
        "status", "decision", "decided_at", "created_at",
    }  # fmt: skip
    bearer, _ = await held.add_key(await other_tenant(held))
    other = await held.http.get("/v1/eval-summary", headers=bearing(bearer))
    assert other.json()["repair_history"] == []
