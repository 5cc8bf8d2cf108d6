"""Models as connections serve them, and what they are (wire reference 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from runwatch.service.errors import Refusal
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.models import catalog, sources
from runwatch.service.tables.models import deployments
from runwatch.service.transaction import Row, Transaction


async def list_deployments(call: Call) -> Answer:
    """Every deployment of the organization, newest first, also those that are disabled. The list has no pages."""
    return answer_json({"deployments": [catalog.deployment_form(row) for row in await call.read(_all_of(call))]})


async def read_deployment(call: Call) -> Answer:
    """One deployment."""

    def read(transaction: Transaction) -> Answer:
        where = {"model_deployment_id": call.ids["model_deployment_id"], "tenant_id": call.principal.tenant_id}
        row = transaction.one(deployments, where)
        if row is None:
            raise Refusal("not_found", "There is no model deployment with this id.")
        return answer_json(catalog.deployment_form(row))

    return await call.read(read)


async def list_definitions(call: Call) -> Answer:
    """Every model that a connection of the organization serves or has served, each once, as the newest list told it."""
    definitions = {row["model_key"]: catalog.definition_form(row) for row in reversed(await call.read(_all_of(call)))}
    newest_first = list(definitions.values())[::-1]
    return answer_json({"schema_version": sources.SCHEMA_VERSION, "models": newest_first})


def _all_of(call: Call) -> Callable[[Transaction], Sequence[Row]]:
    return lambda transaction: transaction.newest(deployments, {"tenant_id": call.principal.tenant_id})


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/model-definitions", list_definitions),
    Endpoint("GET", "/v1/model-deployments", list_deployments),
    Endpoint("GET", "/v1/model-deployments/{model_deployment_id}", read_deployment),
)
