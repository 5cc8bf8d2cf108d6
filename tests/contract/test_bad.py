"""Each kind of bad request to each operation gets a closed Problem, which is stored before it is sent."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runwatch.records.problem import Problem
from runwatch.service.http.rate_limits import BODY_BYTES
from tests.contract.conftest import Desk, every
from tests.contract.operation import Good, Operation
from tests.contract.operations import DONE, REST, TABLE
from tests.contract.shapes import Place, Shape, field_of, has, places, replaced, without
from tests.support.hostile import CORPUS
from tests.support.problems import check, fields
from tests.support.sampling import examples

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITES = [operation for operation in REST if operation.method != "GET"]
KEYED = [operation for operation in DONE if operation.mutates and not operation.is_open]
NAMED = [operation for operation in TABLE if operation.parameters and operation.id != "getConnectByKind"]
OWNED = [operation for operation in REST if operation.parameters]
LONG = "x" * 600_000
"""Longer than any text may be that has a bound, and short enough for a body."""


def members(kind: type | None = None) -> pytest.MarkDecorator:
    """Run a test for each member of each body, or for those of one kind."""
    cases = [
        pytest.param(operation, place, shape, id=f"{operation.id} {field_of(place)}")
        for operation in REST
        for place, shape, _ in places(operation.takes)
        if kind is None or shape is kind
    ]
    return pytest.mark.parametrize(("operation", "place", "shape"), cases)


async def refused(session: Desk, answer: httpx.Response, *codes: str) -> Problem:
    """Hold a refusal to the form of every Problem, and look it up where the service runs."""
    code = answer.json()["type"].rpartition("/")[2]
    assert code in codes, answer.text
    problem = check(answer, code)
    assert uuid.UUID(problem.instance)
    kept = await session.service.stored_problem(problem.instance or "")
    assert kept is not None
    assert kept["body"] == answer.text
    return problem


def wrong_values(shape: Shape) -> Iterator[Any]:
    """Values of other types than a shape's; ``null`` only where it cannot mean that the member is left out."""
    if isinstance(shape, frozenset):
        yield from ("nonsense", 17, ["nonsense"])
    elif shape is str:
        yield from (17, True, {"a": 1}, ["x"])
    elif shape in (int, float):
        yield from ("17", True, {"a": 1}, [17])
    elif shape is bool:
        yield from ("true", 1, [])
    elif isinstance(shape, list):
        yield from ("x", 17, {"0": "x"})
    elif isinstance(shape, dict):
        yield from ("x", 17, ["x"])


@members()
async def test_a_member_of_another_type_is_named(
    session: Desk, operation: Operation, place: Place, shape: Shape
) -> None:
    good = await session.good(operation)
    outer = place if has(good.body, place[:-1]) else place[:1]
    named = field_of(outer)
    for value in wrong_values(shape):
        body = replaced(good.body, place, value)
        problem = await refused(
            session, await session.send(operation, Good(good.ids, good.query, body)), "validation_failed"
        )
        assert any((field or "").startswith(named) for field in fields(problem)), (value, fields(problem))


@members(str)
async def test_a_text_that_is_too_long_is_named(
    session: Desk, operation: Operation, place: Place, shape: Shape
) -> None:
    good = await session.good(operation)
    body = replaced(good.body, place, LONG)
    answer = await session.send(operation, Good(good.ids, good.query, body))
    problem = await refused(session, answer, "validation_failed")
    assert any((field or "").startswith(field_of(place)[:20]) for field in fields(problem)), fields(problem)
    assert len(answer.content) < 2000


@pytest.mark.representatives(key=lambda case: case["operation"].method)
@pytest.mark.parametrize(
    ("operation", "place"),
    [
        pytest.param(operation, place, id=f"{operation.id} {field_of(place)}")
        for operation in REST
        for place, _, is_required in places(operation.takes)
        if is_required
    ],
)
async def test_a_required_member_that_is_missing_is_named(session: Desk, operation: Operation, place: Place) -> None:
    good = await session.good(operation)
    if not has(good.body, place):
        # It is required of something that may itself be missing.
        body = replaced(good.body, place[:-1], {})
    else:
        body = without(good.body, place)
    problem = await refused(
        session, await session.send(operation, Good(good.ids, good.query, body)), "validation_failed"
    )
    assert field_of(place) in fields(problem)


@pytest.mark.representatives(key=lambda case: case["operation"].method)
@pytest.mark.parametrize(
    ("operation", "place"),
    [
        pytest.param(operation, place, id=f"{operation.id} {place or 'body'}")
        for operation in REST
        for place in operation.closed
    ],
)
async def test_a_closed_object_takes_no_other_member(session: Desk, operation: Operation, place: str) -> None:
    good = await session.good(operation)
    at = (*place.split("."), "x_later") if place else ("x_later",)
    body = replaced(good.body, at, 1)
    problem = await refused(
        session, await session.send(operation, Good(good.ids, good.query, body)), "validation_failed"
    )
    assert fields(problem) == [field_of(at)]


@every([operation for operation in REST if operation.takes])
async def test_a_body_that_is_no_object_is_refused(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for content in (b"[]", b'"x"', b"17", b"true"):
        problem = await refused(session, await session.send(operation, good, content=content), "validation_failed")
        assert fields(problem) == ["body"]


@every([operation for operation in REST if operation.requires or operation.takes_nothing])
async def test_a_body_that_has_to_be_there_is_asked_for(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    problem = await refused(session, await session.send(operation, Good(good.ids, good.query)), "validation_failed")
    assert fields(problem) == ["body"]


@every(WRITES)
@pytest.mark.parametrize(
    "content",
    [b"{", b"nonsense", b"{} {}", b'{"a": NaN}', b'"\xff"', b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"),
     b"[" * 100_000, b"\x1f\x8b\x08\x00"],
    ids=["cut", "no JSON", "two values", "NaN", "no UTF-8", "BOM", "UTF-16", "deep", "packed"],
)  # fmt: skip
async def test_what_is_not_one_json_value_in_utf_8_is_refused(
    session: Desk, operation: Operation, content: bytes
) -> None:
    good = await session.good(operation)
    problem = await refused(session, await session.send(operation, good, content=content), "validation_failed")
    assert fields(problem) == ["body"]


@every(WRITES)
async def test_a_body_of_another_type_is_refused(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for media_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "", "application/jsonp"):
        answer = await session.send(
            operation, good, content=good.content or b"{}", headers={"Content-Type": media_type}
        )
        await refused(session, answer, "unsupported_media_type")


@every(WRITES)
async def test_a_body_of_more_than_a_mebibyte_is_refused(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    content = b'"' + b"x" * BODY_BYTES + b'"'
    await refused(session, await session.send(operation, good, content=content), "request_too_large")


@every(TABLE)
async def test_a_method_that_is_not_offered_is_told_which_are(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for method in ("PUT", "OPTIONS", "TRACE", "BREW"):
        answer = await session.organization.http.request(method, operation.path_of(good.ids))
        await refused(session, answer, "method_not_allowed")
        assert operation.method in answer.headers["allow"].split(", ")


@every(NAMED)
async def test_an_unknown_id_is_not_found(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for unknown in ("nobody", "%00", "..%2F..", "%F0%9F%9A%80", "x" * 5000):
        path = operation.path.format(**dict.fromkeys(operation.parameters, unknown))
        headers = {"Content-Type": "application/json", "Idempotency-Key": session.organization.fresh("unknown")}
        answer = await session.organization.http.request(
            operation.method, path, params=dict(good.query), content=good.content, headers=headers
        )
        await refused(session, answer, "not_found")


@every(OWNED)
async def test_what_is_another_organizations_is_not_found(session: Desk, operation: Operation) -> None:
    answer = await session.send(operation, await session.good(operation), client=session.organization.stranger)
    await refused(session, answer, "not_found")


@every([operation for operation in REST if operation.names])
async def test_what_a_body_names_of_another_organization_is_as_unknown(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    theirs = await session.send(operation, good, client=session.organization.stranger)
    codes = ("validation_failed", "not_found", "data_class_not_available")
    problem = await refused(session, theirs, *codes)
    for name in operation.names:
        body = replaced(good.body, tuple(name.split(".")), "nobody")
        unknown = await session.send(operation, Good(good.ids, good.query, body))
        told = await refused(session, unknown, *codes)
        assert name in fields(told)
        assert problem.code == "data_class_not_available" or set(fields(problem)) <= {*operation.names, "template_id"}


@every([operation for operation in REST if (operation.mutates or operation.is_owners) and not operation.is_open])
async def test_a_readers_key_changes_nothing(session: Desk, operation: Operation) -> None:
    answer = await session.send(operation, await session.good(operation), client=session.organization.reader)
    await refused(session, answer, "permission_denied")


@every([operation for operation in REST if not operation.mutates and not operation.is_owners])
async def test_a_readers_key_reads(session: Desk, operation: Operation) -> None:
    answer = await session.send(operation, await session.good(operation), client=session.organization.reader)
    assert answer.status_code == operation.status, answer.text


@every([operation for operation in REST if not operation.is_open])
async def test_without_a_key_nothing_is_reported(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    async with httpx.AsyncClient(base_url=session.organization.base_url, timeout=60) as nobody:
        for header in ({}, {"Authorization": "Bearer solverapi_live_nobody"}, {"Authorization": "Basic eDp5"}):
            answer = await session.send(operation, good, client=nobody, headers=header)
            await refused(session, answer, "unauthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"


@every([operation for operation in TABLE if operation.is_open and not operation.is_page])
async def test_a_wrong_key_is_refused_also_where_none_is_needed(session: Desk, operation: Operation) -> None:
    headers = {"Authorization": "Bearer solverapi_live_nobody"}
    await refused(
        session, await session.send(operation, await session.good(operation), headers=headers), "unauthenticated"
    )


@every([operation for operation in REST if operation.needs_key])
async def test_a_missing_idempotency_key_is_asked_for(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    for key in ("", None):
        answer = await session.send(operation, good, headers={"Idempotency-Key": key})
        assert fields(await refused(session, answer, "validation_failed")) == ["Idempotency-Key"]


@every(WRITES)
async def test_an_idempotency_key_that_is_invalid_is_refused(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    answer = await session.send(operation, good, headers={"Idempotency-Key": "k" * 256})
    assert fields(await refused(session, answer, "validation_failed")) == ["Idempotency-Key"]


@every(KEYED)
async def test_the_same_key_with_another_body_is_a_conflict(session: Desk, operation: Operation) -> None:
    good = await operation.make(session.organization)
    key = {"Idempotency-Key": session.organization.fresh("conflict")}
    first = await session.send(operation, good, headers=key)
    assert first.status_code == operation.status, first.text
    other = json.dumps({**(good.body or {}), "x_other": 1}).encode()
    await refused(session, await session.send(operation, good, headers=key, content=other), "idempotency_conflict")


@pytest.mark.representatives(key=lambda case: case["operation"].method)
@pytest.mark.parametrize(
    ("operation", "name", "value"),
    [
        pytest.param(operation, name, refused_value, id=f"{operation.id} {name}")
        for operation in REST
        for name, (_, refused_value) in operation.filters.items()
        if refused_value
    ],
)
async def test_a_filter_that_is_invalid_is_named(session: Desk, operation: Operation, name: str, value: str) -> None:
    good = await session.good(operation)
    query = {**good.query, name: value}
    answer = await session.organization.http.get(operation.path_of(good.ids), params=query)
    assert name in fields(await refused(session, answer, "validation_failed"))


@every([operation for operation in REST if operation.pages])
@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", "0"), ("limit", "101"), ("limit", "ten"), ("limit", "-1"), ("limit", "1.5"), ("limit", "9" * 5000),
     ("cursor", "nonsense"), ("cursor", "\ud83d\ude80".encode("utf-16", "surrogatepass").decode("utf-16"))],
)  # fmt: skip
async def test_a_page_that_cannot_be_is_refused(session: Desk, operation: Operation, name: str, value: str) -> None:
    good = await session.good(operation)
    answer = await session.organization.http.get(operation.path_of(good.ids), params={name: value})
    assert fields(await refused(session, answer, "validation_failed")) == [name]


async def test_a_path_that_nobody_serves_is_not_found_for_who_may_call(session: Desk) -> None:
    for path in ("/", "/v1", "/v1/", "/v2/account", "/executions", "/v1/executions/", "/v1//account", "/docs"):
        await refused(session, await session.organization.http.get(path), "not_found")


@every([operation for operation in TABLE if operation.is_page and operation.takes])
async def test_a_page_refuses_a_text_that_is_no_secret(session: Desk, operation: Operation) -> None:
    good = await session.good(operation)
    (name,) = operation.requires
    for hostile in CORPUS[:: len(CORPUS) // examples(len(CORPUS))]:
        # Visible ASCII without spaces may be a secret, however odd it looks.
        if not hostile.text.isascii() or not hostile.text.strip().isprintable():
            answer = await session.send(operation, Good(good.ids, good.query, {name: hostile.text}))
            await refused(session, answer, "validation_failed", "unauthenticated")
