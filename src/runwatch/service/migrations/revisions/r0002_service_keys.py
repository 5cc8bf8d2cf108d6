"""Keys that the service makes for itself."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, LargeBinary, Text

revision: Final = "0002"
down_revision: Final = "0001"


def upgrade(op: Operations) -> None:
    """Add the table, unless an unreleased version did so without raising the schema version."""
    op.create_table(
        "service_keys",
        Column("name", Text, primary_key=True),
        Column("key", LargeBinary, nullable=False),
        if_not_exists=True,
    )
