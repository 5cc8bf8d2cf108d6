"""Model deployments and definitions (manual: interface, "Model catalog, definitions and deployments")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.models import catalog, sources
from runwatch.service.tables.models import deployments
from runwatch.service.transaction import Row, Transaction


async def list_deployments(call: AuthenticatedRequest) -> ServiceResponse:
    """Return every deployment of the organization, newest first, including disabled ones. The list has no pages."""
    return make_json_response({"deployments": [catalog.deployment_json(row) for row in await call.read(_all_of(call))]})


async def read_deployment(call: AuthenticatedRequest) -> ServiceResponse:
    """Return one deployment."""

    def read(transaction: Transaction) -> ServiceResponse:
        where = {"model_deployment_id": call.ids["model_deployment_id"], "tenant_id": call.principal.tenant_id}
        row = transaction.one(deployments, where)
        if row is None:
            raise RefusalError("not_found", "There is no model deployment with this id.")
        return make_json_response(catalog.deployment_json(row))

    return await call.read(read)


async def list_definitions(call: AuthenticatedRequest) -> ServiceResponse:
    """Return each model that a connection of the organization serves or has served, as in the newest list."""
    definitions = {row["model_key"]: catalog.definition_json(row) for row in reversed(await call.read(_all_of(call)))}
    newest_first = list(definitions.values())[::-1]
    return make_json_response({"schema_version": sources.SCHEMA_VERSION, "models": newest_first})


def _all_of(call: AuthenticatedRequest) -> Callable[[Transaction], Sequence[Row]]:
    return lambda transaction: transaction.newest(deployments, {"tenant_id": call.principal.tenant_id})


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-definitions", list_definitions),
    Endpoint("GET", "/v1/model-deployments", list_deployments),
    Endpoint("GET", "/v1/model-deployments/{model_deployment_id}", read_deployment),
)
