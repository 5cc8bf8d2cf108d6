"""Verdicts of output checks by day, and repairs (manual: interface, "Evaluation summary and compliance export")."""

from __future__ import annotations

from runwatch.records.proposal import Proposal
from runwatch.records.record import Record, Wire, amount, integer, many, one, text
from runwatch.records.usage import Period


class DayEvaluation(Record):
    """The verdicts of one check on one day; ``pass_rate`` counts valid verdicts only."""

    day = text("day")
    verifier_id = text("verifier_id")
    activity = text("activity")
    attempted_checks = integer("attempted_checks")
    valid_customer_verdicts = integer("valid_customer_verdicts")
    technical_failures = integer("technical_failures")
    coverage = amount("coverage")
    total = integer("total")
    passed = integer("passed")
    pass_rate = amount("pass_rate")
    mean_quality_score = amount("mean_quality_score")


class EvalSummary(Record):
    """The verdicts of a period."""

    KIND = "eval_summary"
    WIRE = Wire("/v1/eval-summary", "", "")

    window = one(Period, "window")
    pass_rate_trend = many(DayEvaluation, "pass_rate_trend")
    repair_history = many(Proposal, "repair_history")
