"""The decision packet of a Review Composer run (wire reference 2.13): what the observed sources decide together."""

from __future__ import annotations

from runwatch.records.record import Record, amount, mapping, moment, text


class DecisionPacket(Record):
    """A decision on the work of a coding agent.

    A run that has completed has only ended its observation; ``verdict`` and ``action`` say what came of it.
    """

    version = text("version")
    verdict = text("verdict")
    action = text("action")
    reason = text("reason")
    policy = mapping("policy")
    artifact = mapping("artifact")
    decided_at = moment("decided_at")
    agent_usage_usd = amount("agent_usage_usd")
    platform_fee_usd = amount("platform_fee_usd")
