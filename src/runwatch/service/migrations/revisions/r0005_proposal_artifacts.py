"""The whole skill text that a proposal would install."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Text

revision: Final = "0005"
down_revision: Final = "0004"


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so without raising the schema version."""
    op.create_table(
        "proposal_artifacts",
        Column("proposal_id", Text, ForeignKey("proposals.proposal_id"), primary_key=True),
        Column("content", Text, nullable=False),
        Column("artifact_hash", Text, nullable=False),
        if_not_exists=True,
    )
