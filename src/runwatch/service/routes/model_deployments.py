"""Model deployments and definitions (manual: interface, "Model catalog, definitions and deployments")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.service.access.finder import finder
from runwatch.service.http.endpoints import Endpoint, lists, shows
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import catalog, sources
from runwatch.service.tables import deployments_table
from runwatch.service.transaction import Transaction


def read_deployment(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    return catalog.deployment_json(_find(transaction, call.tenant_id, call.ids["model_deployment_id"]))


def list_definitions(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return each model that a connection of the organization serves or has served, as in the newest list."""
    oldest_first = reversed(transaction.newest(deployments_table, {"tenant_id": call.tenant_id}))
    definitions = {row["model_key"]: catalog.definition_json(row) for row in oldest_first}
    return {"schema_version": sources.SCHEMA_VERSION, "models": list(definitions.values())[::-1]}


_find: Final = finder(deployments_table, "model_deployment_id", "model deployment")

ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-definitions", shows(list_definitions)),
    Endpoint("GET", "/v1/model-deployments", lists("deployments", deployments_table, catalog.deployment_json)),
    Endpoint("GET", "/v1/model-deployments/{model_deployment_id}", shows(read_deployment)),
)
