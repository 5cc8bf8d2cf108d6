"""The table names exactly what the service serves, and the client knows every operation of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import runwatch
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


ENDPOINT = {
    "src/runwatch/service/organization/webhooks.py": (
        "def every(",
        "def count(transaction: Transaction, tenant_id: str) -> int: return len(every(transaction, tenant_id))\n\n\n",
    ),
    "src/runwatch/service/routes/webhooks.py": (
        "ENDPOINTS: Final = (\n",
        "ENDPOINTS: Final = (\n    Endpoint('GET', '/v1/webhooks/count', shows(lambda transaction, call:"
        " {'count': webhooks.count(transaction, call.tenant_id)})),\n",
    ),
    "src/runwatch/api/operations.py": (
        '    _operation("GET /v1/webhooks", ', '    _operation("GET /v1/webhooks/count", "Count webhooks", None),\n'
    ),
    "tests/contract/operations.py": (
        '    _list("getWebhooks", ',
        "    _op('getWebhooksCount', 'GET /v1/webhooks/count', {'count': int}, make=having(lambda o: o.webhook)),\n",
    ),
}  # fmt: skip
"""What a new endpoint takes, by file: the text before which its lines go, or that they replace."""


@pytest.mark.exhaustive
def test_an_endpoint_takes_a_handler_its_domain_and_a_line_of_the_client_and_of_the_table(tmp_path: Path) -> None:
    tests = Path(__file__).parents[1]
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(runwatch.__file__).parent, tmp_path / "src" / "runwatch", ignore=without)
    shutil.copytree(tests / "contract", tmp_path / "tests" / "contract", ignore=without)
    for other in ("__init__.py", "service", "support"):
        (tmp_path / "tests" / other).symlink_to(tests / other)
    for name, (place, lines) in ENDPOINT.items():
        text = (tmp_path / name).read_text()
        assert text.count(place) == 1
        (tmp_path / name).write_text(text.replace(place, lines if place in lines else lines + place))
    words = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*words, "tests/contract/test_good.py", "tests/contract/test_table.py", "-k", "getWebhooksCount or name"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"src{os.pathsep}."}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
