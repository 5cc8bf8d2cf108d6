"""Columns shared by all tables."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, ForeignKey, Integer, MetaData, Text

metadata: Final = MetaData()


def sequence_column() -> Column[int]:
    """Return the number that grows with every insert and gives lists their order and cursors."""
    return Column("sequence", Integer, primary_key=True)


def tenant_column() -> Column[str]:
    """Return the column of the organization that a row belongs to."""
    return Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), nullable=False)
