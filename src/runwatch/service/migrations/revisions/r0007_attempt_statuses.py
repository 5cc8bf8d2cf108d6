"""The HTTP status with which a provider refused a call."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Integer, Text

revision: Final = "0007"
down_revision: Final = "0006"


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so without raising the schema version."""
    op.create_table(
        "attempt_statuses",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("http_status", Integer, nullable=False),
        if_not_exists=True,
    )
