"""The balances that starts have named, so that the next start with the same one refills nothing."""

from __future__ import annotations

from typing import Final

from alembic.operations import Operations
from sqlalchemy import Column, ForeignKey, Text

revision: Final = "0014"
down_revision: Final = "0013"


def upgrade(op: Operations) -> None:
    op.create_table(
        "start_balances",
        Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
        Column("amount_usd", Text, nullable=False),
        if_not_exists=True,
    )
