"""Verdicts of output checks by day, and repairs (manual: interface, "Evaluation summary and compliance export")."""

from __future__ import annotations

from runwatch.records.proposal import Proposal
from runwatch.records.record import Record, Wire, amount, integer, many, one, text
from runwatch.records.usage import Period


class DayEvaluation(Record):
    """The verdicts of one check on one day; ``pass_rate`` counts valid verdicts only."""

    day = text()
    verifier_id = text()
    activity = text()
    attempted_checks = integer()
    valid_customer_verdicts = integer()
    technical_failures = integer()
    coverage = amount()
    total = integer()
    passed = integer()
    pass_rate = amount()
    mean_quality_score = amount()


class EvalSummary(Record):
    """The verdicts of a period."""

    KIND = "eval_summary"
    WIRE = Wire("/v1/eval-summary", "", "")

    window = one(Period)
    pass_rate_trend = many(DayEvaluation)
    repair_history = many(Proposal)
