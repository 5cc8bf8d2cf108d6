"""Review agents (manual: interface, "Review agents")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, text


class ReviewAgent(Record):
    """An asynchronous coding agent bound to a repository; connection metadata without secrets."""

    KIND = "agent"
    WIRE = Wire("/v1/review-composer/agents", "agents", "arm_id")

    arm_id = text()
    display_name = text()
    endpoint_url = text()
    repository = text()
    status = text()
    status_reason = text()
