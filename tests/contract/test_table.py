"""The table names exactly what the service serves, and the client knows every operation of it."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from runwatch.api.operations import OPERATIONS
from runwatch.service.routes import ENDPOINTS
from tests.contract.operations import REST, TABLE

SPECIFIED = {
    "postGithubConnectionsIntents", "getVerifiers", "postVerifiers", "getVerifiersByVerifierId",
    "patchVerifiersByVerifierId", "deleteVerifiersByVerifierId", "getVerifiersByVerifierIdConnection",
    "postVerifiersByVerifierIdTest", "postExecutions", "getExecutionsByExecutionId",
    "getExecutionsByExecutionIdResult", "getReceiptsByExecutionId", "postExecutionsByExecutionIdCancel",
    "getModelCatalog", "postArms", "getArms",
}  # fmt: skip
"""The operations that the specification names by their ids (Endpoints)."""


SAMPLE = {operation.id for operation in REST if operation.is_sample}
"""What only the local service does; a client of any service has no need to know it."""


def bare(method: str, path: str) -> tuple[str, str]:
    """A method and a path whose parameters have no names."""
    return method, re.sub(r"\{\w+\}", "{}", path)


def test_no_operation_is_in_the_table_twice() -> None:
    assert len({operation.id for operation in TABLE}) == len({operation.call for operation in TABLE}) == len(TABLE)


def test_the_table_and_the_service_name_the_same_operations() -> None:
    served = {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert {(operation.method, operation.path) for operation in TABLE} == served


def test_the_table_and_the_service_agree_on_what_a_request_needs() -> None:
    endpoints = {(endpoint.method, endpoint.path): endpoint for endpoint in ENDPOINTS}
    for operation in TABLE:
        endpoint = endpoints[operation.method, operation.path]
        assert (endpoint.needs_key, endpoint.is_open, endpoint.is_page) == (
            operation.needs_key, operation.is_open, operation.is_page,
        ), operation.id  # fmt: skip


def test_the_client_knows_every_operation_by_the_same_name() -> None:
    known = {
        operation.id: (bare(operation.method, operation.path), operation.mutates) for operation in OPERATIONS.values()
    }
    named = {operation.id: (bare(operation.method, operation.path), operation.mutates) for operation in REST}
    assert {name: known.get(name) for name in named if name not in SAMPLE} == {
        name: told for name, told in named.items() if name not in SAMPLE
    }
    assert set(known) <= set(named)


def test_every_operation_that_the_specification_names_is_served() -> None:
    assert {operation.id for operation in REST} >= SPECIFIED


def test_every_operation_of_the_official_client_is_served_under_its_name() -> None:
    contract = json.loads(files("millwork_solver").joinpath("_contract.json").read_text())
    served = {operation.id: bare(operation.method, operation.path) for operation in REST if not operation.ours}
    named = {each["operation_id"]: bare(each["method"], each["path"]) for each in contract["operations"]}
    assert len(named) == 70
    assert {name: served.get(name) for name in named} == named
