"""Fencing numbers of runs."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Integer, Text

revision: Final = "0010"
down_revision: Final = "0009"


def upgrade(op: Operations) -> None:
    op.create_table(
        "run_claims",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("fence", Integer, nullable=False),
        if_not_exists=True,
    )
