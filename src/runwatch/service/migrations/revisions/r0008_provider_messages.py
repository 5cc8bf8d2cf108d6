"""What providers said on failed calls, and the counts beside the spend of a run that make it a partly known sum."""

from __future__ import annotations

from collections import Counter
from typing import Final

from alembic.operations import Operations
from sqlalchemy import JSON, Boolean, Column, ForeignKey, Integer, Text, column, select, table, update

revision: Final = "0008"
down_revision: Final = "0007"

_RUNS: Final = table("runs", column("execution_id", Text), column("slices", JSON))
_ATTEMPTS: Final = table(
    "attempts",
    column("execution_id", Text),
    column("state", Text),
    column("failure_kind", Text),
    column("was_sent", Boolean),
    column("input_tokens", Integer),
    column("output_tokens", Integer),
    column("pricing_basis", Text),
)
_REFUSALS: Final = (
    "authentication", "permission", "model_not_found", "request_refused", "rate_limited", "capacity",
    "provider_insufficient_funds",
)  # fmt: skip


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so, and count the calls of earlier runs."""
    op.create_table(
        "provider_messages",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("message", Text, nullable=False),
        Column("retention_expires_at", Text, nullable=False),
        if_not_exists=True,
    )
    op.create_index(
        "ix_provider_messages_retention_expires_at",
        "provider_messages",
        ["retention_expires_at"],
        if_not_exists=True,
    )
    connection = op.get_bind()
    unknown: Counter[str] = Counter()
    estimated: Counter[str] = Counter()
    for call in connection.execute(select(_ATTEMPTS)).mappings():
        is_refused = call["failure_kind"] in _REFUSALS and call["input_tokens"] == 0 == call["output_tokens"]
        is_known = not call["was_sent"] or call["pricing_basis"] is not None or is_refused
        unknown[call["execution_id"]] += call["state"] != "started" and not is_known
        estimated[call["execution_id"]] += call["pricing_basis"] == "estimated"
    for execution_id in sorted({*(+unknown), *(+estimated)}):
        mine = _RUNS.c.execution_id == execution_id
        first, *others = connection.execute(select(_RUNS.c.slices).where(mine)).scalar_one()
        first |= {"unknown_calls": unknown[execution_id], "estimated_calls": estimated[execution_id]}
        connection.execute(update(_RUNS).where(mine).values(slices=[first, *others]))
