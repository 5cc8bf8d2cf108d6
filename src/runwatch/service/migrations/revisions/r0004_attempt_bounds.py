"""The highest possible cost of a provider call."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Integer, Text

revision: Final = "0004"
down_revision: Final = "0003"


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so without raising the schema version."""
    op.create_table(
        "attempt_bounds",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("worst_usd", Text, nullable=False),
        if_not_exists=True,
    )
