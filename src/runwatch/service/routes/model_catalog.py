"""Model definitions and deployments, the models that the organization can save now, and the price of a call (manual:
interface, "Model catalog, definitions and deployments").
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.requests.source import QuoteRequest
from runwatch.service.access.finder import finder
from runwatch.service.access.roles import READ
from runwatch.service.amounts import numeral
from runwatch.service.errors import make_validation_error
from runwatch.service.http.bodies import parse_body
from runwatch.service.http.endpoints import Endpoint, lists, shows
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import catalog, sources
from runwatch.service.models.arms import NO_DEPLOYMENT
from runwatch.service.models.availability import is_usable
from runwatch.service.models.providers.prices import SOURCE_REPORTED, quote
from runwatch.service.tables import connections_table, deployments_table
from runwatch.service.transaction import Transaction


def read_deployment(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    return catalog.deployment_json(_find(transaction, call.tenant_id, call.ids["model_deployment_id"]))


def list_definitions(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return each model that a connection of the organization serves or has served, as in the newest list."""
    oldest_first = reversed(transaction.newest(deployments_table, {"tenant_id": call.tenant_id}))
    definitions = {row["model_key"]: catalog.definition_json(row) for row in oldest_first}
    return {"schema_version": sources.SCHEMA_VERSION, "models": list(definitions.values())[::-1]}


_find: Final = finder(deployments_table, "model_deployment_id", "model deployment")


def read_catalog(transaction: Transaction, call: ServiceCall) -> dict[str, Any]:
    """Return every listed deployment of a usable connection, newest first. The list has no pages."""
    mine = {"tenant_id": call.tenant_id}
    usable = {row["connection_id"]: row for row in transaction.list_all(connections_table, mine) if is_usable(row)}
    listed = transaction.newest(deployments_table, {**mine, "status": "listed"})
    models = [
        catalog.catalog_entry(usable[row["connection_id"]], row) for row in listed if row["connection_id"] in usable
    ]
    return {"catalog_policy": catalog.CATALOG_POLICY, "models": models}


async def quote_call(call: ServiceCall) -> ServiceResponse:
    """Quote a call of some size at known prices; stateless, without asking a provider.

    Not in the specification. ``usd`` and ``pricing_basis`` are ``null`` when the cost is unknown: a model without a
    price on a server with a key. On a keyless server it counts as free, with the basis ``estimated``.
    """
    request = parse_body(QuoteRequest, call.content)

    def quote_deployment(transaction: Transaction) -> dict[str, Any]:
        where = {"model_deployment_id": request.model_deployment_id, "tenant_id": call.tenant_id}
        row = transaction.one(deployments_table, where)
        if row is None:
            raise make_validation_error(("model_deployment_id", NO_DEPLOYMENT))
        connection = transaction.get(connections_table, {"connection_id": row["connection_id"]})
        prices = connection["endpoint"]["prices"]
        is_keyless = connection["auth_scheme"] == "none"
        quoted = quote(
            prices,
            row["upstream_ref"],
            request.input_tokens,
            request.output_tokens,
            is_keyless=is_keyless,
            is_listed=row["pricing_basis"] == SOURCE_REPORTED,
        )
        usd, basis = (None, None) if quoted is None else (numeral(quoted[0]), quoted[1])
        return {"model_deployment_id": request.model_deployment_id, "usd": usd, "pricing_basis": basis}

    return await call.show(quote_deployment)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-definitions", shows(list_definitions)),
    Endpoint("GET", "/v1/model-deployments", lists("deployments", deployments_table, catalog.deployment_json)),
    Endpoint("GET", "/v1/model-deployments/{model_deployment_id}", shows(read_deployment)),
    Endpoint("GET", "/v1/model-catalog", shows(read_catalog)),
    Endpoint("POST", "/v1/model-catalog/quote", quote_call, takes_body=True, permission=READ),
)
