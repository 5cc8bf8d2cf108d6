"""Table of the sample organization. Not in the specification."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, ForeignKey, Table, Text

from runwatch.service.tables.columns import metadata, tenant_column

sample_organizations: Final = Table(
    "sample_organizations",
    metadata,
    tenant_column(),
    Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
    Column("origin", Text, nullable=False),
)
"""The organization with background runs, the key that submits them, and the service's origin when the addresses of the
sample checks were written.
"""
