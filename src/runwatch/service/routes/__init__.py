"""The endpoints of the service, one file per resource. A new resource adds its file and its line here."""

from __future__ import annotations

from typing import Final

from runwatch.service.http.endpoints import Endpoint
from runwatch.service.routes import (
    agents,
    applications,
    arms,
    credentials,
    executions,
    github,
    key_page,
    keys,
    model_catalog,
    model_servers,
    private_pages,
    problem_lookups,
    proposals,
    receipts,
    reports,
    signin,
    source_connections,
    source_handoffs,
    templates,
    tenants,
    top_ups,
    verifiers,
    webhooks,
)

ENTRIES: Final[private_pages.Entries] = {
    **key_page.ENTRIES,
    **source_handoffs.ENTRIES,
    **github.ENTRIES,
    **top_ups.ENTRIES,
}
"""What users enter on private pages."""

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *executions.ENDPOINTS,
    *receipts.ENDPOINTS,
    *top_ups.ENDPOINTS,
    *webhooks.ENDPOINTS,
    *proposals.ENDPOINTS,
    *problem_lookups.ENDPOINTS,
    *reports.ENDPOINTS,
    *tenants.ENDPOINTS,
    *keys.ENDPOINTS,
    *credentials.ENDPOINTS,
    *github.ENDPOINTS,
    *signin.ENDPOINTS,
    *agents.ENDPOINTS,
    *templates.ENDPOINTS,
    *applications.ENDPOINTS,
    *verifiers.ENDPOINTS,
    *source_handoffs.ENDPOINTS,
    *source_connections.ENDPOINTS,
    *model_servers.ENDPOINTS,
    *model_catalog.ENDPOINTS,
    *arms.ENDPOINTS,
    *private_pages.endpoints(ENTRIES),
)
