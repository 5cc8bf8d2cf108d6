"""How long a provider asked to wait, and what came in place of its answer."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Integer, Text

revision: Final = "0009"
down_revision: Final = "0008"


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so."""
    op.create_table(
        "attempt_answers",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("retry_after_s", Integer),
        Column("body_kind", Text),
        Column("content_type", Text),
        if_not_exists=True,
    )
