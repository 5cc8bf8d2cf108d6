"""Model deployments and definitions (manual: interface, "Model catalog, definitions and deployments")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.service.access.finder import finder
from runwatch.service.http.endpoints import Endpoint, shows
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import catalog, sources
from runwatch.service.tables import deployments_table
from runwatch.service.transaction import Row, Transaction


def list_deployments(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return every deployment of the organization, newest first, including disabled ones. The list has no pages."""
    return {"deployments": [catalog.deployment_json(row) for row in _all_of(transaction, call)]}


def read_deployment(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    return catalog.deployment_json(_find(transaction, call.tenant_id, call.ids["model_deployment_id"]))


def list_definitions(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return each model that a connection of the organization serves or has served, as in the newest list."""
    oldest_first = reversed(_all_of(transaction, call))
    definitions = {row["model_key"]: catalog.definition_json(row) for row in oldest_first}
    return {"schema_version": sources.SCHEMA_VERSION, "models": list(definitions.values())[::-1]}


def _all_of(transaction: Transaction, call: ServiceCall) -> Sequence[Row]:
    return transaction.newest(deployments_table, {"tenant_id": call.tenant_id})


_find: Final = finder(deployments_table, "model_deployment_id", "model deployment")

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-definitions", shows(list_definitions)),
    Endpoint("GET", "/v1/model-deployments", shows(list_deployments)),
    Endpoint("GET", "/v1/model-deployments/{model_deployment_id}", shows(read_deployment)),
)
