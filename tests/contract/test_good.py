"""Every operation does what it is asked for and responds as the manual says (manual: interface, "Endpoints")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Desk, every
from tests.contract.operation import Good, Operation
from tests.contract.operations import DONE, REST
from tests.contract.shapes import flaws, has, places
from tests.support.problems import check

pytestmark = pytest.mark.asyncio(loop_scope="module")


LISTS = [
    operation
    for operation in DONE
    if operation.items and not operation.parameters and operation.id != "getModelSourceProfiles"
]
THEIRS = {"getApiKeys": 1, "getTenantTemplates": 3}
"""How many items lists have that are not empty even for a new organization."""

PAGED = [operation for operation in REST if operation.pages]
FILTERED = [(operation, name) for operation in REST for name in operation.filters]
REPLAYED = [operation for operation in DONE if operation.mutates and not operation.is_open]
OPEN_BODIES = [
    operation
    for operation in DONE
    if not operation.is_page and operation.takes is not None and "" not in operation.closed
]


@every(DONE)
async def test_a_good_request_is_done(session: Desk, operation: Operation) -> None:
    good = await operation.make(session.organization)
    assert not list(flaws(good.body, operation.takes if good.body is not None else None))
    answer = await session.send(operation, good)
    assert answer.status_code == operation.status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    if operation.answers is None:
        assert answer.content == b""
    elif isinstance(operation.answers, str):
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert operation.answers in answer.text
    else:
        assert answer.headers["content-type"] == "application/json"
        assert list(flaws(answer.json(), operation.answers)) == []


@every([operation for operation in REST if operation.is_sample])
async def test_what_only_a_sample_organization_does_is_refused_elsewhere(session: Desk, operation: Operation) -> None:
    check(await session.send(operation, await session.good(operation)), "invalid_state")


@every([operation for operation in REST if operation.takes])
async def test_a_good_body_has_every_member_that_the_table_requires(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for place, _, is_required in places(operation.takes):
        assert not is_required or has(good.body, place) or not has(good.body, place[:-1])


@every(LISTS)
async def test_a_list_has_what_is_there_and_nothing_of_another_organization(
    session: Desk, operation: Operation
) -> None:
    if operation.id == "getCredentials":
        await session.organization.post("/v1/credentials", {"display_name": "Patch agent key"})
    mine = await session.send(operation, await session.good(operation))
    assert mine.json()[operation.items]
    theirs = await session.send(operation, Good(), client=session.organization.stranger)
    assert len(theirs.json()[operation.items]) == THEIRS.get(operation.id, 0)


@every(PAGED)
async def test_a_paged_list_is_read_item_by_item_to_its_end(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    path, client = operation.path_of(good.ids), session.organization.http
    whole = (await client.get(path, params={"limit": "100"})).json()
    assert whole["next_cursor"] is None
    found: list[Any] = []
    query = {"limit": "1"}
    while True:
        page = (await client.get(path, params=query)).json()
        assert len(page[operation.items]) == 1
        found += page[operation.items]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    # A run under way may say more each time; which items come, and in which order, is the same.
    assert [ids_of(item) for item in found] == [ids_of(item) for item in whole[operation.items]]


def ids_of(item: dict[str, Any]) -> dict[str, Any]:
    """What tells an item from the others."""
    ids = {name: value for name, value in item.items() if name == "id" or name.endswith("_id")}
    assert ids
    return ids


@pytest.mark.parametrize(("operation", "name"), FILTERED, ids=lambda value: getattr(value, "id", value))
async def test_a_filter_is_taken(session: Desk, operation: Operation, name: str) -> None:
    good = await session.good(operation)
    value, _ = operation.filters[name]
    query = {**good.query, name: value}
    if name in {"from", "to"}:
        query = {each: taken for each, (taken, _) in operation.filters.items() if each in {"from", "to"}}
    answer = await session.organization.http.get(operation.path_of(good.ids), params=query)
    assert answer.status_code == 200, answer.text
    assert list(flaws(answer.json(), operation.answers)) == []


@every(REPLAYED)
async def test_the_same_key_and_body_give_the_first_answer_again(session: Desk, operation: Operation) -> None:
    good = await operation.make(session.organization)
    key = {"Idempotency-Key": session.organization.fresh("replay")}
    first = await session.send(operation, good, headers=key)
    assert first.status_code == operation.status, first.text
    again = await session.send(operation, good, headers=key)
    assert again.status_code == first.status_code
    if not first.content:
        assert again.content == b""
        return
    # Secrets are shown once; everything else comes back word for word.
    once = {"key", "secret", "continue_url", "secret_withheld", "key_withheld"}
    kept, told = again.json(), first.json()
    assert {name: kept[name] for name in kept if name not in once} == {
        name: told[name] for name in told if name not in once
    }


@every(OPEN_BODIES)
async def test_unknown_members_are_taken_where_the_interface_leaves_the_body_open(
    session: Desk, operation: Operation
) -> None:
    good = await operation.make(session.organization)
    content = good.content[:-1] + (b", " if good.body else b"") + b'"x_later": {"a": [1, null]}}'
    answer = await session.send(operation, good, content=content)
    assert answer.status_code == operation.status, answer.text


@every([operation for operation in DONE if operation.method == "GET"])
async def test_head_is_answered_like_get_without_a_body(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    path, client = operation.path_of(good.ids), session.organization.http
    got, head = await client.get(path, params=dict(good.query)), await client.head(path, params=dict(good.query))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


async def test_the_end_of_a_run_is_told_by_a_run_level_event_without_a_slice(session: Desk) -> None:
    run = await session.organization.once(session.organization.live_run)
    path = f"/v1/executions/{run['execution_id']}/events"
    events = (await session.organization.get(path))["events"]
    assert "slice_id" not in events[-1]
    assert (events[-1]["type"], events[-1]["state"]) == ("lifecycle", "completed")
    for position, event in enumerate(events):
        later = (await session.organization.get(path, after=event["event_id"]))["events"]
        assert later == events[position + 1 :]
    assert (await session.organization.get(path, after="nobody"))["events"] == events
