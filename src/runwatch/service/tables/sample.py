"""Table of the sample organization. Not in the specification."""

from __future__ import annotations

from typing import Final

from runwatch.service.tables.columns import table

sample_organizations_table: Final = table("sample_organizations", "tenant_id>tenants api_key_id>api_keys* origin")
"""The organization with background runs, the key that submits them, and the service's origin when the addresses of the
sample checks were written.
"""
