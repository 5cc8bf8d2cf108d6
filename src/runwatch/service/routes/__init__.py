"""The endpoints of the service, one file a resource. A new resource adds its file and its line here."""

from __future__ import annotations

from typing import Final

from runwatch.service.http.call import Endpoint
from runwatch.service.routes import (
    account,
    agents,
    applications,
    arms,
    connect,
    credentials,
    executions,
    github,
    github_entry,
    key_entry,
    keys,
    model_catalog,
    model_deployments,
    model_servers,
    problem_lookups,
    proposals,
    receipts,
    reports,
    signin,
    source_connections,
    source_handoffs,
    source_profiles,
    templates,
    tenants,
    top_ups,
    verifiers,
    webhooks,
)

ENTRIES: Final[connect.Entries] = {
    **key_entry.ENTRIES,
    **source_handoffs.ENTRIES,
    **github_entry.ENTRIES,
    **top_ups.ENTRIES,
}
"""What people enter on private pages."""

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *executions.ENDPOINTS,
    *receipts.ENDPOINTS,
    *account.ENDPOINTS,
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
    *source_profiles.ENDPOINTS,
    *source_handoffs.ENDPOINTS,
    *source_connections.ENDPOINTS,
    *model_servers.ENDPOINTS,
    *model_catalog.ENDPOINTS,
    *model_deployments.ENDPOINTS,
    *arms.ENDPOINTS,
    *connect.endpoints(ENTRIES),
)
"""Everything the service offers."""
