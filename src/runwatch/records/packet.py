"""Decision packet of a Review Composer run (manual: interface, "Review agents")."""

from __future__ import annotations

from runwatch.records.record import Record, amount, mapping, moment, text


class DecisionPacket(Record):
    """Joint decision of the observed sources on the work of a coding agent.

    A completed run only means that observation has ended; ``verdict`` and ``action`` give the outcome.
    """

    version = text()
    verdict = text()
    action = text()
    reason = text()
    policy = mapping()
    artifact = mapping()
    decided_at = moment()
    agent_usage_usd = amount()
    platform_fee_usd = amount()
