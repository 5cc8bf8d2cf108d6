"""Expiry and last use of API keys."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Text

revision: Final = "0006"
down_revision: Final = "0005"


def upgrade(op: Operations) -> None:
    """Add the tables, unless an unreleased version did so without raising the schema version."""
    for name, moment in (("key_expiries", "expires_at"), ("key_uses", "last_used_at")):
        op.create_table(
            name,
            Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
            Column(moment, Text, nullable=False),
            if_not_exists=True,
        )
