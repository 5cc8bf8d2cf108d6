"""Requests of the last minute by key, for a service of several processes."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import JSON, Column, Text

revision: Final = "0012"
down_revision: Final = "0011"


def upgrade(op: Operations) -> None:
    op.create_table(
        "rate_windows",
        Column("name", Text, primary_key=True),
        Column("recent", JSON, nullable=False),
        if_not_exists=True,
    )
