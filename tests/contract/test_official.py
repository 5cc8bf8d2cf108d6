"""Every operation through the official Python client, whose judgement of an answer is not ours.

It raises a protocol error for a response that is neither JSON with a 2XX nor a Problem; there must be none.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from millwork_solver import AsyncSolver, ProblemError

from tests.contract.conftest import Desk, every
from tests.contract.operation import Operation
from tests.contract.operations import DONE
from tests.contract.shapes import flaws

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEYOND = {
    "postVerifiersByVerifierIdConnectionIntents", "postVerifiersByVerifierIdConnectionTest",
    "postVerifiersByVerifierIdConnectionRevoke", "postGithubConnectionsIntents",
}  # fmt: skip
"""Operations that its generic request does not reach; its helper for protected keys calls the first three itself."""

KNOWN = [operation for operation in DONE if not operation.is_page and not operation.ours and operation.id not in BEYOND]


def camel(name: str) -> str:
    """A parameter's name as the client spells it."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def solver(session: Desk) -> AsyncIterator[Any]:
    """The client, with the owner's key."""
    async with AsyncSolver(
        api_key=session.organization.key, base_url=session.organization.base_url, timeout=60.0
    ) as client:
        yield client


@every(KNOWN)
async def test_a_good_request_is_done(session: Desk, solver: Any, operation: Operation) -> None:
    good = await operation.make(session.organization)
    answer = await solver.request(
        operation.id, path_parameters={camel(name): value for name, value in good.ids.items()},
        query=dict(good.query) or None, body=good.body,
        idempotency_key=None if operation.method == "GET" else session.organization.fresh("official"),
    )  # fmt: skip
    if operation.answers is None:
        assert answer is None
    else:
        assert list(flaws(answer, operation.answers)) == []


@every([operation for operation in KNOWN if operation.parameters])
async def test_an_unknown_id_is_a_problem_that_the_client_understands(
    session: Desk, solver: Any, operation: Operation
) -> None:
    good = await session.good(operation)
    with pytest.raises(ProblemError) as caught:
        await solver.request(
            operation.id, path_parameters={camel(name): "nobody/ü" for name in good.ids}, body=good.body,
            idempotency_key=None if operation.method == "GET" else session.organization.fresh("official"),
        )  # fmt: skip
    assert (caught.value.status, caught.value.code) == (404, "not_found")


@every([operation for operation in KNOWN if operation.requires])
async def test_an_empty_body_is_a_problem_that_the_client_understands(
    session: Desk, solver: Any, operation: Operation
) -> None:
    good = await session.good(operation)
    with pytest.raises(ProblemError) as caught:
        await solver.request(
            operation.id, path_parameters={camel(name): value for name, value in good.ids.items()}, body={},
            idempotency_key=session.organization.fresh("official"),
        )  # fmt: skip
    assert (caught.value.status, caught.value.code) == (400, "validation_failed")
    assert {error.field for error in caught.value.field_errors}


@every([operation for operation in KNOWN if operation.pages])
async def test_the_client_reads_a_paged_list_to_its_end(session: Desk, solver: Any, operation: Operation) -> None:
    good = await operation.make(session.organization)
    if operation.id in {"getArms", "getVerifiers"}:
        await (session.organization.arm() if operation.id == "getArms" else session.organization.verifier())
    ids = {camel(name): value for name, value in good.ids.items()}
    found = []
    pages = solver.pages(operation.id, item_field=operation.items, path_parameters=ids, query={"limit": 1})
    async for page in pages:
        assert len(page.items) == 1
        found += page.items
    whole = await session.organization.http.get(operation.path_of(good.ids), params={"limit": "100"})
    assert found == whole.json()[operation.items]
    assert len(found) >= (2 if operation.id in {"getArms", "getVerifiers"} else 1)


async def test_the_client_lists_templates_and_saves_a_row_of_the_catalog_as_it_is(session: Desk, solver: Any) -> None:
    await session.organization.once(session.organization.connection)
    listed = {each["template_id"]: each for each in (await solver.request("getTenantTemplates"))["templates"]}
    assert set(listed) == {"starter", "pooled-open-model", "byok-open-model"}
    assert listed["byok-open-model"]["eligible"] is True
    for row in (await solver.request("getModelCatalog"))["models"]:
        outcome = await solver.request("postArms", body=row["arm_registration_template"])
        arm = await solver.request("getArmsByArmId", path_parameters={"armId": outcome["arm_id"]})
        assert arm["model_deployment_id"] == row["deployment"]["model_deployment_id"]
        assert arm["status"] == "ready"


async def test_the_client_follows_a_run_to_its_end(session: Desk, solver: Any) -> None:
    run = await session.organization.submit(await session.organization.live_body())
    place = {"executionId": run["execution_id"]}
    followed = [event async for event in solver.events(path_parameters=place, poll_interval_seconds=0.01)]
    assert followed[-1]["state"] == "completed"
    assert followed == (await solver.request("getExecutionsByExecutionIdEvents", path_parameters=place))["events"]
