"""Bodies for organizations (manual: interface, "Account and tenants")."""

from __future__ import annotations

from runwatch.records.requests.body import OpenBody
from runwatch.records.requests.labels import Label


class TenantName(OpenBody):
    """The body of ``POST /v1/tenants`` and of ``PATCH /v1/tenants/{tenant_id}``."""

    display_name: Label
