"""Secrets of a service of several processes."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, LargeBinary, Text

revision: Final = "0011"
down_revision: Final = "0010"


def upgrade(op: Operations) -> None:
    op.create_table(
        "sealed_secrets",
        Column("handle", Text, primary_key=True),
        Column("sealed", LargeBinary, nullable=False),
        Column("created_at", Text, nullable=False),
        if_not_exists=True,
    )
