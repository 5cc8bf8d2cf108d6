"""How many runs were submitted in each month, and how many of these have ended."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Integer, Text, case, column, delete, func, insert, select, table

revision: Final = "0013"
down_revision: Final = "0012"

_RUNS: Final = table("runs", column("tenant_id", Text), column("status", Text), column("created_at", Text))
_COUNTS: Final = table("run_counts", *(column(name) for name in ("tenant_id", "month", "submitted", "ended")))


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so, and count all runs."""
    op.create_table(
        "run_counts",
        Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
        Column("month", Text, primary_key=True),
        Column("submitted", Integer, nullable=False),
        Column("ended", Integer, nullable=False),
        if_not_exists=True,
    )
    month = func.substr(_RUNS.c.created_at, 1, 7).label("month")
    ended = case((_RUNS.c.status.in_(("completed", "failed", "cancelled", "expired")), 1), else_=0)
    counts = select(_RUNS.c.tenant_id, month, func.count(), func.sum(ended)).group_by(_RUNS.c.tenant_id, "month")
    op.execute(delete(_COUNTS))
    op.execute(insert(_COUNTS).from_select(["tenant_id", "month", "submitted", "ended"], counts))
