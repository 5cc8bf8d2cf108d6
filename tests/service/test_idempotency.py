"""The same key and the same body have one effect and one answer, despite any failure in between."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import dumps, loads
from runwatch.service.http.idempotency import KEY_CHARACTERS, KEY_LIFETIME, NESTING, IdempotentRequest, hash_body
from runwatch.service.tables import idempotency_table
from tests.service.conftest import Local, Serving, echo_body, other_tenant, step
from tests.support.problems import check


async def post(local: Local, key: str, content: bytes | None = None, bearer: str | None = None) -> httpx.Response:
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    return await local.http.post("/v1/executions", headers=headers, content=content or dumps(echo_body()).encode())


async def runs_in(local: Local) -> int:
    return int((await local.get("/v1/account"))["quota"]["executions"]["used"])


async def test_the_first_answer_is_given_again_byte_for_byte_although_the_run_has_moved_on(local: Local) -> None:
    first = await post(local, "k")
    await local.finished(first.json()["execution_id"])
    again = await post(local, "k")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.json()["status"] == "accepted"
    assert await runs_in(local) == 1


async def test_a_body_that_is_written_differently_is_the_same_body(local: Local) -> None:
    first = await post(local, "k")
    other = (
        b'{ "policy": {"budget": {"max_runtime_s": 6.0e1, "max_cost_usd": 0.10}, "data_classes": ["publ\\u0069c"]},'
        b' "task": {"objective": "Say hello."}, "mode": "echo" }'
    )
    assert loads(other) == echo_body()
    assert (await post(local, "k", other)).content == first.content


async def test_another_body_under_the_same_key_is_a_conflict(local: Local) -> None:
    await post(local, "k")
    check(await post(local, "k", dumps(echo_body(extra=True)).encode()), "idempotency_conflict")
    check(await post(local, "k", b"{}"), "idempotency_conflict")
    assert await runs_in(local) == 1


async def test_a_key_of_another_principal_is_refused_before_anything_else(local: Local) -> None:
    await post(local, "k")
    bearer, _ = await local.add_key()
    check(await post(local, "k", bearer=bearer), "permission_denied")
    check(await post(local, "k", b"{}", bearer=bearer), "permission_denied")
    assert await runs_in(local) == 1


async def test_another_organization_has_keys_of_its_own(local: Local) -> None:
    first = await post(local, "k")
    bearer, _ = await local.add_key(await other_tenant(local))
    second = await post(local, "k", bearer=bearer)
    assert second.status_code == 200
    assert second.json()["execution_id"] != first.json()["execution_id"]


async def test_two_at_once_are_one_run_and_one_answer(local: Local) -> None:
    answers = await asyncio.gather(*(post(local, "k") for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert await runs_in(local) == 1


async def test_of_two_bodies_at_once_one_is_the_conflict(local: Local) -> None:
    bodies = [dumps(echo_body(number=number)).encode() for number in range(6)]
    answers = await asyncio.gather(*(post(local, "k", body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert await runs_in(local) == 1


async def test_the_second_goes_on_where_the_first_was_refused(local: Local) -> None:
    answers = await asyncio.gather(post(local, "k", b"{}"), post(local, "k"))
    assert [answer.status_code for answer in answers] == [400, 200]


async def test_an_answer_that_is_no_success_is_not_kept(local: Local) -> None:
    check(await post(local, "k", b"{}"), "validation_failed")
    assert (await post(local, "k")).status_code == 200


async def test_the_answer_survives_a_restart(serving: Serving) -> None:
    async with serving() as service:
        first = await post(service, "k")
    async with serving() as service:
        assert (await post(service, "k")).content == first.content
        assert await runs_in(service) == 1


async def test_a_key_is_free_again_after_a_day(held: Local) -> None:
    clock = held.fake_clock
    first = await post(held, "k")
    clock.advance(KEY_LIFETIME.total_seconds() - 1)
    assert (await post(held, "k")).content == first.content
    clock.advance(1)
    second = await post(held, "k")
    assert second.json()["execution_id"] != first.json()["execution_id"]
    kept = await held.context.database.read(lambda transaction: transaction.count(idempotency_table, {}))
    assert kept == 1


async def test_a_cancel_with_a_key_gives_its_first_answer_again(held: Local) -> None:
    run = await held.submit()
    path = f"/v1/executions/{run['execution_id']}/cancel"
    headers = {"Idempotency-Key": "c"}
    first = await held.http.post(path, headers=headers)
    assert first.json()["status"] == "cancelled"
    assert (await held.http.post(path, headers=headers)).content == first.content
    check(await held.http.post(path), "invalid_state")
    check(await held.http.post(path, headers=headers, json={"why": "other body"}), "idempotency_conflict")


async def test_a_key_belongs_to_its_path(held: Local) -> None:
    first, second = await held.submit(key="same"), await held.submit()
    for run in (first, second):
        answer = await held.http.post(
            f"/v1/executions/{run['execution_id']}/cancel", headers={"Idempotency-Key": "same"}
        )
        assert (answer.status_code, answer.json()["execution_id"]) == (200, run["execution_id"])


async def test_the_longest_key_is_taken(local: Local) -> None:
    assert (await post(local, "k" * KEY_CHARACTERS)).status_code == 200


async def test_nothing_of_a_run_is_kept_when_its_answer_cannot_be(held: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(IdempotentRequest, "record", fail)
        check(await post(held, "k"), "internal")
    assert await runs_in(held) == 0
    assert held.context.engine.unfinished == 0
    assert (await post(held, "k")).status_code == 200
    await step(held)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"), ("100000", "1e5"), ("0.10", "0.1"), ("0", "-0.0"), ("0.5e-3", "5E-4"), ("1e400", "10e399"),
        ("12345678901234567890123.0", "12345678901234567890123"), ("9" * 5000, "9" * 5000),
        ('"\\u00e9"', '"é"'), ('{"a":1,"b":2}', '{"b":2,"a":1}'), ("[1]", " [ 1.0 ] "),
        (f"1e{'9' * 5000}", f"1e{'9' * 5000}"),
    ],
)  # fmt: skip
def test_equal_values_share_a_digest(one: str, other: str) -> None:
    assert hash_body(loads(one)) == hash_body(loads(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", '"1"'), ("1", "true"), ("0", "false"), ("0", "null"), ("1", "-1"), ("1", "10"), ("[1]", "1"),
        ("[]", "{}"), ("[1,2]", "[2,1]"), ('["number","1e0"]', "1"), ('["list"]', "[]"), ('{"a":null}', "{}"),
        ("12345678901234567890123", "12345678901234567890124"), ('"e\\u0301"', '"é"'),
    ],
)  # fmt: skip
def test_values_that_differ_have_digests_that_differ(one: str, other: str) -> None:
    assert hash_body(loads(one)) != hash_body(loads(other))


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _same(one: Any, other: Any) -> bool:
    # JSON's equality: Python's, but for true and false, which are no numbers there.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return bool(one == other)


@given(_JSON, _JSON)
def test_digests_are_equal_exactly_when_values_are(one: Any, other: Any) -> None:
    assert (hash_body(one) == hash_body(other)) == _same(one, other)
    assert hash_body(one) == hash_body(loads(dumps(one)))


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
        ('"caf\\u00e9 \\u007f \\ud83d\\ude00"', "130a9a2b4ec5cbc882b70bf2b7f27ec8932aee7fb706aebfc157c267b2a51b76"),
        (
            '{"b":[1,2.50,{"x":true}],"a":-0.0,"":[]}',
            "57d20b4b681c75827bf2050b14fafa56fd16ad9549821773ebc0ff15fc795055",
        ),
        (
            "[1e400,0.10,99999999999999991611392,1e23,100000,-12.5E-3]",
            "aebff5d137e424191b997310cbf1cf0e2e57bcdf687424677e1c01f84352cb19",
        ),
        ("{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ],
)
def test_digests_that_are_kept_in_data_directories_go_on_matching(text: str, digest: str) -> None:
    assert hash_body(loads(text)) == digest


def test_a_body_that_nests_too_deeply_has_no_digest() -> None:
    assert hash_body(loads("[" * NESTING + "]" * NESTING))
    for text in ("[" * (NESTING + 2) + "]" * (NESTING + 2), '{"a":' * (NESTING + 2) + "1" + "}" * (NESTING + 2)):
        with pytest.raises(ValueError, match="nested too deeply"):
            hash_body(loads(text))
